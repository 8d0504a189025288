--- Lua's collector does not know the memory of tensors and matrices: to it a mini-batch that nobody
-- has any more is a few small objects, which may wait for hundreds of others.

local core = require "ladies_core"

local garbage = {}

local LEAST, PART = 32 << 20, 16     -- bytes that may wait, or that part of what is in use

local kept = 0      -- bytes in use after the last collection

--- Collects garbage where more memory is in use than after the last time by so much that it may
-- well be that. Called between mini-batches, when little else comes and goes.
function garbage.collect()
  if core.memory().total <= kept + math.max(LEAST, kept // PART) then return end
  collectgarbage()
  kept = core.memory().total
end

return garbage
