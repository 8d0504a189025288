-- luacheck: globals arg
--- Runs a test file where a new global variable is an error: `ladies strict.lua test_x.lua`.
local file = table.remove(arg, 1)
arg[0] = file

local LUAUNITS_OWN = {testNames = true}   -- LuaUnit 3.4 forgot a `local`

setmetatable(_G, {
  __newindex = function(globals, name, value)
    if not LUAUNITS_OWN[name] then error(("a new global variable: %s"):format(name), 2) end
    rawset(globals, name, value)
  end,
})

dofile(file)
