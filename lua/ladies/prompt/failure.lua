--- Explains an error at the prompt: its message, the line of the user's that it blames, the values
-- that this line names, and the stack, which `where()` shows.

local core = require "ladies_core"
local chunk = require "ladies.prompt.chunk"
local errors = require "ladies.base.errors"
local format = require "ladies.prompt.format"
local members = require "ladies.prompt.members"
local style = require "ladies.prompt.style"

local failure = {}

local WIDTH = 60     -- columns of a value
local MOST = 74      -- columns of the values in one line
local VALUES = 6     -- so many of a line's are shown
local LONGEST = 200  -- of the line itself
local LINES = 200    -- of a stack
local LARGEST = 2^24 -- bytes of a script of which a line is shown

local stack          -- the text of the last error's
local n_errors = 0
local paths = {}     -- of the files in it, by the names that texts have for them

-- Returns the text of the source line with this place (as tracebacks write it) and number, of a
-- script or of typed text. Since an error may name any file, only regular files are read, and only
-- those of functions on the stack or with names of Lua files (a syntax error leaves no function).
local function source_line(place, number)
  if place == "stdin" then return chunk.lines[number] end
  local path = paths[place] or place:find "%.lua$" and place
  local ok, text = errors.try(core.file.read, path or "", {limit = LARGEST})
  if not ok or not number then return nil end
  local n = 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    n = n + 1
    if n == number then return line end
  end
end

-- Returns the variables that the function at a level of the stack sees, locals before upvalues.
local function seen_at(level)
  local seen, f = {}, debug.getinfo(level + 1, "f").func
  for i = 1, 255 do
    local name, value = debug.getupvalue(f, i)
    if not name then break end
    seen[name] = value
  end
  for i = 1, 250 do
    local name, value = debug.getlocal(level + 1, i)
    if not name then break end
    seen[name] = value
  end
  return setmetatable(seen, {__index = _G})
end

-- Returns the innermost level of the stack, as the caller counts levels, at which this line is
-- running; nil where there is none. It also records the full paths of all functions' files, since
-- messages shorten them.
local function level_of(place, number)
  local found
  for level = 2, LINES do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    paths[info.short_src] = info.source:match "^@(.*)"
    local runs_it = info.short_src == place and info.currentline == number
    found = found or runs_it and level - 1 or nil
  end
  return found
end

-- Looks up a path of names such as a.b.c; returns the value of its longest part that has one, and
-- that part.
local function nearest(seen, path)
  repeat
    local value = members.at(seen, path)
    if value ~= nil then return value, path end
    path = path:match "^(.*)%."
  until not path
end

-- Returns the values that a line names, except functions and modules, as texts: {"x = Tensor 3 x 2,
-- k = 4"}, or one text for each value where they do not fit on one line.
local function values_in(line, seen)
  local shown, parts = {}, {}
  for path in line:gsub("%-%-.*", ""):gsub("(['\"]).-%1", ""):gmatch "%f[%w_.:][%a_][%w_.]*" do
    local value
    value, path = nearest(seen, path)
    local is_data = value ~= nil and type(value) ~= "function" and not members.is_module(value)
    if is_data and not shown[path] and #parts < VALUES then
      shown[path] = true
      parts[#parts + 1] = ("%s = %s"):format(path, format.line(value, WIDTH))
    end
  end
  local together = table.concat(parts, ", ")
  return format.columns(together) > MOST and parts or {#parts > 0 and together or nil}
end

--- Returns the text that explains an error. It is called in the message handler, so that the stack
-- can still be looked at. `message` is a text; that of an interruption stays as it is.
function failure.explain(message, is_interruption)
  chunk.rescue()
  n_errors = n_errors + 1
  stack = debug.traceback("", 2)
  if is_interruption then return message end
  local place, number = message:match "^([^\n]-):(%d+): "
  number = math.tointeger(number)
  local level = level_of(place, number)
  local line = place and source_line(place, number)
  local lines = {style.error(core.printable(message, true))}
  if line then
    lines[2] = ("  %d | %s"):format(number, core.printable(line:sub(1, LONGEST), true))
    for _, values in ipairs(level and values_in(line, seen_at(level)) or {}) do
      lines[#lines + 1] = (" "):rep(#tostring(number) + 2) .. " | " .. values
    end
  end
  lines[#lines + 1] = style.faint "  where() shows the stack"
  return table.concat(lines, "\n")
end

--- Returns how many errors have been explained, to tell whether there was one in between.
function failure.count() return n_errors end

--- where(): prints the functions that ran when the last error came, the innermost first, each with
-- its line.
function failure.where()
  if not stack then errors.fail "where: there was no error yet" end
  local lines = {}
  for text in stack:gmatch "\n\t([^\n]*)" do
    if not text:find "^%[C%]: in %?$" then lines[#lines + 1] = "  " .. text end
    local place, number = text:match "^(.-):(%d+): "
    local line = place and source_line(place, math.tointeger(number))
    if line then lines[#lines + 1] = ("  %6d | %s"):format(number, line) end
  end
  if lines[#lines]:find "tail calls" then lines[#lines] = nil end   -- of the prompt itself
  print(core.printable(table.concat(lines, "\n"), true))
end

return failure
