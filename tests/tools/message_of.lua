local lu = require "luaunit"

--- message_of(f, ...): what is wrong with f(...), by the error that it must raise, without the
-- place that it blames. It is one line without control characters, and not endless.
return function(f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok, "an error was expected")
  if message:find "%c" or #message > 600 then lu.fail("not one clear line: " .. message) end
  return (message:gsub("^[^:]*%.lua:%d+: ", ""))
end
