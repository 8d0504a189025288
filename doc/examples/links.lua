-- ladies doc/examples/links.lua [DATA] [BATCHES]
-- Which edges are missing? A tenth of them is hidden; a GCN learns rows whose products are large
-- for edges and small for pairs that are none, without hearing the edges that it is asked for; and
-- each hidden edge is ranked among those to a hundred other nodes.

local ladies = require "ladies"
local links, sampling = ladies.links, ladies.sampling
local data = ladies.data.load(arg[1] or "wordnet")
local batches, rng = tonumber(arg[2] or 300), ladies.rng(1)

local edges = links.split(data.graph, {val = 0, test = 0.1})
local negatives = links.negatives(edges)
local sampler = ladies.samplers.graphsage(edges.graph:normalize "sym",
  {samples = {5, 5}, form = "unbiased"})
local model = ladies.nn.gcn{inputs = data.features.n_cols, hidden = 128, outputs = 64, layers = 2}
local decoder = ladies.nn.link_decoder{kind = "dot", inputs = 64}
local adam = ladies.optim.adam(model:parameters(), {lr = 0.003})

for i = 1, batches do
  local draw = rng:fork(i)
  local pick = edges.train[sampling.uniform(#edges.train, math.min(256, #edges.train),
    {rng = draw:fork(1)})]
  local from, to = edges.from[pick], edges.to[pick]
  local other_from, other_to = negatives(from, to, nil, draw:fork(2))
  local a, b = sampling.concat{from, other_from}, sampling.concat{to, other_to}
  local batch = sampler(sampling.unique(sampling.concat{a, b}), draw:fork(3))
  links.left_out(edges.graph, batch, sampling.concat{from, to}, sampling.concat{to, from})
  local step <close> = ladies.step()
  local z = model:forward(data.features, batch)
  local function rows(ids) return z[sampling.find(batch.output, ids)] end
  local scores = decoder:forward(rows(a), rows(b))
  local is_edge = ladies.range(1, #a):below(#from + 1)
  ladies.loss.binary_cross_entropy(scores, is_edge):backward()
  adam:step()
end

local z = ladies.inference.exact(model, edges.graph, {features = data.features})
local ranks = links.ranks(edges, edges.test, decoder, z, {candidates = 100})
local hits = ranks:below(10.5):mean():item()
print(("%d hidden edges: MRR %.3f, Hits@10 %.3f"):format(#edges.test, (1 / ranks):mean():item(),
  hits))
