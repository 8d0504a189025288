--- Draws plots as text for a terminal: bars with names, and heat maps.

local core = require "ladies_core"
local drawable = require "ladies.report.drawable"

local text_chart = {}

local SHADES = {"·", ":", "+", "*", "#", "@"}
local EIGHTHS = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"}
local MOST_NAME, MOST_LINES = 20, 32

local function padded(name, width)
  name = core.printable(name)
  local n = utf8.len(name)
  if n > width then name, n = name:sub(1, utf8.offset(name, width) - 1) .. "…", width end
  return name .. (" "):rep(width - n)
end

local function widest_of(names)
  local most = 0
  for _, name in ipairs(names) do most = math.max(most, utf8.len(core.printable(name))) end
  return math.min(most, MOST_NAME)
end

-- Draws a bar that fills a share (0 to 1) of so many columns, to an eighth of a column.
local function bar_of(share, columns)
  local eighths = math.floor(share * columns * 8 + 0.5)
  return ("█"):rep(eighths // 8) .. (EIGHTHS[eighths % 8] or "")
end

--- text_chart.bars(opts, width) -> text: draws the bars of a plot with x_names, each in a line;
-- those below 0 begin with a minus.
function text_chart.bars(opts, width)
  local lines, most, list = {opts.title ~= "" and "  " .. core.printable(opts.title) or nil}, 0,
    drawable.series(opts)
  for _, series in ipairs(list) do
    for _, p in ipairs(series.points) do most = math.max(most, math.abs(p[2])) end
  end
  local name_width = widest_of(opts.x_names)
  for i, name in ipairs(opts.x_names) do
    for k, series in ipairs(list) do
      for _, p in ipairs(series.points) do
        if p[1] == i then
          local label = #list > 1 and padded(series.name, widest_of{series.name}) .. " " or ""
          lines[#lines + 1] = ("  %s %s%s%s %.6g"):format(padded(k == 1 and name or "", name_width),
            label, p[2] < 0 and "-" or "", bar_of(most > 0 and math.abs(p[2]) / most or 0,
              math.max(8, width - name_width - utf8.len(label) - 14)), p[2])
        end
      end
    end
  end
  return table.concat(lines, "\n")
end

--- Returns the character for a number in a heat map, where `most` is the largest: the larger the
-- number, the darker; a blank for nil or 0.
function text_chart.shade(value, most)
  if not value or value ~= value or value == 0 or most == 0 then return " " end
  return SHADES[math.max(1, math.ceil(math.sqrt(math.min(1, math.abs(value) / most)) * #SHADES))]
end

-- Merges each n rows of cells into one, which has the number of each column that is farthest from
-- 0.
local function merged(cells, n)
  local rows = {}
  for i, row in ipairs(cells) do
    local k = (i - 1) // n + 1
    rows[k] = rows[k] or {}
    for j, value in ipairs(row) do
      local there = rows[k][j] or 0
      rows[k][j] = value and math.abs(value) > math.abs(there) and value or there
    end
  end
  return rows
end

--- text_chart.cells(opts, width) -> text: draws a heat map as text: a cell is a character (two
-- where there is room) that is the darker the larger its number is. Rows may have names; many rows
-- without names are merged, several in a line.
function text_chart.cells(opts, width)
  local names = opts.y_names
  local lines = {opts.title ~= "" and "  " .. core.printable(opts.title) or nil}
  local cells, most = opts.cells, drawable.most(opts.cells)
  local wide = not names and #cells > MOST_LINES and 1 or 2
  if wide == 1 then cells = merged(cells, math.ceil(#cells / MOST_LINES)) end
  local name_width = names and widest_of(names) + 1 or 0
  if 2 * #cells[1] + name_width + 4 > width then wide = 1 end
  for i, row in ipairs(cells) do
    local signs = {}
    for j, value in ipairs(row) do signs[j] = text_chart.shade(value, most):rep(wide) end
    local name = names and padded(names[i] or "", name_width) or ""
    lines[#lines + 1] = ("  %s|%s|"):format(name, table.concat(signs))
  end
  return table.concat(lines, "\n")
end

return text_chart
