--- Lists the work of `ladies bench peers`, and the other programs (peers) that do it beside ours. A
-- case is {name =, work = "training", "sampling", "inference", "product" or "start", dataset =,
-- settings = of the experiment, peers = {{script of scripts/bench/peers/, word}, ...}}. Its
-- `variant` says in words how the work differs from what the settings alone ask for; `brief` is its
-- name in README.md, if it is shown there.

local tables = require "ladies.base.tables"

-- The script in NumPy and PyTorch with the best that we could write for GCNs and GCNII.
local EXPERT = {"expert"}
local AUTHORS = {{"torch_scipy"}, EXPERT}
local NEIGHBOURS = {{"dgl_peer", "classic"}, {"dgl_peer", "graphbolt"}, EXPERT}
local LABOR = {{"dgl_peer", "labor"}, EXPERT}
local CSR = {{"torch_csr"}, EXPERT}
local PRODUCTS = {{"torch_csr"}, {"torch_csr", "scipy"}, EXPERT}

local cases = {}

local function add(name, work, dataset, settings, peers, more)
  local case = {name = name, work = work, dataset = dataset, settings = settings, peers = peers}
  for key, value in pairs(more or {}) do case[key] = value end
  cases[#cases + 1] = case
end

local function code(samples) return {method = "ladies", samples = samples, preset = "code"} end

add("LADIES (64), PubMed", "training", "pubmed", code(64), AUTHORS,
  {brief = "a step of LADIES, 64 nodes a layer, PubMed"})
add("LADIES (64), Cora", "training", "cora", code(64), AUTHORS)
add("LADIES (512), PubMed", "training", "pubmed", code(512), AUTHORS)
add("LADIES (512), WordNet", "training", "wordnet", {method = "ladies"}, AUTHORS,
  {brief = "a step of LADIES, 512 nodes a layer, WordNet"})
add("GraphSAGE (5), PubMed", "training", "pubmed", {method = "graphsage"}, NEIGHBOURS,
  {variant = "no self-loops"})
add("LABOR (5), PubMed", "training", "pubmed", {method = "labor"}, LABOR,
  {variant = "no self-loops"})
add("Cluster-GCN, PubMed", "training", "pubmed", {method = "clustergcn", normalize = "sym",
  parts = 308, clusters = 8}, {{"pyg_peer", "cluster"}, EXPERT})
add("GraphSAINT, PubMed", "training", "pubmed", {method = "graphsaint"},
  {{"pyg_peer", "saint"}, EXPERT})
add("full batch, all rows, PubMed", "training", "pubmed", {method = "full"},
  {{"torch_csr"}, {"pyg_peer", "full"}, EXPERT}, {variant = "all rows"})
add("full batch, rows of the loss, PubMed", "training", "pubmed", {method = "full"},
  CSR)

-- Layers that read edges, and links. GraphSAGE's mini-batches have 10 neighbours a layer. The peers
-- have their own layers, here and in the cases of attention, of GraphSAGE's and of deep networks.
local EDGES = {{"edges_pyg"}, {"edges_dgl"}}
for _, one in ipairs{{"R-GCN", {model = "rgcn", bases = 8}}, {"GINE", {model = "gine"}}} do
  local title, settings = one[1], one[2]
  settings.layers, settings.hidden, settings.dropout = 2, 64, 0
  local sampled, full = {method = "graphsage", samples = 10}, {method = "full"}
  for key, value in pairs(settings) do sampled[key], full[key] = value, value end
  add(title .. " (10), WordNet", "training", "relations", sampled, EDGES,
    {variant = "no self-loops"})
  add(title .. ", full batch, all rows, WordNet", "training", "relations, dense", full, EDGES,
    {variant = "all rows"})
end
add("links by GraphSAGE (10), PubMed", "links", "pubmed", {task = "link_prediction",
  model = "sage", method = "graphsage", samples = 10, layers = 2, hidden = 64, dropout = 0,
  embedding = 64}, EDGES, {variant = "no self-loops"})

local ALL_ROWS, NO_LOOPS = {variant = "all rows"}, {variant = "no self-loops"}

local function small(settings)
  return tables.merged({layers = 2, hidden = 64, dropout = 0}, settings)
end

add("GAT, full batch, all rows, PubMed", "training", "pubmed",
  small{model = "gat", method = "full"}, {{"edges_pyg"}, {"edges_dgl"}, {"expert_gat"}},
  ALL_ROWS)
for _, model in ipairs{"gat", "sage"} do
  add(("%s (10), WordNet"):format(model:upper()), "training", "wordnet",
    small{model = model, method = "graphsage", samples = 10}, EDGES, NO_LOOPS)
end
add("GCNII, full batch, all rows, PubMed", "training", "pubmed",
  small{model = "gcnii", method = "full", layers = 8, alpha = 0.1, normalize = "sym"},
  {{"torch_csr"}, {"edges_pyg"}, {"edges_dgl"}, EXPERT}, ALL_ROWS)
add("P x 256 columns, WordNet", "product", "wordnet", {method = "full"},
  PRODUCTS, {columns = 256})
add("exact inference, WordNet", "inference", "wordnet", {method = "full"}, CSR)
add("start to first batch, PubMed", "start", "pubmed", code(64), AUTHORS)

-- Work on a random graph of the size of Reddit's.
for _, samples in ipairs{64, 512} do
  local name = ("LADIES (%d) sampling, "):format(samples)
  add(name .. "united, Reddit's size", "sampling", "reddit-sized", code(samples), AUTHORS)
  local loose = code(samples)
  loose.self_nodes, loose.union = "none", "pre"
  add(name .. "not united, Reddit's size", "sampling", "reddit-sized", loose, AUTHORS)
  add(("FastGCN (%d) sampling, Reddit's size"):format(samples), "sampling", "reddit-sized",
    {method = "fastgcn", samples = samples, draw = "wor", normalize = "row",
      row_normalize = true}, AUTHORS)
end
add("GraphSAGE (5), Reddit's size", "training", "reddit-sized", {method = "graphsage"}, NEIGHBOURS,
  {variant = "no self-loops",
    brief = "a step of GraphSAGE, 5 neighbours, a graph of Reddit's size"})
add("LABOR (5), Reddit's size", "training", "reddit-sized", {method = "labor"}, LABOR,
  {variant = "no self-loops"})
for _, columns in ipairs{256, 64} do
  add(("P x %d columns, Reddit's size"):format(columns), "product", "reddit-sized",
    {method = "full"}, PRODUCTS, {columns = columns})
end
add("exact inference, Reddit's size", "inference", "reddit-sized", {method = "full"},
  CSR, {brief = "exact inference, the same graph"})

return cases
