--- Defines the models that experiments train, in the table models.by_name; an entry that a program
-- adds is a model like the others. An entry:
--
--   settings              what the model takes: names of settings whose place is "model" in
--                         ladies.experiment.settings, and settings of its own, written as there
--   defaults              settings in which it differs from every preset
--   no_histories          whether its layers read more of what comes in, H, than P H, or H is not
--                         `hidden` wide: methods that keep histories of H are refused
--   no_graph              whether it reads no graph: its method is "none"
--   of_data(data, config)   options of the model that follow from the data set, such as the number
--                         of features of edges, or one line that says what it lacks
--   reads_edges           whether it reads features of edges
--   make(config, data, task)   the model, with its first weights, whose forward gives task.outputs
--                         columns; if the task leaves that nil, the model chooses their number

local errors = require "ladies.base.errors"
local nn = require "ladies.nn"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local models = {}

-- Completes an entry by a function `make` that calls a constructor whose options have the same
-- names as settings: those that the entry names, and those of every experiment.
local function made_by(constructor, entry)
  local names = tables.append({"hidden", "layers", "normalize", "lambda", "seed"},
    settings.names_of(entry))
  function entry.make(config, data, task)
    local opts = {inputs = data.features.n_cols, outputs = task.outputs or config.hidden}
    for _, name in ipairs(names) do opts[name] = config[name] end
    for name, value in pairs(entry.of_data and entry.of_data(data, config) or {}) do
      opts[name] = value
    end
    return constructor(opts)
  end
  return entry
end

-- Returns what a data set knows about its edges (EdgeData), or nil.
local function edges_of(data) return rawget(data, "edges") end

-- Returns the number of features of edges, 0 where there are none.
local function edge_inputs(data)
  local edges = edges_of(data)
  return edges and edges.features and edges.features.n_cols or 0
end

-- Returns the options of a model that reads features of edges where the data set has them.
local function with_edges(data) return {edge_inputs = edge_inputs(data)} end

-- Returns the options of a model that cannot do without features of edges.
local function of_edges(data)
  if edge_inputs(data) == 0 then
    errors.fail(("the model gine reads features of edges, and %s has none; gin reads none"):format(
      data.name))
  end
  return with_edges(data)
end

local function of_relations(data)
  local edges = edges_of(data)
  if not edges or not edges.types then
    errors.fail(("the model rgcn reads the types of edges, its relations, and the edges of %s have "
      .. "no types"):format(data.name))
  end
  return {relations = #edges.type_names}
end

-- Returns the options of a model that scales by degrees, among them delta, the mean of log(d + 1)
-- over the nodes.
local function of_degrees(data, config)
  local sums = data.graph:normalize(config.normalize):row_sums()
  return {delta = (sums + 1):log():mean():item(), edge_inputs = edge_inputs(data)}
end

local SHARE = {"alpha", "number in [0, 1)", follows = "0.1; gcnii: learned, by layers",
  help = "the share of a node's first representation in every layer"}

-- Defaults of models whose layers read the rows of their own nodes.
local KEPT = {self_nodes = "previous"}

-- Wraps a constructor so that it is not given some of the settings that every experiment has.
local function without(constructor, ...)
  local names = {...}
  return function(opts)
    for _, name in ipairs(names) do opts[name] = nil end
    return constructor(opts)
  end
end

-- Settings of stacks of layers (ladies.nn.stack).
local STACK = {"activation", "dropout", "input_dropout", "norm", "residual", "head", "head_dropout"}

-- Returns the names of the settings of a stack, and of these others.
local function of_stack(...)
  return tables.append(tables.append({}, STACK), {...})
end

-- Settings of networks with heads of attention, and of those with an eps.
local HEADS = {
  {"heads", "positive integer", default = 8, help = "of attention in hidden layers"},
  {"output_heads", "positive integer", default = 1,
    help = "of attention in the layer of the classes"},
  {"attention_dropout", "number in [0, 1)", follows = "0", help = "of neighbours' weights"},
}
local EPS = {
  {"eps", "number", default = 0, help = "of a node's own row in the sum, besides 1"},
  {"learn_eps", "boolean", default = false, help = "each layer learns its eps"},
}

-- Defaults of networks that sum over neighbours.
local SUMS = tables.merged(KEPT, {normalize = "none", row_normalize = false})

--- The entries of all models by name.
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
    settings = of_stack(table.unpack(EPS)), defaults = SUMS, no_histories = true,
  }),
  gine = made_by(nn.gine, {
    settings = of_stack(table.unpack(EPS)), defaults = SUMS, no_histories = true,
    of_data = of_edges, reads_edges = true,
  }),
  pna = made_by(nn.pna, {
    settings = of_stack(), defaults = SUMS, no_histories = true, of_data = of_degrees,
    reads_edges = true,
  }),
  gat = made_by(nn.gat, {
    settings = of_stack(table.unpack(HEADS)),
    defaults = tables.merged(KEPT, {normalize = "row", activation = "elu"}), no_histories = true,
  }),
  gatv2 = made_by(nn.gatv2, {
    settings = of_stack(table.unpack(HEADS)),
    defaults = tables.merged(KEPT, {normalize = "row", activation = "elu"}), no_histories = true,
    of_data = with_edges, reads_edges = true,
  }),
  transformer = made_by(nn.transformer, {
    settings = of_stack(table.unpack(HEADS)), defaults = tables.merged(KEPT, {normalize = "row"}),
    no_histories = true, of_data = with_edges, reads_edges = true,
  }),
  rgcn = made_by(nn.rgcn, {
    settings = of_stack({"bases", "positive integer", default = 30,
      help = "maps of which those of the relations are sums"}),
    defaults = tables.merged(KEPT, {normalize = "row"}), no_histories = true,
    of_data = of_relations,
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
  embedding = made_by(without(nn.embedding, "inputs", "hidden", "layers", "normalize", "lambda"), {
    settings = {}, no_graph = true,
    of_data = function(data) return {nodes = data.graph.n_nodes} end,
  }),
  mlp = made_by(without(nn.mlp, "normalize", "lambda"), {
    settings = {"activation", "dropout", "input_dropout", "norm"}, defaults = {layers = 2},
    no_graph = true,
  }),
}

--- Returns the names of the models, as a type of ladies.options.
function models.names()
  return settings.one_of(models.by_name)
end

return models
