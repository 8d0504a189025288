--- The host program as seen from a shell: options, scripts, commands, exit statuses, its tree.
local lu = require "luaunit"
local files = require "tools.files"
local shell = require "tools.shell"
local run = shell.run_ladies

local tests = {}

-- Runs both programs with the same arguments; output, errors (but for the name) and status must be
-- the same.
local function assert_like_lua(arguments, opts)
  local out, err, status = run(arguments, opts)
  local lua_out, lua_err, lua_status =
    shell.run(table.pack("lua5.4", table.unpack(arguments)), opts)
  local what = table.concat(arguments, " ")
  lu.assertEquals(out, lua_out, what)
  lu.assertEquals(err:gsub("^ladies: ", ""), lua_err:gsub("^lua5.4: ", ""), what)
  lu.assertEquals(status, lua_status, what)
end

local SHOW = [[
local low, high = 0, 0
for i in pairs(arg) do low, high = math.min(low, i), math.max(high, i) end
for i = low + 1, high do print(i, arg[i]) end
print(select("#", ...), ...)
]]

function tests.test_scripts_and_options_as_in_lua()
  local show <close> = shell.file(SHOW)
  local chunk <close> = shell.file "print(x, ...) return 3"
  local path, plain = show.path, chunk.path
  for _, arguments in ipairs {
    {path}, {path, "a", "-b", "c d", ""}, {"-e", "x = 1", path, "-e"}, {"-ex = 2", plain, "y"},
    {"-e", "print(1)", "-e", "print(2)"}, {"-l", "string", "-e", "print(string.rep(1, 3))"},
    {"-l", "s=string", "-e", "print(s == string)"}, {"-ls=string", "-e", "print(s.rep('ab', 2))"},
    {"--", path, "-v"}, {"-", "a", "b"}, {}, {"-W", "-e", "warn('careful')"}, {"-E", path, "z"},
    {"-e", "local x = = 1"},
    {"-e", "error(setmetatable({}, {__tostring = function() return 'mine' end}))"},
    {"./no_such_file.lua"}, {"-e", "os.exit(7)"},
    {"-e", "os.exit(true)"}, {"-e", "os.exit(false)"}, {"-e", "arg = 1", "/dev/null"},
    {"-e", "setmetatable({}, {__gc = function() print 'closed' end}) os.exit(0, true)"},
    {"-e", "setmetatable({}, {__gc = function() print 'closed' end})"},
  } do
    assert_like_lua(arguments, {stdin = SHOW})
  end
end

--- An error of a statement is the first line that lua5.4 has of it, without the functions that ran,
-- unless these are wanted or some are of a file.
function tests.test_errors_of_statements_are_a_line()
  for _, statement in ipairs{"error('no')", "error()", "error({})", "error('no', 0)",
    "local function f() error 'no' end\nlocal function g() f() return 1 end\ng()"} do
    local _, err, status = run{"-e", statement}
    local _, lua_err = shell.run{"lua5.4", "-e", statement}
    lu.assertEquals({err, status}, {lua_err:match "^[^\n]*\n":gsub("^lua5.4", "ladies"), 1})
  end
  local _, err, status = run{"-e", "local function f() ladies.samplers.full(7) end f()"}
  lu.assertStrMatches(err, "ladies: %(command line%):1: ladies%.samplers%.full: [^\n]*\n")
  lu.assertEquals(status, 1)
  local _, whole = run({"-e", "ladies.samplers.full(7)"}, {env = {"LADIES_TRACE=1"}})
  lu.assertStrContains(whole, "\nstack traceback:\n")
  local script <close> = shell.file "error 'in a file'"
  _, err = run{"-e", ("dofile %q"):format(script.path)}
  lu.assertStrContains(err, script.path .. ":1: in main chunk")
end

function tests.test_a_library_that_is_not_there()
  local _, err, status = run {"-l", "no_such_module", "-e", "print(1)"}
  lu.assertStrContains(err, "ladies: module 'no_such_module' not found:")
  lu.assertEquals(status, 1)
end

function tests.test_environment()
  local env = {"LUA_INIT=print 'first'", "LUA_PATH=/x/?.lua"}
  assert_like_lua({"-e", "print(2)"}, {env = env})
  assert_like_lua({"-E", "-e", "print(2)"}, {env = env})
  assert_like_lua({"-e", "print(2)"}, {env = {"LUA_INIT_5_4=x = = 1"}})
  local init <close> = shell.file "print 'from a file'"
  assert_like_lua({"-e", "print(2)"}, {env = {"LUA_INIT=@" .. init.path}})
  local path = run({"-e", "print(package.path)"}, {env = env})
  lu.assertStrContains(path, "/share/lua/5.4/?.lua;")
  lu.assertStrContains(path, ";/x/?.lua")
end

function tests.test_errors_have_a_traceback_and_status_1()
  local script <close> = shell.file "local function f() error 'broken' end\nf()\n"
  local out, err, status = run {script.path}
  lu.assertEquals(out, "")
  lu.assertStrContains(err, "ladies: " .. script.path .. ":1: broken\nstack traceback:")
  lu.assertStrContains(err, script.path .. ":2: in main chunk")
  lu.assertEquals(status, 1)
end

--- An error names the functions of the script that ran; the library's are named only where they are
-- wanted, or where it is the library that is wrong.
function tests.test_errors_name_the_functions_of_the_script()
  local script <close> = shell.file [[
    local ladies = require "ladies"
    local function make() local s = ladies.samplers.full(7, {layers = 2}) return s end
    if arg[1] == "inner" then require "ladies.base.wrap"(7) end
    if arg[1] == "deep" then make() end
    ladies.samplers.full(7, {layers = 2})]]
  local function told(how, env)
    local err = shell.refused(run({script.path, how}, {env = env}))
    return (err:gsub(script.path:gsub("%p", "%%%0"), "S"))
  end
  local function message(line) return ("ladies: S:%d: ladies.samplers.full: P "):format(line) end
  local err = told "deep"
  lu.assertStrContains(err, message(2))
  lu.assertEquals(err:match "\n.*",
    "\nstack traceback:\n\tS:2: in local 'make'\n\tS:4: in main chunk\n")
  lu.assertStrMatches(told "flat", message(5):gsub("%p", "%%%0") .. "[^\n]*\n")
  for _, whole in ipairs{told("deep", {"LADIES_TRACE=1"}), told "inner"} do
    lu.assertStrMatches(whole, ".*\n\t[^\n]*/ladies/[^\n]*: in .*\n\tS:%d: in main chunk\n.*")
  end
end

--- Ctrl-C gives one line and its status, too, while a command's modules, or code of one's own, are
-- being loaded. (Where a signal is ignored from the start, as in a shell's background, it ends
-- after a minute, and fails.)
function tests.test_interrupted_while_it_begins()
  local strike = "local e = os.time() + 60 io.popen('kill -INT $PPID'):close() "
    .. "while os.time() < e do end"
  local _, err, status = run({"help"}, {env = {"LUA_INIT=" .. strike}})
  lu.assertEquals({err, status}, {"ladies: LUA_INIT:1: interrupted!\n", 130})
  local folder <close> = shell.folder()
  local own = folder.path .. "/own.lua"
  files.write(own, strike)
  _, err, status = run{"train", "--method", own}
  lu.assertStrMatches(err, "[^\n]*interrupted!\n")
  lu.assertEquals(status, 130)
end

function tests.test_coroutines_as_in_lua()
  assert_like_lua({"-"}, {stdin = [[
    local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) error(c) end)
    print(coroutine.resume(co, 1, 2)) print(coroutine.resume(co, "end")) print(coroutine.resume(co))
    print(coroutine.status(co), (coroutine.resume(coroutine.create(function() error {} end))))
    for i, j in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i, i * i) end end) do
      print(i, j)
    end
    print(pcall(coroutine.wrap(function() error "inside" end)))
    print(type(select(2, pcall(coroutine.wrap(function() error({}, 0) end)))))
    local w = coroutine.wrap(function()
      local x <close> = setmetatable({}, {__close = function() print "closed" end}) error "late"
    end)
    print(pcall(w)) print(pcall(w))
    print(pcall(coroutine.wrap)) print(pcall(coroutine.resume, 1))
    print(pcall(coroutine.wrap(function() return table.unpack({}, 1, 1e7) end)))
    local function nest(n)
      return n == 0 and 0 or coroutine.wrap(function() return 1 + nest(n - 1) end)()
    end
    print(nest(150), (pcall(nest, 300)))
  ]]})
end

function tests.test_options_that_are_wrong()
  for _, case in ipairs {
    {{"-x"}, "unknown option '-x'"}, {{"-vx"}, "unknown option '-vx'"},
    {{"-e"}, "'-e' needs an argument"}, {{"-l"}, "'-l' needs an argument"},
    {{"--verbose"}, "unknown option '--verbose'"},
  } do
    local out, err, status = run(case[1])
    lu.assertEquals(out, "")
    lu.assertStrContains(err, "ladies: " .. case[2] .. "\nusage: ladies")
    lu.assertEquals(status, 1)
  end
end

function tests.test_help_and_version()
  local out, err, status = run {"--help"}
  lu.assertStrContains(out, "usage: ladies [options] [script [args]]")
  lu.assertEquals({err, status}, {"", 0})
  for _, option in ipairs{"-v", "--version"} do
    out, err, status = run {option}
    lu.assertStrMatches(out, "ladies %d+%.%d+%.%d+ %(Lua 5%.4%.%d+, [%w-]+%)\n")
    lu.assertEquals({err, status}, {"", 0})
  end
end

function tests.test_the_library_is_a_global_for_statements_only()
  lu.assertEquals(run {"-e", "print(ladies == require 'ladies')"}, "true\n")
  lu.assertEquals(run({"-"}, {stdin = "print(ladies, (require 'ladies') ~= nil)"}), "nil\ttrue\n")
end

function tests.test_commands()
  local out, err, status = run {"help"}
  lu.assertStrContains(out, "  help  ", false)
  lu.assertStrContains(out, "lists the commands")
  lu.assertEquals({err, status}, {"", 0})
  out, err, status = run {"help", "help"}
  lu.assertStrMatches(out, "ladies help: .*ladies help %[NAME%]\n.*")
  lu.assertEquals({err, status}, {"", 0})
end

function tests.test_unknown_commands_name_the_nearest()
  for _, arguments in ipairs {{"hlep"}, {"help", "hlep"}} do
    local out, err, status = run(arguments)
    lu.assertEquals(out, "")
    lu.assertStrMatches(err, "ladies: no command 'hlep'; did you mean 'help'%? [^\n]*\n")
    lu.assertEquals(status, 1)
  end
  local _, err = run {"zzzzzzzzzz"}
  lu.assertStrMatches(err, "ladies: no command 'zzzzzzzzzz' [^\n]*\n")
end

--- An argument of help that is no command is a name of the library, or words to search for.
function tests.test_help_of_the_library()
  local fitted = run {"help", "nn.gcn"}
  lu.assertEquals(fitted:gsub("%s+", " "),
    run {"-e", "print(ladies.help_text 'nn.gcn')"}:gsub("%s+", " "))
  lu.assertStrContains(run {"help", "choose", "neighbours"}, "\n  ladies.samplers.graphsage ")
  local err = shell.refused(run {"help", "zzzz", "yyyy"})
  lu.assertStrMatches(err, 'ladies: ladies.help: nothing is called "zzzz yyyy", and no [^\n]*\n')
end

function tests.test_a_bare_name_is_never_a_file()
  local folder <close> = shell.folder()
  for _, name in ipairs {"help", "hlep"} do
    os.execute(("echo 'print \"a file\"' >%s/%s"):format(folder.path, name))
  end
  lu.assertStrContains(run({"help"}, {folder = folder.path}), "usage: ladies NAME")
  local _, err, status = run({"hlep"}, {folder = folder.path})
  lu.assertStrContains(err, "./hlep")
  lu.assertEquals(status, 1)
  lu.assertEquals(run({"./hlep"}, {folder = folder.path}), "a file\n")
end

function tests.test_the_tree_can_be_moved()
  local folder <close> = shell.folder()
  local prefix, old = folder.path .. "/a b", shell.ladies:gsub("/?bin/[^/]*$", "")
  lu.assertTrue(os.execute(([[
    cd %s && mkdir -p %s && cp -L --parents -r bin/ladies share/lua share/ladies/scripts %s
  ]]):format(shell.quote(old), shell.quote(prefix), shell.quote(prefix))))
  local moved = prefix .. "/bin/ladies"
  local where = "print(package.searchpath('ladies', package.path))"
  lu.assertEquals(shell.run({moved, "-e", where}, {folder = "/"}),
                  prefix .. "/share/lua/5.4/ladies/init.lua\n")
  local out, err, status = shell.run({moved, "help"}, {folder = "/"})
  lu.assertStrContains(out, "lists the commands")
  lu.assertEquals({err, status}, {"", 0})

  -- The environment overrides, -E overrides the environment.
  local env = {"LADIES_HOME=" .. prefix}
  lu.assertStrContains(run({"-e", where}, {env = env}), prefix)
  lu.assertNotStrContains(run({"-E", "-e", where}, {env = env}), prefix)

  os.execute("rm -r " .. shell.quote(prefix .. "/share/lua"))
  out, err, status = shell.run({moved, "-e", "print(1)"})
  lu.assertEquals(out, "")
  lu.assertStrMatches(err, "ladies: cannot find its Lua files: there is no [^\n]+\n")
  lu.assertEquals(status, 1)
end

return tests
