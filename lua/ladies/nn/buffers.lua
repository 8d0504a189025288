--- Buffers: the tensors of a model that are no parameters, such as a running mean that a layer
-- keeps. Gradients do not change them, the model does; so they belong to what is saved, restored
-- and taken up again. A model may put another tensor in the place of one at any time, or make one
-- when it first needs it, so they are looked for anew whenever they are wanted.

local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local Buffers = {__name = "Buffers"}
Buffers.__index = Buffers
fields.of_class(Buffers, "model:table foreign:table")

-- What a model may hold and what is none of its state.
local FOREIGN = {Dataset = true, Graph = true}

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

-- The tensors of the tables in `except`, and these.
local function foreign(except)
  local seen = {}
  for _, t in ipairs(except or {}) do
    if type(t) == "table" then
      local within = {}
      each_tensor(setmetatable(tables.merged(t), nil), "", within, function() end)
      for value in pairs(within) do seen[value] = true end
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

-- Whether a tensor is one; of a closed step it cannot even be asked.
local function is_buffer(tensor)
  local ok, is = errors.try(function() return not tensor.is_parameter and not tensor.in_step end)
  return ok and is
end

-- Calls visit(holder, key, name) for every buffer.
local function each_of(self, visit)
  each_tensor(self.model, "", tables.merged(self.foreign), function(holder, key, name)
    if is_buffer(holder[key]) then visit(holder, key, name) end
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

--- buffers:copies() -> Named[]: copies of all of them.
function Buffers:copies()
  local list = self:list()
  for _, one in ipairs(list) do one.tensor = one.tensor:clone() end
  return list
end

-- The table in t, and the key there, to which the path leads; nil where there is no such table.
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

-- Puts a tensor in place of what is there: its numbers, where they fit.
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
