--- Texts and tables as HTML, for what shows itself in a notebook. What they quote is only shown.

local svg = require "ladies.report.svg"
local tables = require "ladies.base.tables"

local html = {}

local function row(cells, tag, first_tag)
  local parts = {}
  for i, cell in ipairs(cells) do
    local name = i == 1 and first_tag or tag
    parts[i] = ("<%s>%s</%s>"):format(name, svg.text(cell), name)
  end
  return "<tr>" .. table.concat(parts) .. "</tr>"
end

--- A heading.
function html.heading(text)
  return ("<h3>%s</h3>"):format(svg.text(text))
end

--- A paragraph.
function html.line(text)
  return ("<p>%s</p>"):format(svg.text(text))
end

--- Lines of text that are aligned by blanks, from an array.
function html.block(lines)
  return ("<pre>%s</pre>"):format(table.concat(tables.map(lines, svg.text), "\n"))
end

--- html.table{head = texts, rows = {texts, ...}}: a table whose first column names its rows.
function html.table(given)
  local parts = {"<table>", "<thead>" .. row(given.head, "th") .. "</thead>", "<tbody>"}
  for _, cells in ipairs(given.rows) do parts[#parts + 1] = row(cells, "td", "th") end
  parts[#parts + 1] = "</tbody></table>"
  return table.concat(parts, "\n")
end

return html
