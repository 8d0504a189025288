--- Other programs, folders and files: what they give back, and what is said where they fail.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local function refused(message, f, ...)
  local ok, raised = pcall(f, ...)
  lu.assertFalse(ok, message)
  lu.assertEquals(raised:gsub("^[^\n]-%.lua:%d+: ", ""), message)
end

-- Runs a script of the shell with a process's options; returns its status.
local function status_of(script, opts)
  return core.process.start({"sh", "-c", script}, opts):wait()
end

function tests.test_status()
  lu.assertEquals(status_of "exit 0", 0)
  lu.assertEquals(status_of "exit 3", 3)
  lu.assertEquals(status_of "kill -9 $$", 128 + 9)
  lu.assertEquals(status_of "read line", 1)                      -- there is nothing to read
  lu.assertEquals(core.process.start{"/bin/true"}:wait(), 0)
end

--- A process that has ended lives no more, though its parent has not asked for its status.
function tests.test_one_that_has_ended_does_not_live()
  local log = temporary.path "zombie"
  local parent <close> = core.process.start({"sh", "-c", "(exit 0) & echo $!; exec sleep 20"},
    {log = log})
  local number
  for _ = 1, 500 do
    number = ladies.file.read(log):match "%d+"
    local state = number and shell.run{"sh", "-c", "grep State: /proc/" .. number .. "/status"}
    if state and state:find "Z" then break end
    parent:wait(0.01)
  end
  lu.assertFalse(core.process.lives(math.tointeger(tonumber(number))))
end

--- A process that was waited for keeps its status; while it runs there is none.
function tests.test_waiting()
  local process <close> = core.process.start{"sleep", "60"}
  lu.assertNil(process:wait(0))
  lu.assertErrorMsgContains("must be 0 or more seconds", process.wait, process, 0 / 0)
  local before = core.clock()
  lu.assertNil(process:wait(0.05))
  local waited = core.clock() - before
  lu.assertTrue(waited > 0.03 and waited < 5, waited)
  process:stop()
  lu.assertEquals(process:wait(), 128 + 15)
  lu.assertEquals(process:wait(0), 128 + 15)
  process:stop()
end

--- Waiting for a process sleeps, also for one that ends slowly: it takes hardly any time of the
-- processor.
function tests.test_waiting_is_idle()
  local log <close> = shell.file ""
  local process = core.process.start({"sh", "-c",
    "trap 'sleep 0.4; exit 3' TERM; echo ready; while true; do sleep 0.05; done"},
    {log = log.path})
  local deadline = core.clock() + 60
  while not core.file.read(log.path):find "ready" and core.clock() < deadline do
    process:wait(0.01)
  end
  local before = os.clock()
  lu.assertNil(process:wait(0.4))
  process:stop()
  local worked = os.clock() - before
  lu.assertEquals(process:wait(0), 3)
  lu.assertTrue(worked < 0.1, worked)
end

--- Stopping a process ends those that it has started, too, and one that does not listen is made to.
function tests.test_stop()
  local log <close> = shell.file ""
  local process = core.process.start({"sh", "-c",
    "trap '' TERM; sleep 60 & echo $!; while true; do sleep 0.05; done"}, {log = log.path})
  local child
  local ended
  repeat
    child, ended = core.file.read(log.path):match "^(%d+)\n", process:wait(0.02)
  until child or ended
  lu.assertTrue(child ~= nil, ("it ended with %s: %s"):format(ended, core.file.read(log.path)))
  process:stop()
  lu.assertEquals(process:wait(0), 128 + 9)
  local deadline = core.clock() + 5
  repeat
    local stat = io.open("/proc/" .. child .. "/stat")
    local state = stat and stat:read "a":match "%) (%a)"
    if stat then stat:close() end
  until not state or state == "Z" or core.clock() > deadline
  lu.assertTrue(core.clock() < deadline)
end

function tests.test_log_and_environment()
  local log <close> = shell.file "what was there before"
  lu.assertEquals(status_of('echo "$A $HOME"; echo second >&2',
    {log = log.path, env = {A = "a b", HOME = "/mine"}}), 0)
  lu.assertEquals(core.file.read(log.path), "a b /mine\nsecond\n")
end

function tests.test_environment_that_is_none()
  local function told(env, text)
    refused("process.start: env" .. text, core.process.start, {"true"}, {env = env})
  end
  told({A = true}, ".A must be a string without zero bytes, not a boolean")
  told({A = {}}, ".A must be a string without zero bytes, not a table")
  told({A = "a\0b"}, ".A must be a string without zero bytes, not a string")
  told({[1] = "x"}, " has the key '1', which is no name of a variable")
  told({["A=B"] = "x"}, " has the key 'A=B', which is no name of a variable")
  told({[""] = "x"}, " has the key '', which is no name of a variable")
end

--- Words reach the program as they are.
function tests.test_words()
  local log <close> = shell.file ""
  core.process.start({"printf", "%s|", "a b", "$A", "'"}, {log = log.path}):wait()
  lu.assertEquals(core.file.read(log.path), "a b|$A|'|")
  refused("process.start: word 2 must be a string without zero bytes, not a string",
    core.process.start, {"true", "a\0b"})
  refused("process.start: word 2 must be a string without zero bytes, not a table",
    core.process.start, {"true", {}})
  refused("process.start: log must be a string without zero bytes, got a string",
    core.process.start, {"true"}, {log = "a\0b"})
end

--- A program has no more files open than one that Lua starts.
function tests.test_open_files()
  local log <close> = shell.file ""
  local list = "exec ls /proc/self/fd"
  local pipe = io.popen(list)
  local expected = pipe:read "a"
  pipe:close()
  lu.assertEquals(status_of(list, {log = log.path}), 0)
  lu.assertEquals(core.file.read(log.path), expected)
end

function tests.test_what_cannot_start()
  local folder <close> = shell.folder()
  local plain = folder.path .. "/plain"
  core.file.write(plain, "exit 0")
  refused('process: there is no program "' .. plain .. '"', core.process.start, {plain})
  refused('process: there is no program "no-such-program" in PATH', core.process.start,
    {"no-such-program"})
  refused("bad argument #1 to 'start' (no program)", core.process.start, {})
  refused("process: " .. folder.path .. "/a/log cannot be created: No such file or directory",
    core.process.start, {"true"}, {log = folder.path .. "/a/log"})
  refused('process: there is no program "' .. folder.path .. '"', core.process.start, {folder.path})
  lu.assertFalse(core.process.exists(folder.path))
  lu.assertFalse(core.process.exists "")
  lu.assertTrue(core.process.exists "sh")
end

function tests.test_folders()
  local folder <close> = shell.folder()
  local deep = folder.path .. "/a/b/c"
  core.folder.make(deep)
  core.folder.make(deep)
  core.file.write(deep .. "/one", ("x"):rep(100))
  core.file.write(folder.path .. "/a/two", ("x"):rep(23))
  assert(os.execute(("ln -s %s %s/a/link"):format(shell.quote(deep .. "/one"), folder.path)))
  lu.assertEquals(core.folder.bytes(folder.path .. "/a"), 123)
  lu.assertEquals(core.folder.bytes(folder.path .. "/a"), 123)
  lu.assertEquals(core.folder.bytes(folder.path .. "/none"), 0)
  refused("folder: " .. deep .. "/one/x cannot be made: Not a directory", core.folder.make,
    deep .. "/one/x")
  refused("folder: " .. deep .. "/one is not a folder", core.folder.make, deep .. "/one")
  refused("folder: a path of 5000 bytes is too long", core.folder.make, ("x"):rep(5000))
  core.folder.remove(folder.path .. "/a")
  core.folder.remove(folder.path .. "/a")
  lu.assertEquals(core.folder.bytes(folder.path), 0)
  refused("folder: /proc/self/fd cannot be removed: Operation not permitted", core.folder.remove,
    "/proc/self/fd")
end

function tests.test_files()
  local folder <close> = shell.folder()
  local path = folder.path .. "/file"
  core.file.write(path, "ab\0c")
  lu.assertEquals(core.file.read(path), "ab\0c")
  core.file.write(path, "")
  lu.assertEquals(core.file.read(path), "")
  refused("file: " .. folder.path .. "/no/file: cannot be created: No such file or directory",
    core.file.write, folder.path .. "/no/file", "x")
  lu.assertFalse(pcall(core.file.write, folder.path, "x"))
  refused("bad argument #1 to 'write' (string without zero bytes expected)", core.file.write,
    path .. "\0b", "x")
  refused("bad argument #1 to 'remove' (string without zero bytes expected)", core.folder.remove,
    path .. "\0b")
  lu.assertEquals(core.folder.bytes(folder.path), 0)             -- nothing half-made is left
end

--- A lock is one holder's; the second waits for it as long as it is told.
function tests.test_locks()
  local folder <close> = shell.folder()
  local path = folder.path .. "/lock"
  do
    local held <close> = core.folder.lock(path)
    lu.assertNotNil(held)
    local none, holder = core.folder.lock(path)
    lu.assertNil(none)
    lu.assertStrMatches(holder, "process %d+ on .+")
    local before = core.clock()
    lu.assertNil(core.folder.lock(path, 0.15))
    local waited = core.clock() - before
    lu.assertTrue(waited >= 0.14 and waited < 5, waited)
    for _, seconds in ipairs{-1, 0 / 0} do          -- "not a number" would be waited for for ever
      lu.assertErrorMsgContains("must be 0 or more seconds", core.folder.lock, path, seconds)
    end
  end
  lu.assertFalse(core.exists(path))
  local again <close> = core.folder.lock(path)
  lu.assertNotNil(again)
  refused("lock: " .. folder.path .. "/no/lock cannot be taken: No such file or directory",
    core.folder.lock, folder.path .. "/no/lock")
end

return tests
