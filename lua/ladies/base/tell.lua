--- Prints a notice or a warning of the library as a line on standard error.

local core = require "ladies_core"

--- tell(text, ...): writes text:format(...) as a line. Control characters in quoted names and texts
-- of files are made visible, so that they neither end the line nor move the cursor.
return function(text, ...)
  io.stderr:write(core.printable(text:format(...)), "\n")
end
