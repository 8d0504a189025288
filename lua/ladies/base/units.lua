--- Units in which numbers are shown, and given.

local errors = require "ladies.base.errors"

local units = {MIB = 1 << 20}

local FACTORS = {[""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30, T = 1 << 40}

--- units.bytes(where, size): a size of memory, a number of bytes or a text such as "4G" or "500
-- MB", as bytes: K is 1024, M 1024 K, and so on.
function units.bytes(where, size)
  local number, unit = tostring(size):upper():match "^%s*(%d+%.?%d*)%s*([KMGT]?)I?B?%s*$"
  local bytes = number and math.tointeger(tonumber(number) * FACTORS[unit] // 1)
  if bytes and bytes > 0 then return bytes end
  errors.fail(('%s must be a size, as "4G" or "500M", got "%s"'):format(where, size))
end

return units
