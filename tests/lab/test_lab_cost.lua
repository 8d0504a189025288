--- Tests the laboratory's costs of mini-batches: seconds go to the part that took them, bytes are
-- exact, and the fitted powers are right for samplers whose growth is known.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local Context = require "ladies.lab.context"
local cost = require "ladies.lab.cost"
local known_method = require "reference.known_method"
local scaling = require "ladies.lab.scaling"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local timing = require "ladies.lab.cost.timing"
local toy = require "reference.toy_data"

local OPTS = {batch_size = 20, layers = 2, hidden = 4, steps = 1, seed = 3}

local data = toy.new()
local context = Context.new(data, OPTS)

local tests = {}

local function run_of(given)
  local one = subject.of("test", given, data, OPTS)
  return {context = context, sampler = context:sampler(one),
    known = context:exact(context:propagation_of(one))}
end

-- A sampler of whole neighbourhoods that calls `also` each time.
local function with(also)
  return {name = "mine", sampler = function(P)
    local good = toy.neighbourhoods(P, 2)
    return function(seeds)
      local batch = good(seeds)
      also(batch)
      return batch
    end
  end}
end

-- ---------------------------------------------------------------- seconds

local function busy(seconds)
  local began = core.clock()
  repeat local n = core.clock() - began until n > seconds
end

--- Time in Lua code counts as Lua's, although it calls functions again and again; time in a
-- primitive counts as the primitive's.
function tests.test_seconds_go_to_what_took_them()
  local in_lua = timing.split({run_of(with(function(batch)
    local n, began = 0, os.clock()
    while os.clock() - began < 0.004 do n = n + 1 end
    batch.n = n
  end))}, 1, 8, 0)[1].sampling
  local x = ladies.ones(300, 300)
  local in_C = timing.split({run_of(with(function()
    for _ = 1, 4 do local _ = x:matmul(x) end
  end))}, 1, 8, 0)[1].sampling
  local function share(seen, list)
    local shares = tables.map(seen.whole, function(seconds, i) return list[i] / seconds end)
    table.sort(shares)
    return shares[#shares // 2 + 1]
  end
  lu.assertEquals(#in_lua.whole, 8)
  lu.assertTrue(share(in_lua, in_lua.lua) > 0.6)
  lu.assertTrue(share(in_C, in_C.primitives["Tensor:matmul"]) > 0.3)
  for i = 1, 8 do
    local sum = in_C.lua[i]
    for _, list in pairs(in_C.primitives) do sum = sum + list[i] end
    lu.assertAlmostEquals(sum, in_C.whole[i], 1e-12)
  end
end

--- The time of after_step belongs to the step, and the time of the sampler has no part of a step.
function tests.test_steps()
  local seen = timing.split({run_of(with(function(batch)
    batch.after_step = function() busy(0.003) end
  end))}, 1, 8, 0)[1]
  for i = 1, 8 do lu.assertTrue(seen.step.whole[i] > 0.003) end
  lu.assertTrue(seen.step.primitives["Tensor:backward"][1] > 0)
  lu.assertNil(seen.sampling.primitives["Tensor:backward"])
end

function tests.test_findings()
  local seen = cost.examine({run_of "ladies:8"}, 1, 0)[1]
  local findings, columns = seen.findings, seen.columns
  local by_key = tables.by_field(findings, "key")
  for _, one in ipairs(findings) do
    lu.assertEquals(one.section, "cost")
    lu.assertTrue(one.low <= one.mean and one.mean <= one.high, one.key)
    lu.assertTrue(#one.format:format(one.mean * one.scale) > 0)
  end
  lu.assertEquals(#columns.seconds, by_key["cost.seconds"].n)
  for i, seconds in ipairs(columns.seconds) do
    lu.assertEquals(seconds, columns.sampling[i] + columns.step[i])
  end
  lu.assertNotNil(by_key["cost.sampling.Matrix:draw_cols"])
  lu.assertNotNil(by_key["cost.step.Tensor:backward"])
  lu.assertNotNil(by_key["cost.step.Lua itself"])
  lu.assertTrue(by_key["cost.lua"].mean < 1)
  lu.assertNil(debug.gethook())
end

-- ---------------------------------------------------------------- bytes

--- The bytes of gathered rows, and of all else that a mini-batch holds, are 4 for each number and a
-- small constant for each object.
function tests.test_bytes()
  local function nothing() end
  collectgarbage()                     -- so that none of what other tests left goes in between
  local before = core.memory().total
  local one = ladies.zeros(1000)
  local besides = core.memory().total - before - 4 * #one
  lu.assertTrue(besides >= 0 and besides < 200)
  local plain = timing.bytes(run_of(with(nothing)), 1, 1)
  local more = timing.bytes(run_of(with(function(batch)
    batch.extra = {ladies.zeros(1000), ladies.zeros(30, 10)}
  end)), 1, 1)
  lu.assertEquals(more.blocks - plain.blocks, 4 * 1300 + 2 * besides)
  lu.assertEquals(more.features, plain.features)
  lu.assertEquals(more.step, plain.step)
  local batch = context:draw(run_of(with(nothing)).sampler, 1, 1)
  lu.assertEquals(plain.features, 4 * #batch.input * toy.FEATURES + besides)
  local least = 0                                       -- src, dst, columns and values
  for _, block in ipairs(batch.blocks) do least = least + 4 * (#block.src + block.adj.nnz) end
  lu.assertTrue(plain.blocks >= least and plain.blocks < 6 * least)
  lu.assertTrue(plain.step > 4 * #batch.blocks[1].dst * OPTS.hidden)
end

-- ---------------------------------------------------------------- growth

function tests.test_powers_that_are_known()
  local one = subject.of("test", known_method.file("own", 1) .. ":4", data, OPTS)
  local findings, series = scaling.costs(context, one, 1, 4, 0)
  local by_key, lines = tables.by_field(findings, "key"), tables.by_field(series, "key")
  for _, x in ipairs{"samples", "layers"} do
    local entries = by_key["scaling.entries." .. x]
    lu.assertEquals(entries.n, 10)
    lu.assertAlmostEquals(entries.mean, 1, 1e-9)
    lu.assertAlmostEquals(by_key["scaling.nodes." .. x].mean, 0, 1e-9)
    local seconds = by_key["scaling.seconds." .. x]
    lu.assertTrue(seconds.low <= seconds.mean and seconds.mean <= seconds.high)
    lu.assertStrContains(entries.sentence, "Twice the " .. x .. ": 2.00 times the entries")
  end
  local points = lines["entries.samples"].lines[1].points
  lu.assertEquals(tables.map(points, function(p) return {p[1], p[2]} end),
    {{1, 40}, {2, 80}, {4, 160}, {8, 320}, {16, 640}})
  lu.assertEquals(tables.map(lines["entries.layers"].lines[1].points, function(p) return p[2] end),
    {80, 160, 240, 320})
end

--- Samplers that are given as they are have one size, and so no growth; full batches grow in depth.
function tests.test_what_does_not_grow()
  local findings, series = scaling.costs(context,
    subject.of("test", toy.neighbourhoods(data.graph:normalize "sym", 2), data, OPTS), 1, 3, 0)
  lu.assertEquals({#findings, #series}, {0, 0})
  findings = scaling.costs(context, subject.of("test", "full", data, OPTS), 1, 3, 0)
  for _, one in ipairs(findings) do lu.assertStrMatches(one.key, "scaling%.%l+%.layers") end
  lu.assertEquals(#findings, 3)
end

--- The sentence on a power of the error agrees with its number and interval.
function tests.test_powers_of_errors_in_words()
  local one, seen = subject.of("test", "fastgcn:4", data, OPTS), {}
  for _, found in ipairs(scaling.errors(context, one, 1, 4)) do
    local is_open = found.low < 0 and found.high > 0
    lu.assertStrContains(found.sentence, is_open and "do not tell whether the error grows or falls"
      or ("%.2f"):format(2 ^ found.mean))
    seen[found.key] = found.sentence
  end
  lu.assertNotNil(seen["scaling.samples"] and seen["scaling.layers"])
  for _, found in ipairs(scaling.errors(context, one, 1, 4, true)) do
    lu.assertStrContains(found.sentence, "Rare draws decide")
  end
end

--- Errors that are only rounding are 0, and not points far below all others.
function tests.test_errors_of_rounding()
  local full = subject.of("test", "full", data, OPTS)
  local _, series = scaling.errors(context, full, 1, 3)
  lu.assertEquals(tables.map(series[1].lines[1].points, function(p) return p[2] end), {0, 0, 0})
end

return tests
