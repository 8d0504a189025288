--- A small layer whose estimates are computed by the book from all outcomes of a draw, with their
-- exact probabilities: means, variances and biases, and whether a sampler draws so.

local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"

local layer = {}

-- Three rows that share columns, one of them with fewer entries than are drawn and one without a
-- self-loop; the others give column 5 an entry that no row of the seeds has.
local N, SEEDS = 7, {1, 2, 4}
local P = graphs.matrix(N, {{1, 1, 0.5}, {1, 2, 0.25}, {1, 3, 0.4}, {1, 6, 0.8}, {2, 2, 0.3},
  {2, 3, 0.7}, {2, 4, 0.35}, {4, 1, 0.6}, {4, 7, 0.4}, {3, 5, 0.8}, {5, 5, 0.2}, {6, 1, 0.9},
  {7, 3, 0.5}})
local DENSE = P:to_dense():to_table()
-- The input of the layer; its exact outputs are P's rows times it.
local X = {1, -2, 3, 0.5, 7, 2, -1}

layer.N, layer.SEEDS, layer.P, layer.DENSE, layer.X = N, SEEDS, P, DENSE, X

--- Puts the outcomes {nodes = a set, probability =} of the same nodes together, after the nodes
-- that are there for certain were added. Returns them, with a `key`, and a table of them by it.
function layer.merged(list, self_nodes)
  local by_key, found = {}, {}
  for _, one in ipairs(list) do
    if self_nodes ~= "none" then
      for _, v in ipairs(SEEDS) do one.nodes[v] = true end
    end
    local names = {}
    for u = 1, N do names[#names + 1] = one.nodes[u] and u or nil end
    one.key = table.concat(names, " ")
    if by_key[one.key] then
      by_key[one.key].probability = by_key[one.key].probability + one.probability
    else
      by_key[one.key], found[#found + 1] = one, one
    end
  end
  return found, by_key
end

--- The probability that all of these nodes are drawn.
function layer.chance(list, ...)
  local total = 0
  for _, one in ipairs(list) do
    local all = true
    for _, u in ipairs{...} do all = all and one.nodes[u] end
    total = total + (all and one.probability or 0)
  end
  return total
end

--- The estimates of the rows of the seeds times X from an outcome, by the definition: 0 of a row
-- that has none of the nodes.
function layer.estimates(one, pi, form)
  local z = {}
  for i, v in ipairs(SEEDS) do
    local sum, weight, of_row = 0, 0, 0
    for u = 1, N do
      of_row = of_row + DENSE[v][u]
      if one.nodes[u] then
        sum = sum + DENSE[v][u] / pi[u] * X[u]
        weight = weight + DENSE[v][u] / pi[u]
      end
    end
    z[i] = form == "unbiased" and sum or weight > 0 and sum / weight * of_row or 0
  end
  return z
end

-- The sum of a row, and its estimate from an outcome with the weights 1 / pi.
local function row_sums(one, v, pi)
  local estimate, sum = 0, 0
  for u = 1, N do
    sum = sum + DENSE[v][u]
    if one.nodes[u] then estimate = estimate + DENSE[v][u] / pi[u] end
  end
  return sum, estimate
end

--- The bias of the form "mean" in the row of seed i, as doc/samplers.md has it: minus the
-- covariance of the estimate and of the estimated row sum, divided by the row sum.
function layer.ratio_bias(list, pi, i)
  local both, mean, mean_sum, sum = 0, 0, 0, nil
  for _, one in ipairs(list) do
    local z = layer.estimates(one, pi, "mean")[i]
    local of_row, estimate = row_sums(one, SEEDS[i], pi)
    both, mean = both + one.probability * z * estimate, mean + one.probability * z
    mean_sum, sum = mean_sum + one.probability * estimate, of_row
  end
  return -(both - mean * mean_sum) / sum
end

--- The mean and variance of each row's estimate over the outcomes.
function layer.moments(list, pi, form)
  local mean, second = {}, {}
  for i in ipairs(SEEDS) do mean[i], second[i] = 0, 0 end
  for _, one in ipairs(list) do
    for i, z in ipairs(layer.estimates(one, pi, form)) do
      mean[i] = mean[i] + one.probability * z
      second[i] = second[i] + one.probability * z * z
    end
  end
  for i in ipairs(SEEDS) do second[i] = second[i] - mean[i] ^ 2 end
  return mean, second
end

--- The probability of each node.
function layer.probabilities(list)
  local pi = {}
  for u = 1, N do pi[u] = layer.chance(list, u) end
  return pi
end

--- The row of P times X.
function layer.exact(v)
  local z = 0
  for u = 1, N do z = z + DENSE[v][u] * X[u] end
  return z
end

--- Checks that what a sampler draws are these outcomes, as often as it should be, with the weights
-- of the definition. what: the number of the random stream, which messages name.
function layer.assert_draws(sampler, list, by_key, form, self_nodes, what)
  local runs, x, pi = 2000, ladies.tensor(X):reshape(N, 1), layer.probabilities(list)
  local counts, rng = {}, ladies.rng(what)
  for i = 1, runs do
    local block = sampler(ladies.index(SEEDS), rng:fork(i)).blocks[1]
    local key = table.concat(block.src:sort():to_table(), " ")
    local one = by_key[key]
    lu.assertNotNil(one, "no such outcome: " .. key)
    if not counts[key] then
      local z = block.adj:matmul(x[block.src]):to_table()
      for j, want in ipairs(layer.estimates(one, pi, form)) do
        lu.assertAlmostEquals(z[j][1], want, 1e-5 * (1 + math.abs(want)))
      end
      if self_nodes ~= "none" then
        lu.assertEquals(block.src:slice(1, #SEEDS):to_table(), SEEDS)
      end
    end
    counts[key] = (counts[key] or 0) + 1
  end
  local means = {}
  for _, one in ipairs(list) do means[one.key] = runs * one.probability end
  statistics.assert_frequencies(counts, means, ("%d, %s"):format(what, self_nodes))
end

return layer
