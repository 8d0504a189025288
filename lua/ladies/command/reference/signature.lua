--- How functions are called, as their documentation says or, where it does not begin with a
-- signature, their code.

local core = require "ladies_core"
local help = require "ladies.prompt.help"

local signature = {}

-- What the first parameter of a method written in Lua is called.
local OBJECTS = {self = true, model = true, t = true}

-- The name of a parameter that only its kinds stand for, as in npz.float32(Tensor | number).
local NAMELESS = "value"

-- That of a table before the options, as in npz.write(path, {name = array, ...}, {...}).
local CONTENT = "list"

-- The parts of a text between its commas, those in round brackets, braces and strings aside, as
-- {text =, optional = whether it begins within square brackets}, which are left out.
local function split(text)
  local parts, kept, depth, square, quoted, optional = {}, {}, 0, 0, false, nil
  local function finish()
    local part = table.concat(kept):match "^%s*(.-)%s*$"
    if part ~= "" then parts[#parts + 1] = {text = part, optional = optional} end
    kept, optional = {}, nil
  end
  for c in text:gmatch "." do
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

local function parameter(text, optional)
  if text == "..." then return {name = "...", text = text, optional = true} end
  if text:find "^{" or text == "opts" or text == "given" then
    return {name = "opts", text = text, optional = optional, is_options = true}
  end
  local name = text:match "^([%a_][%w_]*)$" or text:match "^([%a_][%w_]*)%s*=" or
    text:match "^([%a_][%w_]*) or "
  if not name or text:find "^%u%l" then name = NAMELESS end
  return {name = name, text = text, optional = optional or text:find "=" ~= nil}
end

-- The parameters of a function of Lua as its code has them, but for the first `left_out`.
local function of_code(f, left_out)
  local info, list = debug.getinfo(f, "u"), {}
  for i = left_out + 1, info.nparams do list[#list + 1] = parameter(debug.getlocal(f, i)) end
  if info.isvararg then list[#list + 1] = parameter "..." end
  return list
end

-- What is said of results behind a signature: up to the end of the line in C, to a colon in Lua.
local function results(rest, is_core)
  local text = rest:match(is_core and "^%s*%->%s*([^\n]*)" or "^%s*%->%s*([^:\n]*)")
  return text and split(text)
end

--- Whether a function of a class takes its object first.
function signature.is_method(f)
  return core.docs[f] ~= nil or OBJECTS[debug.getlocal(f, 1)] == true
end

--- How many parameters the code of a function has, at most; nil where it takes any number. Those of
-- C count what their signature says.
function signature.most_of_code(f, is_method)
  local info = debug.getinfo(f, "u")
  if core.docs[f] or info.isvararg then return nil end
  return info.nparams - (is_method and 1 or 0)
end

--- A function's signature, without the object of a method:
--   parameters   an array of {name =, text = what stands there, optional =, is_options =}
--   results      an array of {text = "Tensor", optional =}; nil where nothing is said of them
--   is_written   whether its documentation begins with it
function signature.of(f, is_method)
  local text = (help.documentation(f) or ""):gsub("\n  +", " ")
  local braces, rest = text:match "^[%w_.:]+%s*(%b{})(.*)$"
  local inner = braces
  if not braces then
    inner, rest = text:match "^[%w_.:]+%s*(%b())(.*)$"
    inner = inner and inner:sub(2, -2)
  end
  if not inner then return {parameters = of_code(f, is_method and 1 or 0)} end
  local list = split(inner)
  if braces then list = {{text = braces, optional = false}} end
  for i, part in ipairs(list) do
    list[i] = parameter(part.text, part.optional)
    local before = list[i - 1]
    if list[i].is_options and before and before.is_options then
      before.name, before.is_options = CONTENT, false
    end
  end
  return {
    parameters = list, results = results(rest, core.docs[f] ~= nil), is_written = true,
  }
end

return signature
