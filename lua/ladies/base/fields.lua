--- Makes classes and modules raise an error, which suggests the nearest name, when a script reads a
-- field that they do not have; the classes of the C core do so themselves.

local errors = require "ladies.base.errors"

local fields = {}

local function is_meta(key) return type(key) == "string" and key:find "^__" ~= nil end

-- Raises the error for a key that `owner` does not have. The keys of the tables that follow are
-- what it has; `hints`, if given, maps names to advice on what to use instead.
local function fail(owner, what, hints, key, ...)
  if hints and hints[key] then
    errors.fail(('%s has no %s "%s"; %s'):format(owner, what, key, hints[key]))
  end
  local names = {}
  for _, members in ipairs{...} do
    for name in next, members do
      if type(name) == "string" and not is_meta(name) then names[#names + 1] = name end
    end
  end
  table.sort(names)
  local nearest = require("ladies.base.options").nearest   -- not loaded before somebody errs
  local near = type(key) == "string" and nearest(key, names)
  errors.fail(('%s has no %s %s%s'):format(owner, what,
    (type(key) == "string" and '"%s"' or "[%s]"):format(tostring(key)),
    near and ('; did you mean "%s"?'):format(near) or ""))
end

--- Makes it an error to read a field that objects of this class lack; the class is a metatable that
-- is its own __index and has a __name. `names`, a text with blanks between, are their fields: one
-- that an object has not is nil there. A type may follow a name, as in "n_nodes:integer
-- labels:Index|Tensor". `hints` say by name what to do in place of what other libraries have.
-- Returns the class, in which it leaves the names as __fields and types by name as __field_types.
function fields.of_class(class, names, hints)
  local known = {}
  class.__fields, class.__field_types = {}, {}
  for name, type_text in names:gmatch "([%w_]+):?(%S*)" do
    known[name] = true
    table.insert(class.__fields, name)
    if type_text ~= "" then class.__field_types[name] = type_text end
  end
  return setmetatable(class, {__module = class.__name, __index = function(_, key)
    if known[key] or is_meta(key) then return nil end
    fail(class.__name:match "[^.]*$", "field or method", hints, key, class, known)
  end})
end

--- Makes it an error to read a field that a module (a table, called `name` in messages) lacks;
-- returns the module. Where there is `later`, name -> anything, members of these names are loaded
-- when they are first looked up: load(name) puts one there and returns it. pairs goes over all.
function fields.of_module(name, module, later, load)
  local meta = {__module = name, __fields = {}}
  for key in pairs(later or {}) do table.insert(meta.__fields, key) end

  function meta.__load(key)
    return later and later[key] and load(key)
  end

  function meta.__index(_, key)
    return meta.__load(key) or fail(name, "field", nil, key, module, later or {})
  end

  function meta.__pairs()
    for _, key in ipairs(meta.__fields) do
      if rawget(module, key) == nil then load(key) end
    end
    return next, module
  end

  return setmetatable(module, meta)
end

--- Tells whether a value is a module, a table of functions, values and other such tables, or a
-- class; an object is neither.
function fields.is_module(value)
  local meta = type(value) == "table" and (getmetatable(value) or {__module = true})
  return meta and rawget(meta, "__module") ~= nil
end

return fields
