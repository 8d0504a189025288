--- Looks up the meaning of a word in doc/guide/glossary.md or, for a word of another library, in
-- the tables of doc/guide/pyg-dgl.md; both are installed with the program.

local home = require "ladies.base.home"
local wrap = require "ladies.base.wrap"

local WIDTH, MOST = 80, 3     -- columns, and rows for a word of other libraries

-- Returns the text of a table cell without Markdown's markup.
local function plain(cell)
  return (cell:gsub("%[(.-)%]%b()", "%1"):gsub("`", ""))
end

local function wrapped(text) return table.concat(wrap(text, WIDTH), "\n") end

-- Returns an iterator over the rows of all tables on a page of the guide, each an array of cells;
-- it is empty where the page is not installed.
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

-- Returns the meaning of a word of this program, or nil.
local function own_word(word)
  for cells in rows_of "glossary" do
    for one in cells[1]:gmatch "[^,]+" do
      if one:match "^%s*(.*)$":lower() == word then
        return wrapped(("%s: %s"):format(plain(cells[1]), plain(cells[2])))
      end
    end
  end
end

-- Returns lines that say what a word of another library is called here, or nil. A row of the tables
-- is {topic, words of PyTorch Geometric, of DGL, of this library}; the word is looked for in its
-- first three cells.
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

--- glossary(word) -> text or nil: returns lines that say what a word means here, or which word this
-- library has in its place.
return function(word)
  return own_word(word:lower()) or foreign_word(word:lower())
end
