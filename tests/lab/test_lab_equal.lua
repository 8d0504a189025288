--- Tests the numbers of samples that make samplers equal: against trying all numbers, and on
-- methods whose size is known.
local lu = require "luaunit"
local ladies = require "ladies"
local Context = require "ladies.lab.context"
local equal = require "ladies.lab.cost.equal"
local equal_nodes = require "ladies.study.equal_nodes"
local known_method = require "reference.known_method"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local timing = require "ladies.lab.cost.timing"
local toy = require "reference.toy_data"

local OPTS = {batch_size = 20, layers = 2, hidden = 4, steps = 1, seed = 3}

local data = toy.new()
local context = Context.new(data, OPTS)

local tests = {}

local function subjects(list)
  return tables.map(list, function(given) return subject.of("test", given, data, OPTS) end)
end

--- A number of samples with which the sampler fails counts as too small.
function tests.test_sizes_that_fail()
  lu.assertEquals(equal_nodes.nearest(7, 20, function(s)
    if s < 3 then error "no node was drawn" end
    return s
  end), 7)
end

--- Neighbours of a node are at most as many as a node has; nodes of a layer or subgraph, as many as
-- the graph has.
function tests.test_most_samples()
  for method, most in pairs{graphsage = "row", labor = "row", pass = "row", mvs = "row",
    shadow = "row", ladies = "all", asgcn = "all", grapes = "all", graphsaint = "all"} do
    lu.assertEquals(equal_nodes.most({method = method}, data), most == "all"
      and data.graph.n_nodes or data.graph:degrees():max() + 1, method)
  end
end

--- For sizes that ascend, the search finds the number that a comparison of all would find.
function tests.test_nearest_of_all_numbers()
  local rng = ladies.rng(5)
  for _ = 1, 200 do
    local most, sizes, last = rng:below(60), {}, 0
    for s = 1, most do
      last = last + rng:below(5)
      sizes[s] = last
    end
    local wanted, calls = rng:below(200), {}
    local found = equal_nodes.nearest(wanted, most, function(s)
      lu.assertNil(calls[s])
      calls[s] = true
      return sizes[s]
    end)
    local best = math.huge
    for s = 1, most do best = math.min(best, math.abs(sizes[s] - wanted)) end
    lu.assertEquals(math.abs(sizes[found] - wanted), best)
  end
end

function tests.test_equal_entries()
  local list = equal.find(context, subjects{known_method.file("one", 1, 0) .. ":6",
    known_method.file("three", 3, 0) .. ":1", "full"}, "entries", 1)
  lu.assertEquals({list[1].subject.samples, list[2].subject.samples}, {6, 2})
  for i = 1, 2 do
    local entries = list[i].reached.entries
    lu.assertEquals({entries.mean, entries.low, entries.high, entries.n}, {240, 240, 240, 16})
    lu.assertEquals(list[i].reached.samples, list[i].subject.samples)
  end
  lu.assertStrContains(list[2].text, "three (2): 20.0 (20.0 to 20.0) distinct nodes, 240.0 (240.0 "
    .. "to 240.0) entries")
  lu.assertNotStrContains(list[2].text, "no nearer")
  lu.assertNil(list[3].reached.samples)
  lu.assertStrMatches(list[3].text, "full batch: .*; it comes no nearer than %d%.%d+ times the "
    .. "entries")
end

--- At equal seconds a sampler that takes half the time for a sample gets twice the samples; one
-- that is far from equal is not said to come no nearer. The clock is a stand-in, which the samplers
-- set.
function tests.test_equal_seconds()
  local measured = timing.batch
  local _ <close> = setmetatable({}, {__close = function() timing.batch = measured end})
  function timing.batch(...)
    local _, _, batch = measured(...)
    return batch.ms / 1000, 0.002, batch
  end
  local list = equal.find(context, subjects{known_method.file("slow", 1, 1) .. ":8",
    known_method.file("fast", 1, 0.5) .. ":1", known_method.file("coarse", 1, 10) .. ":1"},
    "seconds", 1)
  lu.assertEquals({list[1].subject.samples, list[2].subject.samples}, {8, 16})
  lu.assertStrMatches(list[2].text, "fast .* 10.00 %(10.00 to 10.00%) ms a mini%-batch")
  lu.assertStrMatches(list[3].text, "coarse .*; measured once more it takes 1.20 times the seconds")
end

function tests.test_equal_nodes()
  local list = equal.find(context, subjects{"ladies:15", "fastgcn:3", "graphsage:4"}, "nodes", 1)
  local wanted = list[1].reached.nodes.mean
  lu.assertAlmostEquals(list[2].reached.nodes.mean, wanted, 0.05 * wanted)
  lu.assertTrue(list[2].subject.samples > 3)
  lu.assertEquals(list[3].subject.samples, 1)                       -- one neighbour is too many
  lu.assertStrContains(list[2].subject.title, ("FastGCN (%d)"):format(list[2].subject.samples))
end

function tests.test_equal_samples()
  local given = subjects{"ladies:15", "fastgcn:3", "full"}
  local list = equal.find(context, given, "samples", 1)
  lu.assertEquals(tables.map(list, function(one) return one.subject.title end),
    {"LADIES (15)", "FastGCN (15)", "full batch"})
  lu.assertEquals(given[2].samples, 3)
  for _, one in ipairs(list) do lu.assertNotStrContains(one.text, "no nearer") end
end

--- A subject with other samples draws that many, and the old one as before.
function tests.test_subject_with_samples()
  local one = subjects{"fastgcn:3"}[1]
  local more = one:with_samples(40)
  lu.assertEquals({one.samples, more.samples, more.title}, {3, 40, "FastGCN (40)"})
  lu.assertTrue(#context:draw(context:sampler(one), 1, 1).input <= 3)
  lu.assertTrue(#context:draw(context:sampler(more), 1, 1).input > 10)
end

return tests
