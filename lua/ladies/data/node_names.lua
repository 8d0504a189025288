--- Stores the names of a data set's nodes as one text with the place of each line, since a string
-- for every node would take more memory than the graph.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local NodeNames = {__name = "ladies.NodeNames"}

-- Returns the name of node `key` for an integer key; other keys are methods.
function NodeNames:__index(key)
  if math.type(key) ~= "integer" then return NodeNames[key] end
  if key < 1 or key > #self then
    errors.fail(("[%d] of NodeNames of %d: positions are 1 to #x"):format(key, #self))
  end
  return self.text:sub(self.starts[key], self.starts[key + 1] - 2)
end

--- Makes the names from a text with one name a line.
function NodeNames.new(text)
  -- With a newline on both sides of every name, a whole line can be searched for.
  text = "\n" .. text .. (text:sub(-1) == "\n" and "" or "\n")
  return setmetatable({text = text, starts = core.text.line_starts(text)}, NodeNames)
end

function NodeNames:__len() return #self.starts - 1 end

--- Returns the number of the node with this name, or nil.
function NodeNames:find(name)
  if name:find("\n", 1, true) then return nil end        -- it would be several lines
  local line_end = self.text:find("\n" .. name .. "\n", 1, true)
  if not line_end then return nil end
  local low, high = 1, #self
  while low < high do
    local middle = (low + high) // 2
    if self.starts[middle] <= line_end then low = middle + 1 else high = middle end
  end
  return low
end

--- Returns the name that was probably meant by a misspelt one, or nil.
function NodeNames:nearest(name)
  local all = {}
  for line in self:lines():gmatch "[^\n]+" do all[#all + 1] = line end
  return core.nearest(name, all)
end

--- Returns all names as one text, with one name a line.
function NodeNames:lines() return self.text:sub(2) end

function NodeNames:__tostring() return ("NodeNames %d"):format(#self) end

return NodeNames
