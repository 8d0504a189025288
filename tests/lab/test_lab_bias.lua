--- Tests the causes of bias: faults that average out over rows, columns, mini-batches or draws are
-- reported with layer and kind, and nothing is reported of unbiased samplers.
local lu = require "luaunit"
local ladies = require "ladies"
local Section = require "ladies.lab.bias.section"
local bias = require "ladies.lab.bias"
local causes = require "ladies.lab.causes"
local context = require "ladies.lab.context"
local counts = require "ladies.lab.nodes.counts"
local faults = require "tools.biased_samplers.faults"
local findings = require "ladies.lab.error.findings"
local kinds = require "ladies.lab.bias.kinds"
local layer_wise = require "reference.layer_wise"
local moments = require "ladies.lab.error.moments"
local ranking = require "ladies.lab.cost.ranking"
local sentences = require "ladies.lab.bias.sentences"
local series = require "ladies.statistics.series"
local Subject = require "ladies.lab.subject"

local tests = {}

local DATA = ladies.generate.power_law{nodes = 600, entries = 3600, features = 6, classes = 4}
  :split("20/20/60")

-- Half of the training nodes, so that there are several sets of seeds.
local BATCH = 60
local function context_with(batch_size)
  return context.new(DATA, {layers = 2, hidden = 8, batch_size = batch_size, steps = 2, seed = 1})
end
local SHARED = context_with(BATCH)

-- Returns the causes of bias that the laboratory finds in a sampler, as an array of texts; from
-- so many draws that begin at group `first`.
local function causes_of(given, settings, first, draws)
  local subject = Subject.of("test", given, DATA, {layers = 2, hidden = 8, seed = 1,
    batch_size = BATCH, settings = settings or {}})
  local run = {context = SHARED, sampler = SHARED:sampler(subject), name = "test",
    known = SHARED:exact(SHARED:propagation_of(subject))}
  local list = {}
  for _, found in ipairs(bias.examine(run, first or 1, {draws = draws or 300})) do
    for _, cause in ipairs(sentences.of(found)) do list[#list + 1] = cause end
  end
  return list
end

local function texts_of(list)
  local texts = {}
  for i, one in ipairs(list) do texts[i] = one.text end
  return table.concat(texts, "\n")
end

-- A fault in one of the layers is reported with its layer and kind, and nothing of the other
-- layer. What goes by whole mini-batches takes more draws to be seen.
function tests.test_faults_that_average_out()
  for i, fault in ipairs(faults) do
    local layer = 1 + i % 2
    local text = texts_of(causes_of(faults.sampler(fault, {size = 0.3, layer = layer,
      samples = 150}), nil, nil, fault.kind == "batch" and 1200 or nil))
    lu.assertStrContains(text, ("layer %d "):format(layer), false, fault.name)
    lu.assertStrContains(text, fault.kind, false, fault.name)
    lu.assertNotStrContains(text, ("layer %d "):format(3 - layer), false, fault.name)
  end
end

function tests.test_unbiased_samplers()
  for _, one in ipairs{{faults.sampler(nil, {samples = 60})}, {"fastgcn:60"},
    {"ladies:60", {row_normalize = false, draw = "wr"}},
    {"ladies:60", {row_normalize = false, debias = true}},
    {"graphsage:2", {form = "unbiased"}}} do
    lu.assertEquals(texts_of(causes_of(table.unpack(one))), "")
  end
end

-- Entries that are never drawn, or have a weight of 0, are a fault, which is named by what they
-- have in common.
local function without(keep, stays)
  return layer_wise.new("without", function(P, dst, rng)
    local adj, src, w = P:sample_rows(dst, 3, {rng = rng, first = dst})
    adj = adj:scale_entries(w)
    local kept = keep(dst[adj:row_of()], src[adj:col_of()], P)
    return stays and adj:scale_entries(kept) or adj:pick_entries(kept:positions()), src
  end)
end

function tests.test_what_is_never_drawn_is_a_fault()
  local labels = DATA.labels
  for words, keep in pairs{
    ["never draws entries of a node to itself"] = function(row, col) return 1 - row:equals(col) end,
    ["never draws columns of class 2"] = function(_, col) return 1 - labels[col]:equals(2) end,
  } do
    local list = causes_of(without(keep))
    lu.assertStrContains(texts_of(list), words)
    lu.assertEquals(list[1].kind, "fault")
    lu.assertStrMatches(list[1].proof, "none of %d+ draws has one, .*")
  end
end

--- Errors that rest on a few draws are reported with the share that the largest has.
function tests.test_unequal_errors()
  local one = sentences.of_unequal_errors("layer 1", {1, 1, 1, 1, 1, 1, 1, 9}, 0.25, 0.9)
  lu.assertStrContains(one.text, "the errors of 8 sets of seeds")
  lu.assertStrContains(one.text, "worth 2")
  lu.assertStrContains(one.proof, "the largest has 90 % of the sum of squares")
end

function tests.test_weights_of_zero_are_no_tails()
  local text = texts_of(causes_of(without(function(row) return 1 - (row % 3):equals(0) end, true)))
  lu.assertStrContains(text, "by rows and by their id modulo 3")
  lu.assertNotStrContains(text, "tails")
end

--- Draws of which most are empty are reported as tails: their weights count, not how far these are
-- from the exact ones.
function tests.test_a_few_draws_with_all_weight_are_tails()
  local text = texts_of(causes_of{name = "few", sampler = function(P)
    return function(seeds, rng)
      local adj, src = P:slice(seeds)
      local near, input = P:slice(src)
      local kept = rng:below(10) == 1 and adj or adj:pick_entries(ladies.index{})
      return {blocks = {{adj = near, dst = src, src = input},
        {adj = kept, dst = seeds, src = src}}, input = input, output = seeds}
    end
  end})
  lu.assertStrContains(text, "the mini-batches as a whole are so unequal")
end

--- The draws have the seeds of the mini-batches that the numbers are told of: all training nodes,
-- where these are one.
function tests.test_seeds_of_the_draws()
  for _, size in ipairs{BATCH, #DATA.train, 10 * #DATA.train} do
    local all, seen = context_with(size), {}
    local subject = Subject.of("test", "full", DATA, {layers = 2, hidden = 8, seed = 1,
      batch_size = size, settings = {}})
    local made = all:sampler(subject)
    local function sampler(seeds, ...)
      seen[#seeds] = true
      return made(seeds, ...)
    end
    bias.examine({context = all, sampler = sampler, name = "test",
      known = all:exact(all:propagation_of(subject))}, 1, {draws = 70})
    lu.assertEquals(seen, {[math.min(size, #DATA.train)] = true})
  end
end

-- ---------------------------------------------------------------- which attribute

-- LADIES with replacement, whose layers are unbiased, with weights times factor(rng).
local function times(factor)
  return layer_wise.weighted("times", "wr", function(w, rng) return w * factor(rng) end)
end

--- Where all weights are off by one factor, no degree, class or id is blamed, whichever draws there
-- are.
function tests.test_one_factor_is_told_as_such()
  local given = times(function() return 1.1 end)
  for first = 1, 10 do
    for line in texts_of(causes_of(given, nil, 1000 * first)):gmatch "[^\n]+" do
      lu.assertStrMatches(line, "layer %d is off by at least .* in all: .*")
    end
  end
end

--- Single columns show a bias in fewer draws than the cells of their degrees do: it is then not
-- said to go by no degree, nor are columns that come out right said to come out too small.
function tests.test_what_draws_do_not_show_is_not_denied()
  local large = DATA.graph:degrees() % 2
  local text = texts_of(causes_of({name = "odd", sampler = function(P)
    return ladies.sampling.layerwise(P, {samples = 600, layers = 2, normalize = "none",
      draw = "poisson", weight = function(drawn) return 1 + large[drawn.src] * 0.05 end})
  end}, nil, nil, 100))
  lu.assertStrContains(text, "by columns: some more than others, and these draws show no "
    .. "degree, class, id or place that tells which")
end

--- The two cells of an attribute that are named have intervals that hold as often as they say,
-- though they are chosen as the most extreme of many; and what sets cells apart that are all the
-- same has the mean square 1.
function tests.test_intervals_of_chosen_cells()
  local n, misses, all, square = 40, 0, 0, 0
  local names, rng, mass = {}, ladies.rng(3), ladies.ones(40)
  for c = 1, n do names[c] = "cell " .. c end
  for _ = 1, 100 do
    local section = Section.new{{side = "rows", key = "degree", cells = n, names = names}}
    for k = 1, 60 do
      local noise = ladies.zeros(n, 1):normal_(1, rng:fork(rng:below(1e6))):reshape(n)
      section:add({error = noise + 0.02, mass = mass, drawn = mass, there = mass}, k % 2 == 0)
    end
    for _, cell in ipairs{kinds.extremes{section = section, place = 1}} do
      all = all + 1
      if math.abs(cell.error - 0.02) > cell.half then misses = misses + 1 end
    end
    square = square + select(3, section:explained())[1] ^ 2 / 100
  end
  lu.assertTrue(misses / all < 0.12, misses / all)
  lu.assertAlmostEquals(square, 1, 0.5)
end

--- Blocks whose rows have no weights do not pass for rows that are divided by their sums.
function tests.test_rows_without_weights_are_not_divided()
  local adj = ladies.matrix{n_rows = 3, n_cols = 2, rows = ladies.index{1, 1, 2},
    cols = ladies.index{1, 2, 2}, values = ladies.tensor{2, 6, 0.5}}
  lu.assertFalse(counts.is_divided(adj))
  lu.assertTrue(counts.is_divided(adj:row_normalize()))
  lu.assertFalse(counts.is_divided(adj:scale_cols(ladies.zeros(2))))
  lu.assertNil(counts.is_divided(adj:pick_entries(ladies.index{})))
end

--- Draws that all have the weight 0 are reported as tails: nothing is known of others that may
-- come.
function tests.test_draws_without_weights()
  local list = causes_of(times(function() return 0 end))
  lu.assertEquals(texts_of(list), "layer 1 has no weights but 0\nlayer 2 has no weights but 0")
  lu.assertTrue(causes.has_tails(list))
  lu.assertFalse(causes.has_tails{})
end

-- ---------------------------------------------------------------- sentences

--- The sentence on weights that fall too fast agrees with the numbers of its proof.
function tests.test_weights_that_fall_too_fast()
  local function text_of(often, rarely, is_normalized)
    local function around(x) return {mean = x, low = x - 0.01, high = x + 0.01} end
    return sentences.of_weights("naive", {exponent = around(1.4), often = around(often),
      rarely = around(rarely)}, is_normalized).text
  end
  lu.assertStrContains(text_of(0.6, 0.98, false), "what is drawn rarely counts too much")
  lu.assertStrContains(text_of(0.93, 0.53, true), "what is drawn rarely counts too little")
  lu.assertEquals(text_of(0.8, 0.8, true), "the weights fall faster than one over the frequency of "
    .. "draws")
end

--- Where a sampler breaks its contract, the remedy is to mend that before a cause is looked for.
function tests.test_remedies_of_unknown_causes()
  local function remedy_of(is_broken)
    return sentences.of_unknown(1, "scale", {mean = 2, low = 1, high = 3}, is_broken).remedy
  end
  lu.assertStrContains(remedy_of(true), "first mend what is said above")
  lu.assertStrContains(remedy_of(false), "no cause was proved")
end

--- A bias² below 0 is reported as the chance that it is, where no rare draws decide.
function tests.test_a_square_below_zero()
  local function sentence_of(has_tails)
    local columns = {["layers.1.error"] = {1, 1, 1},
      ["layers.1.bias"] = {-0.0014, -0.0015, -0.0016}}
    return findings.of({columns = columns}, {}, {}, has_tails)[2].sentence
  end
  lu.assertEquals(sentence_of(false), "An estimate of a number near 0, which may come out below 0 "
    .. "by chance.")
  lu.assertStrContains(sentence_of(true), "Rare draws decide")
end

--- Draws that are all alike have a variance of 0, and no rounding below it.
function tests.test_draws_that_are_alike()
  local exact = {{tensor = ladies.ones(30, 7), square = 210}}
  local rng, draws = ladies.rng(8), {}
  local error = ladies.zeros(30, 7):normal_(1, rng)
  for i = 1, 6 do draws[i] = {error} end
  local x = moments.of_tensors(draws, exact)
  lu.assertEquals({x.variance, x.bias}, {0, x.error})
  draws[6] = {error * 1.01}
  lu.assertTrue(moments.of_tensors(draws, exact).variance > 0)
  local columns = {}
  for key, number in pairs(x) do columns["gradient." .. key] = {number, number, number} end
  columns["gradient.variance"] = {-1e-9, -1.1e-9, -1.2e-9}
  local ranked = ranking.of({columns = columns}, {seconds = {0.1, 0.2, 0.3}})[1]
  lu.assertEquals({ranked.mean, ranked.low, ranked.high}, {0, 0, 0})
end

-- ---------------------------------------------------------------- series

-- In random numbers a small p-value is as rare as it says; a wave, a drift and an alternation are
-- found.
function tests.test_periods()
  local rng = ladies.rng(1)
  local function chance(n, f)
    local list = {}
    for k = 1, n do list[k] = rng:normal() + (f and f(k) or 0) end
    return list
  end
  -- Of n even and odd; by a standard error of 0.0015, 0.05 is 3.5 below what fails.
  for _, n in ipairs{16, 17} do
    local low = 0
    for _ = 1, 20000 do
      if series.period(chance(n)) <= 0.05 then low = low + 1 end
    end
    lu.assertTrue(low < 0.0554 * 20000, low)
  end
  for period, f in pairs{[2] = function(k) return k % 2 end, [7] = function(k)
    return math.sin(2 * math.pi * k / 7) end} do
    local p, found, square = series.period(chance(280, f))
    lu.assertTrue(p < 1e-4)
    lu.assertAlmostEquals(found, period, 1e-9)
    lu.assertAlmostEquals(square, period == 2 and 0.25 or 0.5, 0.2)
  end
end

function tests.test_means_above_zero()
  lu.assertEquals(series.p_above{1, 1, 1}, 0)
  lu.assertEquals(series.p_above{-1, -2, -1}, 1)
  lu.assertAlmostEquals(series.p_above{1, 2, 3, 4}, 0.0152, 1e-3)
  lu.assertAlmostEquals(series.effective{1, 1, 0, 0}, 0.5, 1e-12)
end

return tests
