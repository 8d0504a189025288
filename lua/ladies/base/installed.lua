--- installed(name): the module of that name from where modules are installed, and from nowhere
-- else: what is called so in the current folder, where Lua looks for scripts' own modules, is none
-- of the library's. Where LUA_PATH or LUA_CPATH leave out the places that Lua itself has, these
-- come last.

local core = require "ladies_core"

-- The places of package.path or package.cpath that are named from the root.
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
