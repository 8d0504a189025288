--- Tests the promises of the sources about themselves: which folder may include or require which,
-- headers that compile alone, documentation of every function, files of readable length.

local lu = require "luaunit"
local core = require "ladies_core"
local file_tools = require "tools.files"
local shell = require "tools.shell"

local root = os.getenv "LADIES_SOURCE"
local MOST_LINES = 600

-- The rooms that any room above them may need, each with those of them that it needs itself.
local FOUNDATIONS = {
  ["core/base"] = {},
  ["core/text"] = {},
  ["core/system"] = {"core/base", "core/text"},
  ["core/memory"] = {"core/base", "core/system"},
  ["core/random"] = {"core/base", "core/system"},
  ["core/kernel"] = {"core/base", "core/system", "core/memory", "core/random"},
}

-- A room of src/ may include headers of these, of the foundations and its own, and call their
-- functions.
local MAY_NEED = {
  ["core/tensor"] = {},
  ["core/graph"] = {"core/tensor"},
  ["core/sample"] = {"core/tensor", "core/graph"},
  ["core/grad"] = {"core/tensor", "core/graph"},
  ["core/optim"] = {"core/tensor", "core/graph", "core/grad"},
  ["core/io"] = {},
  ["core/io/archive"] = {"core/io"},
  ["core/io/text"] = {"core/tensor", "core/graph", "core/io", "core/io/archive"},
  ["core/io/array"] = {"core/tensor", "core/graph", "core/io", "core/io/archive"},
  ["core/io/pickle"] = {"core/tensor", "core/graph", "core/io", "core/io/archive", "core/io/array"},
  ["bind/state"] = {"core/tensor", "core/graph", "core/grad"},
  ["bind/tensor"] = {"core/tensor", "core/graph", "core/grad", "bind/state"},
  ["bind/graph"] = {"core/tensor", "core/graph", "core/sample", "core/grad", "bind/state",
    "bind/tensor"},
  ["bind/grad"] = {"core/tensor", "core/graph", "core/grad", "core/optim", "bind/state",
    "bind/tensor", "bind/graph"},
  ["bind/io"] = {"core/tensor", "core/graph", "core/io", "core/io/archive", "core/io/text",
    "core/io/array", "core/io/pickle", "bind/state", "bind/tensor", "bind/graph"},
  ["bind/system"] = {"core/tensor", "core/graph", "bind/state"},
  ["bind/worker"] = {"core/tensor", "core/graph", "core/sample", "core/grad", "bind/state",
    "bind/tensor"},
  core = {"core/tensor", "core/graph", "core/sample", "core/grad", "core/optim", "core/io",
    "core/io/archive", "core/io/text", "core/io/array", "plugins/generate"},
  bind = {"core", "bind/state", "bind/tensor", "bind/graph", "bind/grad", "bind/io", "bind/system",
    "bind/worker", "plugins/generate", "plugins/large"},
  ["plugins/large"] = {"core/tensor", "core/graph", "bind/state", "bind/tensor", "bind/graph"},
  ["plugins/generate"] = {"core/tensor", "core/graph", "bind/state", "bind/tensor", "bind/graph",
    "plugins/large"},
  ["plugins/ranks"] = {"core/tensor", "core/graph", "core/grad", "bind/state", "bind/tensor",
    "bind/graph"},
  host = {"bind", "bind/state"},
}
for _, needs in pairs(MAY_NEED) do
  for room in pairs(FOUNDATIONS) do needs[#needs + 1] = room end
end
for room, needs in pairs(FOUNDATIONS) do MAY_NEED[room] = needs end

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
  for _, place in ipairs{folder, "core", "bind", "plugins"} do
    local path = place .. "/" .. name
    if texts[path] then return path end
  end
end

-- Returns the file of each function that others may call: name -> path. Nobody calls the main of a
-- program.
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

-- Returns for each of some C files what it needs: the headers that it includes, those of Lua as
-- "lua", and, unless it is a header itself, the files that have the functions it names.
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

-- Lists the needs in a table as that of `needs_of` that go against MAY_NEED.
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
  add("bind/state/g.c", '#include "state/bind.h"\nvoid bind_g(void)\n{\n    bind_power(c);\n}')
  add("host/h.c", '#include "grad/tape.h"\n#include "module.h"\n#include "tree.h"')
  add("core/optim/i.c", '#include "grad/tape.h"\n/* ld_choice */ "ld_choice" \'"\'')
  lu.assertEquals(wrong_needs(needs_of(all)), {
    "bind/state/g.c needs bind/tensor/tensor_arguments.c",
    "core/base/a.c needs core/tensor/tensor.h",
    "core/base/b.h needs lua",
    "core/grad/c.c needs core/sample/choice.h",
    "core/grad/c.c needs lua",
    "core/io/d.c needs bind/state/bind.h",
    "core/sample/e.c needs core/grad/tape.c",
    "host/h.c needs core/grad/tape.h",
  })
end

--- The check finds C files of one room that need each other in a circle.
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
    'bind/tensor/bind_index.c: (*c->out[0].index)->data[i] = to_core(c->L, -1, , i + 1);',
    "bind/tensor/bind_tensor.c: t->data[i] = (float)bind_check_number(c->L, 3);",
  })
end

-- The rooms of the Lua half, from the top down: a module requires those of its own room and of
-- rooms below. NAME.* is all that is in a folder and not named before.
local ROOMS = {"experiments.bench.command.*", "experiments.gallery.*", "experiments.search.*",
  "experiments.bench.*",
  "experiments.followers.*", "experiments.paper.*", "experiments.*", "ladies.command.reference.*",
  "ladies", "ladies.command.*", "ladies.prompt.*", "ladies.lab.*", "ladies.study.*",
  "ladies.experiment.*", "ladies.training.*", "ladies.task.*", "ladies.samplers.*",
  "ladies.links.*", "ladies.evaluation.*", "ladies.sampling.*", "ladies.optim.*", "ladies.nn.*",
  "ladies.data", "ladies.data.store.*", "ladies.data.formats.*", "ladies.data.*",
  "ladies.graph.*", "ladies.show", "ladies.show.*", "ladies.report.*", "ladies.ranks.*",
  "ladies.statistics.*", "ladies.base.*"}

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
  for name in text:gmatch '[%s(]require%s*%(?%s*"([%a_][%w_.]*)"' do
    local package = name:match "^[^.]*"
    if package == "ladies" or package == "experiments" then names[#names + 1] = name end
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

-- Lists the requires in a table as that of `modules` that go upwards, or lead to no module.
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
  for name, others in pairs(all) do
    count = count + #others
    for _, other in ipairs(others) do
      lu.assertNil(name:find "^ladies" and other:find "^experiments", name)
    end
  end
  lu.assertTrue(count > 400)
  lu.assertEquals(upward(all), {})
  lu.assertNil(circle(all))
end

--- Both checks do see what is wrong.
function tests.test_upward_requires_and_circles_are_found()
  local all = modules()
  table.insert(all["ladies.sampling.arguments"], "ladies.samplers")
  table.insert(all["ladies.data.checks"], "ladies.data.formats.readers")
  table.insert(all["ladies.data.labels.multi"], "ladies.data")
  table.insert(all["ladies.training.record.log"], "experiments.paper.protocol")
  table.insert(all["ladies.base.json"], "ladies.base.nothing")
  lu.assertEquals(upward(all), {
    "ladies.base.json requires ladies.base.nothing",
    "ladies.data.checks requires ladies.data.formats.readers",
    "ladies.data.labels.multi requires ladies.data",
    "ladies.sampling.arguments requires ladies.samplers",
    "ladies.training.record.log requires experiments.paper.protocol",
  })
  lu.assertNotNil(circle(all))
  lu.assertNil(circle{a = {"b", "c"}, b = {"c"}, c = {}})
  lu.assertEquals(circle{a = {"a"}}, " > a > a")
end

function tests.test_headers_compile_alone()
  if not os.execute "command -v cc >/dev/null" then lu.skip "there is no C compiler" end
  local headers = files("src/core src/plugins/generate src/plugins/large", "h")
  lu.assertTrue(#headers > 15)
  local unit <close> = shell.folder()
  for _, path in ipairs(headers) do
    local source = unit.path .. "/unit.c"
    -- Twice: the second time its guard must keep it out.
    file_tools.write(source, ('#include "%s"\n'):format(path:match "^src/%w+/(.*)"):rep(2))
    local _, message, status = shell.run{"cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror",
      "-fsyntax-only", "-I", root .. "/src/core", "-I", root .. "/src/plugins", source}
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

--- The binding raises by state/error.c alone, which blames the user's line.
function tests.test_errors_of_the_binding()
  for _, path in ipairs(files("src/bind src/plugins", "c")) do
    for word in read(path):gmatch "luaL_%l+" do
      local raises = word == "luaL_error" or word:find "^luaL_arg" or word:find "^luaL_opt"
        or word:find "^luaL_check" and word ~= "luaL_checkstack"
      lu.assertEvalToFalse(raises, path .. " calls " .. word)
    end
  end
end

--- Lua code that catches errors lets interruptions go on: errors.try does, and code that calls
-- pcall raises what was caught once more.
function tests.test_interruptions_are_not_caught()
  local raised_again = {}
  for name in ([[base/errors base/installed command/cli data/formats/tables/file_reader
      data/store/fetch data/store/tar prompt/notebook sampling/init study/runners
      training/batches/iterator training/batches/numbered
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
