--- ladies.train: the loop of README with exact validation, early stopping, the best model kept, a
-- progress bar, a log and checkpoints.

local core = require "ladies_core"
local curve = require "ladies.training.curve"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local metrics = require "ladies.evaluation.metrics"
local model_file = require "ladies.nn.model_file"
local options = require "ladies.base.options"
local run_folder = require "ladies.training.run_folder"
local summary = require "ladies.training.summary"
local Run = require "ladies.training.run"

local SPEC = {
  data = "table",
  model = "table",
  sampler = "callable",
  P = "Matrix or nil",
  optimizer = "Optimizer or nil",
  lr = {"positive number", 1e-3},
  weight_decay = {"non-negative number", 0},
  schedule = "callable or nil",
  clip = "positive number or nil",
  loss = "callable or nil",
  batch_size = {"positive integer", 512},
  workers = {"non-negative integer", 0},
  ahead = "positive integer or nil",
  epochs = {"positive integer", 1000},
  max_batches = "positive integer or nil",
  max_seconds = "positive number or nil",
  seed = {"integer", 1},
  eval_every = {"positive integer", 10},
  validate = "callable or nil",
  on_validation = "callable or nil",
  patience = {"non-negative integer", 200},
  min_gain = {"non-negative number", 0.01},
  best = {"highest|gain", "highest"},
  out = "string or nil",
  resume = {"boolean", false},
  settings = "table or nil",
  checkpoint_every = {"non-negative number", 30},
  quiet = {"boolean", false},
  method = {"string", "custom"},
  count_memory = "callable or nil",
}

-- The part of the split that each node is in, as an Index: 0 none, 1 train, 2 val, 3 test.
local function split_of(data, n)
  local part = core.zeros(n)
  for i, name in ipairs{"train", "val", "test"} do
    if data[name] then part:add_at_(data[name], i) end
  end
  local ids = part:to_table()
  for i = 1, n do ids[i] = math.tointeger(ids[i]) end
  return core.index(ids)
end

-- predicted and labels are as in the data set's file: everything counts from 0, and -1 is no label,
-- and no part of the split. Where a node may have several classes, both are matrices of 0 and 1,
-- and `probabilities` has the sigmoids of the logits.
local function write_predictions(path, data, kind, logits)
  local arrays = kind.predictions(logits)
  arrays.labels, arrays.split = kind.array(data.labels), split_of(data, logits.n_rows)
  arrays.split_names = {"train", "val", "test"}
  core.npz.write(path, arrays)
end

-- The bytes of the parameters and, where they are not frozen, of what the optimizer has for them.
local function bytes_of_parameters(run)
  local slabs, elements = 2, 0   -- values and gradients
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

local function summarize(run, reason, test)
  local opts, total, n = run.opts, run.timer.total, math.max(1, run.number)
  local val_f1, best_batch = run.stopper:kept()
  local memory = core.memory()
  return summary.new{
    method = opts.method, dataset = opts.data.name, seed = opts.seed, stopped = reason,
    test_f1 = test.micro, test_macro_f1 = test.macro, val_f1 = run.has_best and val_f1 or nil,
    best_batch = run.has_best and best_batch or nil,
    batches = run.number, seconds = run.timer:seconds(),
    batch_ms = 1e3 * run.timer:seconds() / n, waiting_ms = 1e3 * total.waiting / n,
    workers = opts.workers, sampling_ms = 1e3 * total.sampling / n,
    gathering_ms = 1e3 * total.gathering / n, computing_ms = 1e3 * total.computing / n,
    validation_seconds = run.validation_seconds,
    memory_paper = opts.count_memory
      and opts.count_memory(run.rows.input / n, run.rows.hidden / n) or nil,
    input_rows = run.rows.input / n, hidden_rows = run.rows.hidden / n,
    memory_batch = run.batch_bytes,
    memory_parameters = bytes_of_parameters(run), memory_peak = memory.resident_peak,
    folder = opts.out, numerics = run:computed_by(),
  }
end

-- The logits of the model that is kept, or nil; whether one is.
local function last_logits(run)
  if not run:keep_best() then return nil, false end
  if not inference.possible(run.model) then return nil, true end
  local logits = inference.exact(run.model, run.opts.data, {P = run.opts.P})
  if logits:is_finite() then return logits, true end
  run:give_up(run.number, "the logits are not finite")
  return nil, false
end

-- Fails for the run's trouble, when the files are written.
local function fail(run, kept)
  local _, best = run.stopper:kept()
  options.fail(("ladies.train: %s; a smaller learning rate, or clip, may help; %s"):format(
    run.trouble, kept and ("the best model, after batch %d, is kept"):format(best)
      or "there was no good model to keep"))
end

-- The best model, its predictions and its test F1, and the files of a run's end.
local function finish(run, reason)
  local opts, data = run.opts, run.opts.data
  local kind, test = label_kinds.kind_of(data.labels), {}
  local logits, kept = last_logits(run)
  if logits and data.test then
    local predicted = kind.predict(logits)
    test.micro = metrics.micro_f1(predicted, data.labels, data.test)
    test.macro = metrics.macro_f1(predicted, data.labels, data.test)
  end
  local result = summarize(run, run.trouble and "not finite" or reason, test)
  result.trouble = run.trouble
  if run.folder then
    if kept then model_file.save(opts.model, run.folder:file "model.npz") end
    if logits then write_predictions(run.folder:file "predictions.npz", data, kind, logits) end
    run.log:close()
    result.curve = curve.write(run.folder, ("%s, %s"):format(opts.data.name or "data", opts.method))
    run.folder:write_json("summary.json", result)
  end
  if run.trouble then fail(run, kept) end
  return result
end

--- ladies.train{data =, model =, sampler =, ...}: trains the model in place, leaves the best one's
-- parameters in it and returns a summary (see ladies.summary; print it for the table).
-- data         a data set: graph, features, labels, train, and val and test where there are any
-- model        nn.gcn or any table of parameters with forward(features, batch); for the exact
--              inference of validation and test it needs layer(i, h, block) and n_layers too, and
--              without them there is no test and `validate` must be given
-- sampler      sampler(seeds, rng) -> mini-batch; checkpoints hold the tensors of sampler.state, an
--              array of {name =, tensor =}, where it has one
-- P            of validation and test, in place of the model's own: from then on the model states
--              it, and so does its file. Without it the sampler must draw from the model's own, as
--              far as its mini-batches tell.
-- optimizer    default: Adam with `lr` (1e-3) and `weight_decay` (0), which are not given besides
--              one. It has all parameters of the model that require a gradient, perhaps others too.
-- schedule     batch number -> factor of the learning rate, 0 or more (see ladies.schedule)
-- clip         bound on the norm of all gradients together
-- loss         loss(logits, labels, batch.loss_weight) -> Tensor of one element; default
--              cross-entropy, or binary cross-entropy where a node may have several classes
--              (data.multilabel)
-- batch_size   512
-- workers      threads that sample ahead of the loop (0), and `ahead`: see ladies.batches
-- epochs (1000), max_batches, max_seconds (of training alone)   bounds on the length of the run
-- seed         of the order of the nodes, the sampler's draws and dropout's
-- eval_every   batches between two validations (10)
-- validate     validate(model, batch number) -> number [, predictions for all nodes], of the form
--              of the labels; default micro-F1 by exact inference
-- on_validation   called after each with {batch =, epoch =, seconds =, val_f1 =, predicted =,
--              model =}; predicted is nil where validation had no predictions for all nodes
-- patience     batches without a gain of min_gain before the end; see ladies.early_stopping
-- best         which model is kept; without validation nodes it is the last
-- out          folder for log, checkpoints, model, predictions and summary: see
--              ladies.run_folder. It is new or empty: neither the files of others nor a
--              run are written over. One process at a time works there.
-- resume       go on from the checkpoint in `out`, where there is one. Data set, model, optimizer,
--              sampler, settings and the code of loss, schedule and validate (without the values
--              that these have captured) must be those of that run; another length (epochs,
--              max_batches, max_seconds, patience) and what results do not depend on (workers,
--              ahead, checkpoint_every, quiet) may be given.
-- settings     plain data that says what the run is, kept in the folder as config.json
-- checkpoint_every   seconds between two checkpoints (30)
-- quiet        no progress on stderr
-- method       a name for the summary to show
-- count_memory (rows of a batch's input, rows of its layers, both means) -> bytes, for the summary
-- Training begins without gradients, of the optimizer's parameters and so of all the model's, and
-- leaves none behind, not even where it ends with an error.
-- A loss, a gradient's norm, a parameter or a validation that is not finite ends the run with an
-- error, when the best model so far and the summary have been written and put into the model.
-- Ctrl-C in a run with a folder saves a checkpoint and returns {stopped = "interrupted", ...}.
local function train(given)
  local opts = options.check("ladies.train", given, SPEC)
  for _, name in ipairs{"graph", "features", "labels", "train"} do
    if not opts.data[name] then
      options.fail(("ladies.train: the data set has no %s%s"):format(name,
        name == "train" and "; data:split() makes a split" or ""))
    end
  end
  for _, name in ipairs{"lr", "weight_decay"} do
    if opts.optimizer and given[name] ~= nil then
      options.fail(("ladies.train: %s is the optimizer's where one is given"):format(name))
    end
  end
  if opts.resume and not opts.out then
    options.fail "ladies.train: resume needs out, the run's folder"
  end
  local folder, lock
  if opts.out then folder, lock = run_folder.take(opts.out, opts.resume) end
  local _ <close> = lock
  local run <close> = Run.new(opts, folder)
  local reason = run:loop()
  if reason == "interrupted" then return summarize(run, reason, {}) end
  return finish(run, reason)
end

return train
