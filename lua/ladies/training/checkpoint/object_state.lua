--- Writes the states of objects to a checkpoint and reads them. An object has the methods state(),
-- which returns plain data, and load_state(state), which restores it. Plain data are numbers
-- (infinities and NaN among them), strings, booleans, Tensors, Indexes, and tables of such by
-- strings or integers, however deep.
--
--   state.NAME        the state of the object of that name, as JSON text of tagged values
--   tensor.NAME.I     its I-th Tensor or Index

local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local object_state = {}

--- The end of messages about a run that lacks what the script that began it gave to ladies.train.
object_state.BY_ITS_SCRIPT = "; the script that began it goes on with it (resume = true)"

local encode

-- Encodes a table as an array of keys and values, in an order that is the same in every run.
local function encode_table(t, found)
  local keys, list = {}, {}
  for key in pairs(t) do
    if math.type(key) ~= "integer" and type(key) ~= "string" then
      found:fail(("a key that is a %s"):format(type(key)))
    end
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  found.depth = found.depth + 1
  if found.depth > 100 then found:fail "tables more than 100 deep" end
  for _, key in ipairs(keys) do
    list[#list + 1], list[#list + 2] = encode(key, found), encode(t[key], found)
  end
  found.depth = found.depth - 1
  return list
end

-- Encodes a value as {tag, content}.
function encode(value, found)
  local kind, class = type(value), options.class_of(value)
  if kind == "string" then return {"string", value} end
  if kind == "boolean" then return {"boolean", value} end
  if math.type(value) == "integer" then return {"integer", ("%d"):format(value)} end
  if kind == "number" then return {"float", ("%a"):format(value)} end
  if class == "Tensor" or class == "Index" then
    found.objects[#found.objects + 1] = value
    return {class, #found.objects}
  end
  if kind == "table" and not class then return {"table", encode_table(value, found)} end
  found:fail("a " .. (class or kind))
end

local NOT_FINITE = {inf = math.huge, ["-inf"] = -math.huge, nan = 0 / 0, ["-nan"] = -(0 / 0)}

local decode = {
  string = function(text) return text end,
  boolean = function(flag) return flag end,
  integer = function(text) return math.tointeger(tonumber(text)) end,
  float = function(text) return NOT_FINITE[text] or tonumber(text) end,
  Tensor = function(i, source) return source.file:tensor(source.prefix .. i) end,
  Index = function(i, source) return source.file:index(source.prefix .. i) end,
}

local CONTENT = {string = "string", boolean = "boolean", integer = "string", float = "string",
  Tensor = "integer", Index = "integer", table = "table"}

-- Decodes a tagged value, {tag, content}; anything else is an error.
local function decoded(tagged, source)
  local kind = type(tagged) == "table" and CONTENT[tagged[1]]
  local content = kind and tagged[2]
  local value
  if kind and (type(content) == kind or math.type(content) == kind) then
    value = decode[tagged[1]](content, source)
  end
  if value == nil then errors.fail(source.where .. " holds what no state is written as") end
  return value
end

function decode.table(list, source)
  local t = {}
  for i = 1, #list, 2 do
    local key = decoded(list[i], source)
    if key ~= key then errors.fail(source.where .. ": NaN is no key") end
    t[key] = decoded(list[i + 1], source)
  end
  return t
end

--- Tells whether a value has a method; some raise errors for names that they lack.
function object_state.has_method(object, name)
  local ok, method = errors.try(function() return object[name] end)
  return ok and type(method) == "function"
end

--- Tells whether a value has the methods state and load_state.
function object_state.is_kept(object)
  return object_state.has_method(object, "state")
    and object_state.has_method(object, "load_state")
end

--- Adds the states of objects, a table by name, to the table `arrays` of a checkpoint.
function object_state.put(arrays, objects)
  for name, object in pairs(objects) do
    local found = {objects = {}, depth = 0, fail = function(_, what)
      errors.fail(("the state of %s holds %s, which a checkpoint does not: numbers, strings, "
        .. "booleans, Tensors, Indexes and tables of them"):format(name, what))
    end}
    arrays["state." .. name] = json.encode(encode(object:state(), found))
    for i, held in ipairs(found.objects) do arrays[("tensor.%s.%d"):format(name, i)] = held end
  end
end

--- Restores the states of objects, a table by name, from an open npz file at `path`. A state that
-- the file lacks, or one without an object, is an error, which changes no object.
function object_state.get(file, path, objects)
  for _, name in ipairs(tables.sorted_keys(objects)) do
    if not file:has("state." .. name) then
      errors.fail(("%s has no state of %s: it is of another run"):format(path, name))
    end
  end
  for _, member in ipairs(file:names()) do
    local name = member:match "^state%.(.*)"
    if name and not objects[name] then
      errors.fail(("%s has the state of %s, for which there is no object%s"):format(path, name,
        name:find "^given%." and object_state.BY_ITS_SCRIPT or ""))
    end
  end
  for _, name in ipairs(tables.sorted_keys(objects)) do
    local where = ("%s: state.%s"):format(path, name)
    objects[name]:load_state(decoded(json.decode(file:text("state." .. name), where),
      {file = file, prefix = ("tensor.%s."):format(name), where = where}))
  end
end

return object_state
