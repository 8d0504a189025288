--- Prepares the series of a plot for drawing: drops points that cannot be drawn on its axes, and
-- computes where bars stand.

local drawable = {}

local MOST_LABELS = 40

local function is_finite(x) return type(x) == "number" and x == x and math.abs(x) < math.huge end

-- Returns the least positive y of the points of all series.
local function least_positive(list)
  local least = math.huge
  for _, series in ipairs(list) do
    for _, point in ipairs(series.points) do
      if is_finite(point[2]) and point[2] > 0 then least = math.min(least, point[2]) end
    end
  end
  return least
end

local function kept(points, log_x, log_y, floor)
  local list = {}
  for i, p in ipairs(points) do
    local x, y = p[1], p[2]
    if is_finite(x) and is_finite(y) and (not log_x or x > 0) and (not log_y or y > 0) then
      local low, high = is_finite(p[3]) and p[3] or y, is_finite(p[4]) and p[4] or y
      list[#list + 1] = {x, y, log_y and math.max(low, math.min(floor, y)) or low, high,
        spread = is_finite(p[3]), low = low, i = i}
    end
  end
  return list
end

-- Returns the least distance between the x of two bars, 1 where all have the same x.
local function room_of(bars)
  local xs, least = {}, math.huge
  for _, series in ipairs(bars) do
    for _, p in ipairs(series.points) do xs[#xs + 1] = p[1] end
  end
  table.sort(xs)
  for i = 2, #xs do
    if xs[i] > xs[i - 1] then least = math.min(least, xs[i] - xs[i - 1]) end
  end
  return least < math.huge and least or 1
end

-- Sets the fields `left` and `right` of the points of bars, between which a bar stands, so that
-- those of several series stand side by side. On a logarithmic axis they stay above 0.
local function place_bars(list, log_x)
  local bars = {}
  for _, series in ipairs(list) do
    if series.style == "bars" then bars[#bars + 1] = series end
  end
  local width, n = room_of(bars) * (#bars > 1 and 0.8 or 0.96), #bars
  for k, series in ipairs(bars) do
    series.is_beside = n > 1
    for _, p in ipairs(series.points) do
      p.left, p.right = p[1] + width * ((k - 1) / n - 0.5), p[1] + width * (k / n - 0.5)
      if log_x then
        p.left = math.max(p.left, p[1] / 2)
        p.right = math.max(p.right, p.left)
      end
    end
  end
end

--- drawable.series(opts) -> array: returns copies of the series of a plot with only those points
-- that are finite and, on logarithmic axes, positive. A point is {x, y, low, high, spread = whether
-- it was given bounds, low = as given, i = its place in the given series}, and of bars `left` and
-- `right`, where it begins and ends. Bounds that reach below such an axis are drawn to the lowest
-- point of the plot. A series gets these fields: `number`, its place in the given array, from which
-- its colour and mark follow; `written`, whether its labels are shown, which they are if there are
-- few in all; `is_beside`, whether there are bars of other series beside its own.
function drawable.series(opts)
  local log = opts.log or "none"
  local log_x, log_y = log:find "x" ~= nil, log:find "y" ~= nil
  local floor, list, n_labels = least_positive(opts.series), {}, 0
  for i, given in ipairs(opts.series) do
    local one = {number = given.colour or i, axis = given.axis or 1, style = given.style or "lines",
      spread = given.spread or "band", name = given.name, labels = given.labels,
      points = kept(given.points, log_x, log_y, floor)}
    n_labels = n_labels + #(one.labels or {})
    if one.points[1] then list[#list + 1] = one end
  end
  place_bars(list, log_x)
  for _, one in ipairs(list) do one.written = one.labels and n_labels <= MOST_LABELS end
  return list
end

--- Collects the numbers along the horizontal axis of such series: those of points and the ends of
-- bars.
function drawable.xs(list)
  local xs = {}
  for _, series in ipairs(list) do
    for _, p in ipairs(series.points) do
      xs[#xs + 1] = p[1]
      if p.left then xs[#xs + 1], xs[#xs + 2] = p.left, p.right end
    end
  end
  return xs
end

--- Returns the largest absolute value in the cells of a heat map.
function drawable.most(cells)
  local most = 0
  for _, row in ipairs(cells) do
    for _, value in ipairs(row) do
      if is_finite(value) then most = math.max(most, math.abs(value)) end
    end
  end
  return most
end

return drawable
