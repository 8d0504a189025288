--- Defines the tasks for which experiments train, in the table tasks.by_name; an entry that a
-- program adds is a task like the others. An entry:
--
--   settings              settings of its own, written as those of ladies.experiment.settings
--   resolve(config, data) gives a value to its settings that are open and that the data decide
--   make(config, data)    the task for the data set: see ladies.task.new

local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local regression = require "ladies.task.regression"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"
local task = require "ladies.task"

local tasks = {}

-- Makes the entry of a task whose constructor takes the data set, and its settings by their names,
-- with the settings of every task that are named behind it.
local function made_by(constructor, entry, ...)
  local names = tables.append({...}, settings.names_of(entry))
  function entry.make(config, data)
    local opts
    for _, name in ipairs(names) do
      opts = opts or {}
      opts[name] = config[name]
    end
    return constructor(data, opts)
  end
  return entry
end

-- The settings of tasks on edges.
local OF_EDGES = {
  {"edge_split", "string", default = "85/5/10",
    help = "edges for training, validation and test, in per cent; time:80/10/10, or time: by their "
      .. "times (the default of the method temporal)"},
  {"edge_split_seed", "integer", default = 1,
    help = "of that split, and of the pairs that links are tested against"},
  {"embedding", "positive integer", default = 64, help = "columns of a node's row"},
}

-- The additional settings of link prediction.
local OF_LINKS = {
  {"exclude", "seeds|all|none", default = "seeds", help = "edges left out of propagation in "
    .. "training: the mini-batch's positives, those of all mini-batches, or none"},
  {"supervision", "number in (0, 1]", default = 1,
    help = "the share of the edges for training that are positives; others only propagate"},
  {"negatives", "uniform|degree|pairs", default = "uniform", help = "how they are drawn: the other "
    .. "end of a positive uniformly or by its degree, or both ends"},
  {"per_positive", "positive integer", default = 1, help = "negatives for each positive"},
  {"corrupt", "both|to|from", default = "both",
    help = "the end of a positive that a negative has another node at"},
  {"candidates", "string", default = "pairs", help = "what edges are tested against: pairs, for "
    .. "AUC and AP; all nodes at each end, or a number of them, for MRR and Hits@k"},
  {"decoder", "dot|distmult|complex|mlp", default = "dot", help = "what scores a pair of nodes"},
  {"relations", "boolean", default = false,
    help = "types of edges are relations, which distmult and complex tell apart"},
  {"variational", "boolean", default = false,
    help = "a node's row is drawn of a normal distribution that is learned (VGAE)"},
}

local SHIFT = {"shift", "number or array of numbers", follows = "the mean of the training part",
  help = "the model learns (target - shift) / scale"}
local SCALE = {"scale", "positive number or array of positive numbers",
  follows = "the standard deviation of the training part", help = "see shift"}

-- Sets `shift` and `scale` from the training targets; a run stores them, so that they are the same
-- when its model is used on other data.
local function resolve_scale(config, targets, units)
  if config.shift and config.scale or not targets then return end
  local shift, scale = regression.moments(targets, units)
  config.shift, config.scale = config.shift or shift, config.scale or scale
end

-- Tells whether the method of a configuration goes by the times of edges.
local function in_time(config)
  local method = methods.by_name[config.method or "none"]
  return method ~= nil and method.in_time or false
end

local is_of_edges = {}

-- Makes the entry of a task on edges, with its own settings in addition.
local function of_edges(constructor, own)
  local list = tables.append(tables.append({}, OF_EDGES), own)
  local entry = {settings = list, make = function(config, data)
    local opts = {seed = config.seed, in_time = in_time(config)}
    for _, setting in ipairs(list) do opts[setting[1]] = config[setting[1]] end
    return constructor(data, opts)
  end}
  is_of_edges[entry] = true
  return entry
end

local POOLING = {"pooling", "mean|sum|max|attention", follows = "mean",
  help = "of the rows of a graph's nodes"}

local function resolve_regression(config, data)
  resolve_scale(config, data.targets, data.train)
end

--- The entries of all tasks by name.
tasks.by_name = {
  edge_classification = of_edges(task.edge_classification, {}),
  edge_regression = of_edges(task.edge_regression, {
    {"target", "string", default = "1",
      help = "weight, or a feature of the edges by its name or number"},
  }),
  link_prediction = of_edges(task.link_prediction, OF_LINKS),
  node_classification = made_by(task.node_classification, {settings = {}}),
  node_regression = made_by(task.node_regression, {
    settings = {SHIFT, SCALE}, resolve = resolve_regression,
  }),
  graph_classification = made_by(task.graph_classification, {settings = {POOLING}}, "seed"),
  graph_regression = made_by(task.graph_regression, {
    settings = {POOLING, SHIFT, SCALE}, resolve = resolve_regression,
  }, "seed"),
}

-- The tasks that a data set may decide, where none is named (ladies.task.default_name).
local DECIDED = {}
for _, name in ipairs{"node_classification", "node_regression", "graph_classification",
  "graph_regression"} do
  DECIDED[name] = tasks.by_name[name]
end

--- The entry that stands for the task of settings which name none: it takes all that a task may
-- have which the data set decides, and tasks.of refuses what that one has not.
tasks.undecided = settings.union(DECIDED)

-- Fails where settings that name no task have one that the data set's task has not.
local function check_decided(config, name)
  for _, key in ipairs(settings.names_of(tasks.undecided)) do
    if config[key] ~= nil and not settings.takes(tasks.by_name[name], key) then
      errors.fail(("ladies.experiment: the task is %s, as the data set has it, and has no %s, a "
        .. "setting of %s"):format(name, key, table.concat(settings.owners(DECIDED, key), ", ")))
    end
  end
end

--- Returns the names of all tasks, as a type of ladies.options.
function tasks.names() return settings.one_of(tasks.by_name) end

-- The settings that decide on which units, and against what, a model is tested.
local TESTED_BY = {"edge_split", "edge_split_seed", "corrupt", "candidates", "relations", "target"}

--- Returns the name of a configuration's task; nil where it is not recorded, as in scripts' runs.
function tasks.name_of(config)
  return config.task or config.preset and "node_classification" or nil
end

--- Returns the name of a setting by which models of two configurations are tested otherwise, and
-- its values; nil where there is none. What one of them has not recorded decides nothing.
function tasks.tested_otherwise(one, other)
  local first, second = tasks.name_of(one), tasks.name_of(other)
  if first and second and first ~= second then return "task", first, second end
  for _, name in ipairs(TESTED_BY) do
    local value, here = one[name], other[name]
    if value ~= nil and here ~= nil and value ~= here then return name, value, here end
  end
end

-- A cache of the tasks that were made, by data set: {key =, task =, parts =}, since splitting edges
-- takes time.
local made = setmetatable({}, {__mode = "k"})

local PARTS = {"graph", "edges", "features", "labels", "targets", "train", "val", "test"}

-- Tells whether the data set still has the same parts as when the task was made.
local function is_as_it_was(data, parts)
  for _, name in ipairs(PARTS) do
    if not rawequal(data[name], parts[name]) then return false end
  end
  return true
end

--- Returns the task of a configuration for a data set, the same object for the same settings. The
-- configuration gets the name of the task where it is not node classification, and the task's
-- settings that the data decide.
function tasks.of(config, data)
  local name = config.task or task.default_name(data)
  options.value("ladies.experiment", "task", name, tasks.names())
  if not config.task then check_decided(config, name) end
  if name ~= "node_classification" then config.task = name end
  local entry, of_task = tasks.by_name[name], {}
  if entry.resolve then entry.resolve(config, data) end
  for _, key in ipairs(settings.names_of(entry)) do of_task[key] = config[key] end
  if in_time(config) and not is_of_edges[entry] then
    errors.fail(("ladies.experiment: the method %s goes by the times of edges, and is for tasks on "
      .. "edges, such as link_prediction, not for %s; ladies.samplers.temporal takes the times of "
      .. "nodes in Lua (doc/samplers.md)"):format(config.method, name))
  end
  local key = json.encode{name, in_time(config), entry.code or "",
    entry.code and config or of_task,              -- code of the user's may read any setting
    config.seed, config.split_seed or 0, config.split or ""}
  local before = made[data]
  if before and before.key == key and is_as_it_was(data, before.parts) then return before.task end
  local one, parts = entry.make(config, data), {}
  for _, part in ipairs(PARTS) do parts[part] = data[part] end
  made[data] = {key = key, task = one, parts = parts}
  return one
end

return tasks
