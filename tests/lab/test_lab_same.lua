--- ladies.lab.same: samplers that are the same are not told apart, whatever their numbers, and
-- those that differ are, in words; ladies.lab.same.permutations, the test below it, holds its
-- level.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local context = require "ladies.lab.context"
local permutations = require "ladies.lab.same.permutations"
local same = require "ladies.lab.same"
local traits = require "ladies.lab.same.traits"
local Subject = require "ladies.lab.subject"
local view = require "ladies.lab.report.view"

local sampling = ladies.sampling

local tests = {}

local DATA = ladies.generate.power_law{nodes = 400, entries = 2400, features = 6, classes = 3}
local OPTS = {layers = 2, hidden = 8, batch_size = 24, steps = 4, seed = 1}
local CONTEXT = context.new(DATA, OPTS)

local function subject(given, settings)
  return Subject.of("lab", given, DATA, {layers = OPTS.layers, hidden = OPTS.hidden, seed = 1,
    batch_size = OPTS.batch_size, settings = settings})
end

local function compare(a, b, opts) return same.examine(a, b, CONTEXT, opts) end

-- ---------------------------------------------------------------- the test

-- Units of n numbers that depend on each other; those of y are `shift` above those of x.
local function units(n, columns, rng, shift, heavy)
  local list = {}
  for i = 1, n do
    local common, unit = rng:normal(), {}
    for k = 1, columns do
      local value = common + rng:normal()
      unit[k] = (heavy and math.exp(3 * value) or value) + shift
    end
    list[i] = unit
  end
  return list
end

--- In 400 comparisons of equal samples at level 0.05 as many faults are found as for independent
-- coins, with light and heavy tails: more than 45 have a chance below 1e-6.
function tests.test_level()
  for _, heavy in ipairs{false, true} do
    local wrong = 0
    for trial = 1, 400 do
      local rng = core.rng(trial)
      local x, y = units(16, 12, rng:fork(1), 0, heavy), units(16, 12, rng:fork(2), 0, heavy)
      local ps = permutations.test(x, y, 4, 0.05, rng:fork(3))
      if math.min(table.unpack(ps)) <= 0.05 then wrong = wrong + 1 end
    end
    lu.assertTrue(wrong <= 45, wrong)
  end
end

--- A shift of a number, and one whose sign is the group's, are found; and nothing else.
function tests.test_power()
  local rng = core.rng(5)
  local x, y = units(64, 30, rng:fork(1), 0), units(64, 30, rng:fork(2), 0)
  for i, unit in ipairs(x) do
    unit[7] = unit[7] + 2
    unit[9] = unit[9] + ((i - 1) // 4 % 2 * 2 - 1) * 3
  end
  local ps, strengths, by_group = permutations.test(x, y, 16, 0.001, rng:fork(3))
  for k, p in ipairs(ps) do
    lu.assertEquals(p <= 0.001, k == 7 or k == 9, ("number %d: p = %g"):format(k, p))
  end
  lu.assertTrue(strengths[7] > 4 and strengths[9] > 4)
  lu.assertFalse(by_group[7])
  lu.assertTrue(by_group[9])
end

--- A number that is always a here and always b there is found in sixteen units, among many others;
-- one that differs by rounding alone is not.
function tests.test_constant_numbers()
  local rng = core.rng(6)
  local x, y = units(16, 200, rng:fork(1), 0), units(16, 200, rng:fork(2), 0)
  for i = 1, 16 do
    x[i][3], y[i][3] = 5, 5.01
    x[i][4], y[i][4] = 5, 5 + 1e-7
    x[i][5], y[i][5] = 0, 0
  end
  local ps = permutations.test(x, y, 4, 0.001, rng:fork(3))
  for k, p in ipairs(ps) do
    lu.assertEquals(p <= 0.001, k == 3, ("number %d: p = %g"):format(k, p))
  end
end

-- ---------------------------------------------------------------- samplers

--- Every method is the same as itself, drawn with other random numbers.
function tests.test_no_false_alarm()
  for _, name in ipairs{"ladies:12", "fastgcn:12", "graphsage:3", "labor:3", "clustergcn", "vrgcn",
    "full"} do
    local findings, faults = compare(subject(name), subject(name))
    lu.assertEquals(faults, {}, name)
    lu.assertStrContains(findings[1].sentence, "do not tell it from")
    lu.assertStrContains(findings[1].sentence, ": a p-value of at most 0.001 would.")
    lu.assertEquals(view.interval(findings[1]), "")
    lu.assertEquals(findings[1].n, 128)
  end
end

--- LADIES written by hand is LADIES, in whatever order the ids are, unless order counts.
function tests.test_another_implementation()
  local function by_hand(sorted)
    return {name = sorted and "sorted" or "by_hand", sampler = function(P)
      return function(seeds, rng)
        return sampling.mini_batch(seeds, 2, function(l, dst)
          local U, near = P:slice(dst)
          local pick, w = sampling.choice(U:col_sums(2), 12, {rng = rng:fork(l)})
          if sorted then
            local order = ladies.tensor(near[pick]:to_table()):argsort()
            pick, w = pick[order], w[order]
          end
          return U:pick_cols(pick):scale_cols(w):row_normalize(), near[pick]
        end)
      end
    end}
  end
  local reference = subject("ladies:12", {self_nodes = "none"})
  local plain, sorted = subject(by_hand(false)), subject(by_hand(true))
  lu.assertEquals(select(2, compare(plain, reference)), {})
  lu.assertEquals(select(2, compare(plain, reference, {order = true})), {})
  lu.assertEquals(select(2, compare(sorted, reference)), {})
  local _, faults = compare(sorted, reference, {order = true})
  lu.assertEquals(#faults, 1)
  lu.assertStrContains(faults[1].text, "first sources")
end

--- GraphSAGE with all neighbours is the full batch with rows that sum to one: its destinations
-- are in front, which is order.
function tests.test_order()
  local all = subject("graphsage:500", {normalize = "row"})
  local full = subject("full", {normalize = "row"})
  local findings, faults = compare(all, full)
  lu.assertEquals(faults, {})
  lu.assertTrue(findings[1].mean > 0.001)
  local _, told = compare(all, full, {order = true})
  lu.assertStrContains(told[1].text, "all destinations in front of layer")
end

-- The full batch, with all weights times a factor.
local function times(name, factor)
  return subject{name = name, sampler = function(P)
    return function(seeds)
      return sampling.mini_batch(seeds, 2, function(_, dst)
        local adj, src = P:slice(dst)
        return adj:scale_cols(ladies.ones(#src) * factor), src
      end)
    end
  end}
end

--- Weights that differ by rounding alone are no difference.
function tests.test_rounding()
  local plain = times("plain", 1)
  lu.assertEquals(select(2, compare(times("rounded", 1 + 2e-6), plain)), {})
  lu.assertEquals(#select(2, compare(times("larger", 1 + 1e-4), plain)), 1)
end

-- The one fault that there is between two subjects.
local function fault(a, b)
  local findings, faults = compare(a, b)
  lu.assertEquals(#faults, 1)
  return faults[1], findings
end

--- A fault says what differs most, in numbers, and each of these has its interval.
function tests.test_words()
  local alone = {self_nodes = "none"}
  local one, findings = fault(subject("ladies:13", alone), subject("ladies:12", alone))
  lu.assertEquals(one.text:match "^[^;]*", "LADIES (13) is not LADIES (12): all nodes among the "
    .. "sources of layer 1: 13 a mini-batch, LADIES (12) 12")
  lu.assertStrContains(one.proof, "128 draws of each")
  lu.assertEquals(findings[2].mean, 1)
  lu.assertEquals(findings[2].low, 1)
  one, findings = fault(subject("ladies:12", {flat = true}), subject "ladies:12")
  lu.assertStrContains(one.text, "squared norm")
  for i = 2, #findings do
    lu.assertTrue(findings[i].low <= findings[i].mean and findings[i].mean <= findings[i].high)
    lu.assertTrue(findings[i].low > 0 or findings[i].high < 0, findings[i].label)
  end
end

--- Each two consecutive layers are compared: how many choices among their neighbours are equal, and
-- how many entries of P are in both.
function tests.test_what_layers_share()
  local P = DATA.graph:normalize "sym"
  local batch = ladies.samplers.graphsage(P, {layers = 4, samples = 3})(ladies.range(1, 9),
    ladies.rng(1))
  local function common(a, b)
    local there, n = {}, 0
    for _, id in ipairs(a) do there[id] = true end
    for _, id in ipairs(b) do n = n + (there[id] and 1 or 0) end
    return n
  end
  -- The places of the sources of a block among the sorted columns of its rows of P.
  local function choices(block)
    local is_source, places = {}, {}
    for _, id in ipairs(block.src:to_table()) do is_source[id] = true end
    local _, near = P:slice(block.dst)
    for place, id in ipairs(near:to_table()) do
      if is_source[id] then places[#places + 1] = place end
    end
    return places
  end
  local numbers, names, found = traits.new(P, 1), {}, {}
  numbers:common_to(batch, batch)
  for i, value in ipairs(numbers:of(batch, names)) do found[names[i].text] = value end
  for l = 1, 3 do
    local lower, upper = batch.blocks[l], batch.blocks[l + 1]
    local of = (" layers %d and %d"):format(l + 1, l)
    lu.assertEquals(found["the number of equal choices among the neighbours in" .. of],
      common(choices(upper), choices(lower)))
    lu.assertEquals(found["the number of entries of P that are in both" .. of],
      common(upper.adj.edge:to_table(), lower.adj.edge:to_table()))
  end
end

--- The shapes of mini-batches, and the fields of samplers, are compared before their numbers.
function tests.test_other_shapes()
  local text = fault(subject "vrgcn", subject "graphsage:2").text
  lu.assertStrMatches(text, "VR%-GCN %(2%) is not GraphSAGE %(2%): adaptive: true, .*")
  text = fault(subject "clustergcn", subject "full").text
  lu.assertStrMatches(text, "Cluster%-GCN is not full batch: mini%-batches of its own .*")
  local bare = subject{name = "bare", sampler = function(P)
    return function(seeds)
      local adj, src = P:slice(seeds)
      return {blocks = {{adj = adj, dst = seeds, src = src}}, input = src, output = seeds}
    end
  end}
  text = fault(bare, subject "ladies:12").text
  lu.assertStrMatches(text, "bare .* a mini%-batch has 1 layer; .*first one 2 layers")
end

--- Too few draws for the groups are refused.
function tests.test_too_few()
  lu.assertErrorMsgContains("16 draws are too few for 16 groups", compare, subject "full",
    subject "full", {draws = 16})
  local enough = compare(subject "full", subject "full", {draws = 32})      -- two of each
  lu.assertEquals(enough[1].n, 32)
end

return tests
