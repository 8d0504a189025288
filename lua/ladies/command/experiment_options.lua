--- The settings of ladies.experiment as options of a command line, for the commands that train.
-- Options that are not given have the values of the method and the preset.

local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"

local experiment_options = {}

--- The options, as ladies.command.cli takes them. `method` is not among them.
experiment_options.list = {
  {"dataset", "NAME|PATH", "string", help = "data set by name or path (default wordnet)"},
  {"shuffle", "WHAT", "none|labels|edges|both",
    help = "train on shuffled labels or edges, to see where the F1 comes from (default none)"},
  {"features", "HOW", "as_given|row_normalized",
    help = "row_normalized: each row divided by its sum"},
  {"preset", "NAME", "default|paper|code",
    help = "default, paper (the paper's text) or code (the authors' program)"},
  {"samples", "N", "positive integer",
    help = "nodes drawn for a layer (ladies, fastgcn: 512), or neighbours for a node "
      .. "(graphsage: 5, vrgcn: 2)"},
  {"layers", "N", "positive integer", help = "propagations (default 5)"},
  {"hidden", "N", "positive integer", help = "hidden width (default 256)"},
  {"batch-size", "N", "positive integer", help = "training nodes of a batch (default 512); at "
    .. "the end of an epoch, fewer than a quarter of them join the batch before"},
  {"epochs", "N", "positive integer", help = "end after so many (default 1000)"},
  {"max-batches", "N", "positive integer", help = "end after so many"},
  {"max-seconds", "S", "positive number", help = "end after so long, without validation"},
  {"patience", "N", "non-negative integer",
    help = "end when validation F1 has not risen by 0.01 for so many batches; 0: never"},
  {"eval-every", "N", "positive integer", help = "batches between two validations"},
  {"seed", "N", "integer", help = "of everything random (default 1)"},
  {"lr", "RATE", "positive number", help = "Adam's learning rate (default 0.001)"},
  {"dropout", "P", "number in [0, 1)", help = "after each hidden layer"},
  {"weight-decay", "X", "non-negative number", help = "added to the gradient, times the weight"},
  {"clip", "NORM", "non-negative number", help = "bound on the norm of all gradients; 0: none"},
  {"self-nodes", "WHICH", "none|previous|batch|auto",
    help = "nodes that every sampled layer holds besides: none, the previous layer's, the batch's, "
      .. "or auto: none where a batch holds all training nodes, else the previous layer's"},
  {"normalize", "P", "sym|row", help = "P: D^-1/2 (A+I) D^-1/2 or D^-1 (A+I)"},
  {"draw", "METHOD", "wor|wr|poisson", help = "how nodes are drawn; see sampling.choice"},
  {"debias", "BOOL", "boolean", help = "unbiased weights for wor"},
  {"flat", "BOOL", "boolean", help = "probabilities by column norms, not squared"},
  {"probability", "WHICH", "norms|uniform",
    help = "nodes drawn by their columns' norms, or all alike (ladies, fastgcn)"},
  {"form", "FORM", "mean|unbiased", help = "graphsage: the mean over the sample (default for P = "
    .. "row), or the unbiased estimate of P"},
  {"cvd", "BOOL", "boolean",
    help = "vrgcn: noise of dropout kept out of the history (default with dropout)"},
  {"parts", "N", "positive integer",
    help = "clustergcn: of the graph (default: of about 250 nodes, at least 50)"},
  {"clusters", "N", "positive integer",
    help = "clustergcn: parts in a batch (default: a fiftieth of them, at least 5)"},
  {"partition", "METHOD", "metis|random", help = "clustergcn: how it is made (default metis)"},
  {"lambda", "X", "number", help = "clustergcn: diagonal enhancement (default 0)"},
  {"union", "WHEN", "pre|post", help = "self nodes before the draw, or after (the authors)"},
  {"row-normalize", "BOOL", "boolean", help = "sampled rows divided by their sums"},
  {"activation", "NAME", "string", help = "relu, elu, leaky_relu, sigmoid, tanh or none"},
  {"head", "KIND", "none|linear", help = "a linear layer after the last propagation, or none"},
  {"head-dropout", "P", "number in [0, 1)", help = "before that layer"},
  {"order", "ORDER", "auto|transform_first|propagate_first",
    help = "of the linear map and the propagation"},
  {"validation", "HOW", "exact|sampled", help = "exact, or a batch with 20 times the samples"},
  {"min-gain", "X", "non-negative number", help = "what counts as a rise (default 0.01)"},
  {"best", "WHICH", "highest|gain", help = "the model kept: highest F1, or that of the last rise"},
}

table.move(data_options.list, 1, #data_options.list, #experiment_options.list + 1,
  experiment_options.list)

--- The settings that the user gave on the command line, from what cli.main hands over.
function experiment_options.settings(opts, given)
  local settings = {}
  for _, option in ipairs(experiment_options.list) do
    local key = option[1]:gsub("-", "_")
    if given[key] then settings[key] = opts[key] end
  end
  return settings
end

--- "dropout=0,0.3 self-nodes=none,batch" as {{"dropout", 0, 0.3}, {"self_nodes", "none", "batch"}},
-- with values of the options' types; errors begin with `where`.
function experiment_options.lists(where, text)
  local lists, spec = {}, cli.join({name = where}, experiment_options.list)
  for word in text:gmatch "%S+" do
    local name, values = word:match "^([^=]+)=(.+)$"
    if not name then
      error(("%s: %q is no setting with its values, such as dropout=0,0.3"):format(where, word), 0)
    end
    local key = name:gsub("-", "_")
    local list = {key}
    for value in values:gmatch "[^,]+" do
      list[#list + 1] = cli.parse(spec, {("--%s=%s"):format(name, value)})[key]
    end
    lists[#lists + 1] = list
  end
  if #lists == 0 then
    error(where .. " needs settings with their values, such as dropout=0,0.3", 0)
  end
  return lists
end

return experiment_options
