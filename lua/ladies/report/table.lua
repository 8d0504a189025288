--- Makes tables that are written twice: with formatted cells for readers (in Markdown), and with
-- plain numbers for programs (in CSV).
--
--   local scores = Table.new{"method", {"F1 %", csv = {"f1", "f1_sd"}}, {csv = {"runs"}}}
--   scores:add{"LADIES", Table.deviation({76.1, 77.9}, "%.1f"), 2}
--
-- A column is a name, or {name, csv = names}: its head for readers, and the heads of its columns in
-- CSV (by default one, of the same name). A column without a name is in CSV alone, one with csv =
-- {} is not in CSV. A cell is a text, a number, or {text =, number, ...} as the functions below
-- make them.

local markdown = require "ladies.report.markdown"
local statistics = require "ladies.statistics"

local Table = {__name = "ladies.report.Table"}
Table.__index = Table

--- Makes a table of these columns, without rows.
function Table.new(columns)
  return setmetatable({columns = columns, rows = {}}, Table)
end

--- Adds a row, an array with a cell for each column.
function Table:add(cells)
  self.rows[#self.rows + 1] = cells
end

--- Makes a table of these columns with a row for each element of a list: row_of(element, place)
-- returns the cells, or nil for no row.
function Table.of(columns, list, row_of)
  local made = Table.new(columns)
  for i, element in ipairs(list) do
    local cells = row_of(element, i)
    if cells then made:add(cells) end
  end
  return made
end

--- Makes the cell of a number, which readers see in this format; "-" for nil.
function Table.number(value, format)
  return {text = value and format:format(value) or "-", value or ""}
end

--- Formats a number and its spread, "76.5 ± 1.4", each in its own format (by default that of the
-- number). Without a spread it is the number alone, without a number "-".
function Table.with_spread(value, spread, format, spread_format)
  if not value then return "-" end
  if not spread then return format:format(value) end
  return (format .. " ± " .. (spread_format or format)):format(value, spread)
end

-- Makes the cell of a list of numbers: its mean and spread(list); a single number has no spread.
local function cell_of(list, spread, format, spread_format)
  local mean, width = statistics.mean(list), #list > 1 and spread(list)
  return {text = Table.with_spread(mean, width, format, spread_format), mean or "",
    width or ""}
end

--- Makes the cell "76.5 ± 1.4": the mean of a list of numbers and half the width of its 95 %
-- interval, which has a format of its own ("%.1f").
function Table.interval(list, format, spread_format)
  return cell_of(list, statistics.half_width, format, spread_format or "%.1f")
end

--- Makes the cell "76.5 ± 1.4": the mean of a list of numbers and their standard deviation.
function Table.deviation(list, format)
  return cell_of(list, statistics.deviation, format)
end

--- Returns the rows for readers, arrays of texts of which the first is the head.
function Table:texts()
  local texts = {{}}
  for i = 1, #self.rows do texts[i + 1] = {} end
  for j, column in ipairs(self.columns) do
    local name = type(column) == "table" and column[1] or column
    if type(name) == "string" then
      table.insert(texts[1], name)
      for i, row in ipairs(self.rows) do
        local cell = row[j]
        table.insert(texts[i + 1], type(cell) == "table" and cell.text or tostring(cell))
      end
    end
  end
  return texts
end

--- Returns the rows for CSV, arrays of texts and numbers of which the first is the head.
function Table:numbers()
  local numbers = {{}}
  for i = 1, #self.rows do numbers[i + 1] = {} end
  for j, column in ipairs(self.columns) do
    for k, name in ipairs(type(column) == "table" and (column.csv or column) or {column}) do
      table.insert(numbers[1], name)
      for i, row in ipairs(self.rows) do
        local cell = type(row[j]) == "table" and row[j] or {row[j]}
        table.insert(numbers[i + 1], cell[k] or "")
      end
    end
  end
  return numbers
end

--- Returns the table in Markdown.
function Table:markdown()
  return markdown.table(self:texts())
end

return Table
