--- An error at the prompt: its message, the line of the user's that it blames, the values that this
-- line names, and the stack, which `where()` shows.

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
local paths = {}     -- of the files in it, by the names that texts have for them

-- The line of a script, or of what was typed, as tracebacks name it. An error may name any file:
-- only regular ones are read, of functions on a stack or of names that say that they are Lua, since
-- an error of syntax leaves no function.
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

-- The names that the function at a level of the stack sees: locals over upvalues.
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

-- The innermost level whose function runs this line, for who calls this; nil where there is none.
-- Takes note of the paths of all functions' files, which texts may have cut.
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

-- What a path of names leads to, or the longest part of it that leads to anything, and that part.
local function nearest(seen, path)
  repeat
    local value = members.at(seen, path)
    if value ~= nil then return value, path end
    path = path:match "^(.*)%."
  until not path
end

-- {"x = Tensor 3 x 2, k = 4"}: what a line names, but for functions and modules; a line each where
-- one has not room for all.
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

--- The text that tells of an error: called in the message handler of what was typed, so that the
-- stack is there to look at. `message` is a text; that of an interruption stays as it is.
function failure.explain(message, is_interruption)
  chunk.rescue()
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
