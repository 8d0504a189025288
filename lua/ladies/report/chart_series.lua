--- Draws the series of a chart as SVG elements: lines, points, bars and segments.

local labels = require "ladies.report.labels"
local palette = require "ladies.report.palette"
local svg = require "ladies.report.svg"

local MOST_MARKS = 8      -- on a line

-- Returns the SVG path through an array of places {x, y}.
local function path_of(places)
  local parts = {}
  for i, p in ipairs(places) do
    parts[i] = ("%s%.1f %.1f"):format(i == 1 and "M" or "L", p[1], p[2])
  end
  return table.concat(parts)
end

local function add_band(add, points, x, y)
  local places, n = {}, #points
  for i, p in ipairs(points) do
    places[i] = {x.place(p[1]), y.place(p[3])}
    places[2 * n + 1 - i] = {x.place(p[1]), y.place(p[4])}
  end
  add('<path class="band" d="%sZ"/>', path_of(places))
end

-- Returns the text that appears when one points at a point.
local function title_of(series, p)
  local label = series.labels and series.labels[p.i]
  local bounds = p.spread and (", %.4g to %.4g"):format(p.low, p[4]) or ""
  local name = label or series.name
  return ("<title>%s%.4g, %.4g%s</title>"):format(name ~= "" and svg.text(name) .. ": " or "", p[1],
    p[2], bounds)
end

-- Adds how far the points of a series spread: a band, or a line through each of them.
local function add_spreads(add, series, x, y)
  if series.spread == "band" then return add_band(add, series.points, x, y) end
  for _, p in ipairs(series.points) do
    if p.spread then
      add('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>', x.place(p[1]), x.place(p[1]),
        y.place(p[3]), y.place(p[4]))
    end
  end
end

-- Tells whether the spreads of a series are drawn: bars and segments have none, and lines without
-- points have bands alone.
local function has_spreads(series)
  local style = series.style
  if style == "bars" or style == "segments" then return false end
  if series.spread == "band" then return series.points[1].spread end
  return style == "points" or style == "both"
end

local function add_points(add, series, x, y)
  for _, p in ipairs(series.points) do
    add("<g>%s%s</g>", title_of(series, p), svg.mark(series.number, x.place(p[1]), y.place(p[2])))
  end
end

-- Adds the line of a series, with marks at some of its points so that it differs from other lines
-- without colour.
local function add_line(add, series, x, y)
  local places, points = {}, series.points
  for i, p in ipairs(points) do places[i] = {x.place(p[1]), y.place(p[2])} end
  local is_dashed = series.style == "dashed"
  add('<path class="%s" d="%s"/>', is_dashed and "dashed" or "line", path_of(places))
  if is_dashed or series.style == "both" then return end
  local step = math.max(1, #points // MOST_MARKS)
  for i = 1 + (series.number - 1) * step // 4 % step, #points, step do
    add("<g>%s%s</g>", title_of(series, points[i]), svg.mark(series.number, places[i][1],
      places[i][2]))
  end
end

-- Adds a segment for every two points of a series, which are its ends.
local function add_segments(add, series, x, y)
  local parts = {}
  for i = 1, #series.points - 1, 2 do
    local a, b = series.points[i], series.points[i + 1]
    parts[#parts + 1] = ("M%.1f %.1fL%.1f %.1f"):format(x.place(a[1]), y.place(a[2]), x.place(b[1]),
      y.place(b[2]))
  end
  add('<path class="edge" d="%s"/>', table.concat(parts))
end

-- Adds the bars of a series, which begin at 0; where several series have bars, side by side, each
-- bar has the mark of its series.
local function add_bars(add, series, x, y)
  local zero = math.max(y.low, math.min(0, y.high))
  for _, p in ipairs(series.points) do
    local left, right = x.place(p.left), x.place(p.right)
    local top, bottom = y.place(math.max(p[2], zero)), y.place(math.min(p[2], zero))
    add('<g>%s<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>', title_of(series, p), left, top,
      math.max(0.5, right - left - 1), bottom - top)
    if series.is_beside then
      add("%s", svg.mark(series.number, (left + right) / 2, (p[2] < 0 and bottom + 8 or top - 8)))
    end
    add "</g>"
  end
end

-- Calls draw(add, series, x, y) for each series, within an element that has its colour.
local function each_in_its_colour(add, list, x, y_of, draw)
  for _, series in ipairs(list) do
    add('<g class="c%d">', palette.of(series.number))
    draw(add, series, x, y_of(series))
    add "</g>"
  end
end

local function add_series(add, series, x, y)
  local style = series.style
  if style == "bars" then return add_bars(add, series, x, y) end
  if style == "segments" then return add_segments(add, series, x, y) end
  if style ~= "points" then add_line(add, series, x, y) end
  if style == "points" or style == "both" then add_points(add, series, x, y) end
end

--- chart_series(add, list, x, y_of): draws the series that drawable.series returned by calls of
-- add(format, ...); x is the horizontal axis, and y_of(series) returns the vertical one of a
-- series. Spreads come first and labels last, so that neither is hidden nor hides a point.
return function(add, list, x, y_of)
  local spread = {}
  for _, series in ipairs(list) do
    if has_spreads(series) then spread[#spread + 1] = series end
  end
  each_in_its_colour(add, spread, x, y_of, add_spreads)
  each_in_its_colour(add, list, x, y_of, add_series)
  labels(add, list, x, y_of)
end
