--- Every model beside the GCN: lines, processor time, and bias and variance of its logits where
-- mini-batches are sampled. The table of doc/models.md.

local cells = require "experiments.bench.cells"
local core = require "ladies_core"
local experiment = require "ladies.experiment"
local in_turns = require "experiments.bench.in_turns"
local inference = require "ladies.evaluation.inference"
local markdown = require "ladies.report.markdown"
local moments = require "ladies.lab.error.moments"
local optim = require "ladies.optim"
local registered = require "ladies.experiment.models"
local sampling = require "ladies.sampling"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local task_of = require("ladies.task").of
local training_step = require "ladies.training.loop.step"

local models = {}

--- The rows of the table: a model and its modules below ladies.nn, whose lines of code are counted;
-- modules that several models share, but for `stack`, are left out. Times are relative to those of
-- the first row.
models.ROWS = {
  {"gcn", "gcn", "gcn_conv"}, {"jk", "gcn", "gcn_conv", "stack"}, {"sage", "sage", "sage_conv"},
  {"gin", "gin", "gin_conv"}, {"gat", "gat", "gat_conv"}, {"gcnii", "gcnii"}, {"appnp", "appnp"},
  {"sgc", "sgc"}, {"mlp", "mlp"},
}

-- The methods with whose mini-batches each model is measured. The first one draws nothing, so it
-- has neither bias nor variance.
local METHODS = {"full", "ladies", "graphsage"}

-- The streams of seeds and draws.
local SEEDS, DRAWS = 1, 2

-- Returns the configuration of a model with a method. The rows of P sum to one, so that LADIES,
-- which divides rows by their sums, estimates P, but for models that have another P of their own.
local function configured(name, method, opts)
  local entry = registered.by_name[name]
  local given = {model = name, method = entry.no_graph and "none" or method, layers = opts.layers,
    hidden = name ~= "sgc" and opts.hidden or nil, seed = opts.seed, max_batches = opts.steps,
    batch_size = opts.batch_size, patience = 0}
  if not entry.no_graph then
    given.normalize = (entry.defaults or {}).normalize or "row"
  end
  return experiment.configure(given)
end

-- Returns a model after some steps of training with full batches; its samplers; its exact logits
-- with their mean square; and its step.
local function trained(row, data, opts)
  local name = row[1]
  local _, model = experiment.run(configured(name, "full", opts), data, {quiet = true})
  local samplers = {}
  for _, method in ipairs(model.n_layers > 0 and METHODS or {}) do
    samplers[method] = experiment.sampler(configured(name, method, opts), data, model)
  end
  local exact = inference.exact(model, data)
  local optimizer = optim.sgd(model:parameters(), {lr = 1})
  return {row = row, model = model, samplers = samplers, exact = exact,
    signal = exact:square():sum():item() / exact.n_rows, optimizer = optimizer,
    step = training_step.new({data = data, task = task_of(data), model = model}, optimizer)}
end

local function seeds_of(data, opts, group)
  local rng = core.rng(opts.seed):fork(SEEDS):fork(group)
  return data.train[sampling.uniform(#data.train, math.min(opts.batch_size, #data.train),
    {rng = rng})]
end

-- Returns a mini-batch of a method; of a model that reads no graph the seeds alone.
local function batch_of(one, method, data, opts, group, i)
  local seeds = seeds_of(data, opts, group)
  if one.model.n_layers == 0 then return {output = seeds} end
  return one.samplers[method](seeds, core.rng(opts.seed):fork(DRAWS):fork(group):fork(i))
end

-- Bias and variance of the logits of a method's mini-batches, as shares of their mean square:
-- intervals over groups of seeds; none where nothing is sampled.
local function errors_of(one, method, data, opts)
  local bias, variance = {}, {}
  for group = 1, one.model.n_layers > 0 and opts.groups or 0 do
    local draws = {}
    for i = 1, opts.draws do
      local batch = batch_of(one, method, data, opts, group, i)
      local logits = core.no_grad(one.model.forward, one.model, data.features, batch, false)
      draws[i] = {nodes = batch.output, error = logits - one.exact:rows(batch.output)}
    end
    local found = core.no_grad(moments.of_rows, draws, one.exact, one.signal)
    bias[group], variance[group] = found.bias, found.variance
  end
  return bias[1] and statistics.interval(bias), variance[1] and statistics.interval(variance)
end

-- Returns the processor seconds of forward and backward over a batch.
local function seconds_of(one, batch)
  local began = os.clock()
  local _ <close> = core.step()
  one.step:objective(batch):backward()
  one.optimizer:clear()
  return os.clock() - began
end

-- Returns the times of each model: the ratios of its step with full batches and with LADIES', and
-- of its exact inference, to those of the first.
local function times_of(list, data, opts)
  return in_turns(tables.map(list, function(one)
    return function(round)
      local seconds = {}
      for k, method in ipairs{"full", "ladies"} do
        seconds[k] = seconds_of(one, batch_of(one, method, data, opts, 0, round))
      end
      local began = os.clock()
      inference.exact(one.model, data)
      seconds[3] = os.clock() - began
      return seconds
    end
  end), opts.batches)
end

--- models.lines(name): the lines of code of a model's modules.
function models.lines(name)
  for _, row in ipairs(models.ROWS) do
    if row[1] == name then
      return cells.lines(table.unpack(tables.map({table.unpack(row, 2)}, function(module)
        return "ladies.nn." .. module
      end)))
    end
  end
end

local function row_of(one, times, data, opts)
  local weights = 0
  for _, parameter in ipairs(one.model:parameters()) do
    weights = weights + parameter.n_rows * parameter.n_cols
  end
  local texts = {one.row[1], tostring(models.lines(one.row[1])), tostring(weights)}
  for _, ratio in ipairs(times) do texts[#texts + 1] = cells.ratio(ratio) end
  for _, method in ipairs{"ladies", "graphsage"} do
    local bias, variance = errors_of(one, method, data, opts)
    tables.append(texts, {cells.mean(bias), cells.mean(variance)})
  end
  return texts
end

--- models.table(data, opts) -> text: the table in Markdown. opts: layers and hidden of the models;
-- steps of training that they have; batch_size; seed; groups of seeds, and draws of each; batches
-- that are timed; rows (models.ROWS); tick(), called after each row.
function models.table(data, opts)
  local list = tables.map(opts.rows or models.ROWS, function(row)
    return trained(row, data, opts)
  end)
  local times = times_of(list, data, opts)
  local rows = {{"model", "lines", "weights", "step, full batch, of GCN's",
    "step, LADIES, of GCN's", "exact inference, of GCN's", "LADIES: bias²", "variance",
    "GraphSAGE: bias²", "variance"}}
  for i, one in ipairs(list) do
    rows[#rows + 1] = row_of(one, times[i], data, opts)
    if opts.tick then opts.tick() end
  end
  return markdown.table(rows)
end

return models
