--- The models that experiments train, in the table models.by_name; an entry that a program adds is
-- a model like the others. An entry:
--
--   settings              what the model takes: names of settings whose place is "model" in
--                         ladies.experiment.settings, and settings of its own, written as there
--   defaults              settings in which it differs from every preset
--   no_histories          whether its layers read more of what comes in, H, than P H, or H is not
--                         `hidden` wide: methods that keep histories of H are refused
--   no_graph              whether it reads no graph: its method is "none"
--   make(config, data)    the model, with its first weights

local nn = require "ladies.nn"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local models = {}

-- The entry with the `make` of a constructor whose options are called as the settings: those that
-- the entry names, and those of every experiment.
local function made_by(constructor, entry)
  local names = tables.append({"hidden", "layers", "normalize", "lambda", "seed"},
    settings.names_of(entry))
  function entry.make(config, data)
    local opts = {inputs = data.features.n_cols, outputs = data.classes}
    for _, name in ipairs(names) do opts[name] = config[name] end
    return constructor(opts)
  end
  return entry
end

local SHARE = {"alpha", "number in [0, 1)", follows = "0.1; gcnii: learned, by layers",
  help = "the share of a node's first representation in every layer"}

-- Of models whose layers read the rows of their own nodes.
local KEPT = {self_nodes = "previous"}

-- A constructor that is not given some of the settings which every experiment has.
local function without(constructor, ...)
  local names = {...}
  return function(opts)
    for _, name in ipairs(names) do opts[name] = nil end
    return constructor(opts)
  end
end

-- What stacks of layers take (ladies.nn.stack).
local STACK = {"activation", "dropout", "input_dropout", "norm", "residual", "head", "head_dropout"}

-- The settings of a stack, and others.
local function of_stack(...)
  return tables.append(tables.append({}, STACK), {...})
end

--- The models by name.
models.by_name = {
  gcn = made_by(nn.gcn, {settings = of_stack("order")}),
  jk = made_by(nn.gcn, {
    settings = of_stack("order"), defaults = tables.merged(KEPT, {head = "concat"}),
    no_histories = true,
  }),
  gcnii = made_by(nn.gcnii, {
    settings = {"activation", "dropout", "input_dropout", "norm",
      SHARE,
      {"theta", "positive number", default = 0.5,
        help = "how far the maps of the layers are from the identity"},
    },
    no_histories = true,
  }),
  sage = made_by(nn.sage, {
    settings = of_stack({"aggregate", "mean|max", default = "mean",
      help = "of a node's neighbours"}),
    defaults = tables.merged(KEPT, {normalize = "row"}), no_histories = true,
  }),
  gin = made_by(nn.gin, {
    settings = of_stack(
      {"eps", "number", default = 0, help = "of a node's own row in the sum, besides 1"},
      {"learn_eps", "boolean", default = false, help = "each layer learns its eps"}),
    defaults = tables.merged(KEPT, {normalize = "none", row_normalize = false}),
    no_histories = true,
  }),
  gat = made_by(nn.gat, {
    settings = of_stack(
      {"heads", "positive integer", default = 8, help = "of attention in hidden layers"},
      {"output_heads", "positive integer", default = 1,
        help = "of attention in the layer of the classes"},
      {"attention_dropout", "number in [0, 1)", follows = "0", help = "of neighbours' weights"}),
    defaults = tables.merged(KEPT, {normalize = "row", activation = "elu"}), no_histories = true,
  }),
  appnp = made_by(nn.appnp, {
    settings = {"activation", "dropout", "input_dropout", "norm", SHARE,
      {"mlp_layers", "positive integer", default = 2,
        help = "linear layers before the propagations"},
    },
    defaults = tables.merged(KEPT, {layers = 10}), no_histories = true,
  }),
  sgc = made_by(without(nn.sgc, "hidden"), {
    settings = {"input_dropout"}, defaults = {layers = 2}, no_histories = true,
  }),
  mlp = made_by(without(nn.mlp, "normalize", "lambda"), {
    settings = {"activation", "dropout", "input_dropout", "norm"}, defaults = {layers = 2},
    no_graph = true,
  }),
}

--- Their names, as a type of ladies.options.
function models.names()
  return settings.one_of(models.by_name)
end

return models
