--- Places of a source where a small change makes a mutant: operators, constants, signs, conditions
-- and whole statements. A site is {at, last, line, kind, by}: the text from `at` to `last` may
-- become any of `by`.
local tokens_of = require "tools.mutants.tokens"

local OPERATORS = {
  c = {
    ["+"] = {"-"}, ["-"] = {"+"}, ["*"] = {"/"}, ["/"] = {"*"}, ["%"] = {"/"},
    ["<"] = {"<=", ">="}, ["<="] = {"<", ">"}, [">"] = {">=", "<="}, [">="] = {">", "<"},
    ["=="] = {"!="}, ["!="] = {"=="}, ["&&"] = {"||"}, ["||"] = {"&&"}, ["&"] = {"|"},
    ["|"] = {"&"}, ["^"] = {"&"}, ["<<"] = {">>"}, [">>"] = {"<<"}, ["+="] = {"-="},
    ["-="] = {"+="}, ["*="] = {"/="}, ["/="] = {"*="}, ["|="] = {"&="}, ["&="] = {"|="},
    ["++"] = {"--"}, ["--"] = {"++"},
  },
  lua = {
    ["+"] = {"-"}, ["-"] = {"+"}, ["*"] = {"/"}, ["/"] = {"*"}, ["//"] = {"*"}, ["%"] = {"//"},
    ["<"] = {"<=", ">="}, ["<="] = {"<", ">"}, [">"] = {">=", "<="}, [">="] = {">", "<"},
    ["=="] = {"~="}, ["~="] = {"=="}, ["^"] = {"*"}, ["and"] = {"or"}, ["or"] = {"and"},
  },
}
local WORDS = {["true"] = {"false"}, ["false"] = {"true"}, ["break"] = {""}, ["continue"] = {""}}
local NEGATION = {c = "!", lua = "not"}

-- Words that only speak to the compiler or hurry the machine.
local UNTOUCHED = {_Static_assert = true, __attribute__ = true, __builtin_prefetch = true,
  __has_feature = true}

local NO_STATEMENT = {}
for word in ([[if else for while do switch case default return goto typedef static const struct enum
  union extern sizeof local function end then until repeat break continue and or not in]]):gmatch
  "%S+" do
  NO_STATEMENT[word] = true
end

local function is_binary(tokens, i, text)
  local token = tokens[i]
  return text:find("^%s", token.at - 1) and text:find("^%s", token.last + 1) and i > 1
end

-- Other numbers near one: a constant that is off by one, and none.
local function other_numbers(word)
  local digits, suffix = word:match "^([%d.]+[eE]?[+-]?%d*)([fFuUlL]*)$"
  local value = digits and tonumber(digits)
  if not value then return nil end
  if math.type(value) == "integer" then
    local by = {("%d%s"):format(value + 1, suffix)}
    if value > 0 then by[2] = ("%d%s"):format(value - 1, suffix) end
    return by
  end
  local by = {("(%s + 1.0%s)"):format(word, suffix), ("(%s * 2.0%s)"):format(word, suffix)}
  if value == 0 then by[2] = nil end
  return by
end

-- The index of the token that closes what tokens[i] opens, or nil.
local function closing(tokens, i)
  local depth = 0
  for j = i, #tokens do
    local text = tokens[j].kind == "operator" and tokens[j].text
    if text == "(" or text == "[" or text == "{" then depth = depth + 1 end
    if text == ")" or text == "]" or text == "}" then
      depth = depth - 1
      if depth == 0 then return j end
    end
  end
end

-- The first and last token of the condition after tokens[i], an `if` or `while`.
local CONDITION = {
  c = function(tokens, i)
    local last = closing(tokens, i + 1)
    return i + 2, last - 1
  end,
  lua = function(tokens, i)
    local last = i + 1
    while tokens[last].text ~= "then" and tokens[last].text ~= "do" do last = last + 1 end
    return i + 1, last - 1
  end,
}
local CONDITIONAL = {["if"] = true, ["while"] = true, ["elseif"] = true}

-- Tells whether a statement of C, and no declaration, may begin at tokens[i].
local function begins_in_c(tokens, i)
  local token, before, after = tokens[i], tokens[i - 1], tokens[i + 1]
  if not before or not after or not ({[";"] = 1, ["{"] = 1, ["}"] = 1, [")"] = 1, ["else"] = 1,
      [":"] = 1})[before.text] then
    return false
  end
  if token.text == "++" or token.text == "--" or token.text == "*" then return true end
  return token.kind == "name" and not NO_STATEMENT[token.text] and after.kind == "operator"
    and after.text ~= "*" and after.text ~= ")" and after.text ~= ":"
end

-- Operators that change something, and the parenthesis of a call.
local ACTS = {["("] = true, ["++"] = true, ["--"] = true, ["="] = true}
for operator in pairs(OPERATORS.c) do
  if operator:find "=$" and not operator:find "^[=!<>]=$" then ACTS[operator] = true end
end

-- The index of the last token of the statement of C that begins at tokens[i], or nil.
local function statement_of_c(tokens, i)
  if not begins_in_c(tokens, i) then return nil end
  local j, acts = i, false
  while tokens[j] do
    local text = tokens[j].kind == "operator" and tokens[j].text
    if text == ";" then return acts and j - 1 end
    if text == "}" or text == ")" or text == "]" then return nil end
    acts = acts or ACTS[text]
    j = (text == "(" or text == "[" or text == "{") and closing(tokens, j) or j
    j = j + 1
  end
end

-- The index of the last token of a call or assignment of Lua that is the whole of its line, or nil.
local function statement_of_lua(tokens, i, text)
  local token, before = tokens[i], tokens[i - 1]
  if token.kind ~= "name" or NO_STATEMENT[token.text] or before and before.line == token.line then
    return nil
  end
  local last = i
  while tokens[last + 1] and tokens[last + 1].line == token.line do last = last + 1 end
  local line = text:sub(token.at, tokens[last].last)
  return load(line) and load(text:sub(1, token.at - 1) .. text:sub(tokens[last].last + 1)) and last
end

local STATEMENT = {c = statement_of_c, lua = statement_of_lua}

-- Calls found(kind, first place, last place, line, replacements) for the token alone.
local function at_token(tokens, i, text, language, found)
  local token = tokens[i]
  local by, kind = OPERATORS[language][token.text], "operator"
  local step = token.text == "++" or token.text == "--" or token.kind == "name"
  if by and not step and not is_binary(tokens, i, text) then
    by, kind = token.text == "-" and token.kind == "operator" and {""}, "sign"
  end
  if token.text == NEGATION[language] then by, kind = {""}, "negation" end
  if token.kind == "number" then by, kind = other_numbers(token.text), "constant" end
  if WORDS[token.text] then by, kind = WORDS[token.text], "constant" end
  if by and token.kind ~= "string" then found(kind, token.at, token.last, token.line, by) end
end

--- All sites of `text`, whose language is "c" or "lua", in their order.
return function(text, language)
  local tokens, sites = tokens_of(text, language), {}
  local function found(kind, at, last, line, by)
    sites[#sites + 1] = {kind = kind, at = at, last = last, line = line, by = by}
  end
  local i, depth = 1, 0 -- depth of parentheses: the header of a `for` has no statements
  while tokens[i] do
    local token = tokens[i]
    depth = depth + (token.text == "(" and 1 or token.text == ")" and -1 or 0)
    if UNTOUCHED[token.text] then
      i = closing(tokens, i + 1) or i
    else
      at_token(tokens, i, text, language, found)
      if CONDITIONAL[token.text] and token.kind == "name" then
        local first, last = CONDITION[language](tokens, i)
        local condition = text:sub(tokens[first].at, tokens[last].last)
        found("condition", tokens[first].at, tokens[last].last, token.line,
          {("%s (%s)"):format(NEGATION[language], condition)})
      end
      local last = depth == 0 and STATEMENT[language](tokens, i, text)
      if last then found("statement", token.at, tokens[last].last, token.line, {""}) end
    end
    i = i + 1
  end
  return sites
end
