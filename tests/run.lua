-- luacheck: globals arg os.clock
--- Runs a test file: `ladies tests/run.lua tests/ROOM/test_NAME.lua [options of LuaUnit]`. The file
-- returns a table of tests, and perhaps a function to call when all of them have run. Modules of
-- the tests are found beside this file, and a new global variable is an error.
local core = require "ladies_core"

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/?.lua;" .. package.path

require "tools.checked_lab"

local lu = require "luaunit"
local shell = require "tools.shell"

-- Without ctest's environment, which tests read and pass on, all of this happens in a process that
-- has it; and without a width of the terminal, which programs that tests run would heed. The
-- sources are those that this file belongs to, even if the program was built from others.
local build = require("ladies_host").program:match "^(.*)/bin/"
local source = core.real_path(folder .. "/..")
local missing = {}
for line in io.lines(build .. "/tests/environment") do
  line = line:gsub("^(LADIES_SOURCE=).*", function(name) return name .. source end)
  if not os.getenv(line:match "^[^=]+") then missing[#missing + 1] = shell.quote(line) end
end
if missing[1] or os.getenv "COLUMNS" then
  local words = {"exec env -u COLUMNS", table.concat(missing, " "),
    shell.quote(build .. "/bin/ladies")}
  for i = 0, #arg do words[#words + 1] = shell.quote(arg[i]) end
  local _, how, code = os.execute(table.concat(words, " "))
  if how == "signal" then
    io.stderr:write(("%s: the program ended by signal %d\n"):format(arg[1], code))
    code = 128 + code
  end
  os.exit(code, true)
end

-- LuaUnit tells processor time, which is next to nothing where a test waits for other programs.
-- A test may change the number of threads: the next one has as many as there were in the beginning.
local threads = core.threads()
for _, name in ipairs{"startSuite", "startTest", "endTest", "endSuite"} do
  local method = lu.LuaUnit[name]
  lu.LuaUnit[name] = function(...)
    local clock = os.clock
    os.clock = core.clock
    method(...)
    os.clock = clock
    if core.threads() ~= threads then core.threads(threads) end
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

-- Seconds of processor time of this process and of those that it has waited for; 0 where the system
-- does not tell.
local function processor_seconds()
  local stat <close> = io.open "/proc/self/stat"
  local fields, seconds = stat and stat:read("a"):match "^.*%) (.*)" or "", 0
  local place = 0
  for field in fields:gmatch "%S+" do
    place = place + 1
    if place >= 12 and place <= 15 then seconds = seconds + tonumber(field) / 100 end
  end
  return seconds
end

-- The tests that `scripts/test --fast` leaves out, by name.
local function slow_tests()
  local names = {}
  for name in io.lines(folder .. "/slow.txt") do names[name] = true end
  return names
end

-- Prints how long a test took; true when it is slow, and not in the list of those that are. The
-- bound is far above what makes a test slow, since a machine may be busy with other things.
local function too_slow(name)
  local most = tonumber(os.getenv "LADIES_FAST_SECONDS" or 20)
  local seconds = processor_seconds()
  print(("%s took %.1f s of processor time"):format(name, seconds))
  if os.getenv "LADIES_BUILD_TYPE" ~= "Release" or os.getenv "LUA_INIT" or seconds <= most
     or slow_tests()[name] then
    return false
  end
  print(("one that tests/slow.txt does not have may take %g s: make it faster, or call "
    .. "tests/tools/slow.lua"):format(most))
  return true
end

-- A test that needs a plugin which was not built is skipped, and counted.
local function without_plugins(f)
  return function(...)
    local results = table.pack(pcall(f, ...))
    if results[1] then return table.unpack(results, 2, results.n) end
    local failure = results[2]
    local text = type(failure) == "table" and failure.msg or tostring(failure)
    local plugin = text:match "built without the plugin that [^\n(]*"
    if plugin then lu.skip("this program was " .. plugin) end
    error(failure, 0)
  end
end

local load_tests = function() return dofile(file) end
local lacks_plugins = not core.generate or not core.edge_runs
if lacks_plugins then
  core.generate = core.generate or require "ladies.data.generate"   -- says so, whatever is asked
  load_tests = without_plugins(load_tests)
end
local loaded, tests, finish = pcall(load_tests)
if not loaded then
  local failure = tests
  tests, finish = {test_the_file = function() error(failure, 0) end}, nil
elseif lacks_plugins then
  for key, test in pairs(tests) do
    if type(test) == "function" then tests[key] = without_plugins(test) end
  end
end
local name = file:match "test_([%w_]+)%.lua$"
local failures = lu.LuaUnit.new():runSuiteByInstances{{name, tests}}
if finish then finish() end
if too_slow("test_" .. name) then failures = failures + 1 end
os.exit(failures, true)
