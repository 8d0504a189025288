--- base/platform.c: what the core asks of the system, on Linux and by POSIX alone. (No other file
-- can ask for more than POSIX: the compiler shows it nothing else.)
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

local lu = require "luaunit"
local files = require "tools.files"
local shell = require "tools.shell"

local source = os.getenv "LADIES_SOURCE" or here .. "/.."
local build_type = os.getenv "LADIES_BUILD_TYPE"
local sanitize = build_type == "asan" and "-fsanitize=address,undefined" or "-g0"

local tests = {}
local scratch = shell.folder()

local function run(argv, opts)
  local out, err, status = shell.run(argv, opts)
  lu.assertEquals(status, 0, table.concat(argv, " ") .. "\n" .. out .. err)
  return (out:gsub("\n$", ""))
end

-- Compiles the program of tools/platform.c, as strict C11.
local function compile(name, ...)
  local program = scratch.path .. "/" .. name
  run{"cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-D_XOPEN_SOURCE=700", sanitize,
    "-I" .. source .. "/src/core", source .. "/tests/tools/platform.c",
    source .. "/src/core/base/platform.c", "-o", program, ...}
  return program
end

local linux, posix = compile "linux", compile("posix", "-DLD_POSIX_ONLY")

function tests.test_program_is_found()
  lu.assertEquals(run{linux, "program"}, linux)
  lu.assertEquals(run{posix, "program"}, posix)
  local at_home = {folder = scratch.path}
  lu.assertEquals(run({"./posix", "program"}, at_home), posix)
  local empty = scratch.path .. "/empty"
  run{"mkdir", "-p", empty .. "/posix"}
  at_home.env = {"PATH=:" .. empty .. ":" .. scratch.path}
  lu.assertEquals(run({"posix", "program"}, at_home), posix)
end

-- Linux knows its program whatever it is called; by POSIX there is only the name to go by.
function tests.test_program_under_another_name()
  local function called(name, program)
    return run{"bash", "-c", 'exec -a "$0" "$1" program', name, program}
  end
  for _, name in ipairs{"/nowhere/ladies", "no-such-program", ""} do
    lu.assertEquals(called(name, linux), linux)
    lu.assertEquals(called(name, posix), "none")
  end
end

function tests.test_program_without_room()
  lu.assertEquals(run{posix, "short"}, "none")
  lu.assertEquals(run{linux, "short"}, "none")
end

function tests.test_processors()
  local some = run({"nproc"}, {env = {"OMP_NUM_THREADS="}})
  lu.assertEquals(run{linux, "processors"}, some)
  lu.assertEquals(run{posix, "processors"}, run{"getconf", "_NPROCESSORS_ONLN"})
  lu.assertEquals(run{"taskset", "-c", "0", linux, "processors"}, "1")
end

function tests.test_pages()
  local path = scratch.path .. "/text"
  files.write(path, "hello")
  lu.assertEquals(run{linux, "map", path}, "remap: moved\nfile: _ello\nforgotten: hello")
  lu.assertEquals(run{posix, "map", path}, "remap: none\nfile: _ello\nforgotten: _ello")
  lu.assertEquals(files.read(path), "hello")
end

function tests.test_parent()
  for _, program in ipairs{linux, posix} do
    lu.assertEquals(run{"bash", "-c", '"$0" end $$; "$0" end 1; :', program}, "parent\nanother")
  end
end

return tests
