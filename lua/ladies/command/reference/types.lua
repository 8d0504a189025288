--- The types of parameters, options, results and fields in the words of LuaLS, from what signatures
-- say of them. An option's comes from the spec that its function checks it by, where there is one.

local declared = require "ladies.command.reference.declared"
local help = require "ladies.prompt.help"
local specs = require "ladies.command.reference.specs"
local tables = require "ladies.base.tables"

local types = {}

--- What a name stands for wherever a signature says no more of it: type -> names.
types.GLOSSARY = {
  Tensor = "t u w x y logits weights",
  Index = "idx dst src nodes labels pick train val test",
  Matrix = "A P S U",
  Rng = "rng",
  Dataset = "data",
  Block = "block",
  MiniBatch = "batch",
  integer = "k n n_rows n_cols row column first last dim power seed",
  string = "name path text where",
  ["function"] = "f",
  table = "config model",
  any = "e value",
}

local WORDS = {any = true, boolean = true, ["function"] = true, integer = true, number = true,
  string = true, table = true}

local of_names, classes   -- name -> type, both as LuaLS has it; name of a class -> true

-- One type of a signature, "Tensor", "integer[]" or "\"sym\"".
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

--- The type of a text such as "Tensor | number", "Index[]" or "table | nil", as signatures have it;
-- nil where it is none.
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

-- The type of a default, "0.1", "true" or "\"mean\""; nil for other texts.
local function of_literal(text)
  if text == "true" or text == "false" then return "boolean" end
  if text:find '^"' then return "string" end
  if text:find "^{" then return "table" end
  if text:find "^%d+%^%d+$" then return "integer" end
  if tonumber(text) then return math.type(tonumber(text)) == "integer" and "integer" or "number" end
  return text:find "^%d+/%d+$" and "number" or nil
end

--- The type of a parameter of signature.of; nil where its signature does not say it.
function types.of_parameter(parameter)
  if parameter.name == "..." then return "any" end
  if parameter.type then return types.of_text(parameter.type) end
  local default = parameter.default or ""
  return types.of_text(default) or of_name(parameter.name) or of_literal(default)
end

--- The type of a result of signature.of, a type or a name of the glossary; nil where it is neither.
function types.of_result(result)
  local type_text = result.text == "..." and "any ..." or types.of_text(result.text)
    or of_name(result.text)
  if not type_text or not result.optional or type_text:find "nil$" or type_text:find "%?$" then
    return type_text
  end
  return type_text .. (type_text:find "|" and "|nil" or "?")
end

--- The type of a field, which its class says behind the name; nil where nobody says it.
function types.of_field(class, field)
  local text = (class.__field_types or {})[field]
  if text then return types.of_text(text) end
  return of_name(field)
end

-- One type of options.check; nil for what is none.
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

-- The type of a text such as "positive integer or nil", as options.check knows it.
local function of_check(text)
  local list = {}
  for part in (text:gsub(" or nil", "") .. " or "):gmatch "(.-) or " do
    local one = of_checked(part)
    if not one then return nil end
    list[#list + 1] = one
  end
  return table.concat(list, "|")
end

--- The spec by which the code of a function checks its options; nil where there is none.
function types.spec_of(entry, form, class_name)
  local before = {}
  for i, one in ipairs(form.parameters) do
    if one.is_options then break end
    before[i] = {name = one.name, type = types.of_parameter(one)}
  end
  return specs.of(entry.value, entry.is_method and class_name, before)
end

--- The options of a function whose signature is `form`, an array of {name =, type = (nil where
-- nobody says it), optional =} by their names: those that its code checks, or else, `documented`,
-- those that its text has.
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
