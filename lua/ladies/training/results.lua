--- What a run comes to when it ends: the best model's scores, its summary, and the files in its
-- folder.

local core = require "ladies_core"
local curve = require "ladies.training.curve"
local drawn_together = require "ladies.training.drawn_together"
local errors = require "ladies.base.errors"
local History = require "ladies.training.history"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local link = require "ladies.ranks.link"
local metrics = require "ladies.evaluation.metrics"
local model_file = require "ladies.nn.model_file"
local options = require "ladies.base.options"
local predictions = require "ladies.evaluation.predictions"
local summary = require "ladies.training.summary"
local tell = require "ladies.base.tell"
local together = require "ladies.training.together"
local validation = require "ladies.training.validation"

local results = {}

-- Where a node may have several classes, predicted and labels are matrices of 0 and 1, and
-- `probabilities` has the sigmoids of the logits.
local function write_predictions(path, data, kind, logits)
  core.npz.write(path, predictions.with_truth(kind.predictions(logits), data,
    core.range(1, logits.n_rows)))
end

-- The bytes of the parameters and, where they are not frozen, of what the optimizer has for them.
local function bytes_of_parameters(run)
  local slabs, elements = 2, 0   -- values and gradients
  while run.opts.accumulate > 1 << slabs - 2 do slabs = slabs + 1 end      -- and sums of them
  for _, state in pairs(run.optimizer:state()) do
    if options.class_of(state) == "Tensor" then slabs = slabs + 1 end
  end
  for _, parameter in ipairs(run.parameters) do
    local tensor = parameter.tensor
    local copies = tensor.requires_grad and slabs or 1
    elements = elements + copies * tensor.n_rows * tensor.n_cols
  end
  return 4 * elements
end

-- The summary of a run that stopped for that reason, with the scores of its test.
local function summarize(run, reason, test)
  local opts, n, ranks = run.opts, math.max(1, run.number), run:cost_of_ranks()
  local value, batch = run.stopper:kept()
  if not run.best.exists then value, batch = nil, nil end
  return summary.new{
    method = opts.method, dataset = opts.data.name, seed = opts.seed, stopped = reason,
    trouble = run.trouble, test_f1 = test.micro, test_macro_f1 = test.macro,
    monitor = run.monitor.name, mode = run.monitor.mode, best_value = value, best_batch = batch,
    val_f1 = run.monitor.name == "micro-F1" and value or nil,
    batches = run.number, timer = run.timer,
    workers = drawn_together.graph_of(opts.data) and 0 or opts.workers,
    validation_seconds = run.validation_seconds,
    memory_paper = opts.count_memory and link.shared("agreement", opts.count_memory,
      run.rows.input / n, run.rows.hidden / n) or nil,
    input_rows = run.rows.input / n, hidden_rows = run.rows.hidden / n,
    memory_batch = run.memory.most,
    memory_parameters = bytes_of_parameters(run), memory_peak = core.memory().resident_peak,
    profile = run.profile and run.profile:result(), ranks = ranks,
    inference = run.validation and run.validation:how(), folder = opts.out,
    numerics = run:computed_by(),
  }
end

-- The logits of the model that is kept, or nil; whether it still is.
local function last_logits(run)
  if run.opts.sampler and not inference.possible(run.model) then return nil, true end
  local way = validation.way(run.opts)
  local ok, logits = errors.try(validation.logits, run.opts, way)
  if not ok then
    if run.together or not way:lacked_room() then errors.pass_on(logits) end
    tell("ladies: the model is kept, without test and predictions: %s", errors.message(logits))
    return nil, true
  end
  if logits:is_finite() then return logits, true end
  run:give_up(run.number, "the logits are not finite")
  return nil, false
end

local DIVERGED = "a smaller learning rate, or clip, may help"
local FROM_THE_START = "no parameter had changed before, so it is in the loss, in what the model "
  .. "computes or in its first weights"

-- Fails for the run's trouble, when the files are written.
local function fail(run, kept)
  local _, best = run.stopper:kept()
  local has_stepped = run.number >= run.opts.accumulate
  errors.fail(("ladies.train: %s; %s; %s"):format(run.trouble,
    has_stepped and DIVERGED or FROM_THE_START,
    kept and ("the best model, after batch %d, is kept"):format(best)
      or "there was no good model to keep"))
end

-- Writes the files of a run's end into its folder. Returns the history of the whole run, which may
-- have been interrupted.
local function write_files(run, result, logits, kept)
  local opts, folder = run.opts, run.folder
  local kind = label_kinds.kind_of(opts.data.labels)
  if kept then model_file.save(opts.model, folder:file "model.npz", {buffers = run.buffers}) end
  if logits then write_predictions(folder:file "predictions.npz", opts.data, kind, logits) end
  run.log:close()
  local history
  result.curve, history = curve.write(folder, ("%s, %s"):format(opts.data.name or "data",
    opts.method), run.monitor.name)
  folder:write_json("summary.json", result)
  return history
end

-- The logits of the model that is kept, where one is, or nil; whether one is; its scores on the
-- test nodes.
local function own_test(run, exists)
  if not exists then return nil, false, {} end
  local data = run.opts.data
  local logits, kept = last_logits(run)
  if not logits or not data.test then return logits, kept, {} end
  local predicted = label_kinds.kind_of(data.labels).predict(logits)
  return logits, kept, {
    micro = metrics.micro_f1(predicted, data.labels, data.test),
    macro = metrics.macro_f1(predicted, data.labels, data.test),
  }
end

-- The same of a run, by all of its ranks; rank 0 tells others the scores and its trouble.
local function tested(run)
  local kept = run:keep_best()
  if not run.together then return own_test(run, kept) end
  local logits, still, test = link.shared("validation", own_test, run, kept)
  local told = together.first{kept = still, test = test, trouble = run.trouble}
  run.trouble = told.trouble
  return logits, told.kept, told.test
end

--- Ends a run that stopped for that reason: puts the best model into the model, tests it, writes
-- the files, and returns the summary. One that was interrupted is not over: its best model so far
-- is put into the model, and nothing else is done. An error where something was not finite.
function results.of(run, reason)
  if reason == "interrupted" then
    if run.best.exists then run.best:restore() end
    local result = summarize(run, reason, {})
    result.history = History.new(run.history, run.monitor.name)
    return result
  end
  local logits, kept, test = tested(run)
  local result = summarize(run, run.trouble and "not finite" or reason, test)
  local history = run.folder and write_files(run, result, logits, kept) or run.history
  result.history = History.new(history, run.monitor.name)
  if run.trouble then fail(run, kept) end
  return result
end

return results
