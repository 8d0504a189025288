-- luacheck: globals arg os.clock
--- Runs a test file: `ladies tests/run.lua tests/test_NAME.lua [options of LuaUnit]`. The file
-- returns a table of tests, and perhaps a function to call when all of them have run. Modules of
-- the tests are found beside this file, and a new global variable is an error.
local core = require "ladies_core"

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/?.lua;" .. package.path

local lu = require "luaunit"
local shell = require "tools.shell"

-- Without ctest's environment, which tests read and pass on, all of this happens in a process that
-- has it.
local build = require("ladies_host").program:match "^(.*)/bin/"
local missing = {}
for line in io.lines(build .. "/tests/environment") do
  if not os.getenv(line:match "^[^=]+") then missing[#missing + 1] = shell.quote(line) end
end
if missing[1] then
  local words = {"exec env", table.concat(missing, " "), shell.quote(build .. "/bin/ladies")}
  for i = 0, #arg do words[#words + 1] = shell.quote(arg[i]) end
  os.exit(select(3, os.execute(table.concat(words, " "))), true)
end

-- LuaUnit tells processor time, which is next to nothing where a test waits for other programs.
for _, name in ipairs{"startSuite", "startTest", "endTest", "endSuite"} do
  local method = lu.LuaUnit[name]
  lu.LuaUnit[name] = function(...)
    local clock = os.clock
    os.clock = core.clock
    method(...)
    os.clock = clock
  end
end

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
