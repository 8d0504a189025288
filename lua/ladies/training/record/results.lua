--- Makes the results of a run when it ends: the best model's scores, its summary, and the files in
-- its folder.

local core = require "ladies_core"
local counted = require("ladies.base.units").counted
local curve = require "ladies.training.record.curve"
local drawn_together = require "ladies.training.ranks.drawn_together"
local errors = require "ladies.base.errors"
local History = require "ladies.training.record.history"
local inference = require "ladies.evaluation.inference"
local link = require "ladies.ranks.link"
local model_file = require "ladies.nn.model_file"
local options = require "ladies.base.options"
local predictions = require "ladies.evaluation.predictions"
local ranks_cost = require "ladies.training.ranks.cost"
local scale_of = require("ladies.data.standardized").scale_of
local summary = require "ladies.training.record.summary"
local tell = require "ladies.base.tell"
local together = require "ladies.training.ranks.together"
local validation = require "ladies.training.loop.validation"

local results = {}

-- Returns the bytes of the parameters and, for those that are not frozen, of the optimizer's state.
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

-- Returns the metric of a task that is shown first, the monitored one or, if another number is
-- monitored, the task's first; and the name of the task's first metric, nil for node
-- classification, whose records leave it out.
local function shown_metric(task, monitor)
  local shown, first = task.metrics[1], task.metrics[1]
  for _, metric in ipairs(task.metrics) do
    if metric.name == monitor then shown = metric end
  end
  return shown, first.name ~= "micro-F1" and first.name or nil
end

-- Makes the summary of a run that stopped for this reason, with the scores of its test.
local function summarize(run, reason, test)
  local opts, n, ranks = run.opts, math.max(1, run.number), run:cost_of_ranks()
  local value, batch = run.stopper:kept()
  if not run.best.exists then value, batch = nil, nil end
  local slow = ranks and ranks_cost.slow_line(ranks)
  if slow then tell("ladies.train: %s", slow) end
  local shown, measure = shown_metric(opts.task, run.monitor.name)
  return summary.new{
    method = opts.method, dataset = opts.data.name, seed = opts.seed, stopped = reason,
    trouble = run.trouble, test = next(test) and test or nil, measure = measure,
    blind = next(test) and run.blind or nil,
    percent = measure and shown.percent or nil, test_f1 = not measure and test["micro-F1"] or nil,
    test_macro_f1 = not measure and test["macro-F1"] or nil,
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

-- Returns the output of the kept model for some units, its output for the test units, and whether
-- the model is still to be kept. Both outputs are nil where they are not finite; a model with such
-- outputs is given up. Where there is no room to compute the output for all units, there is the one
-- for the test units alone, and none where these have no room either.
local function last_scores(run, units, test)
  local task, is_test = run.opts.task, rawequal(units, test)
  local way = validation.way(run.opts, is_test and task.nodes and task.nodes(test) or nil)
  local ok, out, second = errors.try(validation.scores, run.opts, way, units,
    not is_test and test or nil)
  if not ok then
    if run.together or not way.room:was_short() then errors.pass_on(out) end
    local less = not is_test and test and task.nodes
    tell("ladies: the model is kept, without %s: %s", less
      and ("predictions of all %ss"):format(task.unit) or "test and predictions",
      errors.message(out))
    if not less then return nil, nil, true end
    return nil, select(2, last_scores(run, test, test))
  end
  if out or not second then return out, is_test and out or second or nil, true end
  run:give_up(run.number, "the logits are not finite")
  return nil, nil, false
end

local DIVERGED = "a smaller learning rate, or clip, may help"
local FROM_THE_START = "no parameter had changed before, so it is in the loss, in what the model "
  .. "computes or in its first weights"

-- Raises the error of a run in which something was not finite, after its files are written.
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
local function write_files(run, result, out, units, kept)
  local opts, folder = run.opts, run.folder
  if kept then
    model_file.save(opts.model, folder:file "model.npz",
      {buffers = run.buffers, scale = scale_of(opts.data)})
  end
  if out then
    core.npz.write(folder:file "predictions.npz", predictions.arrays(opts.task, units, out))
  end
  run.log:close()
  local history
  result.curve, history = curve.write(folder, ("%s, %s"):format(opts.data.name or "data",
    opts.method), run.monitor.name)
  folder:write_json("summary.json", result)
  return history
end

-- Returns the output of the kept model for some units, or nil if there is no model; whether it is
-- kept; and its metrics on the test units.
local function own_test(run, exists, units)
  local task = run.opts.task
  if not exists then return nil, false, {} end
  if not units or validation.looks_ahead(run.opts)
    or run.opts.sampler and not inference.possible(run.model) then
    return nil, true, {}
  end
  local test = task.units.test
  local out, of_test, kept = last_scores(run, units, test)
  if not of_test then return out, kept, {} end
  return out, kept, task:values(task.predict(of_test, test), of_test, test)
end

-- Tests the model by all ranks of a run; rank 0 tells the others the scores and its trouble.
local function tested(run, units)
  local kept = run:keep_best()
  if not run.together then return own_test(run, kept, units) end
  local out, still, test = link.shared("validation", own_test, run, kept, units)
  local told = together.first{kept = still, test = test, trouble = run.trouble}
  run.trouble = told.trouble
  return out, told.kept, told.test
end

-- Prints a notice if the weights were to be averaged from a step on that the run did not reach.
local function tell_of_average(run)
  local average = run.average
  if average and average.count == 0 and link.rank == 0 then
    tell("ladies.train: the average %s never began, and the weights are those of one step: "
      .. "the run ended after %s", run.opts.average, counted(average.steps, "step"))
  end
end

--- Ends a run that stopped for that reason: gives the model the parameters of the best one, tests
-- it, writes the files, and returns the summary; fails where something was not finite. An
-- interrupted run is not over: its model gets the best parameters so far, and nothing else is done.
function results.of(run, reason)
  if reason == "interrupted" then
    if run.best.exists then run.best:restore() end
    local result = summarize(run, reason, {})
    result.history = History.new(run.history, run.monitor.name)
    return result
  end
  local units = run.opts.task.all or run.opts.task.units.test
  local out, kept, test = tested(run, units)
  local result = summarize(run, run.trouble and "not finite" or reason, test)
  local history = run.folder and write_files(run, result, out, units, kept) or run.history
  result.history = History.new(history, run.monitor.name)
  if run.trouble then fail(run, kept) end
  tell_of_average(run)
  return result
end

return results
