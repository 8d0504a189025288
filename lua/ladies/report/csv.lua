--- CSV as other programs read it: texts as they are, also those that a spreadsheet would take for a
-- formula.

local tables = require "ladies.base.tables"

local csv = {}

--- A field, in quotes where it must be.
function csv.field(value)
  local text = tostring(value)
  return text:find '[",\n\r]' and '"' .. text:gsub('"', '""') .. '"' or text
end

--- The text of a file of these rows, arrays of texts and numbers of which the first is the head.
function csv.text(rows)
  return table.concat(tables.map(rows, function(row)
    return table.concat(tables.map(row, csv.field), ",") .. "\n"
  end))
end

return csv
