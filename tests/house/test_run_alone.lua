--- Tests a test file that is run by itself, without ctest: what it finds in its environment, and
-- what it says of its time.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local run = os.getenv "LADIES_SOURCE" .. "/tests/run.lua"

-- The names of what ctest gives to tests.
local function names()
  local list = {}
  for name in io.lines(shell.pty:match "^(.*)/" .. "/environment") do
    list[#list + 1] = name:match "^[^=]+"
  end
  return list
end

-- Runs a test file of this text alone, by the file `by`, and returns what it prints and its status.
local function alone_by(by, text, ...)
  local path = temporary.path "test_x.lua"
  ladies.file.write(path, text)
  local words = {"env"}
  for _, name in ipairs(names()) do table.move({"-u", name}, 1, 2, #words + 1, words) end
  table.move({shell.ladies, by, path, ...}, 1, 3 + select("#", ...), #words + 1, words)
  local out, err, status = shell.run(words, {folder = "/"})
  return out .. err, status
end

local function alone(...) return alone_by(run, ...) end

function tests.test_environment()
  local parts = {"local lu = require 'luaunit'\nlocal tests = {}\nfunction tests.test_all()"}
  for _, name in ipairs(names()) do
    parts[#parts + 1] = ("  lu.assertEquals(os.getenv %q, %q)"):format(name, os.getenv(name))
  end
  lu.assertTrue(#parts > 5)
  local text, status = alone(table.concat(parts, "\n") .. "\nend\nreturn tests")
  lu.assertStrContains(text, "1 success")
  lu.assertEquals(status, 0, text)
end

--- The sources are those of the tree whose tests are run, whichever program runs them.
function tests.test_another_tree()
  local tree <close> = shell.folder()
  local here, there = run:match "^(.*)/run", tree.path .. "/tests"
  shell.succeeded(shell.run{"mkdir", there})
  shell.succeeded(shell.run{"cp", run, there})
  for _, room in ipairs{"tools", "reference"} do
    shell.succeeded(shell.run{"ln", "-s", here .. "/" .. room, there})
  end
  local source = core.real_path(tree.path)
  lu.assertNotEquals(source, os.getenv "LADIES_SOURCE")
  local text, status = alone_by(there .. "/run.lua", ([[
    return {test_all = function() assert(os.getenv "LADIES_SOURCE" == %q) end}
  ]]):format(source))
  lu.assertEquals(status, 0, text)
end

function tests.test_status_and_options()
  local FILE = "return {test_one = function() error 'broken' end, test_two = function() end}"
  local text, status = alone(FILE)
  lu.assertStrContains(text, "Ran 2 tests")
  lu.assertEquals(status, 1, text)
  text, status = alone(FILE, "-p", "two")
  lu.assertStrContains(text, "Ran 1 test")
  lu.assertEquals(status, 0, text)
  text, status = alone "return {test_one = function() os.execute 'kill -9 $PPID' end}"
  lu.assertStrContains(text, "test_x.lua: the program ended by signal 9\n")
  lu.assertEquals(status, 128 + 9, text)
end

--- A width of the terminal that is exported does not reach the tests.
function tests.test_width()
  local path = temporary.path "test_width.lua"
  ladies.file.write(path, "return {test_all = function() assert(not os.getenv 'COLUMNS') end}")
  local out, err, status = shell.run({shell.ladies, run, path}, {env = {"COLUMNS=30"}})
  lu.assertEquals(status, 0, out .. err)
end

--- The time that is printed is that which passed.
function tests.test_time()
  local text = alone "return {test_sleep = function() os.execute 'sleep 0.3' end}"
  local seconds = tonumber(text:match "Ran 1 tests? in ([%d.]+) seconds")
  lu.assertTrue(seconds >= 0.3 and seconds < 30, text)
end

--- A test that takes longer than a fast one may, and is not in the list of slow ones, fails and
-- says so.
function tests.test_a_slow_test_that_is_not_listed()
  local path = temporary.path "test_busy.lua"
  ladies.file.write(path, [[
    return {test_all = function() local stop = os.clock() + 0.3 repeat until os.clock() > stop end}
  ]])
  for most, wanted in pairs{["0.2"] = 1, ["100"] = 0} do
    local out, err, status = shell.run({"env", "-u", "LUA_INIT", shell.ladies, run, path},
      {env = {"LADIES_FAST_SECONDS=" .. most, "LADIES_BUILD_TYPE=Release"}})
    lu.assertEquals(status, wanted, out .. err)
    lu.assertStrMatches(out, ".*test_busy took %d+%.%d s of processor time\n.*")
    lu.assertEquals(out:find("may take 0.2 s", 1, true) ~= nil, wanted == 1, out)
  end
end

--- The list of slow tests has none that is not there.
function tests.test_slow_tests_are_there()
  local folder = run:match "^(.*)/run"
  for name in io.lines(folder .. "/slow.txt") do
    local there = shell.run{"find", folder, "-name", name .. ".lua", "-o", "-name",
      name:sub(6) .. ".c"}
    lu.assertTrue(there ~= "" or name:find "^fuzz_" ~= nil, name)
  end
end

return tests
