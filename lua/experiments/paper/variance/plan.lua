--- The plan of experiments.paper.variance: its options, and the points of every graph.

local core = require "ladies_core"
local collection = require "ladies.data.store.collection"
local declared = require "experiments.options"
local errors = require "ladies.base.errors"
local estimators = require "experiments.paper.variance.estimators"
local experiment = require "ladies.experiment"
local generate = require "ladies.data.generate"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local tables = require "ladies.base.tables"

local plan = {}

local WHERE = "experiments.paper.variance"
plan.WHERE = WHERE

--- Data sets that are made, by name: functions that make them.
plan.GENERATED = {
  ["power-law"] = function()
    return generate.power_law{nodes = 20000, entries = 200000, signal = 0.5}
  end,
}

--- The options (see ladies.study.carry_out).
plan.OPTIONS = tables.merged(declared.types "variance",
  {data = {"table", {}}, load = "table or nil", samplers = {"table", {}}, settings = {"table", {}}})

local ALL = {"cora", "citeseer", "pubmed", "wordnet", "power-law"}
local FEW = {"cora", "power-law"}

-- By how many steps of training VR-GCN's history is behind where it is not given.
local LAG = 10

-- Returns the names that are found without fetching anything.
local function here(names)
  local list = {}
  for _, name in ipairs(names) do
    if plan.GENERATED[name] or collection.find(name) then list[#list + 1] = name end
  end
  return list
end

-- Returns the estimator of the method of one's own in a file. Its model is the network.
local function of_file(path, opts)
  local name = own_code.load("method", path)
  local entry = methods.by_name[name]
  return {name = name, title = entry.title, own = true, make = function(network, s, layers)
    local config = experiment.configure(tables.merged(opts.settings, {method = name, samples = s,
      layers = layers, hidden = opts.hidden, normalize = opts.normalize, seed = opts.seed}))
    return entry.make(network.P, config, network.data, network)
  end}
end

-- Returns the estimators that were asked for, and those of the user's own samplers.
local function chosen(opts)
  local by_name = tables.by_field(estimators, "name")
  local names = tables.map(estimators, function(one) return one.name end)
  local list = tables.map(opts.methods or names, function(name)
    if own_code.is_file(name) then return of_file(name, opts) end
    return by_name[name] or errors.fail(("%s: no method %q%s"):format(WHERE, name,
      options.hint(name, names, "there are")))
  end)
  for _, name in ipairs(tables.sorted_keys(opts.samplers)) do
    local make = options.value(WHERE, "samplers." .. name, opts.samplers[name], "callable")
    if by_name[name] then
      errors.fail(("%s: samplers.%s: there is a method of this name; choose another"):format(WHERE,
        name))
    end
    list[#list + 1] = {name = name, title = name, own = true, make = function(network, s, layers)
      return make(network.P, s, layers)
    end}
  end
  return list
end

-- Refuses what would leave nothing to measure.
local function check_points(opts)
  if #opts.datasets == 0 or #opts.estimators == 0 or #opts.samples == 0 then
    errors.fail(WHERE .. ": name at least one data set, one method and one number of samples")
  end
  local needs = {}
  for i, one in ipairs(opts.estimators) do
    local least = one.least or 1
    for _, s in ipairs(opts.samples) do
      if s >= least then return end
    end
    needs[i] = ("%s needs %d at least"):format(one.name, least)
  end
  errors.fail(("%s: no method is measured with these samples; %s"):format(WHERE,
    table.concat(needs, ", ")))
end

--- Refuses options that do not go together, and completes them: with the data sets, and with
-- `estimators`.
function plan.check(opts)
  if opts.draws < 2 then errors.fail(WHERE .. ": a variance needs at least 2 draws") end
  if opts.batches < 2 then errors.fail(WHERE .. ": an interval needs at least 2 batches") end
  opts.lag = opts.lag or math.min(LAG, opts.steps)
  if opts.lag > opts.steps then
    errors.fail(("%s: the lag, %d, is more than the steps of training, %d"):format(WHERE,
      opts.lag, opts.steps))
  end
  opts.datasets = opts.datasets or here(opts.quick and FEW or ALL)
  opts.estimators = chosen(opts)
  check_points(opts)
end

-- Draws of a batch: `draws`, up to 32 times as many for a heavy tail with few samples, down to 4
-- for a light one with many.
local function draws_of(one, s, draws)
  if one.tail == "light" then return math.min(draws, math.max(4, draws * 64 // s)) end
  if one.tail == "heavy" then return draws * math.max(1, math.min(32, 512 // s)) end
  return draws
end

--- Returns the measurements of a data set, items of ladies.study.measured: the graph itself, {key
-- =, dataset =, name = in tables, points =}, and its points, {key =, graph =, estimator =, samples
-- =, layers =, draws =}. With a sampler or a data set of the user's they are measured `again`: a
-- key does not tell one of these from another of the same name.
function plan.graph(dataset, opts)
  local given = opts.data[dataset] ~= nil
  local graph = {key = given and dataset .. " (given)" or dataset, dataset = dataset,
    name = core.printable(dataset), again = given, points = {}}
  for _, one in ipairs(opts.estimators) do
    for _, s in ipairs(opts.samples) do
      for layers = one.two_layer_only and 2 or 1, s >= (one.least or 1) and 2 or 0 do
        table.insert(graph.points, {
          key = ("%s, %s, %d samples, %d layers"):format(graph.key, one.name, s, layers),
          graph = graph, estimator = one, samples = s, layers = layers,
          draws = draws_of(one, s, opts.draws), again = one.own or given,
        })
      end
    end
  end
  return graph
end

return plan
