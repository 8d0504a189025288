--- Lets every allocation of a call fail in turn: each failure must be a clean error that gives back
-- all that was taken.
local lu = require "luaunit"
local core = require "ladies_core"

local MOST = 10000      -- allocations of a call
local OWNERS = {"tensor", "index", "matrix", "tape", "scratch", "io"}

-- Returns the bytes in use by owner, but those of `keeps`, once all that can be given back is.
local function live(keeps)
  core.memory_trim()
  local memory, bytes = core.memory(), {}
  for _, owner in ipairs(OWNERS) do
    bytes[owner] = owner ~= keeps and memory[owner] or nil
  end
  bytes.total = memory.total - (keeps and memory[keeps] or 0)
  return bytes
end

-- Tells whether call() succeeds when the n-th allocation fails; if not, returns the message, too.
local function attempt(call, n)
  core.memory_fail_at(n)
  local ok, message = pcall(function() call() end)
  core.memory_fail_at(0)
  return ok, message
end

--- every_allocation(call [, keeps]) -> integer: calls call() with its first, second, ... allocation
-- failing, until it succeeds; returns how often it was called. It must keep nothing, but with
-- `keeps` what this owner of memory takes.
return function(call, keeps)
  for n = 1, MOST do
    local before = live(keeps)
    local ok, message = attempt(call, n)
    if not ok then lu.assertStrContains(tostring(message), "out of memory") end
    lu.assertEquals(live(keeps), before, "after failure " .. n)
    if ok then
      -- A failure that is passed over in silence would have ended the loop too early.
      for later = n + 1, n + 10 do lu.assertTrue(attempt(call, later)) end
      return n
    end
  end
  lu.fail "never succeeds"
end
