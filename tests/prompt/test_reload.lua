--- ladies.reload: a file of one's own that was changed, without a new start.
local lu = require "luaunit"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local own_code = require "ladies.experiment.own_code"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

-- A sampler that answers with a number, in place of a mini-batch.
local function answering(number)
  return ("return function() return function() return %d end end"):format(number)
end

local function write(name, text)
  local path = temporary.path(name)
  ladies.file.write(path, text)
  return path
end

-- Returns the answer of the sampler of a method.
local function answer(name) return methods.by_name[name].make({}, {})() end

function tests.test_a_changed_file()
  local path = write("changes.lua", answering(1))
  own_code.load("method", path)
  lu.assertEquals(ladies.reload(path), {})
  write("changes.lua", "-- a comment\n\n" .. answering(1))
  lu.assertEquals(ladies.reload(path), {})
  local old = methods.by_name.changes.make({}, {})
  write("changes.lua", answering(2))
  lu.assertEquals(ladies.reload(path), {"changes"})
  lu.assertEquals({old(), answer "changes"}, {1, 2})      -- what was made before is as it was
  lu.assertEquals(ladies.experiment.own{method = path}.method_code, methods.by_name.changes.code)
end

function tests.test_errors_leave_the_old_one()
  local path = write("breaks.lua", answering(1))
  own_code.load("method", path)
  for message, text in pairs{
    ["breaks.lua:1: unexpected symbol near '='"] = "x = = 1",
    ["breaks.lua: what the file returns must be a function or a table, got 7"] = "return 7",
    ["breaks.lua:1: no luck"] = "error 'no luck'",
    ["breaks.lua: make must be a callable, got nil"] = "return {}",
  } do
    write("breaks.lua", text)
    local _, found = pcall(ladies.reload, path)
    lu.assertStrContains(found, message)
    lu.assertEquals(answer "breaks", 1)
  end
  os.remove(path)
  lu.assertStrContains(message_of(ladies.reload, path), "ladies.reload: there is no file " .. path)
  lu.assertEquals(answer "breaks", 1)
  write("breaks.lua", answering(3))
  lu.assertEquals(ladies.reload(path), {"breaks"})
end

--- Without a path all files are loaded, of models too, and those behind one with an error.
function tests.test_all_files()
  local a = write("all_a.lua", answering(1))
  own_code.load("method", a)
  own_code.load("method", write("all_b.lua", answering(1)))
  own_code.load("model", write("all_c.lua", "return function() return {1} end"))
  lu.assertEquals(ladies.reload(), {})
  write("all_b.lua", answering(2))
  write("all_c.lua", "return function() return {2} end")
  lu.assertEquals(ladies.reload(), {"all_b", "all_c"})
  lu.assertEquals({answer "all_b", models.by_name.all_c.make{}}, {2, {2}})
  write("all_a.lua", "x")
  write("all_b.lua", answering(3))
  lu.assertErrorMsgContains("all_a.lua:1: ", ladies.reload)
  lu.assertEquals({answer "all_a", answer "all_b"}, {1, 3})
  write("all_a.lua", answering(1))
end

function tests.test_what_is_not_loaded()
  local path = write("never.lua", answering(1))
  own_code.load("method", write("once.lua", answering(1)))
  local message = message_of(ladies.reload, path)
  lu.assertStrContains(message, ("nothing is loaded from %s, but from "):format(path))
  lu.assertStrContains(message, temporary.path "once.lua")
  lu.assertStrContains(message_of(ladies.reload, {}), "the path must be a string, got a table")
end

function tests.test_help()
  lu.assertStrContains(ladies.help_text "reload", "ladies.reload([path])")
  lu.assertStrContains(ladies.help_text(ladies), "\n  reload ")
end

--- At the prompt `reload` is a global, and the sampler that is made after it is the new one.
function tests.test_at_the_prompt()
  local path = write("talked.lua", answering(1))
  lu.assertNil(shell.talk(([[
    send own = ladies.experiment.own{method = "%s"}\r
    send m = require "ladies.experiment.methods"\r
    send m.by_name.talked.make({}, {})()\r
    expect 1\r\n
    send reload()\r
    expect none has changed\r\n
    send ladies.file.write("%s", "return function() return function() return 2 end end")\r
    send reload "%s"\r
    expect new: talked\r\n
    send m.by_name.talked.make({}, {})()\r
    expect 2\r\n
    send ladies.file.write("%s", "x = = 1")\r
    send reload()\r
    expect talked.lua:1: unexpected symbol near '='
    send m.by_name.talked.make({}, {})()\r
    expect 2\r\n
    send ladies.help(reload)\r
    expect reload([path]): ladies.reload
    expect \n>\s
    send \x04
    exit 0
  ]]):format(path, path, path, path)))
end

return tests
