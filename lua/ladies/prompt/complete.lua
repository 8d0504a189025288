--- What Tab offers: names and fields, the options of the function that is called, names of data
-- sets and files within a string. Runs none of the user's code.

local core = require "ladies_core"
local data = require "ladies.data"
local format = require "ladies.prompt.format"
local help = require "ladies.prompt.help"
local lexer = require "ladies.prompt.lexer"
local members = require "ladies.prompt.members"
local registry = require "ladies.data.store.registry"

local complete = {}

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

-- What is known of an expression: {value =}, or {class = its metatable} of one that no code has
-- made yet. Nothing is known of nil.

local function member(known, name)
  if not known then return nil end
  local value = known.value
  if known.class then
    local methods = rawget(known.class, "__methods") or known.class
    return {value = rawget(methods, name)}
  end
  return {value = members.get(value, name)}
end

local function element(known, tokens, first, last)
  local key = first == last and tokens[first]
  if not known or not key or type(known.value) ~= "table" then return nil end
  if key.kind == "number" then return {value = rawget(known.value, math.tointeger(key.text))} end
  local text = key.kind == "string" and key.text:match "^['\"](.*)['\"]$"
  return text and {value = rawget(known.value, text)}
end

local function result_of(known)
  local class = known and help.class_of_result(known.value)
  return class and {class = class}
end

local known_of

-- What is known of the expression that ends at tokens[last], where a name that begins it stands for
-- what it is in the table `env`; and the position of its first token.
function known_of(tokens, last, env)
  local token = tokens[last]
  if not token then return nil, last end
  local before = tokens[last - 1] and tokens[last - 1].text
  if token.kind == "name" and (before == "." or before == ":") then
    local known, first = known_of(tokens, last - 2, env)
    return member(known, token.text), first
  elseif token.kind == "name" then
    if format.KEYWORDS[token.text] then return nil, last end
    return {value = members.get(env, token.text)}, last
  elseif token.kind == "string" then
    return result_of((known_of(tokens, last - 1, env))), last
  end
  local first = MATCHING[token.text] and opening(tokens, last)
  if not first then return nil, last end
  local known, begin = known_of(tokens, first - 1, env)
  if token.text == "]" then return element(known, tokens, first + 1, last - 1), begin end
  return result_of(known), begin
end

-- The position of the innermost bracket that is open behind tokens[last]; nil for none.
local function open_bracket(tokens, last)
  local depth = 0
  for i = last, 1, -1 do
    local text = tokens[i].kind == "sign" and tokens[i].text
    if MATCHING[text] then depth = depth + 1 end
    if IS_OPENING[text] then depth = depth - 1 end
    if depth < 0 then return i end
  end
end

local function function_before(tokens, bracket, env)
  local known = known_of(tokens, bracket - 1, env)
  return known and members.is_callable(known.value) and known.value or nil
end

-- The function an option of which may be written behind the tokens, as in f{ and f(x, {a = 1,; or
-- nil.
local function called(tokens, env)
  local last = tokens[#tokens]
  local brace = last and (last.text == "{" or last.text == ",") and open_bracket(tokens, #tokens)
  if not brace or tokens[brace].text ~= "{" then return nil end
  local f = function_before(tokens, brace, env)
  if f then return f end
  local call = open_bracket(tokens, brace - 1)
  return call and tokens[call].text == "(" and function_before(tokens, call, env) or nil
end

-- A collector of candidates that begin with `prefix`: found.names, sorted by finish, and
-- found.values, name -> what it stands for.
local function collector(prefix)
  local found = {names = {}, values = {}}
  function found.add(name, value)
    if found.values[name] == nil and name:sub(1, #prefix) == prefix then
      found.values[name] = value
      found.names[#found.names + 1] = name
    end
  end
  return found
end

local function add_files(found, text)
  local folder = text:match "^(.*/)" or ""
  for _, name in ipairs(core.files(folder == "" and "." or folder)) do
    local path = folder .. name
    found.add(core.exists(path) == "folder" and path .. "/" or path, "file")
  end
end

local function in_string(tokens, open)
  local text = open.text:sub(2)
  local found = collector(text)
  local at = #tokens
  if tokens[at] and tokens[at].text == "(" then at = at - 1 end
  if tokens[at] and tokens[at].text == "load" then
    for _, list in ipairs{data.names(), registry.names()} do
      for _, name in ipairs(list) do found.add(name, "data set") end
    end
  end
  add_files(found, text)
  return open.at + 1, found
end

local function add_members(found, known, is_method, prefix)
  local function add(key, value)
    local is_name = type(key) == "string" and key:find "^[%a_][%w_]*$"
      and (prefix ~= "" or key:sub(1, 1) ~= "_")
    if is_name and (not is_method or members.is_callable(value)) then found.add(key, value) end
  end
  local class = known.class
  if class then
    members.each(setmetatable({}, class), add)
  else
    members.each(known.value, add)
  end
end

--- Completes what ends `line`, the text up to the cursor: the position where the word begins, the
-- sorted array of all that may stand there, and name -> value for them. Names are those of the
-- table `env`.
function complete.at(line, env)
  local tokens = lexer.tokens(line)
  local last = tokens[#tokens]
  if last and last.kind == "open" then
    table.remove(tokens)
    if not last.text:find "^['\"]" then return #line + 1, {}, {} end
    local start, found = in_string(tokens, last)
    table.sort(found.names)
    return start, found.names, found.values
  end
  local prefix, start = "", #line + 1
  if last and last.kind == "name" and last.at + #last.text == start then
    prefix, start = last.text, last.at
    table.remove(tokens)
  end
  local found, separator = collector(prefix), tokens[#tokens] and tokens[#tokens].text
  local is_number = last and last.kind == "number" and last.at + #last.text == #line + 1
  if separator == "." or separator == ":" then
    local known = known_of(tokens, #tokens - 1, env)
    if known and (known.class or known.value ~= nil) then
      add_members(found, known, separator == ":", prefix)
    end
  elseif not is_number then
    local f = called(tokens, env)
    for _, option in ipairs(f and help.options(f) or {}) do found.add(option.name, option) end
    if #found.names == 0 and prefix ~= "" then
      add_members(found, {value = env}, false, prefix)
      for word in pairs(format.KEYWORDS) do found.add(word, true) end
    end
  end
  table.sort(found.names)
  return start, found.names, found.values
end

--- `words` in columns that fit `width`, read downwards.
function complete.columns(words, width)
  local widest = 0
  for _, word in ipairs(words) do widest = math.max(widest, #word + 2) end
  local n_columns = math.max(1, width // widest)
  local n_rows = (#words + n_columns - 1) // n_columns
  local lines = {}
  for row = 1, n_rows do
    local cells = {}
    for i = row, #words, n_rows do cells[#cells + 1] = ("%-" .. widest .. "s"):format(words[i]) end
    lines[row] = table.concat(cells):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

local FEW = 16   -- so many candidates come with their first line of documentation

-- What is known of a candidate in a line, "" for nothing.
local function about(value)
  if type(value) == "table" and value.name and value.text then return value.text end
  local is_ours = type(value) == "function" or members.is_module(value)
  return is_ours and help.summary(value) or ""
end

local function listed(names, values, width)
  local texts, some = {}, false
  for i, name in ipairs(#names <= FEW and names or {}) do
    texts[i] = about(values[name])
    some = some or texts[i] ~= ""
  end
  if not some then return complete.columns(names, width) end
  local widest = 0
  for _, name in ipairs(names) do widest = math.max(widest, #name) end
  for i, name in ipairs(names) do
    local line = ("%-" .. widest .. "s  %s"):format(name, texts[i])
    texts[i] = (#line > width and line:sub(1, width - 3) .. "..." or line):gsub("%s+$", "")
  end
  return table.concat(texts, "\n")
end

--- What Tab does after `line` with names of `env`: the text to insert, and the candidates to show
-- when nothing can be inserted and there are several, or what is known of the one that is there.
function complete.tab(line, width, env)
  local start, names, values = complete.at(line, env)
  if #names == 0 then return "" end
  local typed = #line - start + 1
  local common = #names[1]
  local first, last = names[1], names[#names] -- sorted: these two differ first
  for i = 1, common do
    if first:byte(i) ~= last:byte(i) then
      common = i - 1
      break
    end
  end
  local insert = first:sub(typed + 1, common)
  if insert ~= "" then return insert end
  if #names > 1 then return "", listed(names, values, width) end
  local text = type(values[first]) == "function" and help.signature(values[first])
    or about(values[first])
  return "", text ~= "" and text or nil
end

return complete
