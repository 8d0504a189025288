--- Lets every allocation of a call fail in turn: each failure must be a clean error that leaves no
-- memory in use.
local lu = require "luaunit"
local core = require "ladies_core"

local MOST = 10000      -- allocations of a call

-- Returns the bytes that core has in use. Finalisers run in the first round, and what they let go
-- of is freed in the second.
local function live()
  collectgarbage()
  collectgarbage()
  return core.memory().total
end

--- every_allocation(call) -> integer: calls call(), which must keep nothing, with its first,
-- second, ... allocation failing, until it succeeds; returns how often it was called.
return function(call)
  for n = 1, MOST do
    local before = live()
    core.memory_fail_at(n)
    local ok, message = pcall(function() call() end)
    core.memory_fail_at(0)
    if not ok then lu.assertStrContains(tostring(message), "out of memory") end
    lu.assertEquals(live(), before, ("allocation %d leaks"):format(n))
    if ok then return n end
  end
  lu.fail "never succeeds"
end
