--- Finds out what an expression stands for without running any of the user's code: the value of an
-- expression like ladies.nn.gcn or t[1], or the class of the result of a call like data.load
-- "cora".

local format = require "ladies.prompt.format"
local help = require "ladies.prompt.help"
local lexer = require "ladies.prompt.lexer"
local members = require "ladies.prompt.members"
local options = require "ladies.base.options"

local known = {}

local MATCHING = {[")"] = "(", ["]"] = "[", ["}"] = "{"}
local IS_OPENING = {["("] = true, ["["] = true, ["{"] = true}

--- Returns the position of the innermost bracket that is still open after tokens[last]; nil for
-- none.
function known.open_bracket(tokens, last)
  local depth = 0
  for i = last, 1, -1 do
    local text = tokens[i].kind == "sign" and tokens[i].text
    if MATCHING[text] then depth = depth + 1 end
    if IS_OPENING[text] then depth = depth - 1 end
    if depth < 0 then return i end
  end
end

local function member(what, name)
  if not what then return nil end
  if what.class then
    local methods = rawget(what.class, "__methods") or what.class
    return {value = rawget(methods, name)}
  end
  return {value = members.get(what.value, name)}
end

local function element(what, tokens, first, last)
  local key = first == last and tokens[first]
  if not what or not key or type(what.value) ~= "table" then return nil end
  if key.kind == "number" then return {value = rawget(what.value, math.tointeger(key.text))} end
  local text = key.kind == "string" and key.text:match "^['\"](.*)['\"]$"
  return text and {value = rawget(what.value, text)}
end

local function result_of(what)
  local class = what and help.class_of_result(what.value)
  return class and {class = class}
end

--- known.of(tokens, last, env) -> what, first: returns what is known of the expression that ends at
-- tokens[last], and the position of its first token. Names are looked up in the table `env`. The
-- first result is {value =}, or {class = a metatable} for a result that is not computed yet, or
-- nil; nothing is known of an expression that is nil.
function known.of(tokens, last, env)
  local token = tokens[last]
  if not token then return nil, last end
  local before = tokens[last - 1] and tokens[last - 1].text
  if token.kind == "name" and (before == "." or before == ":") then
    local what, first = known.of(tokens, last - 2, env)
    return member(what, token.text), first
  elseif token.kind == "name" then
    if format.KEYWORDS[token.text] then return nil, last end
    return {value = members.get(env, token.text)}, last
  elseif token.kind == "string" then
    return result_of((known.of(tokens, last - 1, env))), last
  end
  local first = MATCHING[token.text] and known.open_bracket(tokens, last - 1)
  if not first then return nil, last end
  local what, begin = known.of(tokens, first - 1, env)
  if token.text == "]" then return element(what, tokens, first + 1, last - 1), begin end
  return result_of(what), begin
end

--- Returns the function whose arguments the bracket at this position opens; nil where none is
-- known.
function known.function_before(tokens, bracket, env)
  local what = known.of(tokens, bracket - 1, env)
  return what and members.is_callable(what.value) and what.value or nil
end

-- ---------------------------------------------------------------- documentation

local LONGEST = 200   -- columns of a value that has no documentation

-- Returns the documentation of a function, a module or a class; for an object also the object's
-- text.
local function text_of(what)
  if what.class then return help.text(what.class) end
  local value = what.value
  local has_help = type(value) == "function" or members.is_module(value)
    or options.class_of(value) ~= nil
  return has_help and help.text(value) or format.line(value, LONGEST)
end

--- Returns the text that a notebook shows on Shift-Tab: about the name at the byte `at` of a text
-- (or just before it), or else about the function within whose brackets it is; or nil. Names are
-- those of the table `env`.
function known.inspect(text, at, env)
  local tokens = lexer.tokens(text:sub(1, text:match("^[%w_]*()", at) - 1))
  local last = tokens[#tokens]
  if last and last.kind == "open" then table.remove(tokens) end
  local what = last and last.kind == "name" and known.of(tokens, #tokens, env)
  if what and (what.class or what.value ~= nil) then return text_of(what) end
  local bracket = known.open_bracket(tokens, #tokens)
  while bracket do
    local f = known.function_before(tokens, bracket, env)
    if f then return text_of{value = f} end
    bracket = known.open_bracket(tokens, bracket - 1)
  end
end

return known
