--- Raises errors that blame the user's line, adds to messages where they come from, and lets
-- interruptions go up, which are no errors.
--
-- A message begins with the place that it blames, "FILE:LINE: ": the user's line, for errors of Lua
-- and of C alike. What is added to a message stands behind that place. Ctrl-C raises an object of
-- its own class (an Interruption, whose text is a message like others); no code here keeps one from
-- going up, for it calls errors.try and not pcall.

local core = require "ladies_core"

local errors = {}

-- Tells the core in which folder the sources of this library and of the experiments lie: errors
-- never blame a line of theirs.
core.set_home(debug.getinfo(1, "S").source:match "^(.*[/\\])ladies[/\\]base[/\\]" or "=")

--- errors.fail(message: string): raises `message`, blamed on the nearest line outside this library:
-- the user's. It becomes one line, whatever it quotes of a file.
function errors.fail(message)
  error(core.blamed_line() .. core.printable(tostring(message)), 0)
end

-- The user's lines that raised errors which are objects, as `error {}` does, by these objects.
local raised_at = setmetatable({}, {__mode = "k"})

--- errors.noted(e) -> any: a message handler, which notes the user's line that raised an error that
-- is an object, and returns the error.
function errors.noted(e)
  if type(e) == "table" and raised_at[e] == nil then raised_at[e] = core.blamed_line() end
  return e
end

--- errors.caught(f, ...) -> boolean, ...: calls f(...) as pcall does, and notes the line of an
-- error that is an object, which has no place for it; errors.told knows it then.
function errors.caught(f, ...)
  return xpcall(f, errors.noted, ...)
end

--- errors.packed(e) -> any: an error as it leaves a worker: an object with the line that raised it,
-- which the worker alone knows.
function errors.packed(e)
  return type(e) == "table" and {error = e, line = raised_at[e]} or e
end

--- errors.unpacked(e) -> any: the error that errors.packed was given; its line is known here, too.
function errors.unpacked(e)
  if type(e) ~= "table" then return e end
  raised_at[e.error] = e.line
  return e.error
end

--- errors.text(e) -> string: the text of an error, with its line; of an object without a text, or
-- whose __tostring fails, its kind in place of its address.
function errors.text(e)
  local kind, meta = type(e), getmetatable(e)
  local ok, text = kind == "string" or kind == "number", e
  if not ok and type(meta) == "table" and meta.__tostring then ok, text = pcall(tostring, e) end
  return (raised_at[e] or "") .. (ok and text or ("(error object is a %s value)"):format(kind))
end

-- Returns the place that the error blames, "FILE:LINE: " or "", and the message behind it.
local function split(e)
  local text = errors.text(e)
  local place = text:match "^[^\n]-:%d+: "
  if not place or place:find ": ." then return "", text end
  return place, text:sub(#place + 1)
end

--- errors.message(e) -> string: the message of an error without the place that it blames.
function errors.message(e)
  local _, message = split(e)
  return message
end

-- The files that errors.own_file was told of, by the names that messages have for them.
local own_files = {}

--- errors.own_file(path): says that the file at `path` is code of the user's own which a command
-- loads: errors.told keeps its places.
function errors.own_file(path)
  own_files[debug.getinfo(load("", "@" .. path), "S").short_src] = true
end

--- errors.is_in_own_file(e) -> boolean: whether an error blames a line in a file that own_file was
-- told of.
function errors.is_in_own_file(e)
  return own_files[split(e):match "^(.*):%d+: $"] == true
end

--- errors.told(e) -> string: the message of an error as the user of a command is told: with the
-- place that it blames only where that is in code of the user's own.
function errors.told(e)
  return errors.is_in_own_file(e) and errors.text(e) or errors.message(e)
end

--- errors.is_interrupt(e) -> boolean: whether an error is that of Ctrl-C.
function errors.is_interrupt(e)
  return core.is_interruption(e)
end

-- The beginnings of messages of Lua itself, which mean a mistake in the code of the program or of a
-- script.
local INTERNAL = {"attempt to ", "bad argument", "assertion failed"}

--- errors.is_internal(e) -> boolean: whether an error tells of a fault in code, this library's or a
-- script's, rather than in what it was given.
function errors.is_internal(e)
  local text = errors.text(e)
  for _, sign in ipairs(INTERNAL) do
    if text:find(sign, 1, true) then return true end
  end
  return false
end

-- Puts the context before the message, "context: message"; where both begin with the same name, it
-- is written only once.
local function within(context, message)
  local name = context:match "^[%w_.]+: "
  if name and message:sub(1, #name) == name then message = message:sub(#name + 1) end
  return core.printable(context) .. ": " .. message
end

--- errors.pass_on(e [, context: string]): raises a caught error again. `context` says what was
-- being done and is put behind the place that the error blames, "FILE:LINE: context: message"; nil
-- adds nothing. One that blames no place gets the user's line. An interruption stays one, and any
-- other object goes on as it is.
function errors.pass_on(e, context)
  local interrupted = errors.is_interrupt(e)
  if type(e) ~= "string" and not interrupted then error(e, 0) end
  local place, message = split(e)
  if place == "" then place = core.blamed_line() end
  local text = place .. (context and within(context, message) or message)
  error(interrupted and core.interruption(text) or text, 0)
end

local function finish(what, number, ok, ...)
  if ok then return ... end
  errors.pass_on(..., what:format(number))
end

--- errors.within(what: string, number: integer, f, ...) -> ...: calls f(...) and returns its
-- results; its errors are raised with `what` ("layer %d" or the like, with the number) put before
-- their message.
function errors.within(what, number, f, ...)
  return finish(what, number, errors.caught(f, ...))
end

local function blamed_on(place, ok, ...)
  if ok then return ... end
  local e = ...
  if errors.is_interrupt(e) or errors.is_in_own_file(e) then error(e, 0) end
  error(place .. errors.message(e), 0)
end

--- errors.owned(f) -> function: returns a function in code of the user's own that a command loads
-- such that its errors always blame a line of that code: the one at which it begins where they know
-- none, as after `return other(x)`. Any other f is returned itself.
function errors.owned(f)
  local at = type(f) == "function" and debug.getinfo(f, "S")
  if not at or not own_files[at.short_src] then return f end
  local place = ("%s:%d: "):format(at.short_src, at.linedefined)
  return function(...) return blamed_on(place, errors.caught(f, ...)) end
end

local function settle(ok, first, ...)
  if not ok and errors.is_interrupt(first) then error(first, 0) end
  return ok, first, ...
end

--- errors.try(f, ...) -> boolean, ...: calls f(...) as errors.caught does and returns what that
-- returns; only an interruption (Ctrl-C) is not caught.
function errors.try(f, ...)
  return settle(errors.caught(f, ...))
end

return errors
