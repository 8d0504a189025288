--- annotations(): the whole library as a Lua file of LuaLS annotations, from its docstrings and the
-- types that it checks; and an array of what in it has no type.

local core = require "ladies_core"
local help = require "ladies.prompt.help"
local results = require "ladies.command.reference.results"
local signature = require "ladies.command.reference.signature"
local topics = require "ladies.command.reference.topics"
local types = require "ladies.command.reference.types"

local HEAD = [[
---@meta ladies
-- Made by `ladies reference --annotations` from the docstrings that ladies.help shows.

---@class ladies
---@field version string
local ladies = {}

---@class ladies.Block
---@field adj ladies.Matrix
---@field dst ladies.Index
---@field src ladies.Index

---@class ladies.MiniBatch
---@field blocks ladies.Block[]
---@field input ladies.Index
---@field output ladies.Index
---@field loss_nodes? ladies.Index
---@field loss_weight? ladies.Tensor
---@field after_step? fun(batch: ladies.MiniBatch, model: ladies.Model)

---@alias ladies.Sampler fun(seeds: ladies.Index, rng: ladies.Rng): ladies.MiniBatch
---@alias ladies.Batches fun(): ladies.MiniBatch

---@class ladies.Named
---@field name string
---@field tensor ladies.Tensor

---@class ladies.Module
---@field parameters fun(self: ladies.Module): ladies.Tensor[]
---@field named_parameters fun(self: ladies.Module): ladies.Named[]
---@field forward fun(self: ladies.Module, ...): ladies.Tensor

---@class ladies.Model: ladies.Module
---@field n_layers integer

---@class ladies.Alias

---@class ladies.Array

---@class ladies.Figure

---@class ladies.Lock
]]

-- The operators that LuaLS knows, by their metamethods; [] is a field of the class.
local OPERATORS = {
  __add = "add", __sub = "sub", __mul = "mul", __div = "div", __idiv = "idiv", __mod = "mod",
  __pow = "pow", __unm = "unm", __concat = "concat", __len = "len",
}

local function comment(text) return "---" .. text:gsub("\n", "\n---") end

-- What is being written: lines, and what has no type.
local function writer()
  local out = {lines = {}, untyped = {}}
  function out.add(format, ...) out.lines[#out.lines + 1] = format:format(...) end
  function out.type(type_text, what)
    if not type_text then out.untyped[#out.untyped + 1] = what end
    return type_text or "any"
  end
  return out
end

-- The options of a function as a class of their own; its name, or "table" for none.
local function add_options(out, entry, parameters, class_name, name)
  local list = types.of_options(entry, parameters, class_name, help.options(entry.value))
  if #list == 0 then return "table" end
  local class = entry.name:gsub(":", ".") .. "." .. name
  out.add("---@class %s", class)
  for _, option in ipairs(list) do
    out.add("---@field %s%s %s", option.name, option.optional and "?" or "",
      out.type(option.type, entry.name .. ">" .. option.name))
  end
  out.add ""
  return class
end

local function add_results(out, entry, form)
  local list = results.of(entry.name, form, core.docs[entry.value] ~= nil)
  for _, one in ipairs(list or {out.type(nil, entry.name .. " -> ?")}) do
    out.add("---@return %s", one)
  end
end

local function add_function(out, entry, class_name)
  local form = signature.of(entry.value, entry.is_method)
  local names, typed = {}, {}
  for i, parameter in ipairs(form.parameters) do
    names[i] = parameter.name
    typed[i] = parameter.is_options and add_options(out, entry, form.parameters, class_name, "opts")
      or out.type(types.of_parameter(entry.name, parameter.name, parameter.text),
        entry.name .. ">" .. parameter.name)
  end
  out.add("%s", comment(help.documentation(entry.value)))
  for i, parameter in ipairs(form.parameters) do
    local mark = parameter.optional and parameter.name ~= "..." and "?" or ""
    out.add("---@param %s%s %s", parameter.name, mark, typed[i])
  end
  add_results(out, entry, form)
  out.add("function %s(%s) end\n", entry.name, table.concat(names, ", "))
end

local function add_operator(out, class_name, operator)
  local result = operator.text:match "%-> ([^\n]*)"
  local type_text = result and types.of_text(result)
  if operator.name == "__index" then
    out.add("---@field [integer] %s", out.type(type_text, class_name .. "[]"))
  elseif OPERATORS[operator.name] then
    local operand = types.of_operand(class_name, operator.name)
    out.add("---@operator %s%s: %s", OPERATORS[operator.name],
      operand and ("(%s)"):format(operand) or "", out.type(type_text, operator.text))
  end
end

local function add_class(out, section)
  out.add("---@class ladies.%s", section.name)
  for _, field in ipairs(section.class.__fields) do
    local what = section.name .. "." .. field
    out.add("---@field %s? %s", field, out.type(types.of_field(section.name, field), what))
  end
  for _, operator in ipairs(help.operators(section.class)) do
    add_operator(out, section.name, operator)
  end
  out.add("local %s = {}\n", section.name)
end

local function add_section(out, section)
  if section.class then
    add_class(out, section)
  elseif section.name then
    out.add("%s = {}\n", section.name)
  end
  for _, entry in ipairs(section.entries) do add_function(out, entry, section.name) end
end

return function()
  local out = writer()
  for _, topic in ipairs(topics()) do
    for _, section in ipairs(topic.sections) do
      local is_ours = not section.name or section.class or section.name:find "^ladies%."
      if is_ours then add_section(out, section) end
    end
  end
  out.add "return ladies"
  return HEAD .. "\n" .. table.concat(out.lines, "\n") .. "\n", out.untyped
end
