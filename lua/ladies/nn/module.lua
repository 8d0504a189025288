--- Defines what layers and models (modules) have in common. A module is a plain table with a
-- metatable; its parameters are those tensors in it, and in the modules and arrays that it holds,
-- that were made parameters. Any table of tensors with a `forward` is a model just as those of the
-- library.

local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local show = require "ladies.show"
local show_model = require "ladies.show.model"

local module = {}

local function in_order(a, b)
  if type(a) == type(b) then return a < b end
  return type(a) == "number"
end

-- Returns the key of a table as one would write it: ["a"] or [1].
local function index_text(key)
  local text = type(key) == "string" and ("%q"):format(key):gsub("\n", "n") or tostring(key)
  return "[" .. text .. "]"
end

-- Adds a parameter to the list of `found`, which is at the keys `path`, unless it is there already.
local function add(found, tensor, name, path)
  if found.seen[tensor] then return end
  found.seen[tensor] = true
  if found.paths[name] then
    errors.fail(("two parameters have the name %s: model%s and model%s"):format(
      name:gsub("\n", "\\n"), found.paths[name], path))
  end
  found.paths[name] = path
  found.list[#found.list + 1] = {name = name, tensor = tensor}
end

local function collect(t, prefix, path, found)
  if found.seen[t] then return end
  found.seen[t] = true
  local keys = {}
  for key, value in pairs(t) do
    local kind = type(key)
    if (kind == "string" or kind == "number") and
       (type(value) == "table" or options.class_of(value) == "Tensor") then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, in_order)
  for _, key in ipairs(keys) do
    local value, name, place = t[key], prefix .. tostring(key), path .. index_text(key)
    if type(value) == "table" then
      collect(value, name .. ".", place, found)
    elseif value.is_parameter then
      add(found, value, name, place)
    end
  end
end

--- nn.named_parameters(t: table) -> Named[]: the parameters in a table, however deep: an array of
-- {name =, tensor =}. They are the tensors that require a gradient or did, so those that are
-- frozen, by t:requires_grad_(false), are among them: files hold all of these. A name is the path
-- of keys, such as "layers.2.weight"; two parameters of one name are an error. A tensor that the
-- table holds at several places comes once, by its first name. The order is that of the keys,
-- numbers before strings, so it is the same in every run.
function module.named_parameters(t)
  options.value("nn.named_parameters", "the model", t, "table")
  local found = {list = {}, seen = {}, paths = {}}
  collect(t, "", "", found)
  return found.list
end

--- nn.parameters(t: table) -> Tensor[]: what an optimizer takes: in the same order those parameters
-- that require a gradient, that is all but the frozen ones.
function module.parameters(t)
  local list = {}
  for _, parameter in ipairs(module.named_parameters(t)) do
    if parameter.tensor.requires_grad then list[#list + 1] = parameter.tensor end
  end
  return list
end

--- Copies values into a tensor. A frozen parameter that has them already is left alone, since it
-- may be shared with workers.
function module.fill(tensor, values)
  local is_frozen = tensor.is_parameter and not tensor.requires_grad
  if not is_frozen or tensor:hash() ~= values:hash() then tensor:copy_(values) end
end

--- nn.size(t: table) -> integer: the number of elements of all parameters in a table, those of
-- frozen ones among them.
function module.size(t)
  local size = 0
  for _, parameter in ipairs(module.named_parameters(t)) do
    size = size + parameter.tensor.n_rows * parameter.tensor.n_cols
  end
  return size
end

--- Returns `new`, after giving back at once the memory of the intermediate `old` that it was
-- computed from, unless a step owns it: so inference over a whole graph holds few layers at a time.
function module.free_after(old, new)
  if not rawequal(old, new) and not old.in_step then old:release() end
  return new
end

-- Returns a module's description of itself: tostring, with further lines about its layers where its
-- class has `__words`.
local function own_words(t)
  local meta = getmetatable(t)
  local words = rawget(meta, "__words")
  if words then return words(t) end
  return rawget(meta, "__tostring") and tostring(t) or meta.__name:match "[^.]*$"
end

-- Shows a module as a table of its layers, for ladies.show.
local function shown(t, width)
  return show_model.text(own_words(t), module.named_parameters(t), width or show.width())
end

local function shown_as_html(t)
  return show_model.html(own_words(t), module.named_parameters(t))
end

-- Fields that the library reads of any model, but that a model need not have.
local ASKED = "config n_layers:integer layer:function normalize:string lambda:number P "
  .. "takes_rows:function feature_nodes:function"

-- Names that modules have in other libraries, and what to write here instead.
local ELSEWHERE = {
  eval = "forward(..., false), with false for the rng, drops no element",
  train = "ladies.train trains a model, and forward drops elements where it has an rng",
  zero_grad = "the optimizer has clear()",
}

--- ladies.nn.class(name [, fields: string]) -> table: a metatable for a new kind of module: methods
-- go into it, `parameters` and `named_parameters` are there. Make objects with setmetatable({...},
-- class). With `fields`, the names of all fields that they may have, with blanks between, any other
-- is an error when it is read; a type may stand behind a name, as in "hops:integer gain:Tensor".
function module.class(name, names)
  options.value("ladies.nn.class", "the name", name, "string")
  options.value("ladies.nn.class", "the fields", names, "string or nil")
  local class = {
    __name = "ladies.nn." .. name,
    parameters = module.parameters,
    named_parameters = module.named_parameters,
    __show = shown,
    __html = shown_as_html,
  }
  class.__index = class
  return names and fields.of_class(class, names .. " " .. ASKED, ELSEWHERE) or class
end

return module
