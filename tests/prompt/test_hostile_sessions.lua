--- Tests that the prompt and a notebook's kernel survive a hostile session: what lies at the path
-- of its history, its globals, the libraries that it changes and the requests that it is sent.
local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"

local tests = {}

-- Returns what a prompt prints for lines typed, which must come to its end within seconds.
local function typed(lines, env, arguments)
  local words = {"timeout", "30", shell.ladies, table.unpack(arguments or {"-i"})}
  return shell.succeeded(shell.run(words, {stdin = table.concat(lines, "\n") .. "\n",
    env = table.pack("HOME=/nonexistent", "LADIES_HISTORY=", table.unpack(env or {}))}))
end

-- ---------------------------------------------------------------- the prompt

function tests.test_paths_of_a_history()
  local folder <close> = shell.folder()
  local fifo, file = folder.path .. "/fifo", folder.path .. "/file"
  os.execute("mkfifo " .. shell.quote(fifo))
  os.execute(("ln -s loop %s/loop"):format(shell.quote(folder.path)))
  files.write(file, "")
  for _, path in ipairs{folder.path, fifo, "/dev/zero", "/dev/full", "/proc/self/mem",
    file .. "/x", folder.path .. "/loop", ("x"):rep(10000), folder.path .. "/\27[2J/"} do
    local out, err = typed({"1 + 41", "exit"}, {"LADIES_HISTORY=" .. path})
    lu.assertStrContains(out, "> 42\n", path)
    lu.assertEquals(err, "", path)
  end
  local _, err = typed({"1 + 41", "exit"}, {"LADIES_HISTORY=" .. file})
  lu.assertEquals({err, files.read(file)}, {"", "1 + 41\nexit\n"})
end

local STRICT = "setmetatable(_G, {__index = function(_, k) error('no ' .. k, 2) end, "
  .. "__newindex = function(_, k) error('no ' .. k, 2) end, __pairs = error})"

--- The prompt works although the table of globals was made strict before it began.
function tests.test_a_strict_table_of_globals()
  local script <close> = shell.file(STRICT)
  for _, arguments in ipairs{{"-i"}, {"-i", "-e", STRICT}, {"-i", script.path}} do
    local lines = {STRICT, "6 * 7", "1 +", "1", "?zeros", "who()", "where()", "exit"}
    local out, err = typed(lines, nil, arguments)
    lu.assertStrContains(out, "> 42\n")
    lu.assertStrContains(out, ">> 2\n")
    lu.assertStrContains(out, "zeros")
    lu.assertNil(err:find "'?_PROMPT" or err:find "no exit", err)
  end
end

function tests.test_texts_of_the_prompt()
  local object = "setmetatable({}, {%s})"
  for _, case in ipairs{
    {object:format "__tostring = function() error 'no' end", "> 42\n"},
    {object:format "__tostring = function() return {} end", "> 42\n"},
    {object:format "__tostring = function() error(_PROMPT) end", "> 42\n"},
    {object:format "__name = 5", ": 0x"}, {"false", "false42\n"}, {"12", "1242\n"},
    {"''", "> 42\n2\n"},
  } do
    local text, shown = table.unpack(case)
    local set = ("_PROMPT = %s; _PROMPT2 = _PROMPT"):format(text)
    local out = typed{set, "6 * 7", "1 +", "1", "exit"}
    lu.assertStrContains(out, shown, text)
    lu.assertStrContains(out, "2\n", text)
  end
end

--- The prompt reports a line that cannot be run because the session broke a library, and reads the
-- next one.
function tests.test_libraries_that_a_session_breaks()
  for _, line in ipairs{"string.gsub = nil", "string.find = error", "table.concat = nil",
    "require = nil", "package.loaded = nil", "for k in next, package.loaded do "
    .. "package.loaded[k] = nil end", "rawget, rawset, next, type, select, load = nil",
    "debug.getupvalue = nil", "for k in next, _G do _G[k] = nil end", "io.stdout:close()",
    "io.stderr:close()", "error(setmetatable({}, {__tostring = function() error {} end}))",
    "error(nil)", "table.unpack({}, 1, 999980)", "ladies.prompt = 1"} do
    typed{line, "6 * 7", "x =", "y", "?zeros", "error 'x'", "exit"}
    local script <close> = shell.file(line)
    typed({"6 * 7", "error 'x'"}, nil, {"-i", script.path})
  end
end

-- ---------------------------------------------------------------- where errors lie

--- The prompt shows lines of scripts alone among the files that an error names, and waits for none.
function tests.test_files_that_an_error_names()
  local folder <close> = shell.folder()
  local secret, fifo = folder.path .. "/secret", folder.path .. "/fifo.lua"
  os.execute("mkfifo " .. shell.quote(fifo))
  files.write(secret, "hidden\n")
  local script = files.write(folder.path .. "/own.lua", "local x = '\27[2J'\nerror 'here'\n")
  files.write(folder.path .. "/wrong.lua", "x = = 1\n")
  local out, err = typed{("error('%s:1: secret', 0)"):format(secret),
    ("error('%s:1: fifo', 0)"):format(fifo), "error('/dev/zero:3: zero', 0)",
    "error('/:1: folder', 0)", "error('\\27[2J:1: x', 0)",
    ("load('error(1)', '@%s')()"):format(fifo), "where()", "source(load('', '@/dev/zero'))",
    ("dofile %q"):format(script), ("dofile %q"):format(folder.path .. "/wrong.lua"), "exit"}
  lu.assertNil((out .. err):find "hidden")
  lu.assertNil((out .. err):find "\27")
  lu.assertStrContains(err, "2 | error 'here'")
  lu.assertStrContains(err, "1 | x = = 1")
  lu.assertStrContains(err, "not a regular file")
end

-- ---------------------------------------------------------------- the kernel

-- Returns the messages that the kernel sends for some lines, requests or the texts themselves.
local function talk(lines)
  local folder <close> = shell.folder()
  for i, line in ipairs(lines) do
    lines[i] = type(line) == "table" and json.encode(line) or tostring(line)
  end
  local asked = files.write(folder.path .. "/requests", table.concat(lines, "\n") .. "\n")
  local told = files.write(folder.path .. "/messages", "")
  shell.succeeded(shell.run_ladies{"-e",
    ("return require('ladies.prompt.notebook').serve(%q, %q)"):format(asked, told)})
  return tables.map(files.lines(told), function(line) return json.decode(line) end)
end

local function execute(code) return {op = "execute", code = code} end

--- Every line that is no request gets one reply, and the requests after it are answered.
function tests.test_lines_that_are_no_requests()
  local lines = {"{", "}", "", "x", "[1]", "null", "nan", '"text"', "{}", '{"op": 5}',
    '{"op": "__index"}', '{"op": "execute"}', '{"op": "execute", "code": {}}',
    '{"op": "execute", "code": "\\ud800"}', '{"op": "execute", "code": "\\udc00\\ud800"}',
    '{"op": "complete"}', '{"op": "complete", "code": "x", "at": -9}',
    '{"op": "complete", "code": "x", "at": 1e300}', '{"op": "inspect", "code": "x", "at": "y"}',
    '{"op": "is_complete", "code": null}', '{"op": "execute", "code": "\xff\xfe"}', "\0{}",
    ('{"op":'):rep(5000), ("["):rep(100000)}
  local n = #lines
  table.insert(lines, execute "return 6 * 7")
  table.insert(lines, 1)
  local messages = talk(lines)
  lu.assertEquals(#messages, n + 2)
  for i = 1, n do
    lu.assertEquals(messages[i].kind, "reply")
    lu.assertTrue(messages[i].error ~= nil or messages[i].matches ~= nil, lines[i])
  end
  lu.assertEquals(messages[n + 1].data["text/plain"], "42")
  lu.assertEquals(messages[n + 2], {kind = "reply"})
end

function tests.test_cells_that_break_what_answers()
  for _, code in ipairs{"io.stdout:close() io.stderr:close()", "io.stdout = nil", STRICT,
    "string.format = nil", "string.find = nil", "table.concat = error", "rawget, type = nil",
    "for k in next, package.loaded do package.loaded[k] = nil end",
    "error(setmetatable({}, {__tostring = function() error {} end}))", "error(nil)",
    "return setmetatable({}, {__tostring = error})", "return '\\u{D800}\\xff'"} do
    local messages = talk{execute(code), 1, execute "local x = 1", {op = "is_complete", code = "x"}}
    local replies = 0
    for _, message in ipairs(messages) do
      replies = replies + (message.kind == "reply" and 1 or 0)
    end
    lu.assertEquals(replies, 3, code)
  end
end

return tests
