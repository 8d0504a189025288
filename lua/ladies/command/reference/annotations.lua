--- Makes a Lua file of LuaLS annotations for the whole library, from its docstrings and the types
-- that it checks. annotations() returns the text, and an array of complaints about what has no
-- type.

local declared = require "ladies.command.reference.declared"
local help = require "ladies.prompt.help"
local signature = require "ladies.command.reference.signature"
local tables = require "ladies.base.tables"
local topics = require "ladies.command.reference.topics"
local types = require "ladies.command.reference.types"

local HEAD = [[
---@meta ladies
-- Made by `ladies reference --annotations` from the docstrings that ladies.help shows.

---@class ladies
---@field version string
local ladies = {}
]]

-- Names of operators in LuaLS by their metamethods; indexing is written as a field of the class
-- instead.
local OPERATORS = {
  __add = "add", __sub = "sub", __mul = "mul", __div = "div", __idiv = "idiv", __mod = "mod",
  __pow = "pow", __unm = "unm", __concat = "concat", __len = "len",
}

local MOST_QUOTED = 40   -- letters of a docstring in a complaint

local function comment(text) return "---" .. text:gsub("\n", "\n---") end

-- Makes a writer, which collects lines of the file, and complaints about what has no type.
local function writer()
  local out = {lines = {}, untyped = {}}
  function out.add(format, ...) out.lines[#out.lines + 1] = format:format(...) end
  -- Returns a type; where there is none, "any", after noting a complaint for the author of the
  -- function.
  function out.type(type_text, format, ...)
    if not type_text then out.untyped[#out.untyped + 1] = format:format(...) end
    return type_text or "any"
  end
  return out
end

-- Returns the name of a function and, for one in Lua, its place in the source.
local function who(entry)
  local info = debug.getinfo(entry.value, "S")
  if info.what == "C" then return entry.name end
  return ("%s (%s:%d)"):format(entry.name, info.source:match "[^/]*$", info.linedefined)
end

-- Writes the options of a function as a class of their own; returns its name, or "table" where
-- there are no options.
local function add_options(out, entry, form, class_name)
  local list = types.of_options(entry, form, class_name, help.options(entry.value))
  if #list == 0 then return "table" end
  local class = entry.name:gsub(":", ".") .. ".opts"
  out.add("---@class %s", class)
  for _, option in ipairs(list) do
    out.add("---@field %s%s %s", option.name, option.optional and "?" or "", out.type(option.type,
      '%s: what is option "%s"? Write "%s = TYPE", or its default, into the braces of the ' ..
      "signature in its docstring", who(entry), option.name, option.name))
  end
  out.add ""
  return class
end

local function add_parameters(out, entry, form, class_name)
  local typed = {}
  for i, one in ipairs(form.parameters) do
    local asked = one.type and '%s: %s is a "%s", which is no type'
      or '%s: what is parameter "%s"? Write "%s: TYPE" into the signature in its docstring, or ' ..
        "give it a name that types.GLOSSARY has"
    typed[i] = one.is_options and add_options(out, entry, form, class_name)
      or out.type(types.of_parameter(one), asked, who(entry), one.name, one.type or one.name)
  end
  out.add("%s", comment(help.documentation(entry.value)))
  for i, one in ipairs(form.parameters) do
    local mark = one.optional and one.name ~= "..." and "?" or ""
    out.add("---@param %s%s %s", one.name, mark, typed[i])
  end
end

local function add_function(out, entry, class_name)
  local form = signature.of(entry.value, entry.is_method)
  out.type(form.is_written, '%s: begin its docstring with its signature, as in ' ..
    '"ladies.f(P, ids: Index | integer[] [, {width = 2}]) -> Tensor: what it does"', who(entry))
  add_parameters(out, entry, form, class_name)
  for _, one in ipairs(form.results) do
    out.add("---@return %s", out.type(types.of_result(one), '%s: what is "%s"? Behind the arrow ' ..
      "of a signature stand types, or names that types.GLOSSARY has, and then (in Lua) a colon",
      who(entry), one.text:sub(1, MOST_QUOTED)))
  end
  local names = tables.map(form.parameters, function(one) return one.name end)
  out.add("function %s(%s) end\n", entry.name, table.concat(names, ", "))
end

-- Returns the type of an operator's second operand; nil for one that has none.
local function of_operand(class_name, metamethod)
  if metamethod == "__len" or metamethod == "__unm" then return nil end
  if class_name == "Tensor" then return "ladies.Tensor|number" end
  return metamethod == "__concat" and "ladies.Index" or "ladies.Index|integer"
end

-- Writes an operator; one without a result is an error, and so there is none.
local function add_operator(out, class_name, operator)
  local result = operator.text:match "%-> ([^\n]*)"
  local type_text = result and types.of_text(result)
  if operator.name == "__index" then
    out.add("---@field [integer] %s", out.type(type_text, "%s[i]", class_name))
  elseif result and OPERATORS[operator.name] then
    local operand = of_operand(class_name, operator.name)
    out.add("---@operator %s%s: %s", OPERATORS[operator.name],
      operand and ("(%s)"):format(operand) or "", out.type(type_text, "%s", operator.text))
  end
end

local function add_class(out, section)
  out.add("---@class ladies.%s", section.name)
  for _, field in ipairs(section.class.__fields) do
    out.add("---@field %s? %s", field, out.type(types.of_field(section.class, field),
      '%s: what is field "%s"? Name it "%s:TYPE" where its class is made', section.name, field,
      field))
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
  return HEAD .. "\n" .. declared .. "\n" .. table.concat(out.lines, "\n") .. "\n", out.untyped
end
