--- Tables in Markdown, which are read as well in a terminal.

local core = require "ladies_core"

local markdown = {}

--- A text as part of a line: what would end it or a cell, or be taken for HTML, is only shown.
function markdown.text(text)
  return (core.printable(text):gsub("[\\|<]", "\\%0"))
end

--- markdown.table(rows) -> text: the rows, arrays of texts of which the first is the head. Columns
-- are as wide as their widest text; the first is set left, the others right.
function markdown.table(rows)
  local widths, lines, texts = {}, {}, {}
  for i, row in ipairs(rows) do
    texts[i] = {}
    for j, text in ipairs(row) do
      texts[i][j] = markdown.text(text)
      widths[j] = math.max(widths[j] or 0, utf8.len(texts[i][j]))
    end
  end
  local function add(cells)
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  for i, row in ipairs(texts) do
    local cells, rule = {}, {}
    for j, text in ipairs(row) do
      local blanks = (" "):rep(widths[j] - utf8.len(text))
      cells[j] = j == 1 and text .. blanks or blanks .. text
      rule[j] = j == 1 and ("-"):rep(widths[j]) or ("-"):rep(widths[j] - 1) .. ":"
    end
    add(cells)
    if i == 1 then add(rule) end
  end
  return table.concat(lines, "\n")
end

return markdown
