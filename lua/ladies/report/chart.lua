--- Draws a chart (axes, series of points or the cells of a heat map) as SVG elements for pages of
-- HTML, without another program.

local axis_of = require "ladies.report.axis"
local chart_series = require "ladies.report.chart_series"
local drawable = require "ladies.report.drawable"
local svg = require "ladies.report.svg"

local WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 300, 74, 12, 10, 46
local CHARACTER, MOST_CHARACTERS, LINE = 6.6, 24, 15      -- of names beside an axis, in pixels
local MOST_VALUES = 144                                   -- that are written into cells

local function cut(text)
  if (utf8.len(text) or #text) <= MOST_CHARACTERS then return text end
  return text:sub(1, (utf8.offset(text, MOST_CHARACTERS) or MOST_CHARACTERS) - 1) .. "..."
end

-- Returns the width in pixels of the longest of some names.
local function width_of(names)
  local most = 0
  for _, name in ipairs(names or {}) do
    most = math.max(most, CHARACTER * math.min(MOST_CHARACTERS + 2, utf8.len(name) or #name))
  end
  return most
end

-- ---------------------------------------------------------------- axes

-- Returns the texts at the ticks of an axis, {place, text}; names stand there as far as there is
-- room.
local function ticks_of(axis, names, room)
  local list, last = {}, -math.huge
  for _, value in ipairs(axis.ticks) do
    local place = axis.place(value)
    if value >= axis.low and value <= axis.high and (not names or math.abs(place - last) >= room)
    then
      list[#list + 1] = {place, names and cut(names[value]) or ("%g"):format(value)}
      last = place
    end
  end
  return list
end

local function add_y_axis(add, f, axis, names, side, grid)
  local x = side == "left" and f.left - 6 or f.right + 6
  for _, tick in ipairs(ticks_of(axis, names, LINE)) do
    if grid then
      add('<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>', f.left, f.right, tick[1],
        tick[1])
    end
    add('<text class="tick" x="%d" y="%.1f" text-anchor="%s">%s</text>', x, tick[1] + 4,
      side == "left" and "end" or "start", svg.text(tick[2]))
  end
end

local function add_x_axis(add, f, names, grid)
  local room = f.slanted and LINE or width_of(names) + 8
  for _, tick in ipairs(ticks_of(f.x, names, room)) do
    if grid then
      add('<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>', tick[1], tick[1], f.top,
        f.bottom)
    end
    if f.slanted then
      add('<text class="tick" x="%.1f" y="%d" text-anchor="end" transform="rotate(-45 %.1f %d)">'
        .. "%s</text>", tick[1] + 4, f.bottom + 14, tick[1] + 4, f.bottom + 14, svg.text(tick[2]))
    else
      add('<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>', tick[1],
        f.bottom + 17, svg.text(tick[2]))
    end
  end
end

local function add_title(add, text, x, y)
  add('<text class="tick" x="%d" y="%.1f" text-anchor="middle" transform="rotate(-90 %d %.1f)">%s'
    .. "</text>", x, y, x, y, svg.text(text))
end

local function add_axes(add, f, opts)
  local grid = not opts.cells
  add_y_axis(add, f, f.y, opts.y_names, "left", grid)
  add_x_axis(add, f, opts.x_names, grid and not opts.x_names)
  if f.y2 then
    add_y_axis(add, f, f.y2, nil, "right", false)
    add_title(add, f.y2_name, f.width - 6, (f.top + f.bottom) / 2)
  end
  add('<path class="axis" d="M%d %dV%dH%d"/>', f.left, f.top, f.bottom, f.right)
  add('<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>', (f.left + f.right) / 2,
    f.height - 8, svg.text(opts.x or ""))
  add_title(add, opts.y or "", 14, (f.top + f.bottom) / 2)
end

local function whole_numbers(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- Computes where the frame of a chart lies, whose margins have room for names.
local function frame_of(opts, width, height, has_y2)
  if opts.axes == false then
    return {left = 40, right = width - 40, top = 24, bottom = height - 24, width = width,
      height = height}
  end
  local names, n = width_of(opts.x_names), #(opts.x_names or {})
  local left = math.max(LEFT, 30 + math.ceil(width_of(opts.y_names)))
  local right = width - (has_y2 and 64 or RIGHT)
  local slanted = n > 0 and n * (names + 8) > right - left
  return {left = left, right = right, top = TOP, width = width, height = height, slanted = slanted,
    bottom = height - (slanted and 34 + math.ceil(0.72 * names) or BOTTOM)}
end

-- ---------------------------------------------------------------- cells

local function value_text(value) return ("%.3g"):format(value) end

-- Returns the text that appears when one points at a cell: its names and its number, or nothing
-- where it has no names.
local function title_of(opts, i, j, value)
  local row, column = (opts.y_names or {})[i], (opts.x_names or {})[j]
  if not (row and column) then return "" end
  return ("<title>%s, %s: %.4g</title>"):format(svg.text(row), svg.text(column), value)
end

-- Draws the cells of a heat map: the farther a number is from 0, the stronger is its colour, and
-- numbers below 0 have another colour.
local function add_cells(add, f, opts)
  local cells, most = opts.cells, drawable.most(opts.cells)
  local n_rows, n_cols = #cells, #cells[1]
  local w, h = (f.right - f.left) / n_cols, (f.bottom - f.top) / n_rows
  local has_text = n_rows * n_cols <= MOST_VALUES and w >= 34 and h >= 16
  for i, row in ipairs(cells) do
    for j, value in ipairs(row) do
      if value and value == value and (value ~= 0 or has_text) then
        local x, y = f.left + (j - 1) * w, f.top + (i - 1) * h
        local share = most > 0 and math.min(1, math.abs(value) / most) or 0
        add('<rect class="c%d" x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill-opacity="%.3f">'
          .. "%s</rect>", value < 0 and 2 or 1, x, y, w, h, has_text and 0.75 * share or share,
          title_of(opts, i, j, value))
        if has_text then
          add('<text class="value" x="%.1f" y="%.1f" text-anchor="middle">%s</text>', x + w / 2,
            y + h / 2 + 4, value_text(value))
        end
      end
    end
  end
end

local function cells_chart(add, opts, width, height)
  local f = frame_of(opts, width, height, false)
  local n_rows, n_cols = #opts.cells, #opts.cells[1]
  f.x = axis_of({1, n_cols}, f.left, f.right, {range = opts.x_range or {0.5, n_cols + 0.5},
    ticks = opts.x_names and whole_numbers(n_cols)})
  f.y = axis_of({1, n_rows}, f.top, f.bottom, {range = opts.y_range or {0.5, n_rows + 0.5},
    ticks = opts.y_names and whole_numbers(n_rows)})
  add_cells(add, f, opts)
  add_axes(add, f, opts)
end

-- ---------------------------------------------------------------- series

-- Collects the numbers along the left and the right axis, and the name of the latter. Bars begin at
-- 0, which a logarithmic axis has not.
local function heights_of(list, log_y)
  local ys, y2s, y2_name = {}, {}, nil
  for _, series in ipairs(list) do
    local own = series.axis == 2 and y2s or ys
    if series.axis == 2 then y2_name = series.name end
    for _, p in ipairs(series.points) do
      own[#own + 1], own[#own + 2] = p[3], p[4]
    end
    if series.style == "bars" and not log_y then own[#own + 1] = 0 end
  end
  return ys, y2s, y2_name
end

local function series_chart(add, opts, list, width, height)
  local log = opts.log or "none"
  local log_x, log_y = log:find "x" ~= nil, log:find "y" ~= nil
  local xs, ys, y2s, y2_name = drawable.xs(list), heights_of(list, log_y)
  local f = frame_of(opts, width, height, y2_name)
  if opts.x_names then xs[#xs + 1], xs[#xs + 2] = 0.5, #opts.x_names + 0.5 end
  f.x = axis_of(xs, f.left, f.right, {is_log = log_x, range = opts.x_range,
    ticks = opts.x_names and whole_numbers(#opts.x_names) or opts.x_ticks})
  f.y = axis_of(ys[1] and ys or y2s, f.bottom, f.top, {is_log = log_y, zero = opts.axes ~= false,
    range = opts.y_range})
  f.y2 = y2s[1] and ys[1] and axis_of(y2s, f.bottom, f.top, {zero = true}) or nil
  f.y2_name = y2_name
  if opts.axes ~= false then add_axes(add, f, opts) end
  chart_series(add, list, f.x, function(one) return one.axis == 2 and f.y2 or f.y end)
end

--- chart(opts [, width, height]) -> text: returns the SVG of the chart that the options of
-- ladies.plot describe, without its key; nil where there is nothing to draw. In a browser a point
-- shows its numbers when the mouse is over it.
return function(opts, width, height)
  width, height = width or WIDTH, height or HEIGHT
  local parts = {}
  local function add(text, ...)
    parts[#parts + 1] = select("#", ...) > 0 and text:format(...) or text
  end
  add('<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">', width, height,
    svg.text(opts.title or ""))
  local list = not opts.cells and drawable.series(opts) or {}
  if opts.cells then
    if not (opts.cells[1] and opts.cells[1][1] ~= nil) then return nil end
    cells_chart(add, opts, width, height)
  elseif list[1] then
    series_chart(add, opts, list, width, height)
  else
    return nil
  end
  add "</svg>"
  return table.concat(parts, "\n")
end
