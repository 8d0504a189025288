--- The results of methods, networks and presets as a few numbers each: all their settings, and the
-- losses of three short steps on a small graph. They differ when a sampler, a network or a default
-- does, and not when code is only written otherwise; so they tell which tables of doc/ are of a
-- program that computed otherwise (experiments.bench.since).

local core = require "ladies_core"
local edges = require "ladies.data.edges"
local ladies = require "ladies"
local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local computed = {}

--- Losses may differ by this share and count as the same: other processors round otherwise.
computed.TOLERANCE = 5e-5

-- The methods that the paper compares are here in all of its readings; all others by default alone.
local OF_THE_PAPER = {"clustergcn", "fastgcn", "full", "graphsage", "ladies", "vrgcn"}

local STEPS = 3

-- So small that nothing takes time, so few samples that every sampler has to choose.
local SMALL = {batch_size = 64, hidden = 8, lr = 0.01}
local LAYER, NEIGHBOURS = 24, 3

-- Returns, by name, the settings of every run that is computed: every method with a GCN; every
-- network with full batches, if it reads a graph; and every preset without further settings.
local function subjects()
  local list = {}
  local function add(kind, name, preset, given)
    list[("%s %s, %s"):format(kind, name, preset)] = tables.merged(given, {preset = preset})
  end
  for name, entry in pairs(methods.by_name) do
    local of_nodes = not (entry.no_graph or entry.in_time)
    if of_nodes then add("method", name, "default", {method = name, model = "gcn"}) end
  end
  for name, entry in pairs(models.by_name) do
    add("network", name, "default", {model = name, method = not entry.no_graph and "full" or nil})
  end
  for _, preset in ipairs{"code", "paper"} do
    for _, name in ipairs(OF_THE_PAPER) do add("method", name, preset, {method = name}) end
  end
  for _, preset in ipairs{"default", "code", "paper"} do add("preset", preset, preset, {}) end
  return list
end

-- Returns the settings of the short steps. METIS divides a graph otherwise from version to version.
local function small_of(given)
  local small = tables.merged(given, SMALL)
  local no_graph = given.model and models.by_name[given.model].no_graph
  local entry = methods.by_name[given.method or no_graph and "none" or "ladies"]
  for _, name in ipairs(settings.names_of(entry)) do
    if name == "samples" then small.samples = entry.fan_out and NEIGHBOURS or LAYER end
    if name == "partition" then small.partition = "random" end
  end
  return small
end

-- Returns the losses of the first steps of training.
local function losses_of(given, data)
  local config = experiment.configure(small_of(given))
  experiment.resolve(config, data)
  local model = experiment.model(config, data)
  local sampler = config.method ~= "none" and experiment.sampler(config, data, model)
    or ladies.samplers.full(data.graph:normalize "sym", {layers = config.layers})
  local adam = ladies.optim.adam(model:parameters(), {lr = config.lr})
  local size, losses = config.method == "full" and #data.train or config.batch_size, {}
  for batch in ladies.batches(data.train, {batch_size = size, sampler = sampler, seed = 1,
    epochs = 3, edges = data.edges}) do
    local _ <close> = ladies.step()
    local logits, weight = model:forward(data.features, batch), rawget(batch, "loss_weight")
    local nodes, places = batch.output, batch.loss_nodes
    if places then
      logits, nodes, weight = logits:rows(places), nodes[places], weight and weight[places]
    end
    local loss = ladies.loss.cross_entropy(logits, data.labels[nodes], weight)
    losses[#losses + 1] = tonumber(("%.6g"):format(loss:item()))
    if batch.penalty then loss = loss + batch:penalty(model, loss) end
    loss:backward()
    adam:step()
    if batch.after_step then batch:after_step(model) end
    if #losses == STEPS then break end
  end
  return losses
end

-- Returns the small graph, with features and types of edges for the networks that read them.
local function small_data()
  local data = ladies.generate.power_law{nodes = 400, entries = 3200, classes = 4, features = 12,
    signal = 0.3, train = 0.5, seed = 1}
  local A = data.graph.adjacency
  data.edges = edges.new{adjacency = A, features = core.zeros(A.nnz, 2):normal_(1, core.rng(1)),
    types = core.range(1, A.nnz) % 3 + 1, type_names = {"a", "b", "c"},
    inverses = core.index{0, 0, 0}}
  return data
end

--- computed.now() -> name -> {settings =, losses =}, plain data; names are "method ladies, code",
-- "network gcnii, default" or "preset paper, paper".
function computed.now()
  local data, found = small_data(), {}
  for name, given in pairs(subjects()) do
    found[name] = {settings = experiment.configure(given), losses = losses_of(given, data)}
    collectgarbage()
  end
  return found
end

-- Tells whether two results differ in losses or in settings that both have. A setting that only one
-- of them has is not compared: it was added, or removed, between the two.
local function differs(a, b)
  for key, x in pairs(a.settings) do
    local y = b.settings[key]
    if type(x) ~= "table" and y ~= nil and x ~= y then return true end
  end
  for i, x in ipairs(a.losses) do
    local y = b.losses[i]
    if not y or math.abs(x - y) > computed.TOLERANCE * math.abs(x) then return true end
  end
  return #a.losses ~= #b.losses
end

--- computed.changed(before, after) -> string[]: the names, in order, of the results that differ;
-- names that only one of the two has are left out.
function computed.changed(before, after)
  local list = {}
  for _, name in ipairs(tables.sorted_keys(before)) do
    if after[name] and differs(before[name], after[name]) then list[#list + 1] = name end
  end
  return list
end

return computed
