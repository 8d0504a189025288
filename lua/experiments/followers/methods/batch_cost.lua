--- CPU seconds of a mini-batch's training: what methods cost, on a machine that may be busy with
-- something else besides. Sampling, forward, backward and the step of the optimizer are in it;
-- validation is not, nor what a sampler makes before the first batch.

local experiment = require "ladies.experiment"
local json = require "ladies.base.json"
local measured = require "ladies.study.measured"
local protocol = require "experiments.followers.protocol"
local tables = require "ladies.base.tables"
local with_threads = require "ladies.base.with_threads"

local batch_cost = {}

-- A first group of batches warms up; the least mean of the others is the cost. A group is as many
-- as there are between two measurements of MVS, but ends after LONG seconds.
local GROUPS, GROUP, LONG = 3, 20, 2

-- Epochs that no run reaches, because runs at equal seconds end by their number of batches.
local ENDLESS = 1000000

--- batch_cost.one(settings, data) -> seconds: of the process, which should have one thread. The
-- settings are those of ladies.experiment.
function batch_cost.one(settings, data)
  local means, n, began = {}, 0, os.clock()
  local config = experiment.configure(tables.merged(settings, {epochs = GROUPS * GROUP,
    max_batches = GROUPS * GROUP, eval_every = GROUPS * GROUP + 1}))
  experiment.run(config, data, {quiet = true, on_batch = function()
    n = n + 1
    local seconds = os.clock() - began
    if n < GROUP and seconds < LONG then return end
    means[#means + 1] = seconds / n
    n, began = 0, os.clock()
    return #means == GROUPS and "stop" or nil
  end})
  return math.min(table.unpack(means, 2))
end

--- batch_cost.of(list, study, opts) -> number[]: the CPU seconds of a batch with each of these
-- settings of ladies.experiment, on one data set; they are kept in the study.
function batch_cost.of(list, study, opts)
  local data
  local items = tables.map(list, function(settings)
    return {settings = settings, key = "seconds of a batch: " .. json.encode(settings)}
  end)
  local _ <close> = with_threads(1)
  local records = measured(study, items, "method", opts.quiet, function(item)
    data = data or experiment.load(experiment.configure(item.settings))
    return {cpu_seconds = batch_cost.one(item.settings, data)}
  end)
  return tables.map(records, function(record) return record.cpu_seconds end)
end

--- batch_cost.length(name, seconds, cost) -> table: the settings with which a training on the data
-- set of this name, of batches of so many CPU seconds, takes so many of them in all.
function batch_cost.length(name, seconds, cost)
  local batches = math.max(1, math.floor(seconds / cost))
  return {patience = 0, epochs = ENDLESS, max_batches = batches,
    eval_every = math.max(1, batches // protocol.looks(name))}
end

return batch_cost
