--- The measurements of `ladies bench papers`, each part in a process of its own: a graph of the
-- size of ogbn-papers100M is made, opened, and trained on without being read into memory as a
-- whole.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local ladies = require "ladies"
local medians = require "ladies.statistics.medians"

local papers = {}

local BATCH = 512
local VALIDATED = 2048      -- nodes of a sampled validation

--- The numbers of ogbn-papers100M: nodes, features, classes; and the share of nodes for training,
-- which is more on small graphs, for whole mini-batches.
papers.NODES, papers.FEATURES, papers.CLASSES, papers.TRAIN = 111059956, 128, 172, 0.0109

--- The fewest nodes of a graph whose epoch has two mini-batches.
papers.LEAST_OF_EPOCHS = 2 * BATCH + 2

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

-- Trains on a mini-batch and on `count` more, or on all of an epoch where count is nil. Returns how
-- many they were, the milliseconds of the first, which has what is made once, and of the others the
-- mean and the median, and the seconds of all.
local function train(run, count)
  local next_batch = ladies.batches(run.data.train, {batch_size = BATCH, sampler = run.sampler,
    features = run.data.features, workers = run.workers, epochs = count and count + 1 or 1})
  local times, sum = {}, 0
  for i = 0, count or math.huge do
    local began = core.clock()
    local batch = next_batch()
    if not batch then break end
    do
      local _ <close> = ladies.step()
      local logits = run.model:forward(run.data.features, batch)
      local labels = run.data.labels[batch.output]
      ladies.loss.cross_entropy(logits, labels, batch.loss_weight):backward()
      run.adam:step()
    end
    if batch.after_step then batch:after_step(run.model) end
    times[i] = 1e3 * (core.clock() - began)
    sum = sum + times[i]
  end
  return {batches = #times + 1, first = times[0], mean = (sum - times[0]) / #times,
    median = medians.of(times), seconds = sum / 1e3}
end

-- Returns the micro-F1 on the nodes for validation by exact inference, for which activations that
-- do not fit in `memory` lie beside the graph; where the disk has no room for them either, by
-- sampled inference, of some of the nodes, and what was lacking.
local function validate(run, opts)
  local data, began = run.data, core.clock()
  local nodes, way, lacking = data.val, "exact", nil
  local exact = ladies.inference.way{nodes = nodes, memory = opts.memory,
    folder = opts.file:match "^(.*)/"}
  local ok, logits = errors.try(ladies.inference.exact, run.model, data, {way = exact})
  if not ok then
    if not exact.room:was_short() then errors.pass_on(logits) end
    lacking, way = errors.message(logits):match "[^;]*", "sampled"
    nodes, began = nodes:slice(1, math.min(#nodes, VALIDATED)), core.clock()
    logits = ladies.inference.sampled(run.model, data, nodes, {sampler = run.sampler})
  end
  return {f1 = ladies.metrics.micro_f1(logits:argmax(), data.labels[nodes]), nodes = #nodes,
    seconds = core.clock() - began, way = way, lacking = lacking}
end

--- papers.train{file =, method =, samples =, layers =, batches =, workers =, memory =, resident =}:
-- trains on the first mini-batches, from a cold page cache, and on the same again; without
-- `batches` on all mini-batches of an epoch, once. resident = true: with the features in memory, as
-- on a graph that fits, and without a validation. Returns {opened =, prepared =, cold =, warm =,
-- validation =, anonymous =}: the seconds to open the file and to prepare, and for each training
-- {batches =, first =, mean =, median =, seconds =}, milliseconds of a batch and seconds of all.
-- What the first batch reads to prepare the sampler is in memory afterwards, if it fits.
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
  if opts.batches then result.warm = train(run, opts.batches) end
  result.anonymous = papers.anonymous()
  if not opts.resident then result.validation = validate(run, opts) end
  return result
end

return papers
