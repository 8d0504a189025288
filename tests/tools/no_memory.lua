--- Lets memory end at a moment of a call, one moment after the other, and not only that of core, as
-- every_allocation.lua does, but also Lua's and the system's own.
local shell = require "tools.shell"

local build_type = os.getenv "LADIES_BUILD_TYPE"
local library = shell.ladies:gsub("[^/]*$", "../tests/no_memory.so")

-- Allocation 1, 1 + stride, ... is the first that fails, until the call needs no more of them.
local PROGRAM = [[
local no_memory = assert(package.loadlib(%q, "no_memory"))
local ladies, core = require "ladies", require "ladies_core"
local function call() %s end
assert(pcall(call))
local n, ended = 1, true
while ended do
  collectgarbage()                                        -- strings that are there need no memory
  no_memory(n)
  local ok, message = pcall(call)
  ended = no_memory()
  if not ok and not tostring(message):find "memory" and not tostring(message):find "no thread" then
    error(("memory ended at allocation %%d: %%s"):format(n, message))
  end
  n = n + %d
end
assert(n > 20, "memory never ended")
]]

--- no_memory(body [, stride]): runs the body of a function, which has the locals `ladies` and
-- `core`, in a program of its own in which memory ends at each allocation, or at one of `stride`.
-- Each run must succeed or fail for want of memory or of a thread. Where sanitizers have their own
-- memory nothing is run.
return function(body, stride)
  if build_type == "asan" or build_type == "tsan" then return end
  local file <close> = shell.file(PROGRAM:format(library, body, stride or 1))
  shell.silent(shell.run({shell.ladies, file.path}, {env = {"LD_PRELOAD=" .. library}}))
end
