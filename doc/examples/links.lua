-- ladies doc/examples/links.lua [DATA] [BATCHES]
-- Which edges are missing? A tenth of them is hidden; a GCN learns rows whose products are large
-- for edges and small for pairs drawn at random; and the hidden ones are ranked among random pairs.

local ladies = require "ladies"
local sampling = ladies.sampling
local data = ladies.data.load(arg[1] or "wordnet")
local batches, rng = tonumber(arg[2] or 300), ladies.rng(1)
local n = data.graph.n_nodes

-- Every edge once, hidden ones and those that are left.
local A = data.graph.adjacency
local one_way = A:row_of():below(A:col_of())
local from, to = A:row_of()[one_way], A:col_of()[one_way]
local is_hidden = rng:fork(1):uniform_of(ladies.range(1, #from)):below(0.1)
local left = 1 - is_hidden
local hidden = {from[is_hidden], to[is_hidden]}
local known = {from[left], to[left]}

local function join(a, b) return sampling.concat{a, b} end
local graph = ladies.graph.new(ladies.matrix{n_rows = n, n_cols = n,
  rows = join(known[1], known[2]), cols = join(known[2], known[1])})

local function random_nodes(count, draw)
  return sampling.uniform(n, count, {rng = draw, replace = true})
end

local model = ladies.nn.gcn{inputs = data.features.n_cols, hidden = 128, outputs = 64, layers = 2}
local sampler = ladies.samplers.graphsage(graph:normalize "sym", {samples = {5, 5}})
local adam = ladies.optim.adam(model:parameters(), {lr = 0.003})

for i = 1, batches do
  local draw = rng:fork(2):fork(i)
  local pick = sampling.uniform(#known[1], math.min(256, #known[1]), {rng = draw:fork(1)})
  local a = join(known[1][pick], random_nodes(#pick, draw:fork(2)))
  local b = join(known[2][pick], random_nodes(#pick, draw:fork(3)))
  local batch = sampler(sampling.unique(join(a, b)), draw:fork(4))
  local step <close> = ladies.step()
  local z = model:forward(data.features, batch)
  local score = (z[sampling.find(batch.output, a)] * z[sampling.find(batch.output, b)]):row_sums()
  local is_edge = ladies.range(1, #a):below(#pick + 1)
  ladies.loss.binary_cross_entropy(score, is_edge):backward()
  adam:step()
end

local z = ladies.inference.exact(model, graph, {features = data.features})
local function scores(a, b) return (z[a] * z[b]):row_sums() end
local other = random_nodes(#hidden[1], rng:fork(3))
local wins = scores(hidden[1], hidden[2]):above(scores(hidden[1], other))
print(("%d hidden edges; above a random pair: %.3f"):format(#wins, wins:mean():item()))
