--- What is known of an expression that is written and not run: its value, of ladies.nn.gcn or t[1],
-- or the class of what a call will return, of data.load "cora". Runs none of the user's code.

local format = require "ladies.prompt.format"
local help = require "ladies.prompt.help"
local members = require "ladies.prompt.members"

local known = {}

local MATCHING = {[")"] = "(", ["]"] = "[", ["}"] = "{"}
local IS_OPENING = {["("] = true, ["["] = true, ["{"] = true}

-- The position of the token that opens what tokens[last] closes; nil where it does not.
local function opening(tokens, last)
  local depth = 0
  for i = last, 1, -1 do
    local text = tokens[i].kind == "sign" and tokens[i].text
    if MATCHING[text] then depth = depth + 1 end
    if IS_OPENING[text] then depth = depth - 1 end
    if depth == 0 then return i end
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

--- known.of(tokens, last, env) -> what, first: what is known of the expression that ends at
-- tokens[last], where a name that begins it stands for what it is in the table `env`: {value =}, or
-- {class = its metatable} of one that no code has made yet, or nil; and the position of its first
-- token. Nothing is known of nil.
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
  local first = MATCHING[token.text] and opening(tokens, last)
  if not first then return nil, last end
  local what, begin = known.of(tokens, first - 1, env)
  if token.text == "]" then return element(what, tokens, first + 1, last - 1), begin end
  return result_of(what), begin
end

--- The position of the innermost bracket that is open behind tokens[last]; nil for none.
function known.open_bracket(tokens, last)
  local depth = 0
  for i = last, 1, -1 do
    local text = tokens[i].kind == "sign" and tokens[i].text
    if MATCHING[text] then depth = depth + 1 end
    if IS_OPENING[text] then depth = depth - 1 end
    if depth < 0 then return i end
  end
end

--- The function whose arguments the bracket at this position opens; nil where none is known.
function known.function_before(tokens, bracket, env)
  local what = known.of(tokens, bracket - 1, env)
  return what and members.is_callable(what.value) and what.value or nil
end

return known
