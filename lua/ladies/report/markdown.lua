--- Writes Markdown that is legible in a terminal, too. Names and texts of data and files are only
-- shown: they add no markup.

local core = require "ladies_core"
local tables = require "ladies.base.tables"

local markdown = {}

--- Escapes a text for use within a line: characters that would end the line or a table cell, or be
-- taken for HTML, a link or a picture, are only shown.
function markdown.text(text)
  return (core.printable(text):gsub("[\\|<%[%]]", "\\%0"))
end

--- Escapes a text of one or several lines, which may be a list or quote code.
function markdown.paragraph(text)
  return (core.printable(text, true):gsub("[\\<%[]", "\\%0"))
end

-- Pads a cell to the width of its column; the first column is aligned on the left, the others on
-- the right.
local function padded(text, width, column)
  local blanks = (" "):rep(width - utf8.len(text))
  return column == 1 and text .. blanks or blanks .. text
end

--- markdown.table(rows) -> text: returns a table in Markdown of some rows, arrays of texts of which
-- the first is the head. Columns are as wide as their widest text; the first is aligned on the
-- left, the others on the right.
function markdown.table(rows)
  local widths, lines = {}, {}
  local texts = tables.map(rows, function(row) return tables.map(row, markdown.text) end)
  for _, row in ipairs(texts) do
    for j, text in ipairs(row) do
      widths[j] = math.max(widths[j] or j == 1 and 1 or 2, utf8.len(text))    -- of "-", and "-:"
    end
  end
  for i, row in ipairs(texts) do
    local cells = tables.map(row, function(text, j) return padded(text, widths[j], j) end)
    lines[i] = "| " .. table.concat(cells, " | ") .. " |"
  end
  local rule = tables.map(widths, function(width, j)
    return j == 1 and ("-"):rep(width) or ("-"):rep(width - 1) .. ":"
  end)
  table.insert(lines, 2, "| " .. table.concat(rule, " | ") .. " |")
  return table.concat(lines, "\n")
end

return markdown
