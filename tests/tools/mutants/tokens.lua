--- The words of a C or Lua source: names, numbers and operators with their places. Comments and
-- lines of the preprocessor are passed over; a string leaves a token without text.

-- The longest come first, so that `<<=` is not read as `<<` and `=`.
local OPERATORS = {
  c = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^="},
  lua = {"...", "..", "//", "<=", ">=", "==", "~=", "<<", ">>", "::"},
}

-- The last place of a comment or of a line of the preprocessor that begins at `at`, or nil.
local PASSED_OVER = {
  c = function(text, at)
    if text:find("^//", at) then return text:find("\n", at, true) end
    if text:find("^/%*", at) then return select(2, text:find("*/", at, true)) end
    if text:find("^#", at) then
      repeat at = text:find("\n", at + 1, true) until text:sub(at - 1, at - 1) ~= "\\"
      return at
    end
  end,
  lua = function(text, at)
    local level = text:match("^%-%-%[(=*)%[", at)
    if level then return select(2, text:find("]" .. level .. "]", at, true)) end
    if text:find("^%-%-", at) then return text:find("\n", at, true) end
  end,
}

-- The last place of a string that begins at `at`, or nil.
local function string_end(text, at, language)
  local quote = text:match("^[\"']", at)
  if quote then
    repeat
      at = text:find("[\\" .. quote .. "]", at + 1)
      local escaped = text:sub(at, at) == "\\"
      if escaped then at = at + 1 end
    until not escaped
    return at
  end
  local level = language == "lua" and text:match("^%[(=*)%[", at)
  return level and select(2, text:find("]" .. level .. "]", at, true))
end

local function operator(text, at, language)
  for _, one in ipairs(OPERATORS[language]) do
    if text:sub(at, at + #one - 1) == one then return one end
  end
  return text:sub(at, at)
end

-- The kind and text of the token at `at` that is no string.
local function word_at(text, at, language)
  local name = text:match("^[%a_][%w_]*", at)
  if name then return "name", name end
  local number = text:match("^0[xX][%x.]+[uUlL]*", at)
    or text:match("^%.?%d[%d.]*[eE][+-]?%d+[fF]?", at) or text:match("^%.?%d[%d.]*[fFuUlL]*", at)
  if number then return "number", number end
  return "operator", operator(text, at, language)
end

--- The tokens of `text`, whose language is "c" or "lua": {kind = "name", "number", "operator" or
-- "string", text, at, last, line}.
return function(text, language)
  local tokens, at, line = {}, 1, 1
  while at <= #text do
    local blank = text:match("^%s+", at)
    local last = blank and at + #blank - 1 or PASSED_OVER[language](text, at)
    if not last then
      last = string_end(text, at, language)
      local kind, word = "string", ""
      if not last then
        kind, word = word_at(text, at, language)
        last = at + #word - 1
      end
      tokens[#tokens + 1] = {kind = kind, text = word, at = at, last = last, line = line}
    end
    line = line + select(2, text:sub(at, last):gsub("\n", ""))
    at = last + 1
  end
  return tokens
end
