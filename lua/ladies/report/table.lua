--- Tables of typed cells, which a reader is shown as texts and a program is given as numbers.
--
--   local scores = Table.new{"method", {"F1 %", csv = {"f1", "f1_sd"}}, {csv = {"runs"}}}
--   scores:add{"LADIES", Table.deviation({76.1, 77.9}, "%.1f"), 2}
--
-- A column is a name, or {name, csv = names}: its head for the reader, and those of its numbers in
-- CSV (by default the same one). Without a name it is in CSV alone, without any names not there. A
-- cell is a text, a number, or {text =, number, ...} as the functions below make them.

local markdown = require "ladies.report.markdown"
local statistics = require "ladies.report.statistics"

local Table = {__name = "ladies.report.Table"}
Table.__index = Table

--- A table of these columns without rows.
function Table.new(columns)
  return setmetatable({columns = columns, rows = {}}, Table)
end

--- Adds a row: a cell for each column.
function Table:add(cells)
  self.rows[#self.rows + 1] = cells
end

--- A number in the format for readers; nil is "-".
function Table.number(value, format)
  return {text = value and format:format(value) or "-", value or ""}
end

-- The mean of a list of numbers and its spread(list), which a single number has not.
local function cell_of(list, spread, format, spread_format)
  local mean, width = statistics.mean(list), #list > 1 and spread(list)
  return {text = statistics.with_spread(mean, width, format, spread_format), mean or "",
    width or ""}
end

--- "76.5 ± 1.4": the mean of a list of numbers and half its 95 % interval, in a format of its own
-- ("%.1f").
function Table.interval(list, format, spread_format)
  return cell_of(list, statistics.half_width, format, spread_format or "%.1f")
end

--- "76.5 ± 1.4": the mean of a list of numbers and their standard deviation.
function Table.deviation(list, format)
  return cell_of(list, statistics.deviation, format)
end

--- The rows for readers, arrays of texts of which the first is the head.
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

--- The rows of CSV, arrays of texts and numbers of which the first is the head.
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

--- The table in Markdown.
function Table:markdown()
  return markdown.table(self:texts())
end

return Table
