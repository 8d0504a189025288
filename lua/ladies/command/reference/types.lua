--- Finds the types of parameters, options, results and fields, as LuaLS writes them, from
-- signatures and, for options, from the spec by which a function checks them.

local core = require "ladies_core"
local declared = require "ladies.command.reference.declared"
local help = require "ladies.prompt.help"
local specs = require "ladies.command.reference.specs"
local tables = require "ladies.base.tables"

local types = {}

--- Maps types to the parameter names that have this type wherever a signature says nothing else.
-- The C core has such a table for its own functions, and checks their arguments by it.
types.GLOSSARY = tables.merged(core._glossary,
  {Dataset = "data", Block = "block", MiniBatch = "batch"})

local WORDS = {any = true, boolean = true, ["function"] = true, integer = true, number = true,
  string = true, table = true}

local of_names, classes   -- name -> type, both as LuaLS has it; name of a class -> true

-- Converts one type of a signature, such as "Tensor", "integer[]" or "\"sym\"".
local function of_one(text)
  local element = text:match "^(.*)%[%]$"
  if element then
    local type_text = of_one(element)
    return type_text and type_text .. "[]"
  end
  if not classes then
    classes = tables.merged(help.classes())
    for name in declared:gmatch "@%l+ ladies%.(%w+)" do classes[name] = true end
  end
  if WORDS[text] or text:find '^"[^"]*"$' then return text end
  return classes[text] and "ladies." .. text
end

--- Converts a type such as "Tensor | number", "Index[]" or "table | nil" in a signature; nil for
-- other texts.
function types.of_text(text)
  local list, has_nil = {}, false
  for part in text:gmatch "[^|]+" do
    local word = part:match "^%s*(.-)%s*$"
    local one = of_one(word)
    if one then
      list[#list + 1] = one
    elseif word == "nil" then
      has_nil = true
    else
      return nil
    end
  end
  local end_text = has_nil and (#list > 1 and "|nil" or "?") or ""
  return #list > 0 and table.concat(list, "|") .. end_text or nil
end

local function of_name(name)
  if not of_names then
    of_names = {}
    for type_text, names in pairs(types.GLOSSARY) do
      for one in names:gmatch "%S+" do of_names[one] = types.of_text(type_text) end
    end
  end
  return of_names[name]
end

-- Returns the type of a default such as "0.1", "true" or "\"mean\""; nil for other texts.
local function of_literal(text)
  if text == "true" or text == "false" then return "boolean" end
  if text:find '^"' then return "string" end
  if text:find "^{" then return "table" end
  if text:find "^%d+%^%d+$" then return "integer" end
  if tonumber(text) then return math.type(tonumber(text)) == "integer" and "integer" or "number" end
  return text:find "^%d+/%d+$" and "number" or nil
end

--- Returns the type of a parameter that signature.of found; nil where the signature does not say
-- it.
function types.of_parameter(parameter)
  if parameter.name == "..." then return "any" end
  if parameter.type then return types.of_text(parameter.type) end
  local default = parameter.default or ""
  return types.of_text(default) or of_name(parameter.name) or of_literal(default)
end

--- Returns the type of a result that signature.of found, which is a type or a name of the glossary;
-- otherwise nil.
function types.of_result(result)
  local type_text = result.text == "..." and "any ..." or types.of_text(result.text)
    or of_name(result.text)
  if not type_text or not result.optional or type_text:find "nil$" or type_text:find "%?$" then
    return type_text
  end
  return type_text .. (type_text:find "|" and "|nil" or "?")
end

--- Returns the type of a field, which its class declares after the name; nil where it does not.
function types.of_field(class, field)
  local text = (class.__field_types or {})[field]
  if text then return types.of_text(text) end
  return of_name(field)
end

-- Converts one type of options.check; nil for a text that is no such type.
local function of_checked(text)
  if text:find "|" then return '"' .. text:gsub("|", '"|"') .. '"' end
  if text:find "^array of " then
    local singular = text:sub(#"array of " + 1):gsub("xes%f[%A]", "x"):gsub("s%f[%A]", "", 1)
    local element = of_checked(singular)
    return element and (element:find "|" and "(%s)[]" or "%s[]"):format(element)
  end
  local word = text == "callable" and "function" or text:match "integer" or text:match "number"
  return of_one(word or text)
end

-- Converts a type such as "positive integer or nil", as options.check takes it.
local function of_check(text)
  local list = {}
  for part in (text:gsub(" or nil", "") .. " or "):gmatch "(.-) or " do
    local one = of_checked(part)
    if not one then return nil end
    list[#list + 1] = one
  end
  return table.concat(list, "|")
end

--- Returns the spec by which the code of a function checks its options; nil where there is none.
function types.spec_of(entry, form, class_name)
  local before = {}
  for i, one in ipairs(form.parameters) do
    if one.is_options then break end
    before[i] = {name = one.name, type = types.of_parameter(one)}
  end
  return specs.of(entry.value, entry.is_method and class_name, before)
end

--- Returns the options of a function whose signature is `form`, an array of {name =, type = (nil
-- where it is unknown), optional =}, sorted by name: the options that its code checks, or without
-- such a check those in its documentation, `documented`.
function types.of_options(entry, form, class_name, documented)
  local spec, list = types.spec_of(entry, form, class_name), {}
  for _, name in ipairs(spec and tables.sorted_keys(spec) or {}) do
    local type_text, has_default = spec[name], type(spec[name]) == "table"
    if has_default then type_text = type_text[1] end
    local optional = has_default or type_text:find " or nil" ~= nil
    list[#list + 1] = {name = name, type = of_check(type_text), optional = optional}
  end
  if spec then return list end
  local defaults = form.parameters[#form.parameters].defaults
  for _, option in ipairs(documented) do
    local name = option.name
    list[#list + 1] = {
      name = name, optional = true,
      type = types.of_parameter{name = name, default = defaults[name] or ""},
    }
  end
  return list
end

return types
