--- Measures how the error of a sampler's embeddings and the cost of its mini-batches grow with its
-- number of samples and the depth of the network, and how the error depends on the degree of a
-- node.
--
-- Each quantity is measured at several numbers of samples and depths x, for the same groups of
-- seeds, and y = a x^b is fitted in every group by itself, so that b has an interval over groups.

local core = require "ladies_core"
local by_degree = require "ladies.lab.nodes.by_degree"
local estimate = require "ladies.lab.error.estimate"
local measure = require "ladies.lab.error.measure"
local medians = require "ladies.statistics.medians"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local timing = require "ladies.lab.cost.timing"
local words = require "ladies.lab.words"

local scaling = {}

-- The numbers of groups and of their draws for an error; and the fewest and the most groups for a
-- cost.
local GROUPS, DRAWS = 8, 4
local LEAST, MOST = 10, 40

-- Returns distinct sample numbers from a quarter to four times the given one.
local function sample_numbers(samples)
  local list = {}
  for _, times in ipairs{0.25, 0.5, 1, 2, 4} do
    local s = math.max(1, math.floor(samples * times))
    if s ~= list[#list] then list[#list + 1] = s end
  end
  return list
end

-- Returns the settings over which a subject can be measured, an array of {what = the setting, xs =
-- its values, log_x =}.
local function axes_of(context, subject, deepest)
  local axes = {}
  if subject:takes "samples" and math.type(subject.samples) == "integer" then
    axes[1] = {what = "samples", xs = sample_numbers(subject.samples), log_x = true}
  end
  if not subject.given and context:has_depth(subject, deepest) then
    local depths = {}
    for layers = 1, deepest do depths[layers] = layers end
    axes[#axes + 1] = {what = "layers", xs = depths, log_x = false}
  end
  return axes
end

-- Makes the run of a subject with x as the value of an axis.
local function run_at(context, subject, axis, x)
  local over = {[axis.what] = x}
  return {context = context, sampler = context:sampler(subject, over), name = subject.title,
    known = context:exact(context:propagation_of(subject), over.layers)}
end

-- Fits the power of x in a quantity, in every group by itself; returns nil with fewer than three
-- points, or where a number is not above `least`, so that its logarithm would be meaningless.
local function powers_of(points, key, least)
  if #points < 3 then return nil end
  local powers = {}
  for group = 1, #points[1][key] do
    local list = {}
    for i, point in ipairs(points) do
      if point[key][group] <= least then return nil end
      list[i] = {point.x, point[key][group]}
    end
    powers[group] = statistics.power(list)
  end
  return powers
end

local function finding(key, label, interval, sentence)
  return tables.merged({key = "scaling." .. key, section = "scaling", format = "%.2f",
    label = label, sentence = sentence}, interval)
end

-- Makes a series with one line of a quantity over an axis, whose points are means or medians.
local function series_of(subject, axis, points, key, interval, fields)
  return tables.merged({x_label = axis.what, log_x = axis.log_x, log_y = true,
    lines = {{name = subject.title, points = tables.map(points, function(point)
      local found = interval(point[key])
      return {point.x, found.mean, found.low, found.high}
    end)}}}, fields)
end

-- ---------------------------------------------------------------- errors

-- The names of the axes in the findings of errors, and what a factor of the error comes from.
local ERRORS = {
  samples = {"power of the samples in the embedding's error", "Error of the embedding over samples",
    "Twice the samples leave %.2f of the error; of independent draws without bias they leave "
      .. "half."},
  layers = {"power of the depth in the embedding's error", "Error of the embedding over depth",
    "Twice the layers: %.2f times the error."},
}

-- Returns the sentence about a power, from that of ERRORS.
local function sentence_of(text, power, has_tails)
  if has_tails then
    return "Rare draws decide, of which these may have met too few for this number to hold."
  elseif power.low < 0 and power.high > 0 then
    return "These draws do not tell whether the error grows or falls."
  end
  return text:format(2 ^ power.mean)
end

-- Returns the interval of the errors of a point. An error that is only rounding is 0, which a
-- logarithmic axis leaves out.
local function interval_of_errors(errors)
  local found = statistics.interval(errors)
  if found.mean <= measure.ROUNDING then return {mean = 0, low = 0, high = 0} end
  return found
end

--- Measures a subject's error, and returns findings and series, with a quarter of its samples to
-- four times as many, and with 1 to `deepest` layers, with fitted powers. first: the first group.
-- has_tails: whether the laboratory warns of heavy tails.
function scaling.errors(context, subject, first, deepest, has_tails)
  local findings, series = {}, {}
  for _, axis in ipairs(axes_of(context, subject, deepest)) do
    local points = tables.map(axis.xs, function(x)
      local run = tables.merged(run_at(context, subject, axis, x),
        {statistics = {}, draws = DRAWS, without_gradient = true})
      local columns = measure.columns(run, first, first + GROUPS - 1)
      return {x = x, error = columns["embedding.error"]}
    end)
    local label, title, text = table.unpack(ERRORS[axis.what])
    local powers = powers_of(points, "error", measure.ROUNDING)
    local power = powers and statistics.interval(powers)
    findings[#findings + 1] = power
      and finding(axis.what, label, power, sentence_of(text, power, has_tails)) or nil
    series[#series + 1] = series_of(subject, axis, points, "error", interval_of_errors,
      {key = axis.what, title = title, y_label = "error / signal", fit = true})
  end
  return findings, series
end

-- ---------------------------------------------------------------- cost

-- The costs of a mini-batch that are measured: key, name, and the function that computes the
-- interval of a list.
local COSTS = {
  {"seconds", "seconds of sampling and step", medians.interval},
  {"nodes", "distinct nodes", statistics.interval},
  {"entries", "entries", statistics.interval},
}

-- Measures the costs at the points of an axis: lists of seconds, nodes and entries, a number for
-- each group.
local function costs_over(context, subject, axis, first, seconds)
  local began
  local points = timing.sizes(tables.map(axis.xs, function(x)
    return run_at(context, subject, axis, x)
  end), first, function(k)
    began = began or core.clock()
    return k <= LEAST or k <= MOST and core.clock() - began <= seconds
  end)
  for i, point in ipairs(points) do point.x = axis.xs[i] end
  return points
end

--- Measures the seconds, distinct nodes and entries of mini-batches, and returns findings and
-- series, with a quarter of the samples to four times as many, and with 1 to `deepest` layers, and
-- the powers that are fitted to them. first: the first group. There are 40 groups where `seconds`,
-- for either of the two, allow it, and 10 at least.
function scaling.costs(context, subject, first, deepest, seconds)
  local findings, series = {}, {}
  for _, axis in ipairs(axes_of(context, subject, deepest)) do
    local points, what = costs_over(context, subject, axis, first, seconds), axis.what
    for _, quantity in ipairs(COSTS) do
      local key, name, interval = table.unpack(quantity)
      local powers = powers_of(points, key, 0)
      local power = powers and interval(powers)
      findings[#findings + 1] = power and finding(("%s.%s"):format(key, what),
        ("power of the %s in the %s"):format(what, name), power,
        ("Twice the %s: %.2f times the %s."):format(what, 2 ^ power.mean, name)) or nil
      series[#series + 1] = series_of(subject, axis, points, key, interval,
        {key = ("%s.%s"):format(key, what), y_label = name,
          title = ("%s over %s"):format(words.capital(name), what)})
    end
  end
  return findings, series
end

-- ---------------------------------------------------------------- degrees

--- Makes a series of the mean squared error of a node's embedding, divided by the mean square of
-- the exact ones, against the node's degree (entries of its row of P). run: as for measure.group;
-- first: the first group.
function scaling.by_degree(run, first)
  local known, all = run.known, by_degree.new()
  for group = first, first + GROUPS - 1 do
    local degrees, errors = {}, {}
    for i = 1, DRAWS do
      local batch = run.context:draw(run.sampler, group, i)
      local draw = estimate.of(known, batch).embedding
      tables.append(degrees, known.P:degrees(draw.nodes):to_table())
      tables.append(errors, core.no_grad(function()
        return (draw.error:square():row_sums() / known.signal.embedding):to_table()
      end))
    end
    all:add(degrees, errors)
  end
  return {key = "degree", title = "Error of the embedding by degree", x_label = "degree",
    y_label = "error / signal", log_x = true, log_y = false,
    lines = {{name = run.name, points = all:points()}}}
end

return scaling
