--- The laboratory's numbers: those of fixed mini-batches against an independent calculation
-- (fixtures/make_lab.py says how), errors against closed forms of one and two layers, and error,
-- bias and variance of embedding and gradient against all possible draws of a tiny graph.
local lu = require "luaunit"
local ladies = require "ladies"
local context = require "ladies.lab.context"
local estimate = require "ladies.lab.error.estimate"
local exact = require "ladies.lab.error.exact"
local problems = require "ladies.lab.problem"
local graphs = require "reference.graphs"
local measure = require "ladies.lab.error.measure"
local plain = require "reference.plain_gcn"
local statistics = require "ladies.statistics"
local fixture = require "reference.fixture"

local tests = {}

local NAMES = {"layers.1.conv.weight", "layers.1.conv.bias", "layers.2.conv.weight",
  "layers.2.conv.bias"}

local FIXTURE = fixture.open "lab"
local P = ladies.sparse(FIXTURE:tensor "P")

-- A data set with a training part alone, as far as the laboratory needs one.
local function data_of(features, labels, train)
  return {features = features, labels = labels, graph = {n_nodes = #labels}, train = train,
    classes = labels:max()}
end

-- The exact values of a network of two layers with these weights, {W1, b1, W2, b2}.
local function known_of(data, matrix, weights)
  local model = ladies.nn.gcn{inputs = data.features.n_cols, hidden = weights[1].n_cols,
    outputs = weights[3].n_cols, layers = 2, dropout = 0, P = matrix}
  local by_name = {}
  for _, one in ipairs(model:named_parameters()) do by_name[one.name] = one.tensor end
  for i, name in ipairs(NAMES) do by_name[name]:copy_(weights[i]) end
  return exact.of(problems.new("test", data, {}), matrix, model, {})
end

-- ---------------------------------------------------------------- an independent calculation

-- The dense rows `draw` of an array of the fixture as a Matrix.
local function matrix_of(array, draw, n_rows)
  local row = array:slice(draw, draw)
  return ladies.sparse(row:reshape(n_rows, row.n_cols // n_rows))
end

-- The ids of row i of an array of n columns.
local function ids_of(index, i, n) return index:slice((i - 1) * n + 1, i * n) end

-- The mini-batches of the fixture: {seeds =, draws = {batch, ...}} by group.
local function fixed_batches()
  local seeds, upper, lower = FIXTURE:index "seeds", FIXTURE:index "upper", FIXTURE:index "lower"
  local upper_adj, lower_adj = FIXTURE:tensor "upper.adj", FIXTURE:tensor "lower.adj"
  local groups, per_group = {}, 5
  for g = 1, #seeds // 8 do
    local group = {seeds = ids_of(seeds, g, 8), draws = {}}
    for i = 1, per_group do
      local k = (g - 1) * per_group + i
      local near, far = ids_of(upper, k, 10), ids_of(lower, k, 12)
      group.draws[i] = {input = far, output = group.seeds, blocks = {
        {adj = matrix_of(lower_adj, k, 10), dst = near, src = far},
        {adj = matrix_of(upper_adj, k, 8), dst = group.seeds, src = near},
      }}
    end
    groups[g] = group
  end
  return groups
end

local function fixture_known()
  local labels = FIXTURE:index "labels"
  local weights = {}
  for i, name in ipairs{"W1", "b1", "W2", "b2"} do weights[i] = FIXTURE:tensor(name) end
  return known_of(data_of(FIXTURE:tensor "X", labels, ladies.range(1, #labels)), P, weights)
end

--- Errors, biases, variances and scales of layers, embedding and gradient are those of the script.
function tests.test_independent_calculation()
  local known = fixture_known()
  local function check(found, key, group)
    local wanted = FIXTURE:numbers(key)[group]
    for i, number in ipairs{"error", "bias", "variance", "scale"} do
      lu.assertAlmostEquals(found[number], wanted[i], 2e-5 * wanted[1] + 1e-6,
        ("group %d, %s.%s"):format(group, key, number))
    end
  end
  for g, group in ipairs(fixed_batches()) do
    local target, draws = known:gradient(group.seeds), {}
    for _, one in ipairs(g == 1 and target or {}) do
      local wanted = FIXTURE:tensor("exact." .. one.name)
      lu.assertTrue((one.tensor - wanted):norm() < 1e-6 * wanted:norm(), one.name)
    end
    for i, batch in ipairs(group.draws) do draws[i] = estimate.of(known, batch, target) end
    local found = estimate.group(known, draws, target)
    check(found.layers[1], "layers.1", g)
    check(found.layers[2], "layers.2", g)
    check(found.embedding, "embedding", g)
    check(found.gradient, "gradient", g)
    for k, one in ipairs(target) do check(found.parameters[k], "parameters." .. one.name, g) end
  end
end

-- ---------------------------------------------------------------- closed forms

-- Returns ||P(rows, u)||^2 for all columns u as a table.
local function column_squares(dense, rows)
  local a = {}
  for u = 1, #dense do
    a[u] = 0
    for _, v in ipairs(rows) do a[u] = a[u] + dense[v][u] ^ 2 end
  end
  return a
end

local function row_square(row)
  local sum = 0
  for _, x in ipairs(row) do sum = sum + x * x end
  return sum
end

-- ||P(rows, :) Y||^2.
local function product_square(dense, rows, Y)
  local picked = {}
  for i, v in ipairs(rows) do picked[i] = dense[v] end
  local product = plain.matmul(picked, Y)
  return plain.dot(product, product)
end

local function all_rows(dense)
  local list = {}
  for v = 1, #dense do list[v] = v end
  return list
end

-- s draws with replacement from p for all rows together: E ||P~ Y - P Y||^2, summed over the rows.
local function layer_wise(dense, rows, Y, s, p)
  local a, total, sum = column_squares(dense, rows), 0, 0
  for u = 1, #dense do total = total + p[u] end
  for u = 1, #dense do
    if p[u] > 0 then sum = sum + a[u] * row_square(Y[u]) * total / p[u] end
  end
  return (sum - product_square(dense, rows, Y)) / s
end

-- k of the d entries of row v, weighted with d / k: E ||P~ Y - P Y||^2 of the row, with replacement
-- or without (d (d - k) / k times the sample variance of the terms).
local function node_wise(dense, v, Y, k, replace)
  local d, sum, squares = 0, {}, 0
  for u, weight in ipairs(dense[v]) do
    if weight ~= 0 then
      d, squares = d + 1, squares + weight ^ 2 * row_square(Y[u])
      for c, y in ipairs(Y[u]) do sum[c] = (sum[c] or 0) + weight * y end
    end
  end
  if replace then return (d * squares - row_square(sum)) / k end
  if k >= d then return 0 end
  return d * (d - k) / k * (squares - row_square(sum) / d) / (d - 1)
end

-- The second moment of the estimate of an entry, over its square: of k of d entries.
local function moment(d, k, replace)
  if replace then return d / k + (k - 1) / k end
  return k >= d and 1 or d / k
end

-- Makes of samplers, and the formulas of their errors: on rows above exact products Y, and over
-- both layers of a linear network Z = P (P G + beta), where products = P G + beta. The latter is by
-- the law of total variance, the variance of the mean of the lower layer's draws and the mean of
-- their variance.
local S, K = 15, 3
local CASES = {
  ladies = {
    sampler = function() return ladies.samplers.ladies(P, {samples = S, layers = 2, draw = "wr",
      row_normalize = false}) end,
    one = function(dense, rows, Y) return layer_wise(dense, rows, Y, S,
      column_squares(dense, rows)) end,
  },
  fastgcn = {
    sampler = function() return ladies.samplers.fastgcn(P, {samples = S, layers = 2}) end,
    one = function(dense, rows, Y) return layer_wise(dense, rows, Y, S,
      column_squares(dense, all_rows(dense))) end,
    two = function(dense, rows, G)
      local q, sum, total = column_squares(dense, all_rows(dense)), 0, 0
      local function second_moment(Y)                      -- E ||P~ Y||^2
        return product_square(dense, rows, Y) + layer_wise(dense, rows, Y, S, q)
      end
      for u = 1, #dense do total = total + q[u] end
      for u = 1, #dense do
        local column = {}
        for v = 1, #dense do column[v] = {dense[v][u]} end
        sum = sum + second_moment(column) * row_square(G[u]) * total / q[u]
      end
      return (sum - second_moment(plain.matmul(dense, G))) / S
    end,
  },
}
for _, replace in ipairs{false, true} do
  CASES[replace and "graphsage with replacement" or "graphsage"] = {
    sampler = function() return ladies.samplers.graphsage(P, {samples = K, layers = 2,
      form = "unbiased", self_nodes = "none", replace = replace}) end,
    one = function(dense, rows, Y)
      local sum = 0
      for _, v in ipairs(rows) do sum = sum + node_wise(dense, v, Y, K, replace) end
      return sum
    end,
    two = function(dense, rows, G)
      local sum, own = 0, {}
      for w = 1, #dense do own[w] = node_wise(dense, w, G, K, replace) end
      for _, v in ipairs(rows) do
        local d = 0
        for _, weight in ipairs(dense[v]) do d = d + (weight ~= 0 and 1 or 0) end
        for w, weight in ipairs(dense[v]) do
          sum = sum + weight ^ 2 * moment(d, K, replace) * own[w]
        end
      end
      return sum
    end,
  }
end

local function random(n_rows, n_cols, seed)
  return ladies.zeros(n_rows, n_cols):uniform_(0, 1, ladies.rng(seed))
end

-- A network in which ReLU changes nothing, for nothing is below zero.
local function positive_known()
  local data = data_of(random(40, 5, 1), FIXTURE:index "labels", ladies.range(1, 40))
  return data, known_of(data, P, {random(5, 6, 2), random(1, 6, 3):reshape(6), random(6, 3, 4),
    random(1, 3, 5):reshape(3)})
end

-- The numbers of groups of draws, by key.
local function columns_of(data, known, sampler, batch_size, groups, draws, with_gradient)
  local shared = context.new(data, {batch_size = batch_size, layers = 2, seed = 5})
  return measure.columns({context = shared, sampler = sampler, known = known, statistics = {},
    draws = draws, name = "sampler", without_gradient = not with_gradient}, 1, groups), shared
end

--- There are as many groups as make the half of Student's interval a tenth of the mean: the 8 of
-- the pilot have the mean 2, the deviation 0.53 and the quantile 2.36. There are at least 16, and
-- no more than time allows, or than 400: then it is told how many there should be.
function tests.test_groups_for_a_precision()
  local own = measure.columns
  function measure.columns(_, first, last)
    local list = {}
    for i = first, last do list[#list + 1] = i % 2 + 1.5 end
    return {["embedding.error"] = list}
  end
  local found = {}
  for i, opts in ipairs{{0.1, 1e6}, {0.1, 0}, {1, 1e6}, {0.01, 1e6}} do
    local ok, sample = pcall(measure.run, {draws = 2}, {precision = opts[1], seconds = opts[2]})
    found[i] = ok and {sample.groups, #sample.columns["embedding.error"], sample.wanted} or sample
  end
  measure.columns = own
  lu.assertEquals(found, {{40, 40}, {16, 16, 40}, {16, 16}, {400, 400, 3994}})
end

-- Holds the mean of a list's numbers to what is expected of each, at 1e-6; `width` bounds what the
-- interval may be off by, as a share of the expected.
local function check_mean(name, list, expected, width)
  local off, mean = {}, 0
  for i, x in ipairs(list) do
    off[i], mean = x - expected[i], mean + expected[i] / #list
  end
  local interval = statistics.interval(off, 1 - 1e-6)
  lu.assertTrue(interval.low <= 0 and interval.high >= 0,
    ("%s: off by %g to %g of %g"):format(name, interval.low, interval.high, mean))
  lu.assertTrue(interval.high - interval.low < 2 * width * mean, ("%s: +-%g of %g"):format(name,
    (interval.high - interval.low) / 2, mean))
end

--- The errors that are measured are those of the formulas: of the last layer above exact values, of
-- the network over both layers; and none of these samplers has a bias in either.
function tests.test_closed_forms()
  local data, known = positive_known()
  local dense, top = P:to_dense():to_table(), known.products[2]:to_table()
  local G = known.products[1]:matmul(known.model.layers[2].conv.weight:detach()):to_table()
  local groups = 120
  for name, case in pairs(CASES) do
    local columns, shared = columns_of(data, known, case.sampler(), 8, groups, 5)
    local one, two = {}, {}
    for g = 1, groups do
      local rows = shared:seeds(g):to_table()
      local upper = case.one(dense, rows, top)
      one[g] = upper / #rows / known.signal[2]
      two[g] = case.two and (upper + case.two(dense, rows, G)) / #rows / known.signal.embedding
    end
    check_mean(name .. ", one layer", columns["layers.2.error"], one, 0.2)
    check_mean(name .. ", variance", columns["layers.2.variance"], one, 0.2)
    if case.two then check_mean(name .. ", two layers", columns["embedding.error"], two, 0.2) end
    for _, key in ipairs{"layers.2.bias", "embedding.bias"} do
      local interval = statistics.interval(columns[key], 1 - 1e-6)
      lu.assertTrue(interval.low <= 0 and interval.high >= 0, name .. " " .. key)
    end
  end
end

-- ---------------------------------------------------------------- all possible draws

local TINY = graphs.matrix(6, {{1, 2}, {2, 1}, {1, 3}, {3, 1}, {3, 4}, {4, 3}, {4, 5}, {5, 4},
  {5, 6}, {6, 5}, {2, 5}, {5, 2}}):normalize "sym"
local SEEDS, DRAWN = {2, 5}, 2

-- Calls f(block, src, probability) for all blocks that LADIES with replacement has for the rows
-- dst: an N x N matrix of row-normalised P~, and the nodes drawn.
local function each_block(dense, dst, f)
  local n, p, total = #dense, column_squares(dense, dst), 0
  for u = 1, n do total = total + p[u] end
  for a = 1, n do
    for b = 1, n do
      local probability = p[a] * p[b] / total ^ 2
      if probability > 0 then
        local block = {}
        for v = 1, n do
          block[v] = {}
          for u = 1, n do block[v][u] = 0 end
        end
        for _, v in ipairs(dst) do
          local sum = 0
          for _, u in ipairs{a, b} do
            local weight = dense[v][u] * total / (DRAWN * p[u])
            block[v][u], sum = block[v][u] + weight, sum + weight
          end
          for u = 1, n do block[v][u] = sum > 0 and block[v][u] / sum or 0 end
        end
        f(block, a == b and {a} or {a, b}, probability)
      end
    end
  end
end

-- The rows dst and columns src of an N x N table, as a block of a mini-batch.
local function block_of(block, dst, src)
  local entries = {}
  for i, v in ipairs(dst) do
    entries[i] = {}
    for j, u in ipairs(src) do entries[i][j] = block[v][u] end
  end
  return {adj = ladies.sparse(ladies.tensor(entries)), dst = ladies.index(dst),
    src = ladies.index(src)}
end

-- Sums of an error's squares and of the error itself, over draws with their probabilities.
local function moments_of()
  local square, mean = 0, nil
  return {
    add = function(error, probability)
      square = square + probability * plain.dot(error, error)
      local zero = mean or plain.add(error, error, -1)
      mean = plain.add(zero, error, probability)
    end,
    numbers = function(norm)
      local bias = plain.dot(mean, mean) / norm
      return {error = square / norm, bias = bias, variance = square / norm - bias}
    end,
  }
end

local function rows_of(a, rows)
  local list = {}
  for i, v in ipairs(rows) do list[i] = a[v] end
  return list
end

-- The gradients by parameter as one matrix of one row.
local function flat(gradients)
  local row = {}
  for _, name in ipairs(NAMES) do
    for _, line in ipairs(gradients[name]) do table.move(line, 1, #line, #row + 1, row) end
  end
  return {row}
end

-- Numbers as a table of tables, whether a vector or a matrix.
local function as_rows(tensor)
  local list = tensor:to_table()
  return type(list[1]) == "table" and list or {list}
end

--- Error, bias and variance over all draws of two nodes, twice: by plain tables, and by what the
-- laboratory makes of every mini-batch, alike to rounding; and the intervals of draws hold them.
function tests.test_enumeration()
  local function normal(n_rows, n_cols, seed)
    return ladies.zeros(n_rows, n_cols):normal_(0.8, ladies.rng(seed))
  end
  local labels = {1, 2, 1, 2, 2, 1}
  local data = data_of(normal(6, 3, 1), ladies.index(labels), ladies.index(SEEDS))
  local weights = {normal(3, 4, 2), normal(1, 4, 3):reshape(4), normal(4, 2, 4),
    normal(1, 2, 5):reshape(2)}
  local known = known_of(data, TINY, weights)
  local target = known:gradient(ladies.index(SEEDS))
  local order = {}
  for i, one in ipairs(target) do order[one.name] = i end
  local dense = TINY:to_dense():to_table()
  local net = {X = data.features:to_table(), W1 = weights[1]:to_table(),
    b1 = weights[2]:to_table(), W2 = weights[3]:to_table(), b2 = weights[4]:to_table()}
  local Z = plain.forward(net, dense, dense)
  local exact_gradient = flat(plain.gradients(net, dense, dense, labels, SEEDS))

  local plain_embedding, plain_gradient = moments_of(), moments_of()
  local lab_embedding, lab_gradient, sum = moments_of(), moments_of(), 0
  each_block(dense, SEEDS, function(upper, near, p)
    each_block(dense, near, function(lower, far, q)
      local probability = p * q
      sum = sum + probability
      plain_embedding.add(plain.add(rows_of(plain.forward(net, lower, upper), SEEDS),
        rows_of(Z, SEEDS), -1), probability)
      plain_gradient.add(plain.add(flat(plain.gradients(net, lower, upper, labels, SEEDS)),
        exact_gradient, -1), probability)
      local draw = estimate.of(known, {blocks = {block_of(lower, near, far),
        block_of(upper, SEEDS, near)}, input = ladies.index(far), output = ladies.index(SEEDS)},
        target)
      lab_embedding.add(draw.embedding.error:to_table(), probability)
      local by_name = {}
      for _, name in ipairs(NAMES) do by_name[name] = as_rows(draw.gradient[order[name]]) end
      lab_gradient.add(flat(by_name), probability)
    end)
  end)
  lu.assertAlmostEquals(sum, 1, 1e-9)

  local Z_square, gradient_square = plain.dot(Z, Z) / 6, plain.dot(exact_gradient, exact_gradient)
  local wanted = {embedding = plain_embedding.numbers(#SEEDS * Z_square),
    gradient = plain_gradient.numbers(gradient_square)}
  local found = {embedding = lab_embedding.numbers(#SEEDS * known.signal.embedding),
    gradient = lab_gradient.numbers(gradient_square)}
  local columns = columns_of(data, known, ladies.samplers.ladies(TINY, {samples = DRAWN,
    layers = 2, draw = "wr"}), 2, 200, 16, true)
  for _, what in ipairs{"embedding", "gradient"} do
    lu.assertTrue(wanted[what].bias > 0.02 * wanted[what].error, "there is a bias to find")
    for _, number in ipairs{"error", "bias", "variance"} do
      lu.assertAlmostEquals(found[what][number], wanted[what][number], 1e-5 * wanted[what].error)
      local expected = {}
      for i = 1, 200 do expected[i] = wanted[what][number] end
      check_mean(what .. "." .. number, columns[what .. "." .. number], expected,
        number == "bias" and 1.5 or 0.3)
    end
  end
end

return tests
