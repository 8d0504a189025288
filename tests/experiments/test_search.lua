--- `ladies lab search`: its points compute what the named samplers compute, the best points go on,
-- intervals hold for all that are compared at once, a search that was stopped goes on, and the
-- answer follows from the numbers.

local lu = require "luaunit"
local ladies = require "ladies"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local graphs = require "reference.graphs"
local measure = require "experiments.search.measure"
local ratios = require "experiments.search.ratios"
local results = require "experiments.search.results"
local search = require "experiments.search"
local shell = require "tools.shell"
local space = require "experiments.search.space"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"

local tests = {}

local P = graphs.random(80, 6, 1):normalize "sym"
local SEEDS = ladies.range(1, 12)

local function sampler_of(point, samples)
  return assert(load(point.file))()(P, {samples = samples, layers = 2})
end

-- ---------------------------------------------------------------- the space

--- Every point of the quick search draws mini-batches as samplers must, and no two are one.
function tests.test_every_point_draws()
  local seen = {}
  for _, point in ipairs(space.points(true)) do
    lu.assertNil(seen[point.name], point.name)
    lu.assertStrMatches(point.name, "[%w_]+")
    seen[point.name] = true
    ladies.sampling.check(sampler_of(point, 6)(SEEDS, ladies.rng(1)), point.name)
  end
end

--- The points of the whole space can all be made, and it has the quick one's in it.
function tests.test_the_whole_space()
  local all = tables.by_field(space.points(false), "name")
  for name, point in pairs(all) do
    lu.assertTrue(pcall(sampler_of, point, 6), name)
  end
  for _, point in ipairs(space.points(true)) do lu.assertNotNil(all[point.name], point.name) end
end

--- The samplers with which points are compared come first, and are the methods of these names.
function tests.test_the_known_ones()
  local list, samplers = space.points(true), ladies.samplers
  local expected = {
    {"LADIES", samplers.ladies(P, {samples = 6, layers = 2})},
    {"LADIES, self nodes", samplers.ladies(P, {samples = 6, layers = 2, self_nodes = "previous"})},
    {"GraphSAGE", samplers.graphsage(P, {samples = {3, 3}, form = "unbiased"})},
    {"LABOR", samplers.labor(P, {samples = {3, 3}, form = "unbiased"})},
    {"pooled", samplers.pooled(P, {samples = {3, 3}})},
  }
  for i, one in ipairs(expected) do
    lu.assertEquals(list[i].title, one[1])
    lu.assertEquals(ladies.sampling.hash(sampler_of(list[i], 6)(SEEDS, ladies.rng(2))),
      ladies.sampling.hash(one[2](SEEDS, ladies.rng(2))), one[1])
  end
  lu.assertNil(list[#expected + 1].title)
end

-- ---------------------------------------------------------------- ratios

local function record(error, seconds)
  return {columns = {["gradient.error"] = error}, ratios = seconds}
end

function tests.test_ratios()
  local one = record({1, 2, 3, 2, 1, 3, 2, 2}, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2})
  local other = record({4, 4, 4, 4, 4, 4, 4, 4}, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4})
  local plain, strict = ratios.of(one, other, 0.95), ratios.of(one, other, ratios.level(40))
  lu.assertAlmostEquals(plain.mean, 0.5 * 0.5, 1e-12)
  lu.assertTrue(strict.low < plain.low and plain.high < strict.high)
  -- By hand: the half width of the ratio's interval is that of the mean error's, with a third of
  -- the error probability.
  local half = statistics.student(1 - 0.05 / 3, 7) * statistics.deviation(
    one.columns["gradient.error"]) / math.sqrt(8) / 4
  lu.assertAlmostEquals(plain.high, (0.5 + half) * 0.5, 1e-6)
  lu.assertAlmostEquals(ratios.beside_ladies(one, other, 0.95).mean, 0.5 * 2, 1e-12)
  lu.assertAlmostEquals(ratios.level(40), 1 - 0.05 / 40, 1e-12)
end

function tests.test_score()
  local one = record({1, 3}, {2, 2, 2})
  lu.assertAlmostEquals(ratios.score{one, one}, math.log(4), 1e-12)
  lu.assertNil(ratios.score{one, {failure = "it fails"}})
end

-- ---------------------------------------------------------------- a search

local NAMES = {"squared_norms_layer_poisson_design_none_none",
  "squared_norms_layer_wor_debiased_sums_previous", "uniform_layer_wr_design_none_none",
  "norms_layer_wor_design_rows_previous"}

local OPTIONS = {quick = true, datasets = {"power-law", "communities"}, seeds = 2, seconds = 0.05,
  trained = 1, quiet = true, out = temporary.path "search",
  points = NAMES,
  rungs = {{groups = 3, draws = 2, batches = 3, left = 2},
    {groups = 6, draws = 2, batches = 5}}}

local report = search(OPTIONS)

local function records()
  local by_key, n = {}, 0
  for line in io.lines(OPTIONS.out .. "/results.jsonl") do
    local one = json.decode(line)
    by_key[one.key], n = one, n + 1
  end
  return by_key, n
end

--- The two points with the least error x time of the first rung are in the last one; those that
-- others are set beside are there too.
function tests.test_the_best_go_on()
  local by_key, scores = records(), {}
  for _, name in ipairs(NAMES) do
    scores[#scores + 1] = {name = name, score = ratios.score(tables.map(OPTIONS.datasets,
      function(graph) return by_key[("rung 1, %s, %s"):format(graph, name)] end))}
  end
  table.sort(scores, function(a, b) return a.score < b.score end)
  for i, one in ipairs(scores) do
    lu.assertEquals(by_key["rung 2, power-law, " .. one.name] ~= nil, i <= 2, one.name)
  end
  lu.assertNotNil(by_key["rung 2, communities, pooled_mean_none"])
  lu.assertEquals(#report.tables, 2)
  lu.assertEquals(#report.tables[1], 1 + 5 + 2)
end

--- All have as many distinct nodes as pooled draws, but those by rows, whose samples are few.
function tests.test_equal_nodes()
  local by_key = records()
  for _, graph in ipairs(OPTIONS.datasets) do
    local wanted = by_key["nodes, " .. graph].nodes
    for _, name in ipairs(NAMES) do
      local found = by_key[("rung 1, %s, %s"):format(graph, name)].nodes
      lu.assertTrue(math.abs(found / wanted - 1) < 0.03, ("%s: %g"):format(name, found / wanted))
    end
  end
end

--- The answer prints in bold what the intervals of the table show to be better.
function tests.test_the_answer_follows_from_the_intervals()
  local by_key, is_better = records(), {}
  local level = ratios.level(7 * 2)
  for _, name in ipairs(NAMES) do
    for _, graph in ipairs(OPTIONS.datasets) do
      local own = by_key[("rung 2, %s, %s"):format(graph, name)]
      local better = own ~= nil
      for i = 1, 5 do
        local known = by_key[("rung 2, %s, %s"):format(graph, space.points(true)[i].name)]
        better = better and ratios.of(own, known, level).high < 1
      end
      is_better[name .. graph] = better
    end
    local all = is_better[name .. "power-law"] and is_better[name .. "communities"]
    local any = is_better[name .. "power-law"] or is_better[name .. "communities"]
    lu.assertEquals(report.notes[1]:find(name, 1, true) ~= nil, any, report.notes[1])
    if all then lu.assertStrContains(report.notes[1], name .. " on 2 of 2 graphs") end
  end
end

--- The answer names each point that is better somewhere, with these graphs and those on which it is
-- worse; a graph that is a file by the name of that.
function tests.test_the_answer()
  local function measured_as(error)
    local list = {error, error * 1.01, error * 0.99, error, error * 1.01, error * 0.99}
    return {columns = {["gradient.error"] = list, ["gradient.bias"] = list,
      ["embedding.error"] = list}, ratios = tables.repeated(1, 40), nodes = 10, samples = 4}
  end
  local function point(name, title, one, two)
    local of_graphs = {one = measured_as(one), ["./of/two.npz"] = measured_as(two)}
    return {name = name, title = title, records = {of_graphs}, in_time = of_graphs}
  end
  local known, notes = point("known", "LADIES", 1, 1), {}
  local noted = {heading = function() end, table = function() end, picture = function() end,
    note = function(_, text) notes[#notes + 1] = text end}
  local function said(...)
    local points = {known, ...}
    notes = {}
    results.show(noted, {rungs = {{groups = 6, draws = 2}}, names = {"one", "./of/two.npz"},
      points = points, opts = {seeds = 2, seconds = 1}}, points)
    return notes[1]
  end
  local all, some, none = point("all", nil, 0.2, 0.2), point("some", nil, 0.2, 2),
    point("none", nil, 2, 2)
  lu.assertEquals(said(all, some, none), "Less gradient error × time than each of LADIES: all on 2 "
    .. "of 2 graphs (one, two); some on 1 of 2 graphs (one), and more than one of them on two.")
  lu.assertStrMatches(said(none), "No point .* on any of one, two, as far as the intervals tell%.")
end

--- A busy moment while a number of samples is looked for does not decide it.
function tests.test_samples_in_time()
  local calls = 0
  local function busy_once(samples)
    calls = calls + 1
    return calls == 6 and 2 or samples / 300         -- the sixth is of 32 samples
  end
  lu.assertEquals(measure.in_time(busy_once, 1000), 300)
  lu.assertEquals(measure.in_time(function(samples) return samples / 300 end, 100), 100)
  lu.assertEquals(measure.in_time(function(samples) return 0.7 * samples ^ 2 end, 100), 1)
  lu.assertEquals(measure.in_time(function() errors.fail "no draw" end, 8), 7)
end

--- A search that is called again finds all measured; a point is a file that other commands take.
function tests.test_it_goes_on()
  local _, before = records()
  local again = search(OPTIONS)
  lu.assertEquals(select(2, records()), before)
  lu.assertEquals(tostring(again), tostring(report))
  local file = OPTIONS.out .. "/points/squared_norms_layer_wor_debiased_sums_previous.lua"
  local batch = dofile(file)(P, {samples = 5, layers = 2})(SEEDS, ladies.rng(1))
  lu.assertTrue(#batch.input > 5)
  for _, picture in ipairs(report.pictures) do
    lu.assertStrContains(ladies.file.read(("%s/%s.svg"):format(report.folder, picture.name)),
      "LADIES, self nodes")
  end
  for number = 1, 2 do
    lu.assertStrMatches(report.tables[1][6 + number][1], number .. ": [%w_]+")
  end
end

function tests.test_command()
  local out = shell.succeeded(shell.run_ladies{"lab", "search", "--help"})
  lu.assertStrContains(out, "usage: ladies lab search [--quick] [options]")
  local _, err, wrong = shell.run_ladies{"lab", "search", "--datasets", "no_such_graph"}
  lu.assertTrue(wrong ~= 0)
  lu.assertStrContains(err, "no_such_graph")
  _, err, wrong = shell.run_ladies{"lab", "search", "--quick", "--points", "sums_layer_wr"}
  lu.assertTrue(wrong ~= 0)
  lu.assertStrContains(err, 'ladies lab search: there is no point "sums_layer_wr"')
end

return tests
