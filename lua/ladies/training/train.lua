--- The loop of README with exact validation, early stopping, the best model kept, a progress bar,
-- a log and checkpoints.

local core = require "ladies_core"
local check_model = require "ladies.training.check_model"
local declared = require "ladies.training.declared"
local drawn_together = require "ladies.training.drawn_together"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local link = require "ladies.ranks.link"
local machine = require "ladies.base.machine"
local needs_whole = require "ladies.training.needs_whole"
local options = require "ladies.base.options"
local results = require "ladies.training.results"
local Run = require "ladies.training.run"
local run_folder = require "ladies.training.run_folder"
local tell = require "ladies.base.tell"
local validation = require "ladies.training.validation"

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

-- Tells where a run has fewer cores than it could use.
local function check_cores()
  local line = machine.bound()
  if line then io.stderr:write("ladies.train: ", line, "\n") end
end

-- ladies.train, in whatever precision its caller is.
local function train_with(given)
  if type(given) == "table" and not options.class_of(given) then
    given = declared.renamed("ladies.train", given)
  end
  local opts = options.check("ladies.train", given, declared.spec())
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
  opts.accumulate = opts.accumulate or 1
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

-- The loop of ladies.train over parts that were built; ladies.experiment.train says what it takes.
local function train(given)
  return core.in_float32(train_with, given)
end

return train
