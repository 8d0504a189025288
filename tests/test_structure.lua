--- What the sources promise about themselves: which folder may include or require which, headers
-- that compile alone, documentation of every function, files of readable length.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

local lu = require "luaunit"
local core = require "ladies_core"
local shell = require "tools.shell"

local root = os.getenv "LADIES_SOURCE" or here .. "/.."
local MOST_LINES = 600

-- A folder of src/ may include headers of these, and of itself.
local MAY_INCLUDE = {
  ["core/base"] = {},
  ["core/tensor"] = {"core/base"},
  ["core/graph"] = {"core/base", "core/tensor"},
  ["core/sample"] = {"core/base", "core/tensor", "core/graph"},
  ["core/grad"] = {"core/base", "core/tensor", "core/graph"},
  ["core/optim"] = {"core/base", "core/tensor", "core/graph", "core/grad"},
  ["core/io"] = {"core/base"},
  ["core/io/archive"] = {"core/base", "core/io"},
  ["core/io/text"] = {"core/base", "core/tensor", "core/graph", "core/io", "core/io/archive"},
  ["core/io/array"] = {"core/base", "core/tensor", "core/graph", "core/io", "core/io/archive"},
  ["core/io/pickle"] = {"core/base", "core/tensor", "core/graph", "core/io", "core/io/archive",
    "core/io/array"},
  bind = {"core/base", "core/tensor", "core/graph", "core/sample", "core/grad", "core/optim",
    "core/io", "core/io/archive", "core/io/text", "core/io/array", "core/io/pickle"},
  host = {"core/base", "bind"},
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

local function read(path)
  local file <close> = assert(io.open(root .. "/" .. path, "rb"))
  return file:read "a"
end

-- The names in a text's #include lines.
local function includes(text)
  local names = {}
  for name in ("\n" .. text):gmatch '\n%s*#%s*include%s*[<"]([^>"\n]+)[>"]' do
    names[#names + 1] = name
  end
  return names
end

-- The folder of src/ that has the header `name`, included by a file of `folder`; nil for those of
-- the system.
local function folder_of(name, folder)
  local of_core = "core/" .. (name:match "^(.*)/" or "")
  if MAY_INCLUDE[of_core] then return of_core end
  for _, own in ipairs{folder, "bind"} do
    local file = io.open(("%s/src/%s/%s"):format(root, own, name))
    if file then
      file:close()
      return own
    end
  end
end

-- Complaints about the includes of a file with this path (below src/) and text.
local function complaints(path, text)
  local folder, found = path:match "^(.*)/", {}
  local allowed = {[folder] = true}
  lu.assertNotNil(MAY_INCLUDE[folder], "an unknown folder: " .. folder)
  for _, other in ipairs(MAY_INCLUDE[folder]) do allowed[other] = true end
  for _, name in ipairs(includes(text)) do
    local from = folder_of(name, folder)
    local lua = name:match "^lua" or name:match "^lauxlib"
    if from and not allowed[from] or lua and folder:find "^core/" then
      found[#found + 1] = path .. " includes " .. name
    end
  end
  return found
end

function tests.test_direction_of_includes()
  local all, checked = files("src", "c", "h"), 0
  lu.assertTrue(#all > 50)
  for _, path in ipairs(all) do
    local text = read(path)
    checked = checked + #includes(text)
    lu.assertEquals(complaints(path:match "^src/(.*)", text), {})
  end
  lu.assertTrue(checked > 200)
end

--- The check above does see what is wrong.
function tests.test_wrong_includes_are_found()
  local function found(path, line) return #complaints(path, "/* text */\n" .. line .. "\n") end
  lu.assertEquals(found("core/base/x.c", '#include "tensor/tensor.h"'), 1)
  lu.assertEquals(found("core/base/x.c", '#include <lua.h>'), 1)
  lu.assertEquals(found("core/grad/x.c", ' #  include "lauxlib.h"'), 1)
  lu.assertEquals(found("core/grad/x.c", '#include "sample/choice.h"'), 1)
  lu.assertEquals(found("core/sample/x.c", '#include "grad/tape.h"'), 1)
  lu.assertEquals(found("core/io/x.c", '#include "optim/optimizer.h"'), 1)
  lu.assertEquals(found("core/io/x.c", '#include "bind.h"'), 1)
  lu.assertEquals(found("bind/x.c", '#include "repl.h"'), 0)      -- bind has no such header
  lu.assertEquals(found("host/x.c", '#include "grad/tape.h"'), 1)
  lu.assertEquals(found("host/x.c", '#include "bind.h"\n#include "tree.h"\n#include <lua.h>'), 0)
  lu.assertEquals(found("core/optim/x.c", '#include "grad/tape.h"\n#include <math.h>'), 0)
end

-- The rooms of the Lua half, from the top down: a module requires those of its own room and of
-- rooms below. NAME.* is all that is in a folder and not named before.
local ROOMS = {"ladies_paper", "ladies_paper.*", "ladies", "ladies.command.*", "ladies.prompt.*",
  "ladies.study.*", "ladies.experiment.*", "ladies.training.*", "ladies.samplers.*",
  "ladies.evaluation.*", "ladies.sampling.*", "ladies.optim.*", "ladies.nn.*", "ladies.data",
  "ladies.data.store.*", "ladies.data.formats.*", "ladies.data.*", "ladies.graph.*",
  "ladies.report.*", "ladies.base.*"}

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

-- The modules that require each other in a circle, the first such circle of a table; nil if none.
local function circle(requires)
  local state = {}
  local function visit(name, path)
    if state[name] == "done" then return nil end
    path = path .. " > " .. name
    if state[name] == "open" then return path end
    state[name] = "open"
    for _, other in ipairs(requires[name] or {}) do
      local found = visit(other, path)
      if found then return found end
    end
    state[name] = "done"
  end
  for name in pairs(requires) do
    local found = visit(name, "")
    if found then return found end
  end
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
  table.insert(all["ladies.sampling.square"], "ladies.samplers")
  table.insert(all["ladies.data.checks"], "ladies.data.formats.readers")
  table.insert(all["ladies.data.labels.multi"], "ladies.data")
  table.insert(all["ladies.training.log"], "ladies_paper.protocol")
  table.insert(all["ladies.base.json"], "ladies.base.nothing")
  lu.assertEquals(upward(all), {
    "ladies.base.json requires ladies.base.nothing",
    "ladies.data.checks requires ladies.data.formats.readers",
    "ladies.data.labels.multi requires ladies.data",
    "ladies.sampling.square requires ladies.samplers",
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
