--- The compiled code of the library's modules is used where it is that of their files, and nowhere
-- else; nobody can tell it from them.

local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local shell = require "tools.shell"

local build = shell.ladies:match "^(.*)/bin/[^/]*$"

local tests = {}

-- A prefix with these files below share/lua/5.4/, compiled; {name = text}.
local function prefix_of(texts)
  local folder = shell.folder()
  local lua, names = folder.path .. "/share/lua/5.4", {}
  core.folder.make(folder.path .. "/share/ladies")
  for name, text in pairs(texts) do
    core.folder.make((lua .. "/" .. name):match "^(.*)/")
    files.write(lua .. "/" .. name, text)
    names[#names + 1] = name
  end
  table.sort(names)                                 -- the code of the last comes last
  local _, message, status = shell.run{build .. "/compile_lua",
    folder.path .. "/share/ladies/modules.luac", lua, table.unpack(names)}
  lu.assertEquals({message, status}, {"", 0})
  return folder, lua, folder.path .. "/share/ladies/modules.luac"
end

-- What the program prints that finds its files there and executes `code`.
local function run(folder, code)
  local out, message, status = shell.run_ladies({"-e", code},
    {env = {"LADIES_HOME=" .. folder.path}})
  lu.assertEquals({message, status}, {"", 0})
  return out
end

-- Code that prints whether the module `name` is taken from what was compiled.
local function is_compiled(name)
  return ("print(#package.searchers == 5 and package.searchers[2] %q ~= nil)"):format(name)
end

local WHERE = [[
local where = {}

function where.line() return debug.getinfo(1, "l").currentline end

function where.fail() error "on line 5" end

return where
]]

--- Every function of every module, with its lines, names and the path of its file.
function tests.test_compiled_code_is_that_of_the_text()
  local texts, count = {}, 0
  local pipe <close> = assert(io.popen(("cd %s && find -L . -name '*.lua'"):format(
    shell.quote(build .. "/share/lua/5.4"))))
  for name in pipe:lines() do
    name, count = name:sub(3), count + 1
    texts[name] = files.read(build .. "/share/lua/5.4/" .. name)
  end
  lu.assertTrue(count > 300)
  local folder <close>, lua = prefix_of(texts)
  local list = {}
  for name in pairs(texts) do list[#list + 1] = ("%q"):format(name) end
  local out = run(folder, ([[
    local lua, same = %q, 0
    for _, name in ipairs{%s} do
      local found, path = package.searchers[2](name:gsub("%%.lua$", ""):gsub("/init$", ""), nil)
      assert(path == lua .. "/" .. name, name)
      assert(string.dump(found) == string.dump(assert(loadfile(path))), name)
      same = same + 1
    end
    print(same)
  ]]):format(lua, table.concat(list, ",")))
  lu.assertEquals(out, count .. "\n")
end

function tests.test_an_edited_file_is_used_at_once()
  local folder <close>, lua, compiled = prefix_of{["ladies/init.lua"] = "return {}",
    ["ladies/where.lua"] = WHERE}
  local code = [[
    local where = require "ladies.where"
    print(where.line(), select(2, pcall(where.fail)), debug.getinfo(where.fail, "S").source)]]
  local path = lua .. "/ladies/where.lua"
  lu.assertEquals(run(folder, is_compiled "ladies.where"), "true\n")
  lu.assertEquals(run(folder, code), ("3\t%s:5: on line 5\t@%s\n"):format(path, path))
  files.write(path, (WHERE:gsub("local where = {}\n\n", "\n\nlocal where={}\n"):sub(1, #WHERE)))
  lu.assertEquals(run(folder, is_compiled "ladies.where"), "false\n")
  lu.assertEquals(run(folder, code), ("4\t%s:6: on line 5\t@%s\n"):format(path, path))
  files.write(path, (WHERE:gsub("on line 5", "on line V")))           -- as long as it was
  lu.assertEquals(run(folder, is_compiled "ladies.where"), "false\n")
  lu.assertEquals(run(folder, code), ("3\t%s:5: on line V\t@%s\n"):format(path, path))
  files.write(path, WHERE)
  lu.assertEquals(run(folder, is_compiled "ladies.where"), "true\n")
  os.remove(compiled)
  lu.assertEquals(run(folder, is_compiled "ladies.where"), "false\n")
  lu.assertEquals(run(folder, code), ("3\t%s:5: on line 5\t@%s\n"):format(path, path))
end

function tests.test_a_module_from_elsewhere_is_not_the_compiled_one()
  local folder <close>, lua = prefix_of{["ladies/init.lua"] = "return {}",
    ["ladies/where.lua"] = WHERE, ["ladies/gone.lua"] = "return 1"}
  local other <close> = shell.folder()
  core.folder.make(other.path .. "/ladies")
  files.write(other.path .. "/ladies/where.lua", "return 'elsewhere'")
  lu.assertEquals(run(folder, ([[
    package.path = "%s/?.lua;" .. package.path
    print(package.searchers[2] "ladies.where", (require "ladies.where"))]]):format(other.path)),
    "nil\telsewhere\n")
  os.remove(lua .. "/ladies/gone.lua")
  lu.assertStrContains(run(folder, "print(select(2, pcall(require, 'ladies.gone')))"),
    "module 'ladies.gone' not found")
end

--- Whatever has happened to the file, the modules are those of the text.
function tests.test_a_damaged_file_is_not_used()
  local folder <close>, _, compiled = prefix_of{["ladies/init.lua"] = "return {}",
    ["ladies/where.lua"] = WHERE}
  local whole, refused = files.read(compiled), 0
  local code = [[
    local where = require "ladies.where"
    print(where.line(), (select(2, pcall(where.fail)):match ":5: on line 5$"))]]
    .. is_compiled "ladies.where"
  for at = 1, #whole, 9 do
    files.write(compiled, whole:sub(1, at - 1) .. string.char(whole:byte(at) ~ 1 << at % 8)
      .. whole:sub(at + 1))
    local line, used = run(folder, code):match "^(%C*\t%C*)\n(%a+)\n$"
    lu.assertEquals(line, "3\t:5: on line 5", at)
    if used == "false" then refused = refused + 1 end
  end
  lu.assertTrue(refused > 30)
  for _, length in ipairs{0, 1, 23, 24, 100, 200, #whole // 2, #whole - 1} do
    files.write(compiled, whole:sub(1, length))
    lu.assertEquals(run(folder, code), "3\t:5: on line 5\nfalse\n")
  end
end

return tests
