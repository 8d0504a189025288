--- Variance and bias of the embeddings that samplers estimate, beside the bounds of the paper (Zou
-- et al. 2019, section 4 and Table 2), on real graphs.
--
-- The network is Z = P H W2 with H = ReLU(P X W1 + b1), its weights after a few steps of training
-- (variance/network.lua). Of a batch S of b nodes, drawn uniformly from all V, an estimate Z~ of
-- Z's rows has the error
--     E ||Z~ - Z||_F^2 / b  =  variance + bias^2
-- over the sampler's draws, here as its mean over draws and batches. There are two readings:
--     one layer    Z~ = P~ H W2 above an exact H. This is what Table 2 bounds: with independent
--                  draws from p the error is (sum_u ||P(S,u)||^2 ||(H W2)_u||^2 / p(u) -
--                  ||P(S,:) H W2||_F^2) / (s b), and ||(H W2)_u||^2 <= phi.
--     two layers   Z~ = P~ ReLU(P~' X W1 + b1) W2, both sampled: what a batch of training computes.
--                  ReLU makes it biased even where P~ is not.
-- The bounds, a node, with s samples (of a node's neighbours, or of a layer's nodes):
--     GraphSAGE  D phi ||P||_F^2 / (V s)            FastGCN  phi ||P||_F^2 / s
--     VR-GCN     D dphi ||P||_F^2 / (V s)           LADIES   phi ||P||_F^2 V(b) / (V s)
-- VR-GCN's history is the H of `lag` steps of training ago, for all nodes, and dphi the greatest
-- ||((H - H') W2)_u||^2. Its first layer is exact by definition, so it has two layers only, and
-- that number is what the others have as one layer; its neighbours are drawn without replacement,
-- the bound is that of draws with it, which vary more.
--
-- Two of the paper's steps are averages and no bounds: D stands for a mean over nodes v of d_v
-- ||P(v,:)||^2, and V(b) times the mean of ||P(S,:)||_F^2 for the mean of their product.

local core = require "ladies_core"
local collection = require "ladies.data.store.collection"
local data_sets = require "ladies.data"
local estimators = require "ladies_paper.variance.estimators"
local generate = require "ladies.data.generate"
local json = require "ladies.base.json"
local measure = require "ladies_paper.variance.measure"
local Network = require "ladies_paper.variance.network"
local options = require "ladies.base.options"
local progress = require "ladies.base.progress"
local provenance = require "ladies.report.provenance"
local report = require "ladies_paper.variance.report"
local Study = require "ladies.study"

local WHERE = "ladies_paper.variance"

local GENERATED = {
  ["power-law"] = function()
    return generate.power_law{nodes = 20000, entries = 200000, signal = 0.5}
  end,
}

local SPEC = {
  datasets = "array of strings or nil",
  data = {"table", {}},
  methods = "array of strings or nil",
  samplers = {"table", {}},
  samples = "array of positive integers or nil",
  batches = "positive integer or nil",
  draws = "positive integer or nil",
  batch_size = {"positive integer", 512},
  hidden = "positive integer or nil",
  steps = {"non-negative integer", 20},
  lag = {"non-negative integer", 10},
  normalize = {"sym|row", "sym"},
  seed = {"integer", 1},
  quick = {"boolean", false},
  out = "string or nil",
  quiet = {"boolean", false},
}

local THOROUGH = {
  batches = 12, draws = 16, hidden = 128, samples = {5, 16, 64, 256, 512},
  datasets = {"cora", "citeseer", "pubmed", "wordnet", "power-law"},
}
local QUICK = {
  batches = 4, draws = 6, hidden = 64, samples = {16, 64}, datasets = {"cora", "power-law"},
}

-- Those of the names that are found without fetching anything.
local function here(names)
  local list = {}
  for _, name in ipairs(names) do
    if GENERATED[name] or collection.find(name) then list[#list + 1] = name end
  end
  return list
end

-- The estimators that were asked for, and those of the user's own samplers.
local function chosen(opts)
  local by_name, names, list = {}, {}, {}
  for i, one in ipairs(estimators) do by_name[one.name], names[i] = one, one.name end
  for _, name in ipairs(opts.methods or names) do
    if not by_name[name] then
      options.fail(("%s: no method %q%s"):format(WHERE, name,
        options.hint(name, names, "there are")))
    end
    list[#list + 1] = by_name[name]
  end
  local own = {}
  for name in pairs(opts.samplers) do own[#own + 1] = name end
  table.sort(own)
  for _, name in ipairs(own) do
    local make = options.value(WHERE, "samplers." .. name, opts.samplers[name], "callable")
    if by_name[name] then
      options.fail(("%s: samplers.%s: there is a method of this name; choose another"):format(WHERE,
        name))
    end
    list[#list + 1] = {name = name, title = name, own = true, make = function(network, s, layers)
      return make(network.P, s, layers)
    end}
  end
  return list
end

-- Refuses what would leave nothing to measure.
local function check_points(opts)
  if #opts.datasets == 0 or #opts.estimators == 0 or #opts.samples == 0 then
    options.fail(WHERE .. ": name at least one data set, one method and one number of samples")
  end
  local needs = {}
  for i, one in ipairs(opts.estimators) do
    local least = one.least or 1
    for _, s in ipairs(opts.samples) do
      if s >= least then return end
    end
    needs[i] = ("%s needs %d at least"):format(one.name, least)
  end
  options.fail(("%s: no method is measured with these samples; %s"):format(WHERE,
    table.concat(needs, ", ")))
end

local function check(given)
  local opts = options.check(WHERE, given or {}, SPEC)
  for key, value in pairs(opts.quick and QUICK or THOROUGH) do opts[key] = opts[key] or value end
  if opts.draws < 2 then options.fail(WHERE .. ": a variance needs at least 2 draws") end
  if opts.batches < 2 then options.fail(WHERE .. ": an interval needs at least 2 batches") end
  if opts.lag > opts.steps then
    options.fail(("%s: the lag, %d, is more than the steps of training, %d"):format(WHERE,
      opts.lag, opts.steps))
  end
  if not (given or {}).datasets then opts.datasets = here(opts.datasets) end
  opts.estimators = chosen(opts)
  check_points(opts)
  return opts
end

-- Draws of a batch: `draws`, up to 32 times as many for a heavy tail with few samples, down to 4
-- for a light one with many.
local function draws_of(one, s, draws)
  if one.tail == "light" then return math.min(draws, math.max(4, draws * 64 // s)) end
  if one.tail == "heavy" then return draws * math.max(1, math.min(32, 512 // s)) end
  return draws
end

-- The key of a data set in the study. One of the user's may be called as one that is loaded.
local function key_of(dataset, opts)
  return opts.data[dataset] and dataset .. " (given)" or dataset
end

-- What is to be measured on one graph: {key, estimator, samples, layers, draws, own}; own: with a
-- sampler or a data set of the user's.
local function points_of(dataset, opts)
  local list = {}
  for _, one in ipairs(opts.estimators) do
    for _, s in ipairs(opts.samples) do
      for layers = one.two_layer_only and 2 or 1, 2 do
        if s >= (one.least or 1) then
          list[#list + 1] = {
            key = ("%s, %s, %d samples, %d layers"):format(key_of(dataset, opts), one.name, s,
              layers),
            estimator = one, samples = s, layers = layers,
            draws = draws_of(one, s, opts.draws), own = one.own or opts.data[dataset] ~= nil,
          }
        end
      end
    end
  end
  return list
end

local function load(name, opts)
  if opts.data[name] then return opts.data[name] end
  return GENERATED[name] and GENERATED[name]() or data_sets.load(name)
end

-- Whether there is a measurement of a point or a graph that counts. A key does not tell one of the
-- user's samplers or data sets from another of the same name.
local function is_there(study, one)
  return not one.own and study:record(one.key) ~= nil
end

-- Measures what is missing of one graph.
local function measure_graph(study, graph, opts, tell)
  local waiting = {}
  for _, point in ipairs(graph.points) do
    if not is_there(study, point) then waiting[#waiting + 1] = point end
  end
  if #waiting == 0 and is_there(study, graph) then return end
  local began = core.clock()
  local data = load(graph.name, opts)
  local network = Network.train(data, opts)
  local batches = measure.batches(data.graph.n_nodes, opts.batch_size, opts.batches, opts.seed)
  if not is_there(study, graph) then
    local facts = measure.facts(network, batches)
    facts.key, facts.sizes = graph.key, measure.by_size(network, opts.batches, opts.seed)
    study:add(provenance.sign(facts, began))
  end
  for _, point in ipairs(waiting) do
    began = core.clock()
    local record = measure.estimator(point.estimator.make, network, point.samples, point.layers,
      batches, point.draws, opts.seed)
    record.key = point.key
    study:add(provenance.sign(record, began))
    tell()
  end
end

--- ladies_paper.variance{datasets = {"cora"}, samples = {5, 64, 512}, ...}: measures variance and
-- bias of the embeddings of a batch, as the head of variance/init.lua defines them.
-- datasets    names or paths; "power-law" is a generated graph of 20,000 nodes (of cora, citeseer,
--             pubmed, wordnet and power-law those that need not be fetched); `data` may have data
--             sets of one's own by these names
-- methods     names of lua/ladies_paper/variance/estimators.lua (all)
-- samplers    samplers of one's own: {name = function(P, s, layers) return sampler end}
-- samples     sample numbers ({5, 16, 64, 256, 512})
-- batches     how many batches (12, 2 at least); draws: of the sampler, for each of them (16, 2 at
--             least; up to 32 times as many of LADIES and FastGCN with few samples, fewer of
--             GraphSAGE with many)
-- batch_size  nodes of a batch (512), or all where there are fewer
-- hidden, steps, lag   width of H (128), steps of training (20), and how many of them VR-GCN's
--             history is behind (10)
-- normalize   P: "sym" or "row"; seed: of everything random
-- quick       cora and power-law, 4 batches, 6 draws, two sample numbers and hidden 64, where
--             others are not given
-- out         a folder (runs/variance-N): results.jsonl, points.csv, variance.md and the pictures.
--             Measurements that are there are not made again, but for those with `samplers` or
--             `data` of one's own: whether these are still the same is not known.
-- Returns a report: `folder`, `files`, `tables` (Markdown), `plots` (text); tostring gives both.
local function variance(given)
  local opts = check(given)
  local identity = {}
  for _, key in ipairs{"batches", "draws", "batch_size", "hidden", "steps", "lag", "normalize",
    "seed"} do
    identity[key] = opts[key]
  end
  local text = "variance " .. json.encode(identity)
  local study = Study.at(opts.out, "runs/variance", text)
  local _ <close> = study:take()
  local graphs, total, done = {}, 0, 0
  for i, dataset in ipairs(opts.datasets) do
    graphs[i] = {name = dataset, key = key_of(dataset, opts), own = opts.data[dataset] ~= nil,
      points = points_of(dataset, opts)}
    for _, point in ipairs(graphs[i].points) do
      total, done = total + 1, done + (is_there(study, point) and 1 or 0)
    end
  end
  local bar = progress.new{total = total, done = done, unit = "point", quiet = opts.quiet}
  for _, graph in ipairs(graphs) do
    measure_graph(study, graph, opts, function()
      done = done + 1
      bar:update(done, core.clock())
    end)
  end
  bar:clear()
  for _, graph in ipairs(graphs) do
    graph.facts = study:record(graph.key)
    for _, point in ipairs(graph.points) do point.record = study:record(point.key) end
  end
  return report.write(study.folder, graphs, opts)
end

return variance
