--- How the error of a sampler's embeddings grows with its sample number and with depth.

local measure = require "ladies.lab.measure"
local statistics = require "ladies.report.statistics"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"

local scaling = {}

-- Groups of a point, and their draws.
local GROUPS, DRAWS = 8, 4

-- The errors of the embeddings with other samples or layers: a number for each group from `first`.
local function errors_of(context, subject, over, first)
  local known = context:exact(context:propagation_of(subject), over.layers)
  local run = {context = context, sampler = context:sampler(subject, over), known = known,
    statistics = {}, draws = DRAWS, name = subject.title, without_gradient = true}
  return measure.columns(run, first, first + GROUPS - 1)["embedding.error"]
end

-- The power of x in the errors of points {x, list}, as a finding: fitted in every group by itself,
-- all of which have the same seeds at all points. nil where an error is rounding.
local function power(points, what, label)
  local powers = {}
  for group = 1, GROUPS do
    local list = {}
    for i, one in ipairs(points) do
      if one[2][group] <= measure.ROUNDING then return nil end
      list[i] = {one[1], one[2][group]}
    end
    if #list < 3 then return nil end
    powers[group] = statistics.power(list)
  end
  return tables.merged({key = "scaling." .. what, section = "scaling", format = "%.2f",
    label = label}, student.interval(powers))
end

local function series_of(subject, points, opts)
  local line = tables.map(points, function(one)
    local interval = student.interval(one[2])
    return {one[1], interval.mean, interval.low, interval.high}
  end)
  return tables.merged({y_label = "error / signal", log_y = true, fit = true,
    lines = {{name = subject.title, points = line}}}, opts)
end

--- Sample numbers from a quarter to four times as many, each once.
function scaling.sample_numbers(samples)
  local list = {}
  for _, times in ipairs{0.25, 0.5, 1, 2, 4} do
    local s = math.max(1, math.floor(samples * times))
    if s ~= list[#list] then list[#list + 1] = s end
  end
  return list
end

--- The findings and series of a subject: its error with a quarter of its samples to four times as
-- many, and with 1 to `deepest` layers, with fitted powers. first: the first group.
function scaling.examine(context, subject, first, deepest)
  local findings, series = {}, {}
  if subject:takes "samples" and math.type(subject.samples) == "integer" then
    local points = tables.map(scaling.sample_numbers(subject.samples), function(s)
      return {s, errors_of(context, subject, {samples = s}, first)}
    end)
    local found = power(points, "samples", "power of the samples in the embedding's error")
    if found then
      found.sentence = ("Twice the samples leave %.2f of the error; of independent draws without "
        .. "bias they leave half."):format(2 ^ found.mean)
      findings[1] = found
    end
    series[1] = series_of(subject, points, {key = "samples", log_x = true, x_label = "samples",
      title = "Error of the embedding over samples"})
  end
  if not subject.given and context:has_depth(subject, deepest) then
    local points = {}
    for layers = 1, deepest do
      points[layers] = {layers, errors_of(context, subject, {layers = layers}, first)}
    end
    local found = power(points, "layers", "power of the depth in the embedding's error")
    if found then
      found.sentence = ("With %d layers the error is %.3g times that of one."):format(deepest,
        statistics.mean(points[deepest][2]) / statistics.mean(points[1][2]))
      findings[#findings + 1] = found
    end
    series[#series + 1] = series_of(subject, points, {key = "layers", log_x = false,
      x_label = "layers", title = "Error of the embedding over depth"})
  end
  return findings, series
end

return scaling
