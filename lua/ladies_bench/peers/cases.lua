--- The work that is compared, and with which programs. A case is {name =, work = "training",
-- "sampling", "inference", "product" or "start", dataset =, settings = of the experiment, peers =
-- {{script of scripts/bench/peers/, word}, ...}}; variant: what differs from the settings' own;
-- brief: its name in README.md, if it is shown there.

-- Our own best at the work of every case.
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
add("LADIES (512), WordNet", "training", "wordnet", {method = "ladies"}, AUTHORS)
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
add("P x 256 columns, WordNet", "product", "wordnet", {method = "full"},
  PRODUCTS, {columns = 256})
add("exact inference, WordNet", "inference", "wordnet", {method = "full"}, CSR)
add("start to first batch, PubMed", "start", "pubmed", code(64), AUTHORS)

-- The same on a random graph of the size of Reddit's.
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
