-- luacheck: globals arg
--- Runs a test file: `ladies tests/run.lua tests/test_NAME.lua [options of LuaUnit]`. The file
-- returns a table of tests, and perhaps a function to call when all of them have run. Modules of
-- the tests are found beside this file, and a new global variable is an error.
local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/?.lua;" .. package.path

local lu = require "luaunit"

local file = table.remove(arg, 1)
arg[0] = file

local LUAUNITS_OWN = {testNames = true}   -- LuaUnit 3.4 forgot a `local`

setmetatable(_G, {
  __newindex = function(globals, name, value)
    if not LUAUNITS_OWN[name] then error(("a new global variable: %s"):format(name), 2) end
    rawset(globals, name, value)
  end,
})

local tests, finish = dofile(file)
local name = file:match "test_([%w_]+)%.lua$"
local failures = lu.LuaUnit.new():runSuiteByInstances{{name, tests}}
if finish then finish() end
os.exit(failures, true)
