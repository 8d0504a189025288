--- Finds the buffers of a model, its tensors that are no parameters, such as a running mean that a
-- layer keeps. The model itself changes them, so they must be saved and restored with the
-- parameters. Since a model may replace a buffer at any time, or make one when it first needs it,
-- buffers are looked for anew whenever they are wanted.
--
-- By default every tensor that is not a parameter counts as a buffer, even a constant or a cache.
-- Where a table has declared some of its tensors by nn.buffer, only these are its buffers.

local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local Buffers = {__name = "Buffers"}
Buffers.__index = Buffers
fields.of_class(Buffers, "model:table foreign:table")

-- Classes whose objects a model may hold without their tensors being buffers.
local FOREIGN = {Dataset = true, Graph = true}

-- The names that tables have declared by nn.buffer: table -> name -> true.
local declared = setmetatable({}, {__mode = "k"})

--- nn.buffer(t: table, name: string, tensor: Tensor) -> Tensor: makes a tensor the buffer of this
-- name of a model or a layer, at t[name]: files and checkpoints hold it, no optimizer changes it,
-- and the model may put another in its place at any time. From the first such call on, the other
-- tensors that t holds itself count as constants or caches and are not saved any more; tables in t
-- declare their own. Returns the tensor.
function Buffers.declare(t, name, tensor)
  options.value("nn.buffer", "the table", t, "table")
  options.value("nn.buffer", "the name", name, "string")
  options.value("nn.buffer", "the tensor", tensor, "Tensor")
  if tensor.is_parameter then
    errors.fail(("nn.buffer: %s is a parameter, which an optimizer changes; a buffer is none")
      :format(name))
  elseif tensor.in_step then
    errors.fail(("nn.buffer: %s was computed in a step; :detach() gives a copy that stays"):format(
      name))
  end
  declared[t] = declared[t] or {}
  declared[t][name] = true
  rawset(t, name, tensor)
  return tensor
end

-- Tells whether the tensor at a key of a table may be a buffer.
local function may_be(t, key)
  return not declared[t] or declared[t][key] == true
end

-- Calls visit(holder, key, name) for every tensor in a table, however deep, that `seen` lacks; in
-- an order that is the same in every run.
local function each_tensor(t, prefix, seen, visit)
  if seen[t] or FOREIGN[options.class_of(t)] then return end
  seen[t] = true
  local keys = {}
  for key in next, t do
    if type(key) == "string" or math.type(key) == "integer" then keys[key] = true end
  end
  for _, key in ipairs(tables.sorted_keys(keys)) do
    local value = rawget(t, key)
    if type(value) == "table" then
      each_tensor(value, prefix .. tostring(key) .. ".", seen, visit)
    elseif not seen[value] and options.class_of(value) == "Tensor" then
      seen[value] = true
      visit(t, key, prefix .. tostring(key))
    end
  end
end

-- Returns the set of tables in the array `except`, and of the tensors in them, which are not looked
-- at.
local function foreign(except)
  local seen = {}
  for i = 1, except and rawlen(except) or 0 do   -- an __index of theirs might never end
    local t = rawget(except, i)
    if type(t) == "table" and not seen[t] then
      each_tensor(setmetatable(tables.merged(t), nil), "", seen, function() end)
      seen[t] = true
    end
  end
  return seen
end

--- nn.buffers(model: table [, except: table]) -> Buffers: the tensors in a model, however deep,
-- that are no parameters: buffers:list() has them as they are now, and ladies.checkpoint saves and
-- restores them. A data set that the model holds is not looked into, and what is in the tables of
-- the array `except` is left out, as are tensors of a step.
function Buffers.new(model, except)
  options.value("nn.buffers", "the model", model, "table")
  options.value("nn.buffers", "except", except, "table or nil")
  return setmetatable({model = model, foreign = foreign(except)}, Buffers)
end

-- Tells whether a tensor is a buffer: it is no parameter and belongs to no step. (Reading the
-- fields of a tensor of a step that is over raises an error; such a tensor is not a buffer.)
local function is_buffer(tensor)
  local ok, is = errors.try(function() return not tensor.is_parameter and not tensor.in_step end)
  return ok and is
end

-- Calls visit(holder, key, name) for every buffer.
local function each_of(self, visit)
  each_tensor(self.model, "", tables.merged(self.foreign), function(holder, key, name)
    if may_be(holder, key) and is_buffer(holder[key]) then visit(holder, key, name) end
  end)
end

--- buffers:list() -> Named[]: an array of {name =, tensor =}; names are those that parameters would
-- have, paths of keys with dots between.
function Buffers:list()
  local list = {}
  each_of(self, function(holder, key, name)
    list[#list + 1] = {name = name, tensor = holder[key]}
  end)
  return list
end

--- buffers:copies() -> Named[]: returns copies of all buffers.
function Buffers:copies()
  local list = self:list()
  for _, one in ipairs(list) do one.tensor = one.tensor:clone() end
  return list
end

-- Follows a path of keys in t; returns the last table and the key there, or nil where there is no
-- such table.
local function place_of(t, path)
  local before, behind = path:match "^(.-)%.(.*)$"
  while before do
    local value = rawget(t, before) or rawget(t, math.tointeger(tonumber(before)))
    if type(value) == "table" then
      local holder, key = place_of(value, behind)
      if holder then return holder, key end
    end
    local more
    more, behind = behind:match "^(.-)%.(.*)$"
    before = more and before .. "." .. more
  end
  if path:find(".", 1, true) then return nil end
  local number = math.tointeger(tonumber(path))
  return t, rawget(t, path) == nil and number or path
end

-- Sets a buffer: copies the numbers into the tensor that is there if its shape fits, and otherwise
-- puts a copy in its place.
local function put(holder, key, tensor)
  local old = rawget(holder, key)
  if options.class_of(old) == "Tensor" and old.ndim == tensor.ndim and old.n_rows == tensor.n_rows
      and old.n_cols == tensor.n_cols and is_buffer(old) then
    if old:hash() == tensor:hash() or errors.try(old.copy_, old, tensor) then return end
  end
  rawset(holder, key, tensor:clone())
end

--- buffers:restore(named: Named[], where: string): puts tensors, as list() or copies() gave them,
-- into the model, also where it has not made them yet. Errors begin with `where`.
function Buffers:restore(named, where)
  options.value("buffers:restore", "where", where, "string")
  local places = {}
  each_of(self, function(holder, key, name) places[name] = {holder, key} end)
  for i, one in ipairs(options.value(where, "the tensors", named, "array of tables")) do
    options.value(where, ("name of tensor %d"):format(i), one.name, "string")
    options.value(where, ("tensor %d"):format(i), one.tensor, "Tensor")
    local place = places[one.name] or {place_of(self.model, one.name)}
    if not place[1] then
      errors.fail(("%s has the tensor %s, for which the model has no place: it is of another model")
        :format(where, one.name))
    end
    put(place[1], place[2], one.tensor)
  end
end

return Buffers
