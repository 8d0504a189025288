--- Holds Ctrl-C back until a moment of the script's own choosing. Under the program `ladies` the
-- module ladies_host can hold the first Ctrl-C back; in a stock lua5.4 there is none, and Ctrl-C
-- acts as it always does.

local interrupt = {}

local host = package.loaded.ladies_host or package.preload.ladies_host and require "ladies_host"

local Deferred = {__close = function() if host then host.defer_interrupt(false) end end}

--- Holds Ctrl-C back until the result, a <close> variable, goes out of scope. Meanwhile
-- `interrupt.arrived()` tells of it; a second one raises the interruption as ever.
function interrupt.defer()
  if host then host.defer_interrupt(true) end
  return setmetatable({}, Deferred)
end

--- Tells whether Ctrl-C came while it was held back; the next call says no again.
function interrupt.arrived()
  return host ~= nil and host.interrupted()
end

return interrupt
