--- Tests the parts of `ladies bench`: loops, counts, ratios, comparisons. No time is tested.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local arithmetic = require "experiments.bench.arithmetic"
local check = require "experiments.bench.check"
local graphs = require "reference.graphs"
local json = require "ladies.base.json"
local kernels = require "experiments.bench.kernels"
local machine = require "experiments.bench.machine"
local names = require "experiments.bench.names"
local paired = require "experiments.bench.paired"
local picture = require "experiments.bench.picture"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local limits = machine.limits()

local tests = {}

-- ---------------------------------------------------------------- loops

local function random(n_rows, n_cols)
  return ladies.zeros(n_rows, n_cols):normal_(1, ladies.rng(5))
end

local function assert_near(a, b)
  lu.assertTrue((a - b):norm() <= 1e-5 * (1 + b:norm()))
end

--- The plain loops do move the data that they claim to move.
function tests.test_loops()
  local a, b, c = random(70, 33), random(70, 33) * 2, ladies.zeros(70, 33)
  limits.copy(a, c)
  assert_near(c, a)
  limits.add(a, b, c)
  assert_near(c, a + b)
  limits.read(a)
  local sum = a + b + c + c
  limits.update(a, b, c, c:clone())
  assert_near(a, sum)
  assert_near(b, sum)
  assert_near(c, sum)
  local ids, picked = ladies.index{70, 1, 7, 7}, ladies.zeros(4, 33)
  limits.gather(a, picked, ids)
  assert_near(picked, a:rows(ids))
end

function tests.test_loops_over_a_matrix()
  local A = graphs.random(40, 4, 3)
  local h, out = random(40, 20), ladies.ones(40, 20)
  limits.add_rows(A, h, out)
  local ones = core.matrix{n_rows = 40, n_cols = 40, rows = A:row_of(), cols = A:col_of()}
  assert_near(out, ones:matmul(h))
  limits.visit(A, ladies.index{1, 40, 3})
end

function tests.test_products()
  local side = limits.side
  local a, b, c = ladies.ones(2 * side * side), ladies.ones(2 * side * side),
    ladies.zeros(2 * side * side)
  lu.assertEquals(limits.multiply(a, b, c), 4 * side ^ 3)
  assert_near(c, a * side)
end

-- ---------------------------------------------------------------- ratios

--- The two are called in turn, first the one and then the other; what they return is their time.
function tests.test_pairs()
  local order = {}
  local function f()
    order[#order + 1] = "f"
    return 0.5
  end
  local function g()
    order[#order + 1] = "g"
    return 2
  end
  local of_f, of_g = paired.measure(f, g, 0)
  lu.assertEquals(of_f, {0.5, 0.5, 0.5})
  lu.assertEquals(of_g, {2, 2, 2})
  lu.assertEquals(table.concat(order), "fg" .. "fg" .. "gf" .. "fg")     -- the first warm up
  lu.assertTrue(paired.measure(function() end, function() end, 0)[1] >= 0)
end

-- ---------------------------------------------------------------- arithmetic

-- The number of multiplications of a dense product, or of a sparse one, times two.
local function dense(m, k, n) return 2 * m * k * n end

function tests.test_arithmetic()
  local data = toy.new()
  local P = data.graph:normalize "sym"
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2,
    head = "linear"}
  local batch = toy.neighbourhoods(P, 2)(data.train:slice(1, 5), ladies.rng(1))
  local first, second = batch.blocks[1].adj, batch.blocks[2].adj
  local function layer(adj, inputs, outputs)
    return math.min(dense(adj.n_cols, inputs, outputs) + 2 * adj.nnz * outputs,
      dense(adj.n_rows, inputs, outputs) + 2 * adj.nnz * inputs)
  end
  local function order(adj, inputs, outputs)      -- 1 where the propagation is on the inputs
    return layer(adj, inputs, outputs) < dense(adj.n_cols, inputs, outputs) + 2 * adj.nnz * outputs
  end
  local propagate_first = order(first, toy.FEATURES, 16)
  local propagation = 2 * first.nnz * (propagate_first and toy.FEATURES or 16)
  local expected = 2 * layer(first, toy.FEATURES, 16) - propagation
    + 3 * layer(second, 16, 16) - 2 * second.nnz * 16 + 3 * dense(5, 16, 3)
  lu.assertEquals(arithmetic.of_step(model, data.features, batch), expected)
  local sparse = ladies.sparse(data.features)
  lu.assertEquals(arithmetic.of_step(model, sparse, batch) - 3 * layer(second, 16, 16)
    + 2 * second.nnz * 16 - 3 * dense(5, 16, 3),
    2 * 2 * sparse:rows(batch.input).nnz * 16 + 2 * 2 * first.nnz * 16)
  local products, columns = arithmetic.of_inference(model, sparse, P)
  lu.assertEquals(columns, 32)
  lu.assertEquals(products, 2 * sparse.nnz * 16 + dense(P.n_rows, 16, 16) + dense(P.n_rows, 16, 3))
end

--- A sparse product has two operations for each entry and column, and moves four bytes for each
-- element of the rows that it adds and of those that it makes.
function tests.test_counts_of_a_product()
  local A = graphs.random(40, 4, 3)
  for _, group in ipairs(kernels.groups) do
    if group[1] == "SpMM" then
      local case = group[2]{rng = ladies.rng(1), P = A, block = {adj = A}, features = A,
        limits = limits}[1]
      lu.assertEquals({case.flops, case.bytes}, {2 * A.nnz * 256, 4 * (A.nnz + 40) * 256})
      return
    end
  end
  lu.fail "there is no group SpMM"
end

-- ---------------------------------------------------------------- comparisons

local function result(name, best)
  return {group = "a", name = name, of = "copy", best = best}
end

function tests.test_check()
  local before = {result("b", 80), result("c", 50), {group = "start", name = "s", best = 1}}
  local kept = check.kept(before)
  lu.assertEquals(kept, {["a: b"] = 80, ["a: c"] = 50})
  local now = {result("b", 66), result("c", 30), result("e", 1), before[3]}
  local slower, unknown = check.slower(now, kept)
  lu.assertEquals(#slower, 1)                     -- b is within what is allowed
  lu.assertEquals(slower[1].result.name, "c")
  lu.assertAlmostEquals(slower[1].times, 50 / 30, 1e-9)
  lu.assertEquals(unknown, {"a: e"})
  lu.assertStrContains(check.text(slower), "a: c: 1.67 times as slow as it was (30.0 % of copy)")
  lu.assertEquals(check.confirmed(slower, {result("c", 45)}, kept), {})
  lu.assertEquals(check.confirmed(slower, {result("c", 25)}, kept)[1].times, 2)
end

-- The results of a primitive that takes `times` as long as its loop, on a machine that is `speed`
-- times as fast as another, and where others are at work in all rounds but one in eight.
local function rounds(times, speed, rng)
  local ours, limit = {}, {}
  for i = 1, 40 do
    local function busy() return (i % 8 == 3 and 1 or 1 + 9 * rng:uniform()) / speed end
    ours[i], limit[i] = 3e-3 * times * busy(), 2e-3 * busy()
  end
  return {group = "a", name = "b", best = paired.best(limit, ours, 100)}
end

--- The check reports a case that is twice as slow and not one that is a twentieth slower, whatever
-- the speed of the machine.
function tests.test_check_on_busy_machines()
  local rng = ladies.rng(1)
  local kept = check.kept{rounds(1, 1, rng)}
  for _, speed in ipairs{0.3, 1, 5} do
    lu.assertAlmostEquals(check.slower({rounds(2, speed, rng)}, kept)[1].times, 2, 1e-3)
    lu.assertEquals(check.slower({rounds(1.05, speed, rng)}, kept), {})
    lu.assertEquals(check.slower({rounds(0.5, speed, rng)}, kept), {})
  end
end

--- Results are kept for the vector units of most machines, of nearly the same parts.
function tests.test_kept_results()
  local all = json.decode(core.file.read(ladies.home() .. "/scripts/bench/kept.json"))
  for _, units in ipairs{"AVX2", "AVX-512"} do
    local count = 0
    for name, percent in pairs(all[units]) do
      lu.assertTrue(percent > 0 and percent < 1e6, name)
      count = count + 1
    end
    lu.assertTrue(count > 20)
  end
end

-- ---------------------------------------------------------------- the whole

--- Every group measures something; those with large work are left to the command.
function tests.test_measure()
  local told = {}
  local results = machine.measure{seconds = 0.001, program = "ladies",
    only = {"elementwise", "optimizer"}, told = function(one) told[#told + 1] = one.name end}
  lu.assertEquals(tables.map(results, function(one) return one.name end), told)
  lu.assertEquals(#results, 12)
  for _, one in ipairs(results) do
    lu.assertTrue(one.ms.median > 0 and one.percent.median > 0 and one.gb_s > 0, one.name)
  end
  local text = machine.table(results)
  lu.assertStrContains(text, "elementwise: relu, backward")
  lu.assertEquals(select(2, text:gsub("\n", "")), 13)
end

function tests.test_picture()
  local text = picture("a < b", {{name = "x", median = 75, low = 60, high = 400}})
  lu.assertStrContains(text, "a &lt; b")
  lu.assertStrContains(text, 'width="210.0"')     -- half of 150 %
  lu.assertStrContains(text, 'x2="785.0"')        -- what is beyond stays within
  lu.assertEquals(text:match "</svg>\n$", "</svg>\n")
end

--- The manual of `ladies bench` has every measurement.
function tests.test_names()
  local manual = core.file.read(ladies.home() .. "/scripts/bench.lua")
  local count = 0
  for name in names():gmatch "[^, ]+" do
    lu.assertStrContains(manual, "--   ladies bench " .. name)
    count = count + 1
  end
  lu.assertTrue(count >= 12)
end

return tests
