--- What a mini-batch and its step hold of their own, in bytes: what there is of them when the
-- gradients are there, less what stays when both are gone. What the first step of a process leaves
-- behind, such as transposes, and the garbage of others are no part of it, so the same run has the
-- same number, whatever ran before it, and where it goes on too.
--
-- The collector must run for that, twice. So it is done for some mini-batches, those whose numbers
-- are powers of four.

local core = require "ladies_core"

local StepMemory = {__name = "StepMemory"}
StepMemory.__index = StepMemory

--- One that has measured nothing; `most` has the most bytes of the mini-batches that were measured.
local function new()
  return setmetatable({most = 0, pending = {}}, StepMemory)
end

--- Whether mini-batch `number` is measured: 1, 4, 16, ...
function StepMemory.is_measured(_, number)
  return number & (number - 1) == 0 and number % 3 == 1
end

--- Whether one of the mini-batches from `first` to `last` is measured.
function StepMemory:is_among(first, last)
  for number = first, last do
    if self:is_measured(number) then return true end
  end
  return false
end

--- f(...), which draws mini-batch `number` or trains on it: what it takes of memory is counted
-- where that is measured.
function StepMemory:counted(number, f, ...)
  if not self:is_measured(number) then return f(...) end
  if not self.here or self.here.number ~= number then self.here = {number = number} end
  local count, before = core.memory_count(self.here.count)
  self.here.count = count
  local _ <close> = setmetatable({}, {__close = function() core.memory_count(before) end})
  return f(...)
end

--- Called when the gradients of a mini-batch are there; what its step takes later does not count.
-- Returns the seconds that this took.
function StepMemory:at_gradients()
  local here, began = self.here, core.clock()
  if not here then return 0 end
  core.memory_count(0)
  collectgarbage()
  here.bytes = core.memory_counted(here.count)
  table.insert(self.pending, here)
  self.here = nil
  return core.clock() - began
end

--- Called when nobody has any more what was measured since the last call.
function StepMemory:settle()
  if #self.pending == 0 then return end
  collectgarbage()
  for _, one in ipairs(self.pending) do
    self.most = math.max(self.most, one.bytes - core.memory_counted(one.count))
  end
  self.pending = {}
end

return {new = new}
