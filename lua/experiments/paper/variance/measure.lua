--- Variance and bias of embedding estimates, and the paper's bounds from the same graph.

local core = require "ladies_core"
local moments = require "ladies.lab.error.moments"

local measure = {}

-- The streams of the batches' nodes and of the samplers' draws.
local NODES, DRAWS = 1, 2

--- n batches of b nodes each, drawn uniformly from the N nodes of the graph.
function measure.batches(n_nodes, b, n, seed)
  local rng, list = core.rng(seed):fork(NODES), {}
  for i = 1, n do
    list[i] = core.sampling.uniform(n_nodes, math.min(b, n_nodes), {rng = rng:fork(i)})
  end
  return list
end

local function squared(t)
  return t:square():sum():item()
end

-- Rows that a batch holds: of its input and of every layer, the output's own left out, which are
-- the same for all.
local function rows_of(batch)
  local n = 0
  for _, block in ipairs(batch.blocks) do n = n + #block.src end
  return n
end

-- Tells whether there is an entry in every layer: otherwise the estimate has heard nothing.
local function connected(batch)
  for _, block in ipairs(batch.blocks) do
    if block.adj.nnz == 0 then return false end
  end
  return true
end

--- Returns the errors of the estimates Z~ of one batch S around the exact rows Z of its b nodes,
-- from `draws` independent draws of the sampler: error, the paper's E ||Z~ - Z||_F^2 a node,
-- variance and bias^2 (see ladies.lab.error.moments), so that the mean of error is that of variance
-- + bias; `rows` in the sampled layers; and how many draws were `connected`, with an entry in every
-- layer. estimate(batch) gives Z~, a row for each node of batch.output.
function measure.batch(sampler, estimate, exact, seeds, draws, rng)
  local list, rows, met = {}, 0, 0
  for i = 1, draws do
    local batch = sampler(seeds, rng:fork(i))
    list[i] = {nodes = batch.output, error = estimate(batch) - exact:rows(batch.output)}
    rows, met = rows + rows_of(batch), met + (connected(batch) and 1 or 0)
  end
  local found = moments.of_rows(list, exact, 1)
  return {error = found.error, variance = found.variance, bias = found.bias, rows = rows / draws,
    connected = met}
end

--- Returns the measurements of all batches as {error = {...}, variance =, bias =, rows =, connected
-- =}: lists with a number for each batch. layers 1: only the layer nearest the output is sampled,
-- above an exact H; layers 2: both are.
function measure.estimator(make, network, s, layers, batches, draws, seed)
  local sampler, rng = make(network, s, layers), core.rng(seed):fork(DRAWS)
  local function estimate(batch)
    if layers == 1 then return network:estimate_top(batch) end
    return network:estimate(batch)
  end
  local lists = {error = {}, variance = {}, bias = {}, rows = {}, connected = {}}
  core.no_grad(function()
    for i, seeds in ipairs(batches) do
      local one = measure.batch(sampler, estimate, network.exact, seeds, draws, rng:fork(i))
      for name, list in pairs(lists) do list[i] = one[name] end
    end
  end)
  return lists
end

--- Returns the exact one-layer errors of a batch, a node and times s, for the independent draws of
-- the theory (GraphSAGE among the d_v entries of each row, with replacement), by method: of an
-- estimate from draws with probabilities p(u),
--     s E ||Z~ - Z||_F^2  =  sum_u ||P(S,u)||^2 ||(H W2)_u||^2 / p(u)  -  ||P(S,:) H W2||_F^2
function measure.exact(network, seeds)
  local P, b = network.P, #seeds
  local U, near = P:slice(seeds)
  local a, all = U:col_sums(2), network.column_norms
  local g = network.products[near]:square():row_sums()
  local own = squared(network.exact[seeds])
  local squares = core.matrix{n_rows = b, n_cols = #near, rows = U:row_of(), cols = U:col_of(),
    values = U:entry_values():square()}
  local function error_of(sum) return (sum:sum():item() - own) / b end
  return {
    graphsage = error_of(squares:matmul(g:reshape(#near, 1)):reshape(b) * P:degrees(seeds)),
    fastgcn = error_of(a * g / all[near] * all:sum():item()),
    ladies = error_of(g * a:sum():item()),
  }
end

-- Batch sizes at which LADIES and FastGCN are compared, as far as the graph has so many nodes.
local SIZES = {1, 8, 64, 512, 4096}

--- Returns the exact errors of FastGCN and LADIES for batches of several sizes, the whole graph
-- among them: array of {size =, fastgcn = {a number for each batch}, ladies =}; n batches, more of
-- small ones.
function measure.by_size(network, n, seed)
  local list, V = {}, network.P.n_rows
  local function add(size, count)
    local one = {size = size, fastgcn = {}, ladies = {}}
    for i, seeds in ipairs(measure.batches(V, size, count, seed)) do
      local exact = measure.exact(network, seeds)
      one.fastgcn[i], one.ladies[i] = exact.fastgcn, exact.ladies
    end
    list[#list + 1] = one
  end
  for _, size in ipairs(SIZES) do
    if size < V then add(size, n * math.max(1, math.min(64, 512 // size))) end
  end
  add(V, 1)
  return list
end

--- Returns the numbers that the bounds are made of: nodes V, entries, degree D (entries of P in a
-- row, on average), norm ||P||_F^2, phi = max ||(H W)_u||^2, delta_phi, the same of the change
-- since the history, touched V(b), the mean number of columns in which the rows of a batch have
-- entries; and signal, ||Z||_F^2 / V, beside which a variance is large or small.
function measure.facts(network, batches)
  local P, touched = network.P, 0
  for _, seeds in ipairs(batches) do touched = touched + P:slice(seeds).n_cols end
  local change = network.history and (network.hidden - network.history):matmul(network.second)
  return {
    nodes = P.n_rows, entries = P.nnz, degree = P.nnz / P.n_rows,
    norm = P:row_sums(2):sum():item(),
    phi = network.products:square():row_sums():max(),
    delta_phi = change and change:square():row_sums():max() or nil,
    touched = touched / #batches, signal = squared(network.exact) / P.n_rows,
  }
end

--- The bounds of Table 2 on the variance of an embedding, by method: bounds[name](facts, s).
measure.bounds = {
  graphsage = function(f, s) return f.degree * f.phi * f.norm / (f.nodes * s) end,
  vrgcn = function(f, s)
    return f.delta_phi and f.degree * f.delta_phi * f.norm / (f.nodes * s)
  end,
  fastgcn = function(f, s) return f.phi * f.norm / s end,
  ladies = function(f, s) return f.phi * f.norm * f.touched / (f.nodes * s) end,
}

return measure
