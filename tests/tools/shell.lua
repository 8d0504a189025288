--- Running programs from tests: the host (LADIES_BIN, or else the program that runs the test), and
-- dialogues with it on a pseudo terminal by tools/pty.c (LADIES_PTY, or else in the build tree).

local core = require "ladies_core"
local files = require "tools.files"

local shell = {}

shell.ladies = os.getenv "LADIES_BIN" or require("ladies_host").program
shell.pty = os.getenv "LADIES_PTY" or shell.ladies:gsub("[^/]*$", "../tests/pty")

--- `text` as one word of the shell.
function shell.quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- The words of a text as a list, for shell.run.
function shell.words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

--- Writes `text` to a new temporary file, removed when the variable that holds the result goes:
-- local file <close> = shell.file "..."; its name is file.path.
function shell.file(text)
  local path = files.write(os.tmpname(), text)
  return setmetatable({path = path}, {__close = function() os.remove(path) end})
end

--- A new temporary folder, removed in the same way; in the folder `parent`, where one is named.
function shell.folder(parent)
  local pipe = assert(io.popen("mktemp -d" .. (parent and " -p " .. shell.quote(parent) or "")))
  local path = pipe:read "l"
  pipe:close()
  return setmetatable({path = path}, {__close = function()
    os.execute("rm -rf " .. shell.quote(path))
  end})
end

--- Gives each of a file's tests a new folder, the field `path` of what is returned, and removes it
-- after the test and the tearDown that there is.
function shell.folder_of_each(tests)
  local folder, tear_down, now = {}, tests.tearDown, nil
  function tests.setUp()
    now = shell.folder()
    folder.path = now.path
  end
  function tests.tearDown()
    local _ <close> = now
    if tear_down then tear_down() end
  end
  return folder
end

--- Runs the words `argv`; returns what it printed, what it printed to stderr, and its exit status
-- (128 + n after signal n). Options: stdin (text), env (array of NAME=VALUE), folder.
function shell.run(argv, opts)
  opts = opts or {}
  local input <close> = shell.file(opts.stdin or "")
  local out <close> = shell.file ""
  local err <close> = shell.file ""
  local words = {"env"}
  for _, assignment in ipairs(opts.env or {}) do words[#words + 1] = shell.quote(assignment) end
  for _, word in ipairs(argv) do words[#words + 1] = shell.quote(word) end
  local command = ("cd %s && %s <%s >%s 2>%s"):format(
    shell.quote(opts.folder or "."), table.concat(words, " "), input.path, out.path, err.path)
  local _, how, code = os.execute(command)
  return files.read(out.path), files.read(err.path), how == "signal" and 128 + code or code
end

--- Takes what shell.run returns: fails unless the program has ended with status 0; returns what it
-- printed, and what it printed to stderr.
function shell.succeeded(out, err, status)
  if status ~= 0 then error(("it ended with status %s\n%s%s"):format(status, out, err), 2) end
  return out, err
end

--- As shell.succeeded, for a program that must print nothing on stderr; returns what it printed.
function shell.silent(out, err, status)
  shell.succeeded(out, err, status)
  if err ~= "" then error("on stderr it says:\n" .. err, 2) end
  return out
end

--- Takes what shell.run returns: fails unless the program has printed nothing and ended with status
-- 1; returns what it printed to stderr.
function shell.refused(out, err, status)
  if status ~= 1 or out ~= "" then
    error(("it ended with status %s\n%s%s"):format(status, out, err), 2)
  end
  return err
end

--- Takes what shell.run returns after `text`, one or a table of several: fails unless the program
-- has printed nothing but one line to stderr that contains them, and ended with status 1. Where it
-- may have printed something before that, `out` is given as "".
function shell.refuses(text, out, err, status)
  local right = status == 1 and out == "" and err:find "^[^\n]+\n$"
  for _, part in ipairs(type(text) == "table" and text or {text}) do
    right = right and err:find(part, 1, true)
    if not right then
      error(("for %q it ended with status %s\n%s%s"):format(part, status, out, err), 2)
    end
  end
end

--- Runs the words `argv` as shell.run does, and fails with all that was said unless they end with
-- status 0; returns what was printed, and what was printed to stderr.
function shell.must(argv, opts)
  local out, err, status = shell.run(argv, opts)
  if status ~= 0 then error(table.concat(argv, " ") .. "\n" .. out .. err, 2) end
  return out, err
end

--- An assignment for `env` by which a program's laboratories are held to their own numbers. Where
-- these tests run with a LUA_INIT, the program does what that says first.
function shell.checked_lab()
  local folder = core.real_path(debug.getinfo(1, "S").source:match "^@(.*)/tools/")
  local init = (os.getenv "LUA_INIT" or ""):gsub("^@(.*)$", "dofile '%1'")
  return ('LUA_INIT=%s package.path = "%s/?.lua;" .. package.path require "tools.checked_lab"')
    :format(init, folder)
end

--- Runs the host with arguments.
function shell.run_ladies(arguments, opts)
  return shell.run(table.pack(shell.ladies, table.unpack(arguments)), opts)
end

--- Holds a dialogue (see tools/pty.c) with the host started with `arguments`; returns the
-- complaint, or nil when all went as written.
function shell.talk(dialogue, arguments, env)
  local script <close> = shell.file(dialogue)
  local argv = {shell.pty, script.path, shell.ladies, table.unpack(arguments or {})}
  local settings = {"TERM=vt100", "LC_ALL=C.UTF-8", "HOME=/nonexistent", "LADIES_HISTORY="}
  table.move(env or {}, 1, #(env or {}), #settings + 1, settings)
  local _, complaint, status = shell.run(argv, {env = settings})
  return status ~= 0 and complaint or nil
end

return shell
