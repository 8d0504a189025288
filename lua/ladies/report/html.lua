--- Writes texts and tables as HTML, for values that show themselves in a notebook. Names and texts
-- of data are only shown: they add no markup.

local svg = require "ladies.report.svg"
local tables = require "ladies.base.tables"

local html = {}

local function is_number(cell)
  return cell == "" or cell == "nan" or cell == "inf" or cell:find "^[%d.+-]" ~= nil
end

--- html.word_columns(rows) -> {i = true, ...}: finds the columns of a table in which not all cells
-- are numbers, which are aligned on the left.
function html.word_columns(rows)
  local columns = {}
  for _, cells in ipairs(rows) do
    for i, cell in ipairs(cells) do columns[i] = columns[i] or not is_number(cell) or nil end
  end
  return columns
end

local function row(cells, tag, words)
  local parts = {}
  for i, cell in ipairs(cells) do
    local name = i == 1 and "th" or tag
    parts[i] = ("<%s%s>%s</%s>"):format(name, words[i] and ' style="text-align: left"' or "",
      svg.text(cell), name)
  end
  return "<tr>" .. table.concat(parts) .. "</tr>"
end

--- Returns a heading as HTML.
function html.heading(text)
  return ("<h3>%s</h3>"):format(svg.text(text))
end

--- Returns a paragraph as HTML.
function html.line(text)
  return ("<p>%s</p>"):format(svg.text(text))
end

--- Returns an array of lines that are aligned by blanks as preformatted HTML. Where they are too
-- long for the page they are broken between words, which JupyterLab would not do by itself.
function html.block(lines)
  return ('<pre style="margin: 0 0 1em; word-break: normal">%s</pre>'):format(
    table.concat(tables.map(lines, svg.text), "\n"))
end

--- html.table{head = texts or nil, rows = {texts, ...}}: returns a table as HTML, whose first
-- column names its rows.
function html.table(given)
  local words = html.word_columns(given.rows)
  local parts = {"<table>"}
  if given.head then
    parts[2] = "<thead>" .. row(given.head, "th", words) .. "</thead>"
  end
  parts[#parts + 1] = "<tbody>"
  for _, cells in ipairs(given.rows) do parts[#parts + 1] = row(cells, "td", words) end
  parts[#parts + 1] = "</tbody></table>"
  return table.concat(parts, "\n")
end

return html
