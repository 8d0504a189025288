--- Splits Lua text into tokens, also where it breaks off in the middle.

local lexer = {}

local function matched(text, at, patterns)
  for _, pattern in ipairs(patterns) do
    local _, last = text:find("^" .. pattern, at)
    if last then return last end
  end
end

-- Returns the place of the last character of the quoted string that begins at `at`; nil where it
-- does not end.
local function quoted(text, at)
  local quote, i = text:sub(at, at), at + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == quote then return i end
    i = i + (c == "\\" and 2 or 1)
  end
end

local LONG = {"%[(=*)%[.-%]%1%]"}
local COMMENT = {"%-%-%[(=*)%[.-%]%1%]", "%-%-[^\n]*\n"}

--- Returns the tokens of a text, as {kind =, text =, at = (where it begins)}. The kinds are "name"
-- (also for keywords of Lua), "number", "string", "sign" (one character, or two or three dots) and,
-- last, "open": a string or a comment that does not end.
function lexer.tokens(text)
  local tokens, at = {}, 1
  local function add(kind, last)
    tokens[#tokens + 1] = {kind = kind, text = text:sub(at, last), at = at}
    at = last + 1
  end
  while true do
    at = text:find("%S", at)
    if not at then return tokens end
    local c = text:sub(at, at)
    if text:find("^%-%-", at) then
      local last = matched(text, at, COMMENT)
      if not last then add("open", #text) else at = last + 1 end
    elseif c == '"' or c == "'" then
      local last = quoted(text, at)
      add(last and "string" or "open", last or #text)
    elseif text:find("^%[=*%[", at) then
      local last = matched(text, at, LONG)
      add(last and "string" or "open", last or #text)
    elseif c:find "[%a_]" then
      add("name", matched(text, at, {"[%w_]+"}))
    elseif c:find "%d" then
      add("number", matched(text, at, {"0[xX][%x.]*", "%d*%.?%d*[eE][+-]%d+", "%d*%.?%d*%w*"}))
    else
      add("sign", matched(text, at, {"%.%.%.?", "."}))
    end
  end
end

return lexer
