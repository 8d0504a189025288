--- installed(name): the module of that name from where modules are installed, and from nowhere
-- else: what is called so in the current folder, where Lua looks for scripts' own modules, is none
-- of the library's.

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
  package.path, package.cpath = from_the_root(path), from_the_root(cpath)
  local ok, module = pcall(require, name)
  package.path, package.cpath = path, cpath
  if not ok then error(module, 0) end
  return module
end

return installed
