--- Shows the progress of a measurement of several parts.

local core = require "ladies_core"
local progress = require "ladies.base.progress"

--- ticker(total, unit) -> function: to be called after each of so many parts; unit: what one is.
return function(total, unit)
  local bar, done = progress.new{total = total, unit = unit, delay = 1}, 0
  return function()
    done = done + 1
    bar:update(done, core.clock())
    if done == total then bar:clear() end
  end
end
