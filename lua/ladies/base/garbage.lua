--- Collects garbage between mini-batches. To Lua's collector a mini-batch that is no longer used is
-- a few small objects, whatever memory its matrices have. The binding makes it collect when core
-- holds half more than before (src/bind/state/lifetime.c): in the midst of a step it cannot tell
-- garbage from what the step computes. Between two steps everything that the last one computed is
-- garbage, so it can be collected earlier.

local core = require "ladies_core"

local garbage = {}

local LEAST, PART = 32 << 20, 16     -- bytes that may wait, or that part of what is in use

local kept = 0      -- the least bytes in use since the last collection

--- Collects garbage if memory in use has grown so much since the last collection that much of it is
-- probably garbage. It is called between mini-batches.
function garbage.collect()
  local total = core.memory().total
  kept = math.min(kept, total)
  if total <= kept + math.max(LEAST, kept // PART) then return end
  collectgarbage()
  kept = core.memory().total
end

return garbage
