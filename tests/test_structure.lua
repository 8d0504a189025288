--- What the sources promise about themselves: which folder may include or require which, headers
-- that compile alone, documentation of every function, files of readable length.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

local lu = require "luaunit"
local core = require "ladies_core"
local file_tools = require "tools.files"
local shell = require "tools.shell"

local root = os.getenv "LADIES_SOURCE" or here .. "/.."
local MOST_LINES = 600

-- A room of src/ may include headers of these and call their functions, and its own.
local MAY_NEED = {
  ["core/base"] = {},
  ["core/tensor"] = {"core/base"},
  ["core/graph"] = {"core/base", "core/tensor"},
  ["core/generate"] = {"core/base", "core/tensor", "core/graph"},
  ["core/sample"] = {"core/base", "core/tensor", "core/graph"},
  ["core/grad"] = {"core/base", "core/tensor", "core/graph"},
  ["core/optim"] = {"core/base", "core/tensor", "core/graph", "core/grad"},
  ["core/system"] = {"core/base"},
  ["core/io"] = {"core/base"},
  ["core/io/archive"] = {"core/base", "core/io"},
  ["core/io/text"] = {"core/base", "core/tensor", "core/graph", "core/io", "core/io/archive"},
  ["core/io/array"] = {"core/base", "core/tensor", "core/graph", "core/io", "core/io/archive"},
  ["core/io/pickle"] = {"core/base", "core/tensor", "core/graph", "core/io", "core/io/archive",
    "core/io/array"},
  ["bind/state"] = {"core/base", "core/tensor", "core/graph", "core/grad"},
  ["bind/tensor"] = {"core/base", "core/tensor", "core/graph", "core/grad", "bind/state"},
  ["bind/graph"] = {"core/base", "core/tensor", "core/graph", "core/generate", "core/sample",
    "core/grad", "bind/state", "bind/tensor"},
  ["bind/grad"] = {"core/base", "core/tensor", "core/graph", "core/grad", "core/optim",
    "bind/state", "bind/tensor"},
  ["bind/io"] = {"core/base", "core/tensor", "core/graph", "core/io", "core/io/archive",
    "core/io/text", "core/io/array", "core/io/pickle", "bind/state", "bind/tensor", "bind/graph"},
  ["bind/system"] = {"core/base", "core/tensor", "core/graph", "core/system", "bind/state"},
  ["bind/worker"] = {"core/base", "core/tensor", "core/graph", "core/sample", "core/grad",
    "bind/state", "bind/tensor"},
  core = {"core/base", "core/tensor", "core/graph", "core/generate", "core/sample", "core/grad",
    "core/optim", "core/io", "core/io/archive", "core/io/text", "core/io/array"},
  bind = {"core", "bind/state", "bind/tensor", "bind/graph", "bind/grad", "bind/io", "bind/system",
    "bind/worker"},
  ranks = {"core/base", "core/tensor", "core/graph", "core/grad", "bind/state", "bind/tensor",
    "bind/graph"},
  host = {"core/base", "core/system", "bind", "bind/state", "host/compiled"},
  ["host/compiled"] = {"core/base"},
}

local tests = {}

local function lines_of(command)
  local pipe <close> = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  return lines
end

-- Paths below the root, of the files under `folder` whose name ends in one of `endings`.
local function files(folder, ...)
  local names = {}
  for _, ending in ipairs{...} do names[#names + 1] = "-name " .. shell.quote("*." .. ending) end
  return lines_of(("cd %s && find %s -type f \\( %s \\) | sort"):format(shell.quote(root), folder,
    table.concat(names, " -o ")))
end

local function read(path) return file_tools.read(root .. "/" .. path) end

-- The first circle in a table name -> names, as " > a > b > a"; nil when there is none.
local function circle(needs)
  local state = {}
  local function visit(name, path)
    if state[name] == "done" then return nil end
    path = path .. " > " .. name
    if state[name] == "open" then return path end
    state[name] = "open"
    for _, other in ipairs(needs[name] or {}) do
      local found = visit(other, path)
      if found then return found end
    end
    state[name] = "done"
  end
  for name in pairs(needs) do
    local found = visit(name, "")
    if found then return found end
  end
end

-- The C files below src/: path -> text.
local function sources()
  local texts = {}
  for _, path in ipairs(files("src", "c", "h")) do texts[path:match "^src/(.*)"] = read(path) end
  return texts
end

-- A C file's text without comments, characters and strings.
local function bare(text)
  return (text:gsub("/%*.-%*/", ""):gsub("\\.", ""):gsub("'.'", ""):gsub('"[^"\n]*"', ""))
end

-- The path of the header `name`, as a file of `folder` includes it; nil for those of the system.
local function header(texts, name, folder)
  for _, place in ipairs{folder, "core", "bind"} do
    local path = place .. "/" .. name
    if texts[path] then return path end
  end
end

-- Which file has each function that others may call: name -> path. Of programs none calls main.
local function definitions(texts)
  local found = {}
  for path, text in pairs(texts) do
    local pattern = "\n(%a[^\n;{}()=#]*[%s*])([%a_][%w_]*)%b()\n{"
    for before, name in ("\n" .. bare(text)):gmatch(pattern) do
      if name ~= "main" and not before:find "static" then found[name] = path end
    end
  end
  return found
end

-- What each of some C files needs: the headers that it includes, those of Lua as "lua", and, unless
-- it is a header itself, the files that have the functions it names.
local function needs_of(texts)
  local needs, defined = {}, definitions(texts)
  for path, text in pairs(texts) do
    local list, seen = {}, {[path] = true}
    local function add(other)
      if other and not seen[other] then
        seen[other] = true
        list[#list + 1] = other
      end
    end
    for name in ("\n" .. text):gmatch '\n%s*#%s*include%s*[<"]([^>"\n]+)[>"]' do
      local lua = name:match "^lua" or name:match "^lauxlib"
      add(lua and "lua" or header(texts, name, path:match "^(.*)/"))
    end
    for name in (path:match "%.c$" and bare(text) or ""):gmatch "[%a_][%w_]*" do
      add(defined[name])
    end
    needs[path] = list
  end
  return needs
end

-- What goes against MAY_NEED in a table as that of `needs_of`.
local function wrong_needs(needs)
  local found = {}
  for path, list in pairs(needs) do
    local room = path:match "^(.*)/"
    local allowed = {[room] = true, lua = not (room .. "/"):find "^core/"}
    for _, other in ipairs(assert(MAY_NEED[room], "an unknown room: " .. room)) do
      allowed[other] = true
    end
    for _, other in ipairs(list) do
      if not allowed[other:match "^(.*)/" or other] then
        found[#found + 1] = ("%s needs %s"):format(path, other)
      end
    end
  end
  table.sort(found)
  return found
end

function tests.test_rooms_of_c()
  local needs, count = needs_of(sources()), 0
  for _, list in pairs(needs) do count = count + #list end
  lu.assertTrue(count > 700)
  lu.assertEquals(wrong_needs(needs), {})
  lu.assertNil(circle(needs))
  lu.assertNil(circle(MAY_NEED))
end

--- The check of rooms does see what is wrong.
function tests.test_wrong_needs_of_c_are_found()
  local all = sources()
  local function add(path, text) all[path] = "/* text */\n" .. text .. "\n" end
  add("core/base/a.c", '#include "tensor/tensor.h"\n#include <math.h>')
  add("core/base/b.h", "#include <lua.h>")
  add("core/grad/c.c", ' #  include "lauxlib.h"\n#include "sample/choice.h"')
  add("core/io/d.c", '#include "state/bind.h"')
  add("core/sample/e.c", "int ld_e(void)\n{\n    return ld_tape_length(NULL);\n}")
  add("bind/state/f.c", '#include "repl.h"\n#include <lua.h>') -- this room has no such header
  add("bind/state/g.c", '#include "state/bind.h"\nvoid bind_g(void)\n{\n    bind_new_index(L);\n}')
  add("host/h.c", '#include "grad/tape.h"\n#include "module.h"\n#include "tree.h"')
  add("core/optim/i.c", '#include "grad/tape.h"\n/* ld_choice */ "ld_choice" \'"\'')
  lu.assertEquals(wrong_needs(needs_of(all)), {
    "bind/state/g.c needs bind/tensor/bind_index.c",
    "core/base/a.c needs core/tensor/tensor.h",
    "core/base/b.h needs lua",
    "core/grad/c.c needs core/sample/choice.h",
    "core/grad/c.c needs lua",
    "core/io/d.c needs bind/state/bind.h",
    "core/sample/e.c needs core/grad/tape.c",
    "host/h.c needs core/grad/tape.h",
  })
end

--- Nor may files of one room need each other.
function tests.test_circles_of_c_are_found()
  local function found(a, b)
    return circle(needs_of{["core/base/a.c"] = a, ["core/base/b.c"] = b, ["core/base/b.h"] = ""})
  end
  local function body(head, call) return ("%s\n{\n    %s(1);\n}\n"):format(head, call) end
  local one = body("int one(int n)", "two")
  local zero = body("static int zero(void)", "one")
  lu.assertNotNil(found(one, zero .. body("int *two(int n)", "zero")))
  lu.assertNil(found(one, body("int two(\n    int n)", '/* one */ puts("one")')))
  lu.assertNil(found("LD_CLONES static " .. one, body("int two(int n)", "one")))
end

function tests.test_no_two_files_of_c_have_one_name()
  local path_of = {}
  for path in pairs(sources()) do
    local name = path:match "[^/]*$"
    lu.assertNil(path_of[name], path)
    path_of[name] = path
  end
end

--- Elements are written one by one where they come from Lua, and changed by core alone.
function tests.test_no_arithmetic_in_the_binding()
  local written = {}
  for path, text in pairs(sources()) do
    for line in (path:find "^bind/" and bare(text) or ""):gmatch "[^\n]+" do
      if line:find "data%b[]%s*[-+*/]?=[^=]" then
        written[#written + 1] = path .. ":" .. line:gsub("^%s+", " ")
      end
    end
  end
  table.sort(written)
  lu.assertEquals(written, {
    'bind/tensor/bind_index.c: (*x)->data[i] = to_core(L, -1, , i + 1);',
    "bind/tensor/bind_tensor.c: t->data[i - 1] = (float)bind_check_number(L, 3);",
  })
end

-- The rooms of the Lua half, from the top down: a module requires those of its own room and of
-- rooms below. NAME.* is all that is in a folder and not named before.
local ROOMS = {"ladies_bench.*", "ladies_followers", "ladies_followers.*", "ladies_paper",
  "ladies_paper.*", "ladies.command.reference.*", "ladies", "ladies.command.*",
  "ladies.prompt.*", "ladies.lab.*",
  "ladies.study.*", "ladies.experiment.*", "ladies.training.*", "ladies.samplers.*",
  "ladies.evaluation.*", "ladies.sampling.*", "ladies.optim.*", "ladies.nn.*", "ladies.data",
  "ladies.data.store.*", "ladies.data.formats.*", "ladies.data.*", "ladies.graph.*",
  "ladies.show", "ladies.show.*", "ladies.report.*", "ladies.ranks.*", "ladies.base.*"}

-- The place of a module's room in the list, nil where it is in none.
local function room_of(module)
  for place, room in ipairs(ROOMS) do
    local folder = room:match "^(.*)%.%*$"
    if module == room or folder and (module .. "."):sub(1, #folder + 1) == folder .. "." then
      return place
    end
  end
end

-- The modules that a text requires.
local function required(text)
  local names = {}
  for name in text:gmatch '[%s(]require%s*%(?%s*"(ladies[%w_.]*)"' do
    if name ~= "ladies_core" and name ~= "ladies_host" then names[#names + 1] = name end
  end
  return names
end

-- All modules of lua/: what each requires.
local function modules()
  local requires = {}
  for _, path in ipairs(files("lua", "lua")) do
    local name = path:match "^lua/(.*)%.lua$":gsub("/", "."):gsub("%.init$", "")
    requires[name] = required(read(path))
  end
  return requires
end

-- What goes upwards in a table as that of `modules`, or leads to no module.
local function upward(requires)
  local found = {}
  for name, others in pairs(requires) do
    for _, other in ipairs(others) do
      local from, to = room_of(name), requires[other] and room_of(other)
      if not from or not to or to < from then
        found[#found + 1] = ("%s requires %s"):format(name, other)
      end
    end
  end
  table.sort(found)
  return found
end

function tests.test_rooms_of_lua()
  local all, count = modules(), 0
  for _, others in pairs(all) do count = count + #others end
  lu.assertTrue(count > 400)
  lu.assertEquals(upward(all), {})
  lu.assertNil(circle(all))
end

--- Both checks do see what is wrong.
function tests.test_upward_requires_and_circles_are_found()
  local all = modules()
  table.insert(all["ladies.sampling.inputs"], "ladies.samplers")
  table.insert(all["ladies.data.checks"], "ladies.data.formats.readers")
  table.insert(all["ladies.data.labels.multi"], "ladies.data")
  table.insert(all["ladies.training.log"], "ladies_paper.protocol")
  table.insert(all["ladies.base.json"], "ladies.base.nothing")
  lu.assertEquals(upward(all), {
    "ladies.base.json requires ladies.base.nothing",
    "ladies.data.checks requires ladies.data.formats.readers",
    "ladies.data.labels.multi requires ladies.data",
    "ladies.sampling.inputs requires ladies.samplers",
    "ladies.training.log requires ladies_paper.protocol",
  })
  lu.assertNotNil(circle(all))
  lu.assertNil(circle{a = {"b", "c"}, b = {"c"}, c = {}})
  lu.assertEquals(circle{a = {"a"}}, " > a > a")
end

function tests.test_headers_compile_alone()
  if not os.execute "command -v cc >/dev/null" then lu.skip "there is no C compiler" end
  local headers = files("src/core", "h")
  lu.assertTrue(#headers > 15)
  local unit <close> = shell.folder()
  for _, path in ipairs(headers) do
    local source = unit.path .. "/unit.c"
    local file <close> = assert(io.open(source, "w"))
    -- Twice: the second time its guard must keep it out.
    file:write(('#include "%s"\n'):format(path:match "^src/core/(.*)"):rep(2))
    file:close()
    local _, message, status = shell.run{"cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror",
      "-fsyntax-only", "-I", root .. "/src/core", source}
    lu.assertEquals(status, 0, path .. ": " .. message)
  end
end

-- Calls f(name, function) for every C function that Lua code can reach by a name.
local function each_function(f)
  local function walk(t, seen)
    if seen[t] then return end
    seen[t] = true
    for name, value in pairs(t) do
      if type(value) == "function" then f(name, value) end
      if type(value) == "table" and t == core and name ~= "docs" then walk(value, seen) end
    end
  end
  walk(core, {})
  for name, class in pairs(debug.getregistry()) do
    if type(name) == "string" and name:find "^ladies%." and class.__methods then
      walk(class.__methods, {})
    end
  end
end

function tests.test_every_function_has_a_docstring()
  local count = 0
  each_function(function(name, f)
    count = count + 1
    local doc = core.docs[f]
    lu.assertIsString(doc, name .. " has no docstring")
    local first = doc:match "^[^\n]*"
    lu.assertStrMatches(first, ".*%f[%w_]" .. name .. "%f[^%w_].*", nil, nil,
      ("the first line of %s's docstring: %s"):format(name, first))
    for line in doc:gmatch "[^\n]+" do lu.assertTrue(#line <= 105, "too wide: " .. line) end
  end)
  lu.assertTrue(count > 150, "only " .. count .. " functions were found")
end

--- The binding raises by bind_error.c alone, which blames the user's line.
function tests.test_errors_of_the_binding()
  for _, path in ipairs(files("src/bind", "c")) do
    for word in read(path):gmatch "luaL_%l+" do
      local raises = word == "luaL_error" or word:find "^luaL_arg" or word:find "^luaL_opt"
        or word:find "^luaL_check" and word ~= "luaL_checkstack"
      lu.assertEvalToFalse(raises, path .. " calls " .. word)
    end
  end
end

--- Where Lua code catches errors, interruptions go on: errors.try lets them, and who calls pcall
-- raises what was caught once more.
function tests.test_interruptions_are_not_caught()
  local raised_again = {}
  for name in ([[base/errors base/installed command/cli data/formats/file_reader data/store/fetch
      data/store/tar prompt/notebook sampling/init study/side_by_side training/batches
      training/numbered_batches
      ]]):gmatch "%S+" do
    raised_again["lua/ladies/" .. name .. ".lua"] = true
  end
  for _, path in ipairs(files("lua", "lua")) do
    local call = not raised_again[path] and read(path):match "%f[%w_]x?pcall%("
    lu.assertEvalToFalse(call, path .. " calls pcall, not errors.try")
  end
end

--- Errors of backward name the operation.
function tests.test_every_recorded_operation_has_a_name()
  local found = 0
  for _, path in ipairs(files("src", "c")) do
    for fields in read(path):gmatch "ld_node node = (%b{})" do
      lu.assertStrContains(fields, ".name = ", path)
      found = found + 1
    end
  end
  lu.assertTrue(found > 20)
end

function tests.test_length_of_files()
  for _, path in ipairs(files("src lua scripts tests", "c", "h", "lua")) do
    local _, lines = read(path):gsub("\n", "")
    lu.assertTrue(lines <= MOST_LINES, ("%s has %d lines"):format(path, lines))
  end
end

return tests
