--- Looks up the members of values without running any code, since a metamethod __index may be the
-- user's.

local members = {}

local MOST = 100   -- a chain of __index may be a ring

--- Returns the member value[key], looked up with rawget in the value, in __index tables,
-- `__methods` and `__load`; or nil.
function members.get(value, key)
  for _ = 1, MOST do
    local meta = debug.getmetatable(value)
    if type(value) == "table" then
      local found = rawget(value, key)
      if found ~= nil then return found end
    end
    if type(meta) ~= "table" then return nil end
    if rawget(meta, "__load") then return meta.__load(key) end
    local methods, index = rawget(meta, "__methods"), rawget(meta, "__index")
    if type(methods) == "table" and rawget(methods, key) ~= nil then return rawget(methods, key) end
    if type(index) ~= "table" then return nil end
    value = index
  end
end

--- Returns the value of a path of names such as "data.graph" in the table `env`; or nil.
function members.at(env, path)
  local value = env
  for name in path:gmatch "[^.]+" do
    if value == nil then return nil end
    value = members.get(value, name)
  end
  return value
end

--- Calls add(name, member) for every name that can follow `value` after a dot or colon. For fields
-- that only the class lists, in `__fields`, the member is true.
function members.each(value, add)
  local function each(t)
    for key, member in next, t do add(key, member) end
  end
  for _ = 1, MOST do
    if type(value) == "table" then each(value) end
    local meta = debug.getmetatable(value)
    if type(meta) ~= "table" then return end
    local fields, methods, index = rawget(meta, "__fields"), rawget(meta, "__methods"),
      rawget(meta, "__index")
    if type(methods) == "table" then each(methods) end
    if type(fields) == "table" then
      for _, name in ipairs(fields) do add(name, true) end
    end
    if type(index) ~= "table" then return end
    value = index
  end
end

--- Tells whether a value can be called.
function members.is_callable(value)
  local meta = debug.getmetatable(value)
  return type(value) == "function" or (type(meta) == "table" and rawget(meta, "__call") ~= nil)
end

--- Tells whether a value is a module or a class of this library, or a standard library of Lua.
function members.is_module(value)
  local meta = debug.getmetatable(value)
  if type(value) ~= "table" then return false end
  if type(meta) == "table" and rawget(meta, "__module") then return true end
  for _, loaded in pairs(package.loaded) do
    if rawequal(loaded, value) then return true end
  end
  return false
end

return members
