--- Writes CSV as other programs read it: texts as they are, also those that a spreadsheet would
-- take for a formula.

local tables = require "ladies.base.tables"

local csv = {}

--- Returns a value as a field of CSV, in quotes where that is necessary.
function csv.field(value)
  local text = tostring(value)
  return text:find '[",\n\r]' and '"' .. text:gsub('"', '""') .. '"' or text
end

--- Returns the text of a CSV file of some rows, arrays of texts and numbers of which the first is
-- the head.
function csv.text(rows)
  return table.concat(tables.map(rows, function(row)
    return table.concat(tables.map(row, csv.field), ",") .. "\n"
  end))
end

return csv
