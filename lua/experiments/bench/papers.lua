--- The measurements of `ladies bench papers`, each part in a process of its own: a graph of the
-- size of ogbn-papers100M is made, opened, and trained on without being read into memory as a
-- whole.

local core = require "ladies_core"
local ladies = require "ladies"
local machine = require "ladies.base.machine"
local medians = require "ladies.statistics.medians"

local papers = {}

local BATCH = 512
local VALIDATED = 2048      -- nodes of a sampled validation

--- The numbers of ogbn-papers100M: nodes, features, classes; and the share of nodes for training,
-- which is more on small graphs, for whole mini-batches.
papers.NODES, papers.FEATURES, papers.CLASSES, papers.TRAIN = 111059956, 128, 172, 0.0109

--- The methods, and how many samples a layer of each has.
papers.METHODS = {{"ladies", 512}, {"graphsage", 5}}

--- Returns the bytes of memory that this process has for itself, of no file; nil where the system
-- does not say.
function papers.anonymous()
  local file <close> = io.open "/proc/self/smaps_rollup"
  local kilobytes = file and file:read "a":match "\nAnonymous:%s*(%d+) kB"
  return kilobytes and math.tointeger(kilobytes) * 1024
end

-- Returns the result of f(...), and the seconds that it took.
local function timed(f, ...)
  local began = core.clock()
  local result = f(...)
  return result, core.clock() - began
end

-- ---------------------------------------------------------------- made and opened

--- papers.make{file =, nodes =, edges =, memory =}: makes the data set, with so many edges for each
-- node. Returns {seconds =, bytes =, anonymous =}.
function papers.make(opts)
  local share = math.min(0.5, math.max(papers.TRAIN, 2 * BATCH / opts.nodes))
  local _, seconds = timed(ladies.generate.power_law_file, opts.file, {
    nodes = opts.nodes, entries = 2 * opts.edges * opts.nodes, classes = papers.CLASSES,
    features = papers.FEATURES, train = share, val = share / 10,
    dtype = "float16", self_loops = true, memory = opts.memory,
  })
  local file <close> = io.open(opts.file, "rb")
  return {seconds = seconds, bytes = file:seek "end", anonymous = papers.anonymous()}
end

--- papers.open{file =}: opens it, cold. Returns {seconds =, anonymous =}; the first time all of it
-- is checked.
function papers.open(opts)
  core.file.forget(opts.file)
  local data <const>, seconds = timed(ladies.data.load, opts.file, {features_in = "file"})
  return {seconds = seconds, nodes = data.graph.n_nodes, anonymous = papers.anonymous()}
end

-- ---------------------------------------------------------------- trained on

-- Trains on a mini-batch and on `count` more: milliseconds of the first, which has what is made
-- once, and of the others, the mean and the median.
local function train(run, count)
  local next_batch = ladies.batches(run.data.train, {batch_size = BATCH, sampler = run.sampler,
    features = run.data.features, workers = run.workers, epochs = count + 1})
  local times, sum = {}, 0
  for i = 0, count do
    local began = core.clock()
    local batch = next_batch()
    do
      local _ <close> = ladies.step()
      local logits = run.model:forward(run.data.features, batch)
      local labels = run.data.labels[batch.output]
      ladies.loss.cross_entropy(logits, labels, batch.loss_weight):backward()
      run.adam:step()
    end
    if batch.after_step then batch:after_step(run.model) end
    times[i] = 1e3 * (core.clock() - began)
    sum = sum + (i > 0 and times[i] or 0)
  end
  return {first = times[0], mean = sum / count, median = medians.of(times)}
end

-- Micro-F1 on nodes for validation: exact where the features of all nodes and three outputs of a
-- layer fit in `memory`, otherwise sampled, of some of them; and what exact inference would hold.
local function validate(run, hidden, memory)
  local data = run.data
  local held = 4 * (3 * hidden + papers.FEATURES) * data.graph.n_nodes
  if held <= memory then
    local f1, seconds = timed(ladies.metrics.f1, run.model, data, data.val)
    return {f1 = f1, seconds = seconds, way = "exact", nodes = #data.val, would_hold = held}
  end
  local nodes = data.val:slice(1, math.min(#data.val, VALIDATED))
  local logits, seconds = timed(ladies.inference.sampled, run.model, data, nodes,
    {sampler = run.sampler})
  local f1 = ladies.metrics.micro_f1(logits:argmax(), data.labels[nodes])
  return {f1 = f1, seconds = seconds, way = "sampled", nodes = #nodes, would_hold = held}
end

--- papers.train{file =, method =, samples =, layers =, batches =, workers =, memory =, resident =}:
-- trains on
-- the first mini-batches, from a cold page cache, and on the same again. resident = true: with the
-- features in memory, as on a graph that fits. Returns {opened =, prepared =, cold =, warm =,
-- validation =, anonymous =}, seconds and {first =, mean =, median =} milliseconds of a batch. What
-- the first batch reads to prepare the sampler is in memory afterwards, if it fits.
function papers.train(opts)
  core.file.forget(opts.file)
  local run, result = {workers = opts.workers}, {}
  run.data, result.opened = timed(ladies.data.load, opts.file,
    {features_in = opts.resident and "memory" or "file"})
  local config = ladies.experiment.configure{method = opts.method, model = "gcn",
    samples = opts.samples, layers = opts.layers}
  run.model = ladies.experiment.model(config, run.data)
  run.sampler, result.prepared = timed(ladies.experiment.sampler, config, run.data, run.model)
  run.adam = ladies.optim.adam(run.model:parameters())
  if opts.resident then train(run, opts.batches) end
  result.cold = train(run, opts.batches)
  result.warm = train(run, opts.batches)
  result.anonymous = papers.anonymous()
  if not opts.resident then
    result.validation = validate(run, config.hidden, opts.memory or machine.memory() // 4)
  end
  return result
end

return papers
