--- Measures the cost of a mini-batch: the time of sampling and of a step, the share of each
-- primitive in it, and the memory.

local medians = require "ladies.statistics.medians"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local timing = require "ladies.lab.cost.timing"
local units = require "ladies.base.units"

local cost = {}

-- The most mini-batches that are timed, and the number whose bytes are counted.
local MOST, WEIGHED = 200, 5

-- The share of the time below which primitives are counted together as "others".
local LEAST_SHARE = 0.02

-- The share of the time above which a remark says that Lua itself takes it.
local MUCH_LUA = 0.3

local MS = {format = "%.3f ms", scale = 1e3}
local PERCENT = {format = "%.1f %%", scale = 100}
local MB = {format = "%.3f MB", scale = 1 / units.MIB}

local function finding(key, label, how, interval, sentence)
  return tables.merged({key = "cost." .. key, section = "cost", label = label, sentence = sentence},
    how, interval)
end

-- Returns the median of differences of two times, with 0 for a negative one, which is noise.
local function median_of_rest(list)
  local x = medians.interval(list)
  return {mean = math.max(0, x.mean), low = math.max(0, x.low), high = math.max(0, x.high), n = x.n}
end

local function sum_of(a, b)
  return tables.map(a, function(x, i) return x + b[i] end)
end

-- Returns the findings about the parts of a phase: the primitives by name, the longest first, then
-- the short ones together, and Lua itself.
local function parts_of(phase, what, seen)
  local whole, list, others = medians.of(seen.whole), {}, nil
  for name, seconds in pairs(seen.primitives) do
    if medians.of(seconds) >= LEAST_SHARE * whole then
      list[#list + 1] = {name, seconds}
    else
      others = others and sum_of(others, seconds) or seconds
    end
  end
  table.sort(list, function(a, b)
    local x, y = medians.of(a[2]), medians.of(b[2])
    return x > y or x == y and a[1] < b[1]
  end)
  if others then list[#list + 1] = {"other primitives", others} end
  list[#list + 1] = {"Lua itself", seen.lua, median_of_rest}
  return tables.map(list, function(part)
    local name, interval = part[1], part[3] or medians.interval
    return finding(phase .. "." .. name, what .. ": " .. name, MS, interval(part[2]))
  end)
end

-- Returns the share of the time that Lua itself takes, for each mini-batch.
local function share_of_lua(seen)
  return tables.map(seen.whole, function(seconds, i) return seen.lua[i] / seconds end)
end

local function findings_of_seconds(seen)
  local sampling, step = seen.sampling, seen.step
  local both = sum_of(sampling.whole, step.whole)
  local share = median_of_rest(share_of_lua(sampling))
  local of_sampling = medians.of(sampling.whole) / medians.of(both)
  local list = {
    finding("seconds", "sampling and step of a mini-batch, median", MS, medians.interval(both),
      ("Sampling is %.0f %% of it."):format(100 * of_sampling)),
    finding("sampling", "sampling a mini-batch, median", MS, medians.interval(sampling.whole)),
    finding("step", "forward and backward, median", MS, medians.interval(step.whole)),
    finding("lua", "of sampling, Lua itself", PERCENT, share, share.high < MUCH_LUA
      and "The primitives do most of the work." or share.low > MUCH_LUA
      and "Much of the sampler's work is done in Lua, element by element perhaps."
      or "These times are too uneven to tell how much of the work Lua does."),
  }
  tables.append(list, parts_of("sampling", "sampling", sampling))
  return tables.append(list, parts_of("step", "step", step)), both
end

local function findings_of_bytes(run, first)
  local columns = {blocks = {}, features = {}, step = {}, all = {}}
  for k = 1, WEIGHED do
    local bytes = timing.bytes(run, first + k - 1, 1)
    for part, count in pairs(bytes) do columns[part][k] = count end
    columns.all[k] = bytes.blocks + bytes.features + bytes.step
  end
  local function of(key, label, part)
    return finding(key, label, MB, statistics.interval(columns[part]))
  end
  return {
    of("bytes", "bytes of a mini-batch and its step", "all"),
    of("bytes.blocks", "of these its blocks", "blocks"),
    of("bytes.features", "the rows of features that it gathers", "features"),
    of("bytes.step", "activations and gradients", "step"),
  }
end

--- cost.examine(runs, first, seconds): measures the cost of mini-batches of independent groups from
-- `first` on, and returns an array with {findings =, columns =} for each run, {context =, sampler
-- =, known = exact values}. Times are medians, with intervals by order statistics, of as many
-- mini-batches as `seconds` a run allow; the runs take turns. columns has the lists `seconds`, of
-- sampling and step together, `sampling` and `step`: numbers at the same place were taken one after
-- the other. Of a run that fails there is {failed = the message}.
function cost.examine(runs, first, seconds)
  return tables.map(timing.split(runs, first + WEIGHED, MOST, seconds), function(seen, i)
    if seen.failed then return seen end
    local list, both = findings_of_seconds(seen)
    return {findings = tables.append(list, findings_of_bytes(runs[i], first)),
      columns = {seconds = both, sampling = seen.sampling.whole, step = seen.step.whole}}
  end)
end

return cost
