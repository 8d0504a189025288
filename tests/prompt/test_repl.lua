--- Tests the prompt and Ctrl-C on a pseudo terminal.
local lu = require "luaunit"
local files = require "tools.files"
local shell = require "tools.shell"

local tests = {}

local EDITING = shell.run_ladies {"-e", "print(require('ladies_host').line_editing)"} == "true\n"

local function needs_editing()
  lu.skipIf(not EDITING, "built without libedit")
end

local function assert_talk(dialogue, arguments, env)
  lu.assertNil(shell.talk(dialogue, arguments, env))
end

function tests.test_banner_results_and_leaving()
  assert_talk [[
    expect ladies
    expect (Lua 5.4
    expect tutorial() shows it in ten steps, ? lists the library, ?name explains a name,\r\n
    expect Tab completes, Ctrl-D leaves
    expect >
    send help\r
    expect ladies.help([x: any])
    expect prints what is known of a function
    send 1 + 1\r
    expect 2\r\n
    send =6 * 7\r
    expect 42\r\n
    send nil, 'a\\tb', {1, 2, x = 1 + 2}\r
    expect nil, "a\\tb", {1, 2, x = 3}\r\n
    send x = 5\r
    send x, ladies == require "ladies"\r
    expect 5, true\r\n>\s
    send \x04
    expect \n
    exit 0
  ]]
end

--- The error of a line that is a single call names the line, although the prompt returns the
-- results of the call.
function tests.test_errors_of_a_call_alone()
  assert_talk [[
    expect >
    send width = 3\r
    expect >\s
    send ladies.nn.gcn(width) -- no table\r
    expect stdin:2: ladies.nn.gcn: the options must be a table, got 3\r\n  2 | ladies.nn.gcn(width)
    expect width = 3\r\n  where()
    send local a, b = 1, 2; math.max(a, b), select('#', nil, nil) -- two\r
    expect \n2, 2\r\n>\s
  ]]
end

--- The error of an expression that is no call names the line, also with a comment or a semicolon
-- behind the expression.
function tests.test_errors_of_an_expression_alone()
  assert_talk [[
    expect >
    send local x, t = ladies.range(1, 3), {}\r
    expect >\s
    send x[9]\r
    expect stdin:2: [9] of an Index of 3
    expect 2 | x[9]\r\n    | x = Index 3\r\n  where()
    send x.nothing -- of it\r
    expect stdin:3: Index has no field or method "nothing"\r\n  3 | x.nothing -- of it\r\n
    expect | x = Index 3
    send t.a.b;\r
    expect stdin:4: attempt to index a nil value (field 'a')\r\n  4 | t.a.b;\r\n    | t = {}\r\n
    send 1;\r
    expect \n1\r\n>\s
  ]]
end

--- A line that may be the beginning of a statement goes on; a string in quotes ends with its line.
function tests.test_what_goes_on_in_the_next_line()
  assert_talk [[
    expect >
    send 1 +\r
    expect >>
    send 2\r
    expect \n3\r\n>\s
    send {1,\r
    expect >>
    send 2}\r
    expect \n{1, 2}\r\n>\s
    send print "x\r
    expect stdin:5: unfinished string near '"x'\r\n>\s
    send "a\\\r
    expect >>
    send b"\r
    expect \na\r\nb\r\n>\s
  ]]
end

--- Ctrl-D behind a part of a block drops the block; behind nothing it leaves the prompt.
function tests.test_ctrl_d_drops_a_block()
  assert_talk [[
    expect >
    send for i = 1, 2 do\r
    expect >>
    send print(i)\r
    expect >>
    send \x04
    expect \n>\s
    send 6 * 7\r
    expect \n42\r\n>\s
    send \x04
    exit 0
  ]]
  local out, err = shell.run_ladies({"-i"}, {stdin = "for i = 1, 2 do\n"})
  lu.assertStrContains(out, ">> ")
  lu.assertStrContains(err, "stdin:1: 'end' expected near <eof>\n")
end

--- The words that leave other prompts, exit and quit, leave this one, unless they are the user's.
function tests.test_exit_and_quit()
  for _, word in ipairs{"exit", "quit", "exit()", " quit ( ) "} do
    assert_talk(("expect >\nsend %s\\r\nexit 0\n"):format(word))
  end
  assert_talk [[
    expect >
    send exit = 7; local quit = function() return 'mine' end\r
    expect >\s
    send exit, exit + 1\r
    expect 7, 8\r\n>\s
    send exit\r
    expect 7\r\n>\s
    send quit()\r
    expect "mine"\r\n>\s
    send exit = nil\r
    expect >\s
    send exit\r
    exit 0
  ]]
end

--- An expression behind statements is printed, and waits for no second line.
function tests.test_expression_behind_a_semicolon()
  assert_talk [[
    expect >
    send x = 1; x\r
    expect 1\r\n>\s
    send x = 'a; b'; y = 2; x .. ';', y\r
    expect "a; b;", 2\r\n>\s
    send for i = 1, 2 do x = i; x\r
    expect >>
    send = 7 end\r
    expect >\s
    send x = 5; = 3\r
    expect unexpected symbol near '='
    send x\r
    expect 7\r\n
  ]]
end

function tests.test_errors_come_back_to_the_prompt()
  assert_talk [[
    send error "broken"\r
    expect stdin:1: broken\r\n  1 | error "broken"\r\n  where() shows the stack\r\n
    send x = = 1\r
    expect stdin:2: unexpected symbol near '='
    send 1 + 1\r
    expect 2\r\n
    send os.exit(3)\r
    exit 3
  ]]
end

function tests.test_the_line_can_be_edited()
  needs_editing()
  assert_talk [[
    # 1 + 3, a zero after the 1; then Home, End, Delete
    send 1 + 3\e[D\e[D\e[D\e[D0\r
    expect 13\r\n
    send 5\e[H1\e[F7\r
    expect 157\r\n
    send 12345\e[D\e[D\e[3~\r
    expect 1235\r\n
    send #"h\xc3\xa9"\e[D\e[D\e[D!\x7f\r
    expect 3\r\n
  ]]
end

function tests.test_history_lasts()
  needs_editing()
  local folder <close> = shell.folder()
  local path = folder.path .. "/new/history"
  local env = {"LADIES_HISTORY=" .. path}
  assert_talk([[
    send 11 * 11\r
    expect 121\r\n
    send for i = 1, 2 do\rprint("i\\n" .. i)\rend\r
    expect 2\r\n>\s
    send \x04
    exit 0
  ]], nil, env)
  assert_talk([[
    send \e[A\r
    expect 2\r\n
    send \e[A\e[A\r
    expect 121\r\n>\s
    send \x04
    exit 0
  ]], nil, env)
  local mode = shell.run {"stat", "-c", "%a", path}
  lu.assertEquals(mode, "600\n")
  lu.assertEquals(files.read(path), '11 * 11\nfor i = 1, 2 do\\nprint("i\\\\n" .. i)\\nend\n'
    .. 'for i = 1, 2 do\\nprint("i\\\\n" .. i)\\nend\n11 * 11\n')
end

function tests.test_history_is_searched()
  needs_editing()
  assert_talk [[
    send 11 * 11\r
    expect 121\r\n
    send x = 7\r
    expect x = 7
    expect >\s
    send \x1211\r
    expect bck:1
    expect 121\r\n
    expect >\s
    send 5 + nonsense words\x17\x17 7\r
    expect 12\r\n
  ]]
end

function tests.test_the_history_file_is_bounded()
  needs_editing()
  local folder <close> = shell.folder()
  local path = folder.path .. "/history"
  local file = assert(io.open(path, "w"))
  for i = 1, 3000 do file:write("x", i, "\n") end
  file:close()
  assert_talk([[
    send 1 + 1\r
    expect 2\r\n>\s
    send \x04
    exit 0
  ]], nil, {"LADIES_HISTORY=" .. path})
  local lines = 0
  for _ in io.lines(path) do lines = lines + 1 end
  lu.assertEquals(lines, 1001)
end

function tests.test_tab_completes()
  needs_editing()
  assert_talk [[
    send tosTring\r
    expect \nnil\r\n
    send tost\t(12) .. "!"\r
    expect \n"12!"\r\n
    send string.re\t
    expect rep      reverse\r\n
    expect string.re
    send p\t("ab", 2)\r
    expect \n"abab"\r\n
    send text = "x"\r
    send text:up\t()\r
    expect \n"X"\r\n
    # a tab where there is nothing to complete is nothing
    send \t\t7\r
    expect \n7\r\n
  ]]
end

function tests.test_chunks_of_several_lines()
  assert_talk [[
    send function f(a)\r
    expect >>\s
    send return a * 2\r
    expect >>\s
    send end\r
    expect \n>\s
    send f(21)\r
    expect 42\r\n
    # Ctrl-C drops what is pending
    send f(\r
    expect >>\s
    send 5 +\x03
    expect \n>\s
    send f(4)\r
    expect 8\r\n
  ]]
end

function tests.test_long_results_are_cut_to_the_terminal()
  assert_talk [[
    send t = {}; for i = 1, 1000 do t[i] = i end\r
    send t\r
    expect 17, 18, ... 982 more}\r\n
    send ("x"):rep(1000)\r
    expect xx..." (1000 bytes)\r\n
    size 40
    send t\r
    expect 7, 8, ... 992 more}\r\n
  ]]
end

--- Lines that are typed count as one text: its locals live on, and its lines are counted.
function tests.test_locals_live_on()
  assert_talk [[
    send local n, step <const> = 0, 2\r
    send local function count() n = n + step; return n end\r
    send count() + count()\r
    expect 6\r\n>\s
    send n = 10\r
    send count(), n, _G.n\r
    expect 12, 12, nil\r\n
    send step = 3\r
    expect stdin:6: attempt to assign to const variable 'step'
    send local kept = 5; error "no"\r
    expect no\r\n
    send kept\r
    expect 5\r\n
    send local early = 6; if early == 6 then return early + 1 end\r
    expect 7\r\n>\s
    send local late = 8; return late + 1\r
    expect 9\r\n>\s
    send late, early\r
    expect 8, nil\r\n
    send local stopped = 9; print "go" while true do end\r
    expect go\r\n
    send \x03
    expect interrupted\r\n
    send stopped\r
    expect 9\r\n
    send local gone <close> = setmetatable({}, {__close = function() print "closed" end})\r
    expect closed\r\n
    send gone\r
    expect nil\r\n
  ]]
end

function tests.test_an_error_shows_its_line_and_values()
  assert_talk([[
    send function f(t)\r
    send   return t.a.b.c   -- x\r
    send end\r
    send local x = 7\r
    send 1 + f{a = {b = x}}\r
    expect stdin:2: attempt to index a number value (field 'b')\r\n
    expect   2 |   return t.a.b.c   -- x\r\n
    expect     | t.a.b = 7\r\n
    expect   where() shows the stack\r\n>
    send where()\r
    expect   stdin:2: in function 'f'\r\n
    expect        2 |   return t.a.b.c   -- x\r\n
    expect   stdin:5: in function <stdin:5>\r\n
    expect        5 | 1 + f{a = {b = x}}\r\n>
    send w = ladies.ones(2, 3); w:matmul(w)\r
    expect stdin:7: matmul: (2 x 3) * (2 x 3)\r\n
    expect     | w = Tensor 2 x 3\r\n
    # not even where there is no more stack
    send function deep(i) return 1 + deep(i) end deep(3)\r
    expect stack overflow\r\n
    expect i = 3
    send 1 + 1\r
    expect 2\r\n
  ]])
end

function tests.test_colours_on_a_terminal_that_has_them()
  local function dialogue(expected)
    return "send error 'no'\\r\nexpect " .. expected .. "\nexpect where()"
  end
  assert_talk(dialogue "\\e[31mstdin:1: no\\e[0m\\r\\n", nil, {"TERM=xterm-256color", "NO_COLOR="})
  assert_talk(dialogue "\\e[?2004lstdin:1: no\\r\\n", nil, {"TERM=xterm", "NO_COLOR=1"})
  assert_talk(dialogue "\\nstdin:1: no\\r\\n", nil, {"TERM=dumb", "NO_COLOR="})
  assert_talk([[
    send ladies.ones(1)\r
    expect \e[1mTensor 1, all 1\e[0m\r\n  1\r\n
  ]], nil, {"TERM=xterm-256color", "NO_COLOR="})
end

function tests.test_help_who_time_profile_and_source()
  assert_talk [[
    send ?schedule.cosine\r
    expect half a cosine
    send ladies.schedule.cosine?\r
    expect half a cosine
    send ?choose neighbours\r
    expect ladies.samplers.graphsage
    expect \n>\s
    send --- Twice x.\r
    send local function twice(x)\r
    send return 2 * x\r
    send end\r
    send ?twice\r
    expect Twice x.\r\n
    send source(twice)\r
    expect \nstdin:2\r\nlocal function twice(x)\r\nreturn 2 * x\r\nend\r\n
    send local t = {ladies.ones(10, 10), ladies.range(1, 5)}\r
    send who()\r
    expect t      local   {Tensor 10 x 10, Index 5}
    expect 420 B\r\n
    expect twice  local
    send time(twice, 4)\r
    expect calls; the shortest
    expect \n8\r\n
    send profile(function(x) return x:sum(), 3 end, t[1])\r
    expect Tensor:sum                          1
    expect Lua
    expect Tensor 1: 100, 3\r\n
    send 41\r
    send _ + 1\r
    expect \n42\r\n
    send _ - __\r
    expect \n1\r\n
    send loss = ladies.ones(1)\r
    expect >\s
    send ?loss\r
    expect fields:
    expect this is the variable loss; ?ladies.loss shows what the library calls so\r\n>\s
    send ?ladies.loss\r
    expect cross_entropy
  ]]
end

function tests.test_a_script_and_then_the_prompt()
  local script <close> = shell.file 'local seen = ...\nlocal later\nerror "no"\n'
  local function dialogue(first)
    return first .. [[

      expect >\s
      send seen, later\r
      expect "word", nil\r\n
    ]]
  end
  assert_talk(dialogue "expect :3: no\nexpect 3 | error \"no\"\nexpect where()",
    {"-i", script.path, "word"})
  local good <close> = shell.file 'local seen, later = ...\nprint "ran"\n'
  assert_talk(dialogue "expect ran", {"-i", good.path, "word"})
  -- A path that is longer than what messages have of it.
  local folder <close> = shell.folder()
  local path = ("%s/%s.lua"):format(folder.path, ("long"):rep(20))
  files.write(path, 'local seen = ...\nlocal later\nerror "no"\n')
  assert_talk(dialogue "expect :3: no\nexpect 3 | error \"no\"\nexpect where()",
    {"-i", path, "word"})
  local bad <close> = shell.file "x = = 1"
  assert_talk("expect :1: unexpected symbol\nexpect >\\s\nsend 1 + 1\\r\nexpect 2\\r\\n",
    {"-i", bad.path})
end

-- Ctrl-C -----------------------------------------------------------------------------------------

function tests.test_ctrl_c_at_the_prompt_does_not_leave()
  assert_talk [[
    expect >\s
    send junk\x03
    expect \n>\s
    never to leave
    send 1 + 1\r
    expect 2\r\n>\s
    send \x03
    expect \n>\s
    send \x03
    expect to leave, press Ctrl-D or call os.exit()\r\n>\s
    send 1 + 2\r
    expect 3\r\n
  ]]
end

function tests.test_ctrl_c_stops_lua()
  assert_talk [[
    send print "go" while true do end\r
    expect go\r\n
    send \x03
    expect interrupted\r\n
    send coroutine.wrap(function() print "in" while true do end end)()\r
    expect in\r\n
    send \x03
    expect interrupted\r\n
    never interrupted\r\n
    send pcall(function() print "caught" while true do end end)\r
    expect caught\r\n
    send \x03
    expect ^Cfalse, stdin:3: interrupted!
    send 2 + 3\r
    expect 5\r\n
  ]]
end

function tests.test_ctrl_c_stops_core()
  assert_talk [[
    send a = ladies.ones(12000, 4000); b = ladies.ones(4000, 12000)\r
    send print "go"; a:matmul(b); print("not" .. "reached")\r
    never notreached
    expect go\r\n
    send \x03
    expect interrupted\r\n
    # one Ctrl-C is one error: who catches it can go on
    send pcall(function() print "go" a:matmul(b) end), a:slice(1, 2):sum():item()\r
    never interrupted\r\n
    expect go\r\n
    send \x03
    expect ^Cfalse, 8000.0\r\n
  ]]
end

local function run_script(text, dialogue)
  local script <close> = shell.file(text)
  assert_talk(dialogue, {script.path})
end

function tests.test_a_script_ends_with_a_traceback_and_status_130()
  run_script("print 'go'\nlocal function spin() while true do end end\nspin()", [[
    expect go
    send \x03
    expect interrupted!
    expect stack traceback:
    expect in main chunk
    exit 130
  ]])
end

function tests.test_a_script_can_catch_it()
  run_script("print(pcall(function() print 'go' while true do end end)) os.exit(4)", [[
    expect go
    send \x03
    expect false
    exit 4
  ]])
end

local DEFER = [[
  local host = require "ladies_host"
  print(host.defer_interrupt(true), host.interrupted())
  print "go"
  while not host.interrupted() do end
  print("noticed", host.interrupted(), host.defer_interrupt(false))
]]

function tests.test_a_deferred_interruption_is_only_noticed()
  run_script(DEFER, [[
    expect false\tfalse
    expect go
    send \x03
    expect noticed\tfalse\tfalse
    exit 0
  ]])
end

function tests.test_the_second_one_acts_even_when_deferred()
  run_script([[
    require("ladies_host").defer_interrupt(true)
    print "go"
    io.read()
    while true do end
  ]], [[
    expect go
    pause 200
    send \x03
    expect Ctrl-C once more stops at once
    send \x03
    expect interrupted!
    exit 130
  ]])
end

function tests.test_an_interruption_is_not_lost_when_deferring_ends()
  run_script([[
    local host = require "ladies_host"
    host.defer_interrupt(true)
    print "go"
    io.read()
    print "before"
    host.defer_interrupt(false)
    print "not reached"
  ]], [[
    expect go
    pause 200
    never not reached
    send \x03
    expect before
    expect interrupted!
    exit 130
  ]])
end

function tests.test_something_deaf_can_be_ended()
  run_script("print 'go'; (('a'):rep(40)):find(('a-'):rep(40) .. 'b')", [[
    expect go
    pause 300
    send \x03
    pause 300
    send \x03
    expect still busy; Ctrl-C once more ends the program
    send \x03
    exit 130
  ]])
end

return tests
