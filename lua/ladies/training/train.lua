--- ladies.train: the loop of README with exact validation, early stopping, the best model kept, a
-- progress bar, a log and checkpoints.

local core = require "ladies_core"
local check_model = require "ladies.training.check_model"
local drawn_together = require "ladies.training.drawn_together"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local link = require "ladies.ranks.link"
local needs_whole = require "ladies.training.needs_whole"
local options = require "ladies.base.options"
local results = require "ladies.training.results"
local Run = require "ladies.training.run"
local run_folder = require "ladies.training.run_folder"
local tell = require "ladies.base.tell"

local SPEC = {
  data = "table",
  model = "table",
  sampler = "callable or nil",
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
  grad_accumulate = {"integer in [1, 65536]", 1},
  precision = "float32|bfloat16 or nil",
  epochs = {"positive integer", 1000},
  max_batches = "positive integer or nil",
  max_seconds = "positive number or nil",
  seed = {"integer", 1},
  eval_every = {"positive integer", 10},
  memory = "string or positive number or nil",
  feature_cache = "string or positive number or nil",
  validate = "callable or nil",
  monitor = "table or nil",
  on_batch = "callable or nil",
  on_validation = "callable or nil",
  state = "table or nil",
  patience = {"non-negative integer", 200},
  min_gain = {"non-negative number", 0.01},
  best = {"highest|gain", "highest"},
  out = "string or nil",
  resume = {"boolean", false},
  shard_optimizer = {"boolean", false},
  settings = "table or nil",
  checkpoint_every = {"non-negative number", 30},
  quiet = {"boolean", false},
  plot = {"boolean", false},
  profile = {"boolean", false},
  method = {"string", "custom"},
  count_memory = "callable or nil",
}

-- Fails for options of a run without a sampler that need a graph.
local function check_no_graph(opts)
  if opts.P then
    errors.fail "ladies.train: P is of a model that reads a graph, which needs a sampler"
  elseif (opts.model.n_layers or 0) ~= 0 then
    errors.fail(("ladies.train: the model has %s layers over a graph and needs a sampler"):format(
      opts.model.n_layers))
  end
end

-- Fails for a model that cannot be trained, or not be validated as it is to be; tells of one that
-- cannot be tested, or whose validation is of another network.
local function check_own_model(opts)
  local model, data = opts.model, opts.data
  options.value("ladies.train", "the model's forward", model.forward, "callable")
  local lacking = opts.sampler and inference.lacking(model)
  if lacking and data.val and not opts.validate then
    errors.fail(("ladies.train: the model has no %s, by which validation and test go; add %s, or "
      .. "validate in another way (validate = function, or --validation sampled)"):format(lacking,
      lacking:find " and " and "them" or "it"))
  end
  if lacking and data.test then
    tell("ladies.train: the model has no %s: there will be no test", lacking)
  end
  if opts.sampler and not lacking and not opts.P and drawn_together.graph_of(data) then
    local needed = needs_whole(model, data.features.n_cols)
    if needed then errors.fail("ladies.train: validation and test of the model: " .. needed) end
  end
  local wrong = check_model(model, data.features.n_cols)
  if wrong then tell("ladies.train: %s", wrong) end
end

-- Tells where a run cannot have the precision that it asks for.
local function check_precision(opts)
  if opts.precision == "bfloat16" and not core.bfloat16_units() then
    tell("ladies.train: precision bfloat16: nothing multiplies it here (AMX, AVX512-BF16), for "
      .. "this processor has neither or LADIES_ISA holds them back; so products are of float32")
  end
end

-- ladies.train, in whatever precision its caller is.
local function train_with(given)
  local opts = options.check("ladies.train", given, SPEC)
  if not opts.sampler then check_no_graph(opts) end
  for _, name in ipairs{"features", "labels", "train", opts.sampler and "graph"} do
    if not opts.data[name] then
      errors.fail(("ladies.train: the data set has no %s%s"):format(name,
        name == "train" and '; data:split "10/10/80" makes a split' or ''))
    end
  end
  for _, name in ipairs{"lr", "weight_decay"} do
    if opts.optimizer and given[name] ~= nil then
      errors.fail(("ladies.train: %s is the optimizer's where one is given"):format(name))
    end
  end
  if opts.resume and not opts.out then
    errors.fail "ladies.train: resume needs out, the run's folder"
  end
  check_own_model(opts)
  check_precision(opts)
  local folder, lock
  if opts.out and link.rank == 0 then folder, lock = run_folder.take(opts.out, opts.resume) end
  local _ <close> = lock
  local run <close> = Run.new(opts, folder)
  return results.of(run, run:loop())
end

--- ladies.train{data =, model =, sampler =, ...} -> table: trains the model in place, leaves the
-- best one's parameters in it and returns a summary (see ladies.summary; print it for the table).
-- data         a data set: graph, features, labels, train, and val and test where there are any
-- model        nn.gcn or any table of parameters with forward(features, batch); for the exact
--              inference of validation and test it needs layer(i, h, block) and n_layers too, and
--              without them `validate` must be given where there are nodes for validation, and a
--              line tells that there is no test. A line tells where forward and layer are not the
--              same network, or where logits depend on the order of a layer's nodes, too
-- sampler      sampler(seeds, rng) -> mini-batch. Without one the model reads no graph: batches are
--              those of ladies.batches without a sampler, and inference is the model's forward on
--              some nodes at a time. Checkpoints hold the tensors of sampler.state, an
--              array of {name =, tensor =}, where it has one. The parameters in the table
--              sampler.parameters, where it has one, are trained with the model's; for them a
--              mini-batch's penalty(batch, model, loss) is added to the loss
-- P            of validation and test, in place of the model's own: from then on the model states
--              it, and so does its file. Without it the sampler must draw from the model's own, as
--              far as its mini-batches tell.
-- optimizer    default: Adam. It has all parameters of the model and of the sampler that require a
--              gradient, perhaps others too.
-- lr, weight_decay   of that Adam (1e-3 and 0); they are not given besides an optimizer
-- shard_optimizer   whether of several processes (see below) each has only a part of the
--              optimizer's moments (false); a checkpoint has all of them, and any number of
--              processes goes on from it
-- schedule     batch number -> factor of the learning rate, 0 or more (see ladies.schedule). One
--              with update(value, batch number) is told of every validation; one with state and
--              load_state is saved in checkpoints. Where any other remembers something that
--              changes, a line says that checkpoints do not hold it.
-- clip         bound on the norm of all gradients together
-- loss         loss(logits, labels, batch.loss_weight, batch, model) -> Tensor of one element;
--              default cross-entropy, or binary cross-entropy where a node may have several classes
--              (data.multilabel). Where there are loss_nodes, logits, labels and weights are
--              theirs.
-- batch_size   512
-- grad_accumulate   mini-batches of a step (1): the parameters change by the mean of their
--                   gradients,
--              whatever their sizes, and after_step of all but the last comes before. Batches are
--              counted as ever, also across the ends of epochs; validation, checkpoints, stops and
--              the schedule come at the ends of steps, and what is no whole step at the end of the
--              run is left out.
-- workers      threads that sample ahead of the loop (0), and `ahead`: see ladies.batches
-- precision    bfloat16: in steps, forward and backward, the factors of dense products are rounded
--              to bfloat16, as ladies.in_bfloat16 does; parameters, sums, optimizer, validation and
--              test are float32 as ever. Where nothing multiplies it (ladies.bfloat16_units), a
--              line says so, and products are of float32, which is the default. Whether the call
--              is within ladies.in_bfloat16 does not matter
-- epochs (1000), max_batches, max_seconds (of training alone)   bounds on the length of the run
-- seed         of the order of the nodes, the sampler's draws and dropout's
-- eval_every   batches between two validations (10)
-- memory       the bytes of activations that exact inference, for validation and test, may have in
--              memory, also as "4G"; see inference.way. Files are in `out` where it has one
-- feature_cache   bytes, also as "256M" (none): of features in shards, how much of those of other
--              ranks each holds all the time, the rows of the nodes of most edges
-- validate     validate(model, batch number) -> number, or a table of numbers by name [,
--              predictions for all nodes, of the form of the labels]; default micro-F1 by exact
--              inference
-- monitor      {name =, mode = "max"}: which number of `validate` best model, patience and curve go
--              by, and whether more ("max") or less ("min") of it is better. A single number gets
--              this name ("score"), which all lines call it by; default micro-F1 without `validate`
-- on_batch     called after each batch with {batch =, epoch =, index = (in the epoch), seconds =
--              (of training), loss =, lr =, mini_batch =, model =, optimizer =}
-- on_validation   called after each validation with {batch =, epoch =, seconds =, name =, value =
--              (the monitored ones), found = (all numbers by name), is_best =, predicted = (nil
--              where validation had none for all nodes), lr =, model =, optimizer =}
--              What either returns: "stop", which ends the run after this step; a table of numbers
--              by name, which are added to the line in the log; both; or nothing. A number `lr` is
--              the learning rate from then on, that of the schedule's factor 1. What a callback
--              remembers is not in checkpoints unless it is in an object of `state`. A run that a
--              callback has stopped stays so when it is resumed with that one (by its code), and
--              goes on with another one or none.
-- state        objects with state() and load_state(state), as an array or by names: checkpoints
--              hold their states, which are plain data: numbers, strings, booleans, Tensors,
--              Indexes, and tables of these
-- patience     batches without a gain of min_gain before the end: see ladies.early_stopping
-- best         which model is kept; without validation nodes it is the last
-- out          folder for log, checkpoints, model, predictions and summary: see
--              ladies.run_folder. It is new or empty: neither the files of others nor a
--              run are written over. One process at a time works there.
-- resume       go on from the checkpoint in `out`, where there is one. Data set, model, optimizer,
--              sampler, settings and the code of loss, schedule and validate (without the values
--              that these have captured) must be those of that run; another length (epochs,
--              max_batches, max_seconds, patience) and what results do not depend on (workers,
--              ahead, memory, checkpoint_every, quiet, plot) may be given.
-- settings     plain data that says what the run is, kept in the folder as config.json
-- checkpoint_every   seconds between two checkpoints (30)
-- quiet        no progress on stderr
-- plot         draws validations and loss while it trains, where stderr is a terminal; afterwards
--              the result's history shows them, and curve.svg in `out`
-- profile      whether the summary has `profile`, where the time of batches went by layer and by
--              primitive; every other batch is slower for it
-- method       a name for the summary to show
-- count_memory (rows of a batch's input, rows of its layers, both means) -> bytes, for the summary
-- Where mpirun or srun has started several processes, and all call this with the same, they train
-- the model together: each has its share of the mini-batches of a step (grad_accumulate), and all
-- end with the parameters that one process alone would have, by bits, also when a run goes on with
-- another number of them. Rank 0 alone has the folder. Inference they compute together, and so
-- they call `validate`, as ladies.comm.together does, which must give the same everywhere. on_batch
-- is called everywhere, at the ends of steps, with mini_batch where it was trained on. What
-- callbacks do must be the same everywhere.
-- Training begins without gradients, of the optimizer's parameters and so of all the model's, and
-- leaves none behind, not even where it ends with an error.
-- A loss, a gradient's norm, a parameter or a validation that is not finite ends the run with an
-- error, when the best model so far and the summary have been written and put into the model.
-- Ctrl-C ends the run after the batch in hand, with a checkpoint where it has a folder; the summary
-- then has stopped = "interrupted", and the model the best parameters so far. A second one is an
-- error at once.
local function train(given)
  return core.in_float32(train_with, given)
end

return train
