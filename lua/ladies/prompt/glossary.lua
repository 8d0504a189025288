--- What a word means here: a row of doc/guide/glossary.md or, for words of other libraries, rows of
-- the tables in doc/guide/pyg-dgl.md, which are installed with the program.

local home = require "ladies.base.home"
local wrap = require "ladies.base.wrap"

local WIDTH, MOST = 80, 3     -- columns, and rows for a word of other libraries

-- A cell without the marks of Markdown.
local function plain(cell)
  return (cell:gsub("%[(.-)%]%b()", "%1"):gsub("`", ""))
end

local function wrapped(text) return table.concat(wrap(text, WIDTH), "\n") end

-- An iterator over the rows of the tables on a page of the guide, each an array of its cells; none
-- where the page is not installed.
local function rows_of(page)
  local file = io.open(("%s/doc/guide/%s.md"):format(home(), page))
  local lines = file and file:read "a" or ""
  if file then file:close() end
  local next_row = lines:gmatch "\n|([^\n]*)|%f[\n]"
  return function()
    local row = next_row()
    local cells = {}
    for cell in ((row or "") .. "|"):gmatch " *(.-) *|" do cells[#cells + 1] = cell end
    return row and cells
  end
end

-- The meaning of a word of this program, or nil.
local function own_word(word)
  for cells in rows_of "glossary" do
    for one in cells[1]:gmatch "[^,]+" do
      if one:match "^%s*(.*)$":lower() == word then
        return wrapped(("%s: %s"):format(plain(cells[1]), plain(cells[2])))
      end
    end
  end
end

-- What stands here for a word of other libraries, as lines, or nil. A row {topic, words of PyTorch
-- Geometric, of DGL, ours} is about the words of its first three cells.
local function foreign_word(word)
  local pattern = "%f[%w_]" .. word:gsub("%p", "%%%0") .. "%f[^%w_]"
  local found = {}
  for cells in rows_of "pyg-dgl" do
    local has_word = #cells == 4
      and table.concat(cells, " ", 1, 3):lower():find(pattern) ~= nil
    if has_word and #found < MOST then
      local others = cells[3] ~= "" and cells[3] ~= "the same" and cells[3] ~= cells[2]
        and "; DGL: " .. cells[3] or ""
      found[#found + 1] = wrapped(plain(("%s (PyTorch%s)%s: here %s"):format(cells[1],
        cells[2] ~= "" and ": " .. cells[2] .. others or others, "", cells[4])))
    end
  end
  return found[1] and table.concat(found, "\n")
end

--- glossary(word) -> text or nil: what a word means here, in lines, or what takes its place.
return function(word)
  return own_word(word:lower()) or foreign_word(word:lower())
end
