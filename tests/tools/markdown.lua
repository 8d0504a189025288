--- What the tests read of pages in Markdown.
local files = require "tools.files"

local markdown = {}

--- The lines of the page that are no listings.
function markdown.prose(page)
  local lines, inside = {}, false
  for _, line in ipairs(files.lines(page)) do
    local is_fence = line:find "^%s*```" ~= nil
    if is_fence then inside = not inside end
    if not inside and not is_fence then lines[#lines + 1] = line end
  end
  return lines
end

--- The prose below each heading of the page, with that of smaller headings in it, by the anchor
-- that Markdown on the web makes of the heading.
function markdown.sections(page)
  local sections, open = {}, {}
  for _, line in ipairs(markdown.prose(page)) do
    local marks, heading = line:match "^(#+) (.*)"
    if heading then
      for depth = #marks, 6 do open[depth] = nil end
      open[#marks] = heading:lower():gsub("[^%w_ -]", ""):gsub(" ", "-")
    end
    for _, anchor in pairs(open) do
      local lines = sections[anchor] or {}
      lines[#lines + 1], sections[anchor] = line, lines
    end
  end
  for anchor, lines in pairs(sections) do sections[anchor] = table.concat(lines, "\n") end
  return sections
end

return markdown
