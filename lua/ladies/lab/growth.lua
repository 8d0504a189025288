--- How what a mini-batch costs grows with the sample number and with depth.

local core = require "ladies_core"
local cost = require "ladies.lab.cost"
local counts = require "ladies.lab.counts"
local scaling = require "ladies.lab.scaling"
local statistics = require "ladies.report.statistics"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"
local timing = require "ladies.lab.timing"

local growth = {}

-- The fewest and the most groups of every point.
local LEAST, MOST = 10, 40

-- What grows: key, label, the interval of a list.
local QUANTITIES = {
  {"seconds", "seconds of sampling and step", cost.median},
  {"nodes", "distinct nodes", student.interval},
  {"entries", "entries", student.interval},
}

-- What is measured at each x: the lists of seconds, nodes and entries, a number for each group, all
-- points with the same seeds. The points take turns, so that a busy machine is busy for all.
local function measured(context, subject, xs, over, first, seconds)
  local points = tables.map(xs, function(x)
    local with = over(x)
    local run = {context = context, sampler = context:sampler(subject, with),
      known = context:exact(context:propagation_of(subject), with.layers)}
    timing.batch(run, first, 1)                                     -- warms up
    return {x = x, run = run, seconds = {}, nodes = {}, entries = {}}
  end)
  local began = core.clock()
  for k = 1, MOST do
    if k > LEAST and core.clock() - began > seconds then break end
    for _, point in ipairs(points) do
      local sampling, step, batch = timing.batch(point.run, first + k - 1, 1)
      point.seconds[k], point.nodes[k] = sampling + step, counts.nodes(batch)
      point.entries[k] = counts.entries(batch)
    end
  end
  return points
end

-- The power of x in a quantity, fitted in every group by itself; nil with fewer than three points,
-- or where there is nothing.
local function powers_of(points, key)
  if #points < 3 then return nil end
  local powers = {}
  for k = 1, #points[1][key] do
    local list = {}
    for i, point in ipairs(points) do
      if point[key][k] == 0 then return nil end
      list[i] = {point.x, point[key][k]}
    end
    powers[k] = statistics.power(list)
  end
  return powers
end

-- The findings and series of the points over x, which is called `what`.
local function reported(subject, points, what, label, log_x)
  local findings, series = {}, {}
  for _, quantity in ipairs(QUANTITIES) do
    local key, name, interval = table.unpack(quantity)
    local powers = powers_of(points, key)
    if powers then
      local found = interval(powers)
      findings[#findings + 1] = tables.merged({key = ("scaling.%s.%s"):format(key, what),
        section = "scaling", format = "%.2f", label = ("power of the %s in the %s"):format(label,
        name), sentence = ("Twice the %s: %.2f times the %s."):format(label, 2 ^ found.mean, name)},
        found)
    end
    series[#series + 1] = {key = ("%s.%s"):format(key, what), x_label = label, y_label = name,
      title = ("%s over %s"):format(name:gsub("^%l", string.upper), label), log_x = log_x,
      log_y = true, lines = {{name = subject.title, points = tables.map(points, function(point)
        local found = interval(point[key])
        return {point.x, found.mean, found.low, found.high}
      end)}}}
  end
  return findings, series
end

--- growth.examine(context, subject, first, deepest, seconds) -> findings, series: the seconds,
-- distinct nodes and entries of mini-batches with a quarter of the samples to four times as many,
-- and with 1 to `deepest` layers, and the powers that are fitted to them. first: the first group.
-- There are 40 groups where `seconds`, for either of the two, allow it, and 10 at least.
function growth.examine(context, subject, first, deepest, seconds)
  local findings, series = {}, {}
  local function add(xs, over, ...)
    local points = measured(context, subject, xs, over, first, seconds)
    local found, lines = reported(subject, points, ...)
    tables.append(findings, found)
    tables.append(series, lines)
  end
  if subject:takes "samples" and math.type(subject.samples) == "integer" then
    add(scaling.sample_numbers(subject.samples), function(s) return {samples = s} end, "samples",
      "samples", true)
  end
  if not subject.given and context:has_depth(subject, deepest) then
    local depths = {}
    for layers = 1, deepest do depths[layers] = layers end
    add(depths, function(layers) return {layers = layers} end, "layers", "layers", false)
  end
  return findings, series
end

return growth
