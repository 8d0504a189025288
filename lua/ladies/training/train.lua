--- Carries out ladies.train for a model and a sampler that a program has built: checks the options,
-- takes the run's folder, trains by the loop in ladies.training.loop.run and makes the results.

local core = require "ladies_core"
local check_model = require "ladies.training.loop.check_model"
local declared = require "ladies.training.declared"
local drawn_together = require "ladies.training.ranks.drawn_together"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local link = require "ladies.ranks.link"
local machine = require "ladies.base.machine"
local needs_whole = require "ladies.training.ranks.needs_whole"
local numbered = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local places = require "ladies.training.batches.places"
local propagation = require "ladies.graph.propagation"
local results = require "ladies.training.record.results"
local Run = require "ladies.training.loop.run"
local run_identity = require "ladies.training.checkpoint.identity"
local run_folder = require "ladies.training.record.run_folder"
local tables = require "ladies.base.tables"
local task = require "ladies.task"
local tell = require "ladies.base.tell"
local validation = require "ladies.training.loop.validation"

-- Fails for options of a run without a sampler that need a graph.
local function check_no_graph(opts)
  if opts.P then
    errors.fail "ladies.train: P is of a model that reads a graph, which needs a sampler"
  elseif (opts.model.n_layers or 0) ~= 0 then
    errors.fail(("ladies.train: the model has %s layers over a graph and needs a sampler"):format(
      opts.model.n_layers))
  end
end

-- Fails for a model that cannot be trained, or that cannot be validated in the way the options ask
-- for; prints a notice about one that cannot be tested, or whose forward and layer are not the same
-- network.
local function check_own_model(opts)
  local model, data = opts.model, opts.data
  options.value("ladies.train", "the model's forward", model.forward, "callable")
  local lacking = opts.sampler and inference.lacking(model)
  if lacking and opts.task.units.val and not validation.own(opts) then
    errors.fail(("ladies.train: the model has no %s, by which validation and test go; add %s, or "
      .. "validate in another way (validation = function, or --validation sampled)"):format(lacking,
      lacking:find " and " and "them" or "it"))
  end
  if lacking and opts.task.units.test then
    tell("ladies.train: the model has no %s: there will be no test", lacking)
  end
  if validation.looks_ahead(opts) and opts.task.units.val and not validation.own(opts) then
    errors.fail(("ladies.train: %s; validate by it (validation = function)"):format(
      propagation.LOOKS_AHEAD))
  elseif validation.looks_ahead(opts) and opts.task.units.test then
    tell("ladies.train: there will be no test: %s", propagation.LOOKS_AHEAD)
  end
  if opts.sampler and not lacking and not opts.P and drawn_together.graph_of(data) then
    local needed = needs_whole(model, data.features.n_cols)
    if needed then errors.fail("ladies.train: validation and test of the model: " .. needed) end
  end
  local wrong = check_model(model, data.features.n_cols)
  if wrong then tell("ladies.train: %s", wrong) end
end

-- Adds the default task of the data set to options without one, and replaces `data` by the task's;
-- fails if the data set lacks what the task needs.
local function complete_task(opts)
  local data = opts.data or opts.task and opts.task.data
  if not data then errors.fail "ladies.train: data is missing (or a task, which has one)" end
  if opts.task and not rawequal(data, opts.task.data) then
    errors.fail "ladies.train: data is another data set than the task's; leave data out"
  end
  opts.data = data
  for _, name in ipairs{"features", not opts.task and not data.targets and "labels",
    not opts.task and "train", opts.sampler and "graph"} do
    if name and not data[name] then
      errors.fail(("ladies.train: the data set has no %s%s"):format(name,
        name == "train" and '; data:split "10/10/80" makes a split' or ''))
    end
  end
  if not opts.task then opts.task = run_identity.follows(task.of(data)) end
  if opts.sampler and not opts.task.own_seeds and numbered.own_batches(opts.sampler) then
    errors.fail(("ladies.train: %s draws its own seeds, nodes, and the task %s is of %ss"):format(
      numbered.name_of(opts.sampler), opts.task.name, opts.task.unit))
  end
end

-- Prints a notice if the precision that a run asks for is not available.
local function check_precision(opts)
  if opts.precision == "bfloat16" and not core.bfloat16_units() then
    tell("ladies.train: precision bfloat16: nothing multiplies it here (AMX, AVX512-BF16), for "
      .. "this processor has neither or LADIES_ISA holds them back; so products are of float32")
  end
end

-- Prints a notice if a run has fewer cores than it could use.
local function check_cores()
  local line = machine.bound()
  if line then io.stderr:write("ladies.train: ", line, "\n") end
end

-- Trains with checked precision: the caller has already set the precision of products.
local function train_with(given)
  if type(given) == "table" and not options.class_of(given) then
    declared.check_names("ladies.train", given)
  end
  local opts = options.check("ladies.train", given, declared.spec())
  if not opts.sampler then check_no_graph(opts) end
  complete_task(opts)
  for _, name in ipairs(tables.sorted_keys(declared.of_default_optimizer)) do
    if opts.optimizer and given[name] ~= nil then
      errors.fail(("ladies.train: %s is the optimizer's where one is given"):format(name))
    end
  end
  if opts.resume and not opts.out then
    errors.fail "ladies.train: resume needs out, the run's folder"
  end
  opts.accumulate = opts.accumulate or 1
  opts.parts = places.of(opts)
  opts.eval_every = opts.eval_every or validation.interval(opts.data)
  check_own_model(opts)
  check_precision(opts)
  check_cores()
  local folder, lock
  if opts.out and link.rank == 0 then folder, lock = run_folder.take(opts.out, opts.resume) end
  local _ <close> = lock
  local run <close> = Run.new(opts, folder)
  return results.of(run, run:loop())
end

-- Trains a model with the loop of ladies.train, for parts that a program has built;
-- ladies.experiment.train documents the options.
local function train(given)
  return core.in_float32(train_with, given)
end

return train
