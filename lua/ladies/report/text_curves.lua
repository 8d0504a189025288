--- Draws lines, points and bars over a numeric axis as text for a terminal, with a character of its
-- own for each series.

local axis_of = require "ladies.report.axis"
local core = require "ladies_core"
local drawable = require "ladies.report.drawable"

local SIGNS = {"*", "o", "+", "x", "#", "=", "%", "@"}
local EIGHTHS = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
local LEAST_WIDTH, LEAST_HEIGHT = 16, 4        -- of what is inside the axes

local function sign_of(series)
  if series.style == "bars" then return "█" end
  return series.style == "segments" and "·" or SIGNS[(series.number - 1) % #SIGNS + 1]
end

local function label_of(number) return ("%.4g"):format(number) end

-- ---------------------------------------------------------------- cells of text

-- Makes an empty canvas, `height` lines of `width` blanks, into which signs are put.
local function canvas_of(width, height)
  local rows = {}
  for i = 1, height do
    rows[i] = {}
    for j = 1, width do rows[i][j] = " " end
  end
  return rows
end

local function put(canvas, column, row, sign)
  local line = canvas[row]
  if line and line[column] then line[column] = sign end
end

local function put_text(canvas, column, row, text)
  for _, code in utf8.codes(text) do
    put(canvas, column, row, utf8.char(code))
    column = column + 1
  end
end

local function whole(x) return math.floor(x + 0.5) end

-- ---------------------------------------------------------------- series

-- Draws a straight line between two places, a character in each column or, where it is steep, in
-- each row.
local function put_line(canvas, a, b, sign)
  local steps = math.max(1, math.abs(b[1] - a[1]), math.abs(b[2] - a[2]))
  for k = 0, steps do
    local t = k / steps
    put(canvas, whole(a[1] + t * (b[1] - a[1])), whole(a[2] + t * (b[2] - a[2])), sign)
  end
end

-- Draws a bar from 0, whose top is drawn to an eighth of a line.
local function put_bar(canvas, p, x, y)
  local left, right = whole(x.place(p.left)), whole(x.place(p.right))
  local zero = y.place(math.max(y.low, math.min(0, y.high)))
  local top = y.place(p[2])
  for column = left, math.max(left, right - 1) do
    for row = math.ceil(math.min(top, zero)), math.floor(math.max(top, zero)) do
      put(canvas, column, row, "█")
    end
    local part = math.floor((math.ceil(top) - top) * 8 + 0.5)
    if p[2] > 0 and part >= 1 then put(canvas, column, math.ceil(top) - 1, EIGHTHS[part]) end
  end
end

local function put_series(canvas, series, x, y)
  local sign, places = sign_of(series), {}
  for i, p in ipairs(series.points) do
    if series.style == "bars" then put_bar(canvas, p, x, y) end
    places[i] = {whole(x.place(p[1])), whole(y.place(p[2]))}
  end
  if series.style == "segments" then
    for i = 1, #places - 1, 2 do put_line(canvas, places[i], places[i + 1], sign) end
    return
  end
  if series.style == "bars" then return end
  for i, place in ipairs(places) do
    local is_line = series.style ~= "points" and places[i + 1]
    if is_line then put_line(canvas, place, places[i + 1], sign) end
    put(canvas, place[1], place[2], sign)
  end
end

local function put_labels(canvas, series, x, y)
  for _, p in ipairs(series.points) do
    local label = series.labels[p.i]
    if label and label ~= "" then
      put_text(canvas, whole(x.place(p[1])) + 2, whole(y.place(p[2])), core.printable(label))
    end
  end
end

-- ---------------------------------------------------------------- axes

-- Returns the text beside each line of the chart: the ticks of a vertical axis.
local function beside(axis)
  local texts, widest = {}, 0
  for _, value in ipairs(axis and axis.ticks or {}) do
    if value >= axis.low and value <= axis.high then
      local text = label_of(value)
      texts[whole(axis.place(value))] = text
      widest = math.max(widest, #text)
    end
  end
  return texts, widest
end

-- Returns the line with the ticks below the frame, as many as there is room for.
local function below(axis, width)
  local line, last = canvas_of(width, 1), -1
  for _, value in ipairs(axis.ticks) do
    local text = label_of(value)
    local first = math.min(width - #text + 1, math.max(1, whole(axis.place(value)) - #text // 2))
    if value >= axis.low and value <= axis.high and first > last + 1 then
      put_text(line, first, 1, text)
      last = first + #text - 1
    end
  end
  return table.concat(line[1])
end

-- Adds the key, the names of the series with their characters, as many in a line as there is room
-- for.
local function add_key(lines, list, indent, width)
  local line
  for _, series in ipairs(list) do
    if series.name ~= "" then
      local entry = ("%s %s"):format(sign_of(series), core.printable(series.name))
      if line and utf8.len(line) + 3 + utf8.len(entry) <= width then
        line = line .. "   " .. entry
      else
        lines[#lines + 1], line = line, indent .. entry
      end
    end
  end
  lines[#lines + 1] = line
end

-- Collects the numbers along the left and the right axis. Bars begin at 0, which a logarithmic axis
-- has not.
local function heights_of(list, log_y)
  local sides = {{}, {}}
  for _, series in ipairs(list) do
    local ys = sides[series.axis]
    for _, p in ipairs(series.points) do ys[#ys + 1] = p[2] end
    if series.style == "bars" and not log_y then ys[#ys + 1] = 0 end
  end
  return sides[1], sides[2]
end

-- Makes a vertical axis between the lowest and the highest line; nil where no series uses it.
local function upright(numbers, height, opts)
  return numbers[1] and axis_of(numbers, height, 1, opts) or nil
end

-- ---------------------------------------------------------------- the whole

--- text_curves(opts, width, height) -> text | nil: draws the series of a plot, from the options of
-- ladies.plot, as text of so many columns and lines; nil where there is nothing to draw.
return function(opts, width, height)
  local list = drawable.series(opts)
  if not list[1] then return nil end
  local log = opts.log or "none"
  local log_y = log:find "y" ~= nil
  local lefts, rights = heights_of(list, log_y)
  local title = opts.title ~= "" and core.printable(opts.title)
  local inner = math.max(LEAST_HEIGHT, height - (title and 1 or 0) - 2 - (opts.axes and 2 or 0))
  local y = upright(lefts, inner, {is_log = log_y, range = opts.y_range, zero = opts.axes})
  local y2 = upright(rights, inner, {is_log = log_y and not y, zero = opts.axes,
    range = not y and opts.y_range or nil})
  local numbers, left = beside(opts.axes and y or nil)
  local numbers2, right = beside(opts.axes and y2 or nil)
  local columns = math.max(LEAST_WIDTH, width - left - right - 4)
  local x = axis_of(drawable.xs(list), 1, columns, {is_log = log:find "x" ~= nil,
    range = opts.x_range, ticks = opts.x_ticks})
  local canvas = canvas_of(columns, inner)
  for _, series in ipairs(list) do
    put_series(canvas, series, x, series.axis == 2 and y2 or y)
  end
  for _, series in ipairs(list) do
    if series.written then put_labels(canvas, series, x, series.axis == 2 and y2 or y) end
  end

  local lines, indent = {title and "  " .. title or nil}, (" "):rep(left + 3)
  local bar = opts.axes and "|" or " "
  for i, row in ipairs(canvas) do
    lines[#lines + 1] = (" %s %s%s%s %s"):format((" "):rep(left - #(numbers[i] or ""))
      .. (numbers[i] or ""), bar, table.concat(row), y2 and bar or " ", numbers2[i] or "")
  end
  if opts.axes then
    lines[#lines + 1] = (" "):rep(left + 2) .. "+" .. ("-"):rep(columns) .. (y2 and "+" or "")
    lines[#lines + 1] = indent .. below(x, columns)
  end
  if opts.x ~= "" then
    local name = core.printable(opts.x)
    lines[#lines + 1] = indent .. (" "):rep(math.max(0, (columns - utf8.len(name)) // 2)) .. name
  end
  add_key(lines, list, indent, width)
  for i, line in ipairs(lines) do lines[i] = line:gsub(" +$", "") end
  return table.concat(lines, "\n")
end
