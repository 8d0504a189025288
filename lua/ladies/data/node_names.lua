--- The names of a data set's nodes, kept as one text and the place of each line in it: a string for
-- every node would cost more than the graph.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local NodeNames = {__name = "ladies.NodeNames"}

-- The state lies in fields, so that an integer key is always a node.
function NodeNames:__index(key)
  if math.type(key) ~= "integer" then return NodeNames[key] end
  if key < 1 or key > #self then
    errors.fail(("[%d] of NodeNames of %d: positions are 1 to #x"):format(key, #self))
  end
  return self.text:sub(self.starts[key], self.starts[key + 1] - 2)
end

--- Names from a text with one name a line.
function NodeNames.new(text)
  -- With a line end on both sides of every name, a whole line can be searched for.
  text = "\n" .. text .. (text:sub(-1) == "\n" and "" or "\n")
  return setmetatable({text = text, starts = core.text.line_starts(text)}, NodeNames)
end

function NodeNames:__len() return #self.starts - 1 end

--- The number of the node of this name, or nil.
function NodeNames:find(name)
  local line_end = self.text:find("\n" .. name .. "\n", 1, true)
  if not line_end then return nil end
  local low, high = 1, #self
  while low < high do
    local middle = (low + high) // 2
    if self.starts[middle] <= line_end then low = middle + 1 else high = middle end
  end
  return low
end

--- A name that was probably meant by another, or nil; it is looked for among all.
function NodeNames:nearest(name)
  local all = {}
  for line in self:lines():gmatch "[^\n]+" do all[#all + 1] = line end
  return core.nearest(name, all)
end

--- All names as one text, a name a line.
function NodeNames:lines() return self.text:sub(2) end

function NodeNames:__tostring() return ("NodeNames %d"):format(#self) end

return NodeNames
