--- Makes the pictures of a laboratory, as options of ladies.plot: one for each series of the
-- examinations, with all samplers in one picture where they are few enough to be told apart.

local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"

local charts = {}

-- The most lines in a picture; and the largest ratio of numbers that are shown on a linear axis.
local MOST, WIDE = 8, 50

-- Fits the curve y = a x^b by least squares between logarithms and returns points of it; nil where
-- that cannot be done.
local function fitted(points)
  local list, least, most = {}, math.huge, 0
  for _, p in ipairs(points) do
    if p[1] > 0 and p[2] > 0 then
      list[#list + 1] = p
      least, most = math.min(least, p[1]), math.max(most, p[1])
    end
  end
  if least >= most then return nil end
  local power = statistics.power(list)
  local log_a = statistics.mean(tables.map(list, function(p)
    return math.log(p[2]) - power * math.log(p[1])
  end))
  local curve = {}
  for i = 0, 24 do
    local x = least * (most / least) ^ (i / 24)
    curve[i + 1] = {x, math.exp(log_a) * x ^ power}
  end
  return curve
end

-- Adds the lines of a series of one sampler, with its name where the title of the picture does not
-- have it, and with fitted curves where the series asks for them.
local function add_lines(list, one, series, is_named, first)
  for i, line in ipairs(series.lines) do
    local name = line.name
    if is_named and #series.lines > 1 then
      name = ("%s, %s"):format(one.subject.title, name)
    elseif is_named then
      name = one.subject.title
    end
    local colour = first + i
    list[#list + 1] = {name = name, points = line.points, colour = colour,
      style = series.fit and "points" or "both", spread = series.fit and "bars" or "band"}
    local curve = series.fit and fitted(line.points)
    list[#list + 1] = curve and {name = "", points = curve, style = "dashed", colour = colour}
  end
  return list
end

-- Tells whether the points of some lines are so far apart that a linear axis would show only the
-- highest.
local function is_wide(lines)
  local least, most = math.huge, 0
  for _, line in ipairs(lines) do
    for _, p in ipairs(line.points) do
      if p[2] > 0 then least, most = math.min(least, p[2]), math.max(most, p[2]) end
    end
  end
  return most / least > WIDE
end

local function chart(name, title, series, lines)
  local log_y = series.log_y or is_wide(lines)
  local log = (series.log_x and "x" or "") .. (log_y and "y" or "")
  return {name = name, plot = {title = title, x = series.x_label, y = series.y_label,
    log = log == "" and "none" or log, series = lines}}
end

-- Returns the keys of all series in their order, and by key an array of {one = examination, series
-- =}.
local function by_key(laboratory)
  local keys, found = {}, {}
  for _, one in ipairs(laboratory.examinations) do
    for _, series in ipairs(one.series) do
      local key = series.key
      if not found[key] then keys[#keys + 1], found[key] = key, {} end
      table.insert(found[key], {one = one, series = series})
    end
  end
  return keys, found
end

-- Adds the pictures of one key: one of all samplers, or one for each where there are too many
-- lines.
local function add_charts(list, key, all)
  local first, n = all[1].series, 0
  for _, each in ipairs(all) do n = n + #each.series.lines end
  if n > MOST then
    for i, each in ipairs(all) do
      list[#list + 1] = chart(("lab-%s-%d"):format(key, i), ("%s: %s"):format(first.title,
        each.one.subject.title), each.series, add_lines({}, each.one, each.series, false, 0))
    end
    return
  end
  local lines, colour = {}, 0
  for _, each in ipairs(all) do
    add_lines(lines, each.one, each.series, true, colour)
    colour = colour + #each.series.lines
  end
  list[#list + 1] = chart("lab-" .. key, first.title, first, lines)
end

-- Returns the finding with this key, or nil.
local function finding_of(one, key)
  for _, finding in ipairs(one.findings) do
    if finding.key == key then return finding end
  end
end

-- Makes the picture in which each sampler is a point, by the cost of its mini-batches and the
-- variance of the gradient; nil where these are known for fewer than two samplers.
local function cost_and_variance(laboratory)
  local lines, x, y = {}, nil, nil
  for i, one in ipairs(laboratory.examinations) do
    local cost, variance = finding_of(one, "cost.seconds"), finding_of(one, "gradient.variance")
    if cost and variance then
      x, y = cost, variance
      lines[#lines + 1] = {name = one.subject.title, style = "points", spread = "bars", colour = i,
        points = {{1e3 * cost.mean, variance.mean, variance.low, variance.high}}}
    end
  end
  if #lines < 2 then return nil end
  return {name = "lab-cost", plot = {title = "Variance of the gradient over time", log = "xy",
    x = x.label .. ", in ms", y = y.label, series = lines}}
end

--- Returns the pictures of a laboratory, an array of {name = of a file, plot = options of
-- ladies.plot}. The points of a series with `fit` are not joined; the fitted curve y = a x^b is
-- drawn instead.
function charts.of(laboratory)
  local list = {}
  local keys, found = by_key(laboratory)
  for _, key in ipairs(keys) do add_charts(list, key, found[key]) end
  list[#list + 1] = cost_and_variance(laboratory)
  return list
end

return charts
