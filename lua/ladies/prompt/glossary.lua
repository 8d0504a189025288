--- What a word means here: a row of doc/guide/glossary.md, which is installed with the program.

local home = require "ladies.base.home"
local wrap = require "ladies.base.wrap"

local WIDTH = 80

-- A cell without the marks of Markdown.
local function plain(cell)
  return (cell:gsub("%[(.-)%]%b()", "%1"):gsub("`", ""))
end

--- glossary(word) -> text or nil: the row of that word, in lines.
return function(word)
  local file = io.open(home() .. "/doc/guide/glossary.md")
  if not file then return nil end
  local found
  for line in file:lines() do
    local words, meaning = line:match "^| (.-) | (.*) |$"
    for one in (words or ""):gmatch "[^,]+" do
      if one:match "^%s*(.*)$":lower() == word:lower() then
        found = table.concat(wrap(("%s: %s"):format(plain(words), plain(meaning)), WIDTH), "\n")
      end
    end
  end
  file:close()
  return found
end
