--- Formats numbers for people, and reads sizes of memory with their units.

local errors = require "ladies.base.errors"

local units = {MIB = 1 << 20}

local FACTORS = {[""] = 1, K = 1 << 10, M = 1 << 20, G = 1 << 30, T = 1 << 40}

--- units.bytes(where, size): returns a size of memory, which is a number of bytes or a text such as
-- "4G" or "500 MB", in bytes: K is 1024, M 1024 K, and so on.
function units.bytes(where, size)
  local number, unit = tostring(size):upper():match "^%s*(%d+%.?%d*)%s*([KMGT]?)I?B?%s*$"
  local bytes = number and math.tointeger(tonumber(number) * FACTORS[unit] // 1)
  if bytes and bytes > 0 then return bytes end
  errors.fail(('%s must be a size, as "4G" or "500M", got "%s"'):format(where, size))
end

--- Returns a number of bytes as people read it, in the units that units.bytes reads: 1280000
-- becomes "1.22 MB".
function units.size(bytes)
  local unit = bytes < FACTORS.K and "" or bytes < FACTORS.M and "K" or bytes < FACTORS.G and "M"
    or "G"
  local number = bytes / FACTORS[unit]
  return (number < 1000 and "%.3g %sB" or "%.0f %sB"):format(number, unit == "K" and "k" or unit)
end

--- Returns an integer with commas between its thousands: 1234567 becomes "1,234,567".
function units.grouped(n)
  return (("%d"):format(n):reverse():gsub("%d%d%d", "%0,"):reverse():gsub("^(-?),", "%1"))
end

--- units.plain(n, what [, several]): returns how many things there are, as "1 layer" or "1200
-- layers"; several: the plural where it is another than what .. "s".
function units.plain(n, what, several)
  return ("%d %s"):format(n, n == 1 and what or several or what .. "s")
end

--- units.counted(n, what [, several]): the same with commas, "1,200 layers".
function units.counted(n, what, several)
  local whole = math.tointeger(n)
  return ("%s %s"):format(whole and units.grouped(whole) or ("%g"):format(n),
    n == 1 and what or several or what .. "s")
end

--- Returns how an infinity or a NaN is written ("inf", "-inf", "nan"); nil for any other number.
function units.not_finite(x)
  if x ~= x then return "nan" end
  return (x == math.huge or x == -math.huge) and tostring(x) or nil
end

return units
