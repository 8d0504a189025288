--- Sections of doc/reproduction.md: each command of the reproduction leaves COMMAND.md in the
-- folder of its study, and the pictures that it shows beside it; ladies_paper.report puts them
-- together. Here is how their parts are written.

local core = require "ladies_core"
local csv = require "ladies.report.csv"
local markdown = require "ladies.report.markdown"

local section = {}

--- Writes rows, arrays of texts and numbers of which the first is the head, as a CSV file.
function section.write_csv(path, rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for j, cell in ipairs(row) do cells[j] = csv.field(cell) end
    lines[i] = table.concat(cells, ",")
  end
  core.file.write(path, table.concat(lines, "\n") .. "\n")
end

--- Writes a section: its parts, texts or rows of a table, with an empty line between them.
function section.write(path, parts)
  local texts = {}
  for i, part in ipairs(parts) do
    texts[i] = type(part) == "table" and markdown.table(part) or part
  end
  core.file.write(path, table.concat(texts, "\n\n") .. "\n")
end

return section
