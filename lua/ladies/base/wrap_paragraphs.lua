--- Breaks the lines of texts, such as help and manuals, so that they fit into the columns of a
-- terminal.

local tables = require "ladies.base.tables"
local wrap = require "ladies.base.wrap"

local FEWEST = 20    -- columns that are left of a text behind a long name
local LONGEST = 24   -- columns of a name and the blanks behind it

-- Returns what a line begins with: nothing, blanks, or the name of an item and the blanks before
-- its text.
local function head_of(line)
  local head = line:match "^%s*%S.-%s%s+%f[%S]"
  return head and #head <= LONGEST and head or line:match "^%s*"
end

-- Tells whether a line goes on with the paragraph, or with the text of the item, that stands above
-- it.
local function goes_on(line, block)
  local head = block.head
  return block[1] ~= "" and (head == "" or head:find "%S") and #line:match "^%s*" == #head
    and line:find "%S" and not line:find "%S%s%s+%S"
end

-- Adds the lines of a paragraph or an item, filled anew where one of them is too long.
local function add_block(lines, block, width)
  local longest = 0
  for _, text in ipairs(block) do longest = math.max(longest, utf8.len(text) or #text) end
  local head = block.head
  local texts = block
  if longest + #head > width then
    texts = wrap(table.concat(block, " "), math.max(FEWEST, width - #head))
  end
  tables.append(lines, tables.map(texts, function(text)
    local line = head .. text
    head = (" "):rep(#head)
    return line
  end))
end

--- fitted(text, width): returns a text with its lines broken to at most `width` columns. Paragraphs
-- and items ("name text", with the rest of the text below) that have longer lines are filled anew;
-- of other lines, those that are too long go on below themselves.
return function(text, width)
  local lines, block = {}, nil
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if block and goes_on(line, block) then
      block[#block + 1] = line:sub(#block.head + 1)
    else
      if block then add_block(lines, block, width) end
      local head = head_of(line)
      block = {head = head, line:sub(#head + 1)}
    end
  end
  add_block(lines, block, width)
  return table.concat(lines, "\n")
end
