--- Pictures as SVG elements for pages of HTML, drawn without another program. They have no colours
-- of their own: the page's style says what the classes c1 to c8 (lines and points, as `color`),
-- axis, grid and tick are like, in light and dark.

local core = require "ladies_core"
local drawable = require "ladies.report.drawable"

local svg = {}

-- The number of colours, c1 to c8.
svg.COLOURS = 8

-- What must not be taken for markup, in texts and in attributes.
local ENTITIES = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
  ["'"] = "&#39;"}

--- A text as it stands in HTML and SVG, also within an attribute: only shown.
function svg.text(text)
  return (core.printable(tostring(text)):gsub("[&<>\"']", ENTITIES))
end

-- ---------------------------------------------------------------- axes

-- The width of steps of 1, 2 or 5 times a power of 10, of which about n make up `range`.
local function step_of(range, n)
  local power = 10 ^ math.floor(math.log(range / n, 10))
  for _, times in ipairs{1, 2, 5, 10} do
    if range / (times * power) <= n then return times * power end
  end
end

-- Steps from one end to the other; whole ones of numbers that are whole.
local function linear_ticks(low, high, is_whole)
  local list, step = {}, step_of(high - low, 5)
  if is_whole then step = math.max(1, step) end
  for i = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) do
    list[#list + 1] = i * step
  end
  return list
end

-- Powers of 10, and where these are few their multiples by 2 and 5; where even those are, steps.
local function log_ticks(low, high)
  for _, multiples in ipairs{{1}, {1, 2, 5}} do
    local list = {}
    for power = math.floor(math.log(low, 10)), math.ceil(math.log(high, 10)) do
      for _, times in ipairs(multiples) do
        local x = times * 10.0 ^ power
        if x >= low * (1 - 1e-9) and x <= high * (1 + 1e-9) then list[#list + 1] = x end
      end
    end
    if #list >= 3 then return list end
  end
  return linear_ticks(low, high)
end

-- An axis for some numbers between two places on the page: place(x), and ticks. A linear one of
-- numbers that are not negative begins at 0 with `zero`.
local function axis(numbers, is_log, zero, from, to)
  local low, high, is_whole = math.huge, -math.huge, true
  for _, x in ipairs(numbers) do
    low, high, is_whole = math.min(low, x), math.max(high, x), is_whole and x % 1 == 0
  end
  if is_log then
    if low == high then low, high = low / 2, high * 2 end
    local margin = (high / low) ^ 0.04
    low, high = low / margin, high * margin
  else
    if low == high then low, high = low - 0.5, high + 0.5 end
    local margin = 0.04 * (high - low)
    low, high = zero and low >= 0 and 0 or low - margin, high + margin
  end
  local function share(x)
    if is_log then return math.log(x / low) / math.log(high / low) end
    return (x - low) / (high - low)
  end
  return {
    place = function(x) return from + (to - from) * share(x) end,
    ticks = is_log and log_ticks(low, high) or linear_ticks(low, high, is_whole),
  }
end

-- ---------------------------------------------------------------- charts

local WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 300, 74, 12, 10, 46

local function add(parts, text, ...) parts[#parts + 1] = text:format(...) end

local function add_axes(parts, opts, x, y)
  for _, value in ipairs(y.ticks) do
    local place = y.place(value)
    add(parts, '<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>', LEFT, WIDTH - RIGHT,
      place, place)
    add(parts, '<text class="tick" x="%d" y="%.1f" text-anchor="end">%g</text>', LEFT - 6,
      place + 4, value)
  end
  for _, value in ipairs(x.ticks) do
    local place = x.place(value)
    add(parts, '<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>', place, place, TOP,
      HEIGHT - BOTTOM)
    add(parts, '<text class="tick" x="%.1f" y="%d" text-anchor="middle">%g</text>', place,
      HEIGHT - BOTTOM + 17, value)
  end
  add(parts, '<path class="axis" d="M%d %dV%dH%d"/>', LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT)
  add(parts, '<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>',
    (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, svg.text(opts.x or ""))
  local middle = (TOP + HEIGHT - BOTTOM) / 2
  add(parts, '<text class="tick" x="14" y="%.1f" text-anchor="middle" '
    .. 'transform="rotate(-90 14 %.1f)">%s</text>', middle, middle, svg.text(opts.y or ""))
end

-- A path through some places {x, y}.
local function path_of(places)
  local parts = {}
  for i, p in ipairs(places) do
    parts[i] = ("%s%.1f %.1f"):format(i == 1 and "M" or "L", p[1], p[2])
  end
  return table.concat(parts)
end

local function add_band(parts, points, x, y)
  local places, n = {}, #points
  for i, p in ipairs(points) do
    places[i] = {x.place(p[1]), y.place(p[3])}
    places[2 * n + 1 - i] = {x.place(p[1]), y.place(p[4])}
  end
  add(parts, '<path class="band" d="%sZ"/>', path_of(places))
end

-- Points, each with its numbers for who points at it, and bars where it has bounds.
local function add_points(parts, series, x, y)
  for _, p in ipairs(series.points) do
    local bounds = p.spread and (", %.4g to %.4g"):format(p[3], p[4]) or ""
    add(parts, "<g><title>%s: %.4g, %.4g%s</title>", svg.text(series.name), p[1], p[2], bounds)
    if p.spread and series.spread == "bars" then
      add(parts, '<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>', x.place(p[1]), x.place(p[1]),
        y.place(p[3]), y.place(p[4]))
    end
    add(parts, '<circle cx="%.1f" cy="%.1f" r="3.5"/></g>', x.place(p[1]), y.place(p[2]))
  end
end

local function add_series(parts, series, colour, x, y)
  local style = series.style or "lines"
  add(parts, '<g class="c%d">', (colour - 1) % svg.COLOURS + 1)
  if series.points[1].spread and series.spread ~= "bars" then
    add_band(parts, series.points, x, y)
  end
  if style ~= "points" then
    local places = {}
    for i, p in ipairs(series.points) do places[i] = {x.place(p[1]), y.place(p[2])} end
    add(parts, '<path class="%s" d="%s"/>', style == "dashed" and "dashed" or "line",
      path_of(places))
  end
  if style == "points" or style == "both" then add_points(parts, series, x, y) end
  add(parts, "</g>")
end

--- A chart, of the options of ladies.plot (series on the left axis, title, x, y, log), without its
-- key; nil where there is nothing to draw. A point tells its numbers when it is pointed at.
function svg.chart(opts)
  local log = opts.log or "none"
  local log_x, log_y = log:find "x" ~= nil, log:find "y" ~= nil
  local list, xs, ys = {}, {}, {}
  for i, one in ipairs(opts.series) do
    list[i] = {name = one.name, points = one.points, style = one.style, spread = one.spread,
      colour = one.colour}
  end
  drawable.keep(list, log_x, log_y)
  for _, series in ipairs(list) do
    for _, p in ipairs(series.points) do
      xs[#xs + 1] = p[1]
      ys[#ys + 1], ys[#ys + 2] = p[3], p[4]
    end
  end
  if not xs[1] then return nil end
  local x = axis(xs, log_x, false, LEFT, WIDTH - RIGHT)
  local y = axis(ys, log_y, true, HEIGHT - BOTTOM, TOP)
  local parts = {}
  add(parts, '<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">', WIDTH, HEIGHT,
    svg.text(opts.title or ""))
  add_axes(parts, opts, x, y)
  for i, series in ipairs(list) do
    if series.points[1] then add_series(parts, series, series.colour or i, x, y) end
  end
  add(parts, "</svg>")
  return table.concat(parts, "\n")
end

-- ---------------------------------------------------------------- bars

local BAR, BAR_HEIGHT = 120, 14

--- An interval {mean =, low =, high =} as a small bar on a scale from `least` to `most`, with a
-- mark at 0 where that is within; colour: 1 to 8. Nothing where a number is not finite.
function svg.bar(interval, least, most, colour)
  for _, x in ipairs{interval.mean, interval.low, interval.high, least, most} do
    if x ~= x or math.abs(x) == math.huge then return "" end
  end
  local function place(x)
    return 4 + (BAR - 8) * (most > least and (x - least) / (most - least) or 0.5)
  end
  local parts = {}
  add(parts, '<svg class="bar c%d" viewBox="0 0 %d %d" aria-hidden="true">',
    (colour - 1) % svg.COLOURS + 1, BAR, BAR_HEIGHT)
  add(parts, '<line class="grid" x1="4" x2="%d" y1="7" y2="7"/>', BAR - 4)
  if least <= 0 and most >= 0 then
    add(parts, '<line class="zero" x1="%.1f" x2="%.1f" y1="1" y2="13"/>', place(0), place(0))
  end
  add(parts, '<line class="range" x1="%.1f" x2="%.1f" y1="7" y2="7"/>', place(interval.low),
    place(interval.high))
  add(parts, '<circle cx="%.1f" cy="7" r="3.2"/></svg>', place(interval.mean))
  return table.concat(parts)
end

return svg
