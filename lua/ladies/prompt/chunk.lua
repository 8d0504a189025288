--- What is typed at the prompt, as functions to run.
--
-- Lua ends a local with its chunk, and a prompt makes a chunk of every line. Here chunks are
-- joined: the locals at the top of one are those of the chunks after it, the same variables, which
-- functions share as in a file. A chunk that names such a local is compiled as
--
--   local keep, a, b; return function(...) TEXT; keep(function() return c end) end
--
-- and the upvalues a and b of that function become, by debug.upvaluejoin, the variables of the
-- chunks that made them; c is one that TEXT makes. Lines are counted through: stdin:17 is the 17th
-- line that was run since the prompt began, and chunk.lines has it.

local lexer = require "ladies.prompt.lexer"

local chunk = {lines = {}}

-- What the chunks so far have made: name -> {function, number of its upvalue, attribute}.
local variables = {}

local KEEP = "_ladies_keep_"
local DEEPEST = 1000   -- levels of a stack; of deeper ones, which recursion makes, nothing is kept

local DEEPER = {["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1, ["end"] = -1,
  ["until"] = -1}

-- The locals that a chunk makes at its top: an array of names, and name -> attribute ("" for none).
-- Those that are closed end with their chunk. Then the set of all names in it, and the place of the
-- `return` at its top or nil.
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

-- Makes the upvalues of `values`, which returns `names`, variables for the chunks to come. What the
-- compiler took for a constant is none.
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

-- Returns the values of an expression from a chunk. A call of the user's is no tail call then: the
-- chunk is still there to be blamed where it fails.
local RETURN = " return (function(...) return ... end)(%s)"

-- An expression without a comment or a semicolon behind it, so that the line of its last token is
-- the one of the bracket that ends the call above, which Lua blames for it.
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

-- The function of `text` and an expression behind it ("" for none), which are a chunk. It keeps the
-- locals where it ends or returns.
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

-- Whether a text is a chunk, alone; or the message, and whether more lines could make it one.
-- A string in quotes must end in its line.
local function check(text, first_line)
  text = ("\n"):rep(first_line - 1) .. text
  local f, message = load(text, "=stdin", "t")
  if f then return true end
  local _, at_the_end = load(text .. "\n", "=stdin", "t")
  local wants_more = at_the_end:sub(-5) == "<eof>"
  return false, wants_more and message or at_the_end, wants_more
end

-- Statements and an expression behind them, after a semicolon or in lines of its own, where `text`
-- is that: x = 1; x.
local function split(text)
  for at = #text, 1, -1 do
    if text:find("^[;\n]", at) then
      local before, expression = text:sub(1, at), text:sub(at + 1)
      if check(before .. " return " .. expression, 1) then return before, expression end
    end
  end
end

-- Statements and a call behind them, which begins a line, where `text` is that.
local function split_call(text)
  for at = #text, 1, -1 do
    if text:find("^\n%s*[%a_]", at) then
      local before, call = text:sub(1, at), text:sub(at + 1)
      if check("return " .. call, 1) and check(before, 1) then return before, call end
    end
  end
end

-- The statements in a text and the expression at its end, "" for none; or nil, the message, and
-- whether more text could make it a chunk.
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

--- Whether a text is a chunk; where it is none, false, the message, and whether more text could
-- make it one.
function chunk.check(text)
  local before, message, wants_more = parts_of(text, #chunk.lines + 1)
  if before then return true end
  return false, message, wants_more
end

--- The function that the text becomes: an expression, whose values it returns, statements, or
-- these and an expression at their end, also one that is a call in a line of its own. Where it is
-- no chunk, nil, the message, and whether more text could make it one.
function chunk.load(text)
  local first = #chunk.lines + 1
  local before, expression, wants_more = parts_of(text, first)
  if not before then return nil, expression, wants_more end
  local f, message = compile(before, expression, first, "=stdin")
  if not f then return nil, message, false end
  for line in (text .. "\n"):gmatch "(.-)\n" do chunk.lines[#chunk.lines + 1] = line end
  return f
end

--- The function of a script, whose locals live on as those of a chunk do; or nil and the message.
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

--- Keeps the locals of the chunk that has failed, as they are; to be called before its stack
-- unwinds. They are copies: functions that the chunk has made do not share them.
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

--- The locals that live on: name -> value; those that are nil are left out.
function chunk.locals()
  local values = {}
  for name, variable in pairs(variables) do
    values[name] = select(2, debug.getupvalue(variable[1], variable[2]))
  end
  return values
end

--- Forgets a local, so that its name is the global's again.
function chunk.forget(name)
  variables[name] = nil
end

return chunk
