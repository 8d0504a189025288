--- A line on standard error: what the library says by itself.

local core = require "ladies_core"

--- tell(text, ...): writes text:format(...) as a line. What it quotes of files and names is shown:
-- it ends no line and moves no cursor.
return function(text, ...)
  io.stderr:write(core.printable(text:format(...)), "\n")
end
