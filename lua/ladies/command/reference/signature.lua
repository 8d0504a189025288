--- Parses the signatures of functions (how they are called and what they return) with which their
-- documentation begins; without one, takes the parameters from the code:
--
--   ladies.f(P, ids: Index | integer[] [, width: integer, {by = "size", rng = Rng}]) -> Tensor, t
--
-- Square brackets hold what may be left out, braces a table of options. The type of a parameter
-- follows it after a colon, or is that of its default after "=" (for an option a type may stand
-- there as well), or is what its name always means (types.GLOSSARY). Types of results are found in
-- the same way; without an arrow there are no results. In Lua a colon ends the results, in C the
-- end of the line.

local core = require "ladies_core"
local help = require "ladies.prompt.help"

local signature = {}

-- The names by which methods written in Lua may call their object, the first parameter.
local OBJECTS = {self = true, model = true, t = true}

-- The name that is given to a parameter for which a signature has only types, as in
-- npz.float32(Tensor | number).
local NAMELESS = "value"

-- The name that is given to a table before the options, as in npz.write(path, {name = array, ...},
-- {...}).
local CONTENT = "list"

-- Splits a text at its commas, but not within round brackets, braces and strings. A part is {text
-- =, optional = whether it begins within square brackets}; square brackets themselves are dropped,
-- except in `[]`, as of an array type.
local function split(text)
  local parts, kept, depth, square, quoted, optional = {}, {}, 0, 0, false, nil
  local function finish()
    local part = table.concat(kept):gsub("\0", "[]"):match "^%s*(.-)%s*$"
    if part ~= "" then parts[#parts + 1] = {text = part, optional = optional} end
    kept, optional = {}, nil
  end
  for c in text:gsub("%[%]", "\0"):gmatch "." do
    if c == '"' then quoted = not quoted end
    local is_square = not quoted and (c == "[" or c == "]")
    if is_square then square = square + (c == "[" and 1 or -1) end
    if not quoted and c:find "[({]" then depth = depth + 1 end
    if not quoted and c:find "[)}]" then depth = depth - 1 end
    if c == "," and depth == 0 and not quoted then
      finish()
    elseif not is_square then
      if optional == nil and c:find "%S" then optional = square > 0 end
      kept[#kept + 1] = c
    end
  end
  finish()
  return parts
end

-- Returns what follows the name of each option in braces, as a table from name to text, "" for
-- nothing.
local function options_in(braces)
  local defaults = {}
  for _, part in ipairs(split(braces:sub(2, -2))) do
    local name, text = part.text:match "^([%a_][%w_]*)%s*=%s*(.*)$"
    if name then defaults[name] = text end
  end
  return defaults
end

local function parameter(text, optional)
  if text == "..." then return {name = "...", optional = true} end
  if text:find "^{" or text == "opts" or text == "given" then
    return {
      name = "opts", optional = optional, is_options = true,
      defaults = options_in(text:match "^%b{}" or "{}"),
    }
  end
  local name, rest = text:match "^([%a_][%w_]*)%s*(.*)$"
  if not name or text:find "^%u%l" or rest:find "^[^:=]" then
    return {name = NAMELESS, type = text, optional = optional}
  end
  local default = rest:match "=%s*(.*)$"
  return {
    name = name, type = rest:match "^:%s*([^=]*[^=%s])", default = default,
    optional = optional or default ~= nil,
  }
end

-- Returns the parameters of a Lua function from its code, without the first `left_out` ones.
local function of_code(f, left_out)
  local info, list = debug.getinfo(f, "u"), {}
  for i = left_out + 1, info.nparams do list[#list + 1] = parameter(debug.getlocal(f, i)) end
  if info.isvararg then list[#list + 1] = parameter "..." end
  return list
end

-- Returns the results in a signature from the text after its closing bracket.
local function results(rest, is_core)
  return split(rest:match(is_core and "^%s*%->%s*([^\n]*)" or "^%s*%->%s*([^:]*)") or "")
end

--- Tells whether a function of a class is a method, whose first parameter is the object.
function signature.is_method(f)
  return core.docs[f] ~= nil or OBJECTS[debug.getlocal(f, 1)] == true
end

--- Returns a function's signature, without the object of a method:
--   parameters   an array of {name =, type =, default = what stands there of these, optional =,
--                is_options =, defaults = of options, name -> what stands behind it}
--   results      an array of {text = "Tensor", optional =}
--   is_written   whether its documentation begins with it
function signature.of(f, is_method)
  local text = (help.documentation(f) or ""):gsub("\n  +", " ")
  local name, braces, rest = text:match "^([%w_.:]+)%s*(%b{})(.*)$"
  local inner = braces
  if not braces then
    name, inner, rest = text:match "^([%w_.:]+)%s*(%b())(.*)$"
    inner = inner and inner:sub(2, -2)
  end
  if not inner then return {parameters = of_code(f, is_method and 1 or 0), results = {}} end
  local list = braces and {{text = braces, optional = false}} or split(inner)
  for i, part in ipairs(list) do
    list[i] = parameter(part.text, part.optional)
    local before = list[i - 1]
    if list[i].is_options and before and before.is_options then
      before.name, before.is_options, before.type = CONTENT, false, "table"
    end
  end
  if is_method and not name:find ":" then table.remove(list, 1) end
  return {
    parameters = list, results = results(rest, core.docs[f] ~= nil), is_written = true,
  }
end

return signature
