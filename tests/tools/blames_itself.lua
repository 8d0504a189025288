local lu = require "luaunit"

--- blames_itself(f, ...): returns the message that f, a function of one line, raises, without its
-- place, and fails unless that is f's line.
return function(f, ...)
  local here = debug.getinfo(f, "S")
  local place = ("%s:%d: "):format(here.short_src, here.linedefined)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok)
  lu.assertEquals(message:sub(1, #place), place, message)
  return message:sub(#place + 1)
end
