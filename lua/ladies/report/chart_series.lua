--- Draws the series of a chart as SVG elements: lines, points, bars and segments.

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
  local bounds = p.spread and (", %.4g to %.4g"):format(p[3], p[4]) or ""
  local name = label or series.name
  return ("<title>%s%.4g, %.4g%s</title>"):format(name ~= "" and svg.text(name) .. ": " or "", p[1],
    p[2], bounds)
end

local function add_spread(add, p, x, y)
  if p.spread then
    add('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>', x.place(p[1]), x.place(p[1]),
      y.place(p[3]), y.place(p[4]))
  end
end

local function add_points(add, series, x, y)
  for _, p in ipairs(series.points) do
    add("<g>%s", title_of(series, p))
    if series.spread == "bars" then add_spread(add, p, x, y) end
    add("%s</g>", svg.mark(series.number, x.place(p[1]), y.place(p[2])))
  end
end

-- Adds the labels beside the points of a series.
local function add_labels(add, series, x, y)
  for _, p in ipairs(series.points) do
    local label = series.labels[p.i]
    if label and label ~= "" then
      add('<text class="value" x="%.1f" y="%.1f" text-anchor="middle">%s</text>', x.place(p[1]),
        y.place(p[2]) - 8, svg.text(label))
    end
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
    local left, right = x.place(p[1] + series.left), x.place(p[1] + series.right)
    local top, bottom = y.place(math.max(p[2], zero)), y.place(math.min(p[2], zero))
    add('<g>%s<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>', title_of(series, p), left, top,
      math.max(0.5, right - left - 1), bottom - top)
    if series.is_beside then
      add("%s", svg.mark(series.number, (left + right) / 2, (p[2] < 0 and bottom + 8 or top - 8)))
    end
    add "</g>"
  end
end

--- chart_series(add, list, x, y_of): draws the series that drawable.series returned by calls of
-- add(format, ...); x is the horizontal axis, and y_of(series) returns the vertical one of a
-- series.
return function(add, list, x, y_of)
  for _, series in ipairs(list) do
    local y, style = y_of(series), series.style
    add('<g class="c%d">', palette.of(series.number))
    if style == "bars" then
      add_bars(add, series, x, y)
    elseif style == "segments" then
      add_segments(add, series, x, y)
    else
      if series.points[1].spread and series.spread == "band" then
        add_band(add, series.points, x, y)
      end
      if style ~= "points" then add_line(add, series, x, y) end
      if style == "points" or style == "both" then add_points(add, series, x, y) end
    end
    if series.written then add_labels(add, series, x, y) end
    add "</g>"
  end
end
