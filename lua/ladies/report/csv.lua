--- CSV as other programs read it: texts as they are, also those that a spreadsheet would take for a
-- formula.

local csv = {}

--- A field, in quotes where it must be.
function csv.field(value)
  local text = tostring(value)
  return text:find '[",\n\r]' and '"' .. text:gsub('"', '""') .. '"' or text
end

return csv
