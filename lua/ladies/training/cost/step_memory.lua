--- Measures the memory of a mini-batch and its step: the bytes in use when the gradients have been
-- computed, minus those that remain when both have been freed. Memory that a first step leaves
-- behind, such as cached transposes, and other garbage are not counted, so the number does not
-- depend on what ran before, or on whether the run was resumed.
--
-- The collector must run for that, twice. So it is done for some mini-batches, those whose numbers
-- are powers of four.

local core = require "ladies_core"

local StepMemory = {__name = "StepMemory"}
StepMemory.__index = StepMemory

--- Makes a StepMemory that has measured nothing; `most` is the most bytes of a mini-batch that was
-- measured.
local function new()
  return setmetatable({most = 0, pending = {}}, StepMemory)
end

--- Tells whether mini-batch `number` is measured: 1, 4, 16, ...
function StepMemory.is_measured(_, number)
  return number & (number - 1) == 0 and number % 3 == 1
end

--- Tells whether one of the mini-batches from `first` to `last` is measured.
function StepMemory:is_among(first, last)
  for number = first, last do
    if self:is_measured(number) then return true end
  end
  return false
end

--- Calls f(...), which draws mini-batch `number` or trains on it, and counts the memory that it
-- takes if this mini-batch is measured; returns its results.
function StepMemory:counted(number, f, ...)
  if not self:is_measured(number) then return f(...) end
  if not self.here or self.here.number ~= number then self.here = {number = number} end
  local count, before = core.memory_count(self.here.count)
  self.here.count = count
  local _ <close> = setmetatable({}, {__close = function() core.memory_count(before) end})
  return f(...)
end

--- Counts the bytes of a mini-batch and its step when the gradients are there; what the step takes
-- later does not count. Returns the seconds that this took.
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

--- Finishes the counts of the last mini-batches once these have been freed: bytes that are still in
-- use then are subtracted.
function StepMemory:settle()
  if #self.pending == 0 then return end
  collectgarbage()
  for _, one in ipairs(self.pending) do
    self.most = math.max(self.most, one.bytes - core.memory_counted(one.count))
  end
  self.pending = {}
end

return {new = new}
