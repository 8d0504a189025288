--- Compiles the chunks that are typed at the prompt so that their local variables can be used in
-- later chunks.
--
-- In Lua a local ends with its chunk, and a prompt makes a chunk of every line. Here the locals at
-- the top level of a chunk stay visible in the chunks after it, as the same variables, which
-- functions share as in a file. A chunk that names such a local is compiled as
--
--   local keep, a, b; return function(...) TEXT; keep(function() return c end) end
--
-- and debug.upvaluejoin makes the upvalues a and b of that function the variables of the chunks
-- that declared them; c is a local that TEXT declares. Lines are numbered on from chunk to chunk:
-- stdin:17 is the 17th line that was run since the prompt began, and chunk.lines has it.

local lexer = require "ladies.prompt.lexer"

local chunk = {lines = {}}

-- The locals of all chunks so far: maps a name to {function, number of its upvalue, attribute}.
local variables = {}

local KEEP = "_ladies_keep_"
local DEEPEST = 1000   -- levels of a stack; of deeper ones, which recursion makes, nothing is kept

local DEEPER = {["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1, ["end"] = -1,
  ["until"] = -1}

-- Returns the locals that a chunk makes at its top, an array of names and name -> attribute ("" for
-- none), without those that are <close>, which end with their chunk; then the set of all names in
-- it, and the place of the `return` at its top or nil.
local function locals_of(text)
  local words, names, attributes, used, depth = {}, {}, {}, {}, 0
  local tokens, return_at = lexer.tokens(text), nil
  for i, token in ipairs(tokens) do words[i] = token.kind == "string" and '""' or token.text end
  local function add(name, attribute)
    if attribute == "close" then return end
    if not attributes[name] then names[#names + 1] = name end
    attributes[name] = attribute
  end
  for i, word in ipairs(words) do
    depth = depth + (DEEPER[word] or 0)
    used[word] = true
    if word == "return" and depth == 0 then return_at = tokens[i].at end
    if word == "local" and depth == 0 and words[i + 1] == "function" then
      add(words[i + 2], "")
    elseif word == "local" and depth == 0 then
      local at = i
      repeat
        local attribute = words[at + 2] == "<" and words[at + 3]
        add(words[at + 1], attribute or "")
        at = at + (attribute and 5 or 2)
      until words[at] ~= ","
    end
  end
  return names, attributes, used, return_at
end

local function keep_value(name, value, attribute)
  variables[name] = {function() return value end, 1, attribute}
end

-- Keeps the upvalues of `values`, a function that returns the locals `names`, for later chunks. A
-- constant that the compiler inlined is no upvalue, so its value is kept.
local function keep(names, attributes, values)
  local found = {}
  for i = 1, 255 do
    local name = debug.getupvalue(values, i)
    if not name then break end
    found[name] = i
  end
  for i, name in ipairs(names) do
    if found[name] then
      variables[name] = {values, found[name], attributes[name]}
    else
      keep_value(name, (select(i, values())), attributes[name])
    end
  end
end

local running   -- the chunk that runs: {f =, attributes =}

-- Code that returns the values of an expression from a chunk in such a way that a call in it is no
-- tail call, so that an error can still name the line of the chunk.
local RETURN = " return (function(...) return ... end)(%s)"

-- Removes a comment or a semicolon after an expression, so that its last token is in the line of
-- the bracket that ends the call above, the line that Lua names in errors.
local function bare(expression)
  local tokens = lexer.tokens(expression)
  local last = tokens[#tokens]
  if last and last.kind == "open" then          -- a comment
    table.remove(tokens)
    last = tokens[#tokens]
  end
  if last and last.text == ";" then last = tokens[#tokens - 1] end
  return last and expression:sub(1, last.at + #last.text - 1) or ""
end

-- Compiles a chunk, `text` followed by an expression ("" for none), to a function that keeps the
-- locals when it ends or returns.
local function joined(text, expression, first_line, source)
  local names, attributes, used, return_at = locals_of(text)
  expression = bare(expression)
  for name in pairs(select(3, locals_of(expression))) do used[name] = true end
  local head, line = {"local " .. KEEP}, ("\n"):rep(first_line - 1)
  for name, variable in pairs(variables) do
    local attribute = variable[3] ~= "" and " <const> = ..." or ""
    if used[name] then head[#head + 1] = (";local %s%s"):format(name, attribute) end
  end
  local tail = #names > 0
    and (";%s(function() return %s end);"):format(KEEP, table.concat(names, ",")) or ""
  if return_at then
    text = text:sub(1, return_at - 1) .. tail .. text:sub(return_at)
  else
    text = ("%s%s%s%s"):format(text, text:find "[^\n]$" and "\n" or "", tail,
      expression ~= "" and RETURN:format(expression) or "")
  end
  local whole = ("%s%s; return function(...) %s\nend"):format(line, table.concat(head), text)
  local outer, message = load(whole, source, "t")
  if not outer then return nil, message end
  local f = outer()
  for i = 1, 255 do
    local name = debug.getupvalue(f, i)
    if not name then break end
    if name == KEEP then
      debug.setupvalue(f, i, function(values) keep(names, attributes, values) end)
    elseif variables[name] then
      debug.upvaluejoin(f, i, variables[name][1], variables[name][2])
    end
  end
  return f, attributes
end

local function compile(text, expression, first_line, source)
  local f, attributes = joined(text, expression, first_line, source)
  if not f then return nil, attributes end
  return function(...)
    running = {f = f, attributes = attributes}
    return f(...)
  end
end

-- Compiles a text by itself. Returns true for a chunk; otherwise false, the message, and whether
-- more lines could complete it. A string in quotes must end in its line.
local function check(text, first_line)
  text = ("\n"):rep(first_line - 1) .. text
  local f, message = load(text, "=stdin", "t")
  if f then return true end
  local _, at_the_end = load(text .. "\n", "=stdin", "t")
  local wants_more = at_the_end:sub(-5) == "<eof>"
  return false, wants_more and message or at_the_end, wants_more
end

-- Splits a text such as `x = 1; x` into statements and an expression, which follows a semicolon or
-- begins a line; nil for other texts.
local function split(text)
  for at = #text, 1, -1 do
    if text:find("^[;\n]", at) then
      local before, expression = text:sub(1, at), text:sub(at + 1)
      if check(before .. " return " .. expression, 1) then return before, expression end
    end
  end
end

-- Splits a text into statements and a call that begins a line; nil for other texts.
local function split_call(text)
  for at = #text, 1, -1 do
    if text:find("^\n%s*[%a_]", at) then
      local before, call = text:sub(1, at), text:sub(at + 1)
      if check("return " .. call, 1) and check(before, 1) then return before, call end
    end
  end
end

-- Returns the statements in a text and the expression at its end, "" for none; for other texts nil,
-- the message, and whether more text could make it a chunk.
local function parts_of(text, first_line)
  local alone = text:gsub("^=", "", 1)
  local is_expression, why, is_begun = check("return " .. alone, first_line)
  if is_expression then return "", alone end
  local ok, message, wants_more = check(text, first_line)
  local before, expression = (ok and split_call or split)(text)
  if before then return before, expression end
  if ok then return text, "" end
  return nil, is_begun and why or message, is_begun or wants_more
end

--- Returns true for a text that is a chunk; otherwise false, the message, and whether more text
-- could make it one.
function chunk.check(text)
  local before, message, wants_more = parts_of(text, #chunk.lines + 1)
  if before then return true end
  return false, message, wants_more
end

--- Compiles a typed text to a function. The text is an expression, whose values the function
-- returns, or statements, which may end with an expression or with a call in a line of its own. For
-- other texts it returns nil, the message, and whether more text could make it a chunk.
function chunk.load(text)
  local first = #chunk.lines + 1
  local before, expression, wants_more = parts_of(text, first)
  if not before then return nil, expression, wants_more end
  local f, message = compile(before, expression, first, "=stdin")
  if not f then return nil, message, false end
  for line in (text .. "\n"):gmatch "(.-)\n" do chunk.lines[#chunk.lines + 1] = line end
  return f
end

--- Compiles a script to a function whose locals stay visible like a chunk's; returns nil and the
-- message if that fails.
function chunk.load_file(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, "cannot open " .. message end
  local text = file:read "a":gsub("^#[^\n]*", "")
  file:close()
  local ok
  ok, message = load(text, "@" .. path, "t")
  if not ok then return nil, message end
  return compile(text, "", 1, "@" .. path)
end

--- Keeps the locals of a chunk that has failed, with the values that they had. It must be called
-- before the stack unwinds. They are copies, which functions that the chunk has made do not share.
function chunk.rescue()
  if not running then return end
  local level, info = 2, debug.getinfo(2, "f")
  while info and info.func ~= running.f do
    level = level + 1
    info = level < DEEPEST and debug.getinfo(level, "f")
  end
  for i = 1, info and 250 or 0 do
    local name, value = debug.getlocal(level, i)
    if not name then break end
    if running.attributes[name] then keep_value(name, value, running.attributes[name]) end
  end
end

--- Returns the locals that are kept, as a table from name to value; those that are nil are left
-- out.
function chunk.locals()
  local values = {}
  for name, variable in pairs(variables) do
    values[name] = select(2, debug.getupvalue(variable[1], variable[2]))
  end
  return values
end

--- Forgets a local, so that its name means the global again.
function chunk.forget(name)
  variables[name] = nil
end

return chunk
