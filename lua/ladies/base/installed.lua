--- installed(name): loads a module from the places where modules are installed and returns it. A
-- file of that name in the current folder, where Lua also looks for modules, is ignored: it belongs
-- to the user's script and not to the library. Where LUA_PATH or LUA_CPATH leave out the places
-- that Lua itself has, these come last.

local core = require "ladies_core"

-- Returns those parts of package.path or package.cpath that are absolute paths.
local function from_the_root(places)
  local list = {}
  for place in places:gmatch "[^;]+" do
    if place:find "^/" then list[#list + 1] = place end
  end
  return table.concat(list, ";")
end

local function installed(name)
  local path, cpath = package.path, package.cpath
  local lua_path, lua_cpath = core.default_places()
  package.path = from_the_root(path .. ";" .. lua_path)
  package.cpath = from_the_root(cpath .. ";" .. lua_cpath)
  local ok, module = pcall(require, name)
  package.path, package.cpath = path, cpath
  if not ok then error(module, 0) end
  return module
end

return installed
