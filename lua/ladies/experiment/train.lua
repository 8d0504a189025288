--- Defines ladies.train, which trains with a model and a sampler that a program has built, or with
-- those that names stand for, as on the command line of `ladies train`. Both forms have their
-- options and defaults from one table.

local declared = require "ladies.training.declared"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local kinds = require "ladies.experiment.kinds"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local remarks = require "ladies.experiment.remarks"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"
local train = require "ladies.training.train"
local unheard = require "ladies.experiment.unheard"

local WHERE = "ladies.train"

-- Tells whether names stand for the parts of the run, because `given` has data, and neither a model
-- nor a sampler that was built.
local function is_by_name(given)
  return type(given) == "table" and not options.class_of(given) and rawget(given, "data") ~= nil
    and type(rawget(given, "model")) ~= "table" and rawget(given, "sampler") == nil
end

-- Tells whether an option that has the name of a setting is code or an object, and no setting.
local function is_built(name, value)
  return declared.is_code(name, value) or kinds.by_name[name] and options.class_of(value) ~= nil
end

-- Divides the given options into settings of an experiment and other options of ladies.train.
local function divided(given)
  local own, extra, known = {}, {}, {}
  for _, one in ipairs(kinds.settings()) do known[one.name] = true end
  declared.check_names(WHERE, given)
  for name, value in pairs(given) do
    local is_setting = known[name] and not is_built(name, value)
    local option = name ~= "data" and not is_setting and declared.find(name)
    if option then
      extra[name] = options.value(WHERE, name, value, declared.type_of(option))
    elseif name ~= "data" then
      own[name] = value
    end
  end
  if own.dataset then errors.fail(WHERE .. ": dataset is called data here, by name or as it is") end
  return own, extra
end

-- Fails for a setting that is carried out when a data set is read, where it was read before.
local function check_is_read(own)
  for _, name in ipairs(tables.sorted_keys(own)) do
    local setting = settings.common[name]
    if setting and setting.place == "data" then
      errors.fail(("%s: %s is for a data set that is read by its name or path; data is one "
        .. "already, which ladies.data changes"):format(WHERE, name))
    end
  end
end

-- Trains with the data set, method and model that names stand for.
local function by_name(given)
  local own, extra = divided(given)
  local data = options.value(WHERE, "data", given.data, "string or Dataset")
  if type(data) ~= "string" then check_is_read(own) end
  local parts = {}
  for _, kind in ipairs(kinds) do parts[kind.name] = own[kind.name] end
  own = tables.merged(own, experiment.own(parts))
  own.dataset = type(data) == "string" and data or data.path or data.name
  local config = own_code.with_files(experiment.configure(own, WHERE))
  if type(data) == "string" then data = experiment.load(config) end
  local opts = experiment.options(config, data, extra)
  unheard.tell(config, own, opts)
  if not opts.quiet then remarks.tell(config, opts.data, opts.task) end
  return train(opts), opts.model
end

--- ladies.train{data =, model =, sampler =, ...} -> table, Model | nil: trains the model in place,
-- leaves the best one's parameters in it and returns a summary (see ladies.summary; print it for
-- the table). Where neither a model nor a sampler that was built is given, names stand for them, as
-- on the command line: ladies.train{data = "cora", method = "ladies", samples = 64} is the run of
-- `ladies train cora --method ladies --samples 64`, by bits, and returns its model, too. Then
-- `data` may be a name, a path or a data set, `method`, `model` and `optimizer` are names or files
-- of code of one's own, the other settings are those of doc/reference/settings.md (those of the
-- data set with a name or path alone: it is read by them), and all options of this list but P may
-- be given. Options that are settings have the same defaults in both forms.
-- data         a data set: graph, features, labels, train, and val and test where there are any
-- model        nn.gcn or any table of parameters with forward(features, batch); for the exact
--              inference of validation and test it needs layer(i, h, block) and n_layers too, and
--              without them `validation` must be a function where there are nodes for it, and a
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
-- optimizer    default: Adam; one of ladies.optim, also one of your own (ladies.optim.own), or,
--              where names stand for the parts, its name or file. It has all parameters of the
--              model and of the sampler that require a gradient, perhaps others too.
-- lr, weight_decay   of that Adam (1e-3 and 0); they are not given besides an optimizer that was
--              built, nor are the next two
-- decoupled_decay   AdamW's decay in place of weight_decay: then the optimizer is that
-- groups       of parameters by patterns of their names, with a learning rate, a decay or a clip of
--              their own: "layers.1.*:weight_decay=5e-4,lr=0.01; head.*:clip=1". * stands for any
--              characters; a parameter is in the first group that it fits
-- shard_optimizer   whether of several processes (see below) each has only a part of the
--              optimizer's moments (false); a checkpoint has all of them, and any number of
--              processes goes on from it
-- average      of the weights over steps, which is validated, tested and kept in the place of the
--              last ones: "ema:0.999" or "swa:100"; see ladies.optim.average
-- schedule     batch number -> factor of the learning rate, 0 or more (see ladies.schedule). One
--              with update(value, batch number) is told of every validation; one with state and
--              load_state is saved in checkpoints. Where any other remembers something that
--              changes, a line says that checkpoints do not hold it.
-- clip         bound on the norm of all gradients together; 0 (the default): none
-- loss         loss(logits, labels, batch.loss_weight, batch, model) -> Tensor of one element;
--              default cross-entropy, or binary cross-entropy where a node may have several classes
--              (data.multilabel). Where there are loss_nodes, logits, labels and weights are
--              theirs.
-- batch_size   512
-- accumulate   mini-batches of a step (1): the parameters change by the mean of their gradients,
--              whatever their sizes, and after_step of all but the last comes before. Batches are
--              counted as ever, also across the ends of epochs; validation, checkpoints, stops and
--              the schedule come at the ends of steps, and what is no whole step at the end of the
--              run is left out
-- seeds_from   where a mini-batch has its seeds from. "all" (default): from all training nodes;
--              "parts": each of a step's from a part of the graph of its own
--              (ladies.data.seed_parts), which follows from the data set, `accumulate` and the
--              seed, so that ranks with features in shards need few rows of each other. An epoch
--              has as many mini-batches of each part, and each node once. It is for tasks of nodes,
--              and not for samplers that draw their own seeds
-- workers      threads that sample ahead of the loop (0), and `ahead`: see ladies.batches
-- precision    bfloat16: in steps, forward and backward, the factors of dense products are rounded
--              to bfloat16, as ladies.in_bfloat16 does; parameters, sums, optimizer, validation and
--              test are float32 as ever. Where nothing multiplies it (ladies.bfloat16_units), a
--              line says so, and products are of float32, which is the default. Whether the call
--              is within ladies.in_bfloat16 does not matter
-- epochs (1000), max_batches, max_seconds (of training alone)   bounds on the length of the run
-- seed         of the order of the nodes, the sampler's draws and dropout's
-- eval_every   batches between two validations (10, on a graph of 20,000 nodes or more 100)
-- memory       the bytes of activations that exact inference, for validation and test, may have in
--              memory, also as "4G"; see inference.way. Files are in `out` where it has one
-- ranks_infer  "together" or "alone": whether several processes share exact inference, or each
--              computes all of it; by default what is faster, as measured
-- feature_cache   bytes, also as "256M" (none): of features in shards, how much of those of other
--              ranks each holds all the time: the rows of the nodes of most edges, and after 1, 2,
--              4, ... epochs those for which it has asked most often
-- validation   "exact" (default), the task's metrics by exact inference; or a function
--              validation(model, batch number) -> number, or a table of numbers by name [,
--              predictions for all nodes, of the form of the labels]; of methods by name also
--              "sampled"
-- monitor      {name =, mode = "max", relative = false}, or the name alone: which number of
--              `validation` best model, patience and curve go by, whether more ("max") or less
--              ("min") of it is better, and whether min_gain is a share of it. With "exact" it is
--              by default the first metric of the task (micro-F1, MAE, ...), and the other two are
--              the metric's. A single number of a function gets this name ("score"), which all
--              lines call it by
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
-- patience     batches without a gain of min_gain (0.01) before the end (600; 0: never): see
--              ladies.early_stopping
-- best         which model is kept; without validation nodes it is the last
-- out          folder for log, checkpoints, model, predictions and summary: see
--              ladies.run_folder. It is new or empty: neither the files of others nor a
--              run are written over. One process at a time works there.
-- resume       go on from the checkpoint in `out`, where there is one. Data set, model, optimizer,
--              sampler, all options and the code of loss, schedule and validation (without the
--              values that these have captured) must be those of that run; another length (epochs,
--              max_batches, max_seconds, patience), callbacks, and what results do not depend on
--              (workers, ahead, memory, checkpoint_every, quiet, plot) may be given.
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
-- the model together: each has its share of the mini-batches of a step (accumulate), and all
-- end with the parameters that one process alone would have, by bits, also when a run goes on with
-- another number of them. Rank 0 alone has the folder. Inference they compute together, and so
-- they call `validation`, as ladies.comm.together does, which must give the same everywhere.
-- Everywhere on_batch is called, at the ends of steps, with mini_batch where it was trained on.
-- What callbacks do must be the same everywhere.
-- Training begins without gradients, of the optimizer's parameters and so of all the model's, and
-- leaves none behind, not even where it ends with an error.
-- A loss, a gradient's norm, a parameter or a validation that is not finite ends the run with an
-- error, when the best model so far and the summary have been written and put into the model.
-- Ctrl-C ends the run after the batch in hand, with a checkpoint where it has a folder; the summary
-- then has stopped = "interrupted", and the model the best parameters so far. A second one is an
-- error at once.
local function public(given)
  if is_by_name(given) then return by_name(given) end
  if type(given) == "table" and type(rawget(given, "data")) == "string" then
    errors.fail(("%s: data = %q is a name; a model or a sampler that was built goes with a data "
      .. "set that was loaded"):format(WHERE, given.data))
  end
  return train(given)
end

return public
