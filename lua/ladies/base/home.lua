local core = require "ladies_core"

--- ladies.home() -> string: returns the folder with the program's own data, which contains
-- datasets/ and scripts/.
return function()
  local source = debug.getinfo(1, "S").source
  local modules = source:match "^@(.*)/ladies/base/home%.lua$" or "."
  local of_a_rock = modules .. "/ladies_home"        -- see src/rock.cmake
  if core.exists(of_a_rock) then return of_a_rock end
  local prefix = modules:match "^(.*)/share/lua/5%.4$"
  return prefix and prefix .. "/share/ladies" or modules:match "^(.*)/lua$" or "."
end
