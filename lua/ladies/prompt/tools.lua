--- Defines the functions that only the prompt has: who, time, profile, reload and source.

local core = require "ladies_core"
local chunk = require "ladies.prompt.chunk"
local errors = require "ladies.base.errors"
local medians = require "ladies.statistics.medians"
local format = require "ladies.prompt.format"
local members = require "ladies.prompt.members"
local options = require "ladies.base.options"
local primitive_calls = require "ladies.base.primitive_calls"
local units = require "ladies.base.units"

local tools = {}

local FLOAT, ID, OFFSET = 4, 4, 8   -- bytes

local BYTES = {
  Tensor = function(t) return FLOAT * t.n_rows * t.n_cols end,
  Index = function(x) return ID * #x end,
  Matrix = function(A)
    local values = A.values
    return OFFSET * (A.n_rows + 1) + (ID + (values and FLOAT or 0)) * A.nnz
  end,
}

-- Counts the bytes of the Tensors, Indexes and Matrices in a value and in the tables within it,
-- each object once.
local function bytes_of(value, seen)
  if seen[value] then return 0 end
  local count = BYTES[options.class_of(value)]
  if count then
    seen[value] = true
    local ok, bytes = errors.try(count, value)   -- it may be closed
    return ok and bytes or 0
  end
  if type(value) ~= "table" or members.is_module(value) then return 0 end
  seen[value] = true
  local sum = 0
  for _, member in next, value do sum = sum + bytes_of(member, seen) end
  return sum
end

local WHAT = 48   -- columns

local standard = {}   -- the globals that were there when the prompt began

--- Remembers the globals that exist now, which who() does not list as the user's.
function tools.begin()
  for name in next, _G do standard[name] = true end
  standard._, standard.__ = true, true
end

--- who(): prints the variables that were made at the prompt, locals and globals, and how many bytes
-- of Tensors, Indexes and Matrices they hold; what two of them hold is counted with each.
function tools.who()
  local rows, widest = {}, 0
  local function add(name, value, kind)
    local is_hidden = type(name) ~= "string" or kind == "global" and standard[name]
    if is_hidden or members.is_module(value) then return end
    name = core.printable(name)
    rows[#rows + 1] = {name = name, kind = kind, what = format.line(value, WHAT),
      bytes = bytes_of(value, {})}
    widest = math.max(widest, #name)
  end
  local locals = chunk.locals()
  for name, value in pairs(locals) do add(name, value, "local") end
  for name, value in next, _G do
    if locals[name] == nil then add(name, value, "global") end
  end
  table.sort(rows, function(a, b) return a.name < b.name end)
  for _, row in ipairs(rows) do
    local space = row.what .. (" "):rep(WHAT - format.columns(row.what))
    print((("%-" .. widest .. "s  %-6s  %s  %9s"):format(row.name, row.kind, space,
      row.bytes > 0 and units.size(row.bytes) or ""):gsub("%s+$", "")))
  end
  collectgarbage()
  collectgarbage()   -- what the finalizers of the first have let go
  print(("%s in use by the library"):format(units.size(core.memory().total)))
end

local ENOUGH = 0.5   -- seconds of repetitions
local MOST_CALLS = 1000

local function time_text(seconds)
  if seconds < 1e-3 then return ("%.3g us"):format(1e6 * seconds) end
  if seconds < 1 then return ("%.3g ms"):format(1e3 * seconds) end
  return ("%.3g s"):format(seconds)
end

--- time(f, ...): calls f(...) again and again for half a second, at least once, and prints how long
-- a call took: the median and the shortest. Returns the results of the first call.
function tools.time(f, ...)
  options.value("time", "f", f, "callable")
  local times, began = {}, core.clock()
  local results
  repeat
    local start = core.clock()
    local found = table.pack(f(...))
    times[#times + 1] = core.clock() - start
    results = results or found
  until core.clock() - began > ENOUGH or #times == MOST_CALLS
  print(#times == 1 and time_text(times[1]) or ("%s (median of %d calls; the shortest %s)"):format(
    time_text(medians.of(times)), #times, time_text(math.min(table.unpack(times)))))
  return table.unpack(results, 1, results.n)
end

--- profile(f, ...): calls f(...) once and prints where its time went, by primitive of the C core;
-- the rest is Lua's own, and that of the measuring. Returns the results of the call.
function tools.profile(f, ...)
  options.value("profile", "f", f, "callable")
  primitive_calls.timed(function() end)   -- the first one takes the measure of the measuring
  local began = core.clock()
  local results = table.pack(primitive_calls.timed(f, ...))
  local whole = core.clock() - began
  local names, rest = {}, whole
  for name, one in pairs(results[1]) do
    names[#names + 1] = name
    rest = rest - one.seconds
  end
  table.sort(names, function(a, b)
    local x, y = results[1][a].seconds, results[1][b].seconds
    if x ~= y then return x > y end
    return a < b
  end)
  local function row(name, calls, seconds)
    print(("%-28s %8s %10s  %5.1f %%"):format(name, calls, time_text(math.max(0, seconds)),
      100 * math.max(0, seconds) / whole))
  end
  print(("%-28s %8s %10s"):format("primitive", "calls", "time"))
  for _, name in ipairs(names) do row(name, results[1][name].calls, results[1][name].seconds) end
  row("Lua", "", rest)
  return table.unpack(results, 2, results.n)
end

--- reload([path]): ladies.reload, which loads files of one's own once more after they were changed;
-- prints the names of what is new.
function tools.reload(path)
  local changed = package.loaded.ladies.reload(path)
  print(#changed > 0 and "new: " .. table.concat(changed, ", ")
    or "of the samplers and models that were loaded from files, none has changed")
end

--- source(f): prints the place of a function that is written in Lua, in the library or at the
-- prompt, and its text.
function tools.source(f)
  local where = "source"
  options.value(where, "f", f, "callable")
  if type(f) ~= "function" then f = debug.getmetatable(f).__call end
  local info = debug.getinfo(f, "S")
  if info.what == "C" then errors.fail(where .. ": the function is written in C; see help") end
  local lines = info.source == "=stdin" and chunk.lines or {}
  if info.source:find "^@" then
    for line in (core.file.read(info.source:sub(2)) .. "\n"):gmatch "(.-)\n" do
      lines[#lines + 1] = core.printable(line, true)
    end
  end
  print(("%s:%d"):format(info.short_src, info.linedefined))
  print(table.concat(lines, "\n", info.linedefined, math.min(info.lastlinedefined, #lines)))
end

return tools
