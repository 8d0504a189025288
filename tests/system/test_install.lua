--- The installed tree: it works from any place, for the program and for a stock lua5.4.

local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"

local build = shell.ladies:match "^(.*)/bin/[^/]*$"
local source = os.getenv "LADIES_SOURCE"
local build_type = os.getenv "LADIES_BUILD_TYPE"
local sanitized = build_type == "asan" or build_type == "tsan"

local tests = {}
local run = shell.must
local scratch = shell.folder()
local prefix = scratch.path .. "/a place"

run{"cmake", "--install", build, "--prefix", scratch.path .. "/first"}
run{"mv", scratch.path .. "/first", prefix}

local function has(path)
  local file = io.open(prefix .. "/" .. path)
  if file then file:close() end
  return file ~= nil
end

--- The script scripts/run answers questions and wrong options without a build.
function tests.test_run_says_what_it_takes()
  local script = source .. "/scripts/run"
  local out, err, status = shell.run{script, "--help"}
  lu.assertEquals({err, status}, {"", 0})
  lu.assertStrContains(out, "scripts/run --build-only ")
  out, err, status = shell.run{script, "--buildonly"}
  lu.assertEquals({out, err, status},
    {"", "run: unknown option --buildonly; did you mean --build-only?\n", 2})
end

function tests.test_what_is_installed()
  for _, path in ipairs{"bin/ladies", "lib/lua/5.4/ladies_core.so", "share/lua/5.4/ladies/init.lua",
    "share/ladies/scripts/train.lua", "share/ladies/datasets/wordnet.npz", "lib/libladies.so",
    "share/ladies/library/ladies.d.lua", "share/ladies/commit",
    "include/ladies/ladies.h", "include/ladies/tensor/tensor.h", "include/ladies/graph/csr.h"} do
    lu.assertTrue(has(path), path .. " is missing")
  end
  lu.assertFalse(has "include/ladies/tensor/tensor.c")
end

--- The installed program runs from another folder, and without any help of the environment.
function tests.test_program()
  local function expression(code)
    return (run({"env", "-i", "PATH=/usr/bin:/bin", prefix .. "/bin/ladies", "-e", code},
      {folder = "/"}))
  end
  lu.assertEquals(expression "print(ladies.ones(2):sum():item())", "2.0\n")
  lu.assertEquals(expression 'print(require "ladies.base.commit"())',
    tostring((require "ladies.base.commit"())) .. "\n")
  lu.assertEquals(expression 'print(package.searchpath("ladies", package.path))',
    prefix .. "/share/lua/5.4/ladies/init.lua\n")
  lu.assertEquals(expression "print(ladies.home())", prefix .. "/share/ladies\n")
  lu.assertStrContains(expression 'print(ladies.data.load "wordnet")', "wordnet")
  lu.assertStrContains(run({prefix .. "/bin/ladies", "help"}, {folder = "/"}), "train")
end

-- A stock interpreter lacks the sanitizer's runtime, which must come first in a process.
local function preload()
  if not sanitized then return end
  local name = build_type == "asan" and "libasan.so" or "libtsan.so"
  return "LD_PRELOAD=" .. run{"cc", "-print-file-name=" .. name}:match "^[^\n]*"
end

function tests.test_module_in_a_stock_lua()
  if not os.execute "command -v lua5.4 >/dev/null" then lu.skip "there is no lua5.4" end
  local env = {
    "LUA_PATH=" .. prefix .. "/share/lua/5.4/?.lua;" .. prefix .. "/share/lua/5.4/?/init.lua;;",
    "LUA_CPATH=" .. prefix .. "/lib/lua/5.4/?.so;;",
    "ASAN_OPTIONS=detect_leaks=0",  -- lua5.4 unloads modules at its end: their statics look leaked
    preload(),
  }
  local function lua(code)
    return (run({"lua5.4", "-e", code}, {folder = "/", env = env}))
  end
  lu.assertEquals(lua 'print(require "ladies")',
    "ladies " .. ladies.version .. "\t" .. prefix .. "/share/lua/5.4/ladies/init.lua\n")
  lu.assertEquals(lua [[
    local ladies = require "ladies"
    local w = ladies.ones(300, 300)
    local adam = ladies.optim.adam{w}
    for _ = 1, 2 do
      local _ <close> = ladies.step()
      w:matmul(w):sum():backward()
      adam:step()
    end
    print(ladies.data.load("wordnet").graph.n_nodes > 1000, _G.ladies, w:is_finite())
  ]], "true\tnil\ttrue\n")
  -- Finalizers that are older than the library run when it has ended.
  lu.assertEquals(lua [[
    holder = setmetatable({}, {__gc = function()
      print(pcall(holder.ladies.step))
      holder.step:close()
      print(tostring(holder.step), holder.ladies.ones(2):relu())
      print(pcall(holder.t.clone, holder.t))
    end})
    holder.ladies = require "ladies"
    holder.t = holder.ladies.ones(2)
    holder.step = holder.ladies.step()
  ]], "false\t(command line):2: step: the program is at its end\nStep (closed)\tTensor 2: 1 1\n" ..
    "false\t(command line):5: the tensor has been released\n")
end

--- Neither the build nor the source folder is written in what the programs read at run time.
function tests.test_no_paths_of_the_build()
  if build_type == "coverage" then lu.skip "counters of lines have their paths in the program" end
  if not os.execute "command -v readelf >/dev/null" then lu.skip "there is no readelf" end
  for _, path in ipairs{"bin/ladies", "lib/lua/5.4/ladies_core.so", "lib/libladies.so"} do
    local file = prefix .. "/" .. path
    local text = run{"readelf", "-p", ".rodata", file}
    lu.assertStrContains(text, "matmul")                  -- it does see the strings
    -- UBSan's reports name the source files.
    if not sanitized then lu.assertNotStrContains(text, source) end
    lu.assertNotStrContains(text, build)
    lu.assertNil((run{"readelf", "-d", file}:find "%(R[UN]*PATH%)"))
  end
end

-- Install, and move the tree to a path with a space in it.

--- Without the component of the experiments their commands say in a line that it is not there, and
-- all else goes on.
function tests.test_without_the_experiments()
  local moved = scratch.path .. "/experiments"
  run{"mv", prefix .. "/share/lua/5.4/experiments", moved}
  local _ <close> = setmetatable({}, {__close = function()
    run{"mv", moved, prefix .. "/share/lua/5.4/experiments"}
  end})
  for _, words in ipairs{{"table3", "--quick"}, {"followers"}, {"variance"}, {"bench"}} do
    local out, err, status = shell.run{prefix .. "/bin/ladies", table.unpack(words)}
    lu.assertEquals({out, status > 0}, {"", true}, words[1])
    lu.assertStrMatches(err, ("ladies %s: the experiments are not installed here[^\n]*\n"):format(
      words[1]))
  end
  lu.assertStrContains(run{prefix .. "/bin/ladies", "help"}, "table3")
  lu.assertStrContains(run{prefix .. "/bin/ladies", "completion", "bash"}, "table3")
  lu.assertStrContains(run{prefix .. "/bin/ladies", "train", "--help"}, "--dataset")
end

return tests, function() local _ <close> = scratch end
