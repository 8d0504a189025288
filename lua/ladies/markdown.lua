--- Tables in Markdown, which are read as well in a terminal.

local markdown = {}

--- markdown.table(rows) -> text: the rows, arrays of texts of which the first is the head. Columns
-- are as wide as their widest text; the first is set left, the others right.
function markdown.table(rows)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for i, text in ipairs(row) do widths[i] = math.max(widths[i] or 0, utf8.len(text)) end
  end
  local function add(cells)
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  for i, row in ipairs(rows) do
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
