--- Watches and times calls of the functions of the C core while a piece of Lua runs: which, with
-- what, and how long each took. A hook of Lua's debug library sees every call, also of functions
-- that code keeps in locals, and no code is changed. Calls within a coroutine are not seen, since a
-- hook is one coroutine's.
--
-- The time of a call is that between its call and its return, less that of the primitives called
-- within it, and less what the same measurement finds for a function that does next to nothing. So
-- the time of the hook itself is counted in no primitive, but for some tens of nanoseconds of
-- noise. But the hook makes the whole slower: the time of everything together is measured without
-- it, and what the primitives leave of that is Lua's own (see ladies.lab.cost.timing,
-- ladies.training.cost.profile).

local core = require "ladies_core"
local core_classes = require "ladies.base.core_classes"
local errors = require "ladies.base.errors"

local primitive_calls = {}

local clock, getinfo = core.clock, debug.getinfo

local OPERATORS = {__add = "+", __sub = "-", __mul = "*", __div = "/", __pow = "^", __unm = "-",
  __mod = "%", __concat = "..", __eq = "=="}

-- These functions in C only call a Lua function that they are given, so they do not count as
-- primitives.
local OF_LUA = {[core.no_grad] = true, [core.workers] = true, [core.in_bfloat16] = true,
  [core.in_float32] = true}

-- Adds the functions in a table to `list`, each with its name behind the prefix.
local function add(names, list, prefix)
  for key, value in pairs(list) do
    if type(value) == "function" and getinfo(value, "S").what == "C" and not OF_LUA[value] then
      names[value] = prefix .. key
    end
  end
end

-- Returns the names of all primitives, function -> name: "Matrix:slice", "Tensor *",
-- "sampling.choice", "zeros".
local function all_names()
  local names = {}
  add(names, core, "")
  for key, module in pairs(core) do
    if type(module) == "table" and key ~= "docs" then add(names, module, key .. ".") end
  end
  for class, meta in pairs(core_classes()) do
    add(names, meta.__methods, class .. ":")
    for key, operator in pairs(OPERATORS) do
      if meta[key] then names[meta[key]] = class .. " " .. operator end
    end
  end
  return names
end

local known_names

local function names_of_functions()
  known_names = known_names or all_names()
  return known_names
end

-- Runs f(...) with a debug hook for these events and returns its results. Afterwards the former
-- hook is set again, unless that of Ctrl-C has meanwhile replaced this one. Lua cannot set one that
-- is written in C again.
local function under_hook(hook, events, f, ...)
  local former, mask, count = debug.gethook()
  if former == "external hook" then
    errors.fail "primitive calls cannot be counted: a debug hook is set that is written in C"
  end
  local _ <close> = setmetatable({}, {__close = function()
    if debug.gethook() == hook then debug.sethook(former, mask, count) end
  end})
  debug.sethook(hook, events)
  return f(...)
end

--- primitive_calls.watch(seen, f, ...): runs f(...) and returns its results. Before each call of a
-- C function in it, seen(name, arguments, ...) is called with the name of the primitive, nil for a
-- function that is not the core's, and an array of the arguments, perhaps with other values behind
-- them.
function primitive_calls.watch(seen, f, ...)
  local names = names_of_functions()
  local function hook()
    local info = getinfo(2, "Sf")
    if info.what ~= "C" then return end
    local arguments = {}
    for i = 1, 8 do
      local name, value = debug.getlocal(2, i)
      if not name then break end
      arguments[i] = value
    end
    seen(names[info.func], arguments, info.func)
  end
  return under_hook(hook, "c", f, ...)
end

-- Makes a debug hook that calls returned(name, seconds) after each call of a primitive.
local function stopwatch(returned)
  local names = names_of_functions()
  local open, began, within, depth = {}, {}, {}, 0
  local function finish(name, now)
    -- An error leaves calls without a return.
    while depth > 0 and open[depth] ~= name do depth = depth - 1 end
    if depth == 0 then return end
    local elapsed = now - began[depth]
    local own = elapsed - within[depth]
    depth = depth - 1
    if depth > 0 then within[depth] = within[depth] + elapsed end
    returned(name, own)
  end
  return function(event)
    local now = clock()
    local name = names[getinfo(2, "f").func]
    if not name then return end
    if event == "return" then return finish(name, now) end
    depth = depth + 1
    open[depth], within[depth] = name, 0
    began[depth] = clock()
  end
end

-- Returns the overhead of the stopwatch: the seconds that it finds for one call of a function that
-- does nothing but read the clock.
local function empty_call()
  local sum, calls = 0, 0
  under_hook(stopwatch(function(_, seconds) sum, calls = sum + seconds, calls + 1 end), "cr",
    function()
      for _ = 1, 2000 do clock() end
    end)
  return sum / calls
end

local of_empty_call

--- primitive_calls.each(returned, f, ...): runs f(...) and returns its results. After each call of
-- a primitive in it, returned(name, seconds) is called; the seconds may be slightly below 0.
function primitive_calls.each(returned, f, ...)
  of_empty_call = of_empty_call or math.min(empty_call(), empty_call(), empty_call())
  return under_hook(stopwatch(function(name, seconds)
    returned(name, seconds - of_empty_call)
  end), "cr", f, ...)
end

--- primitive_calls.timed(f, ...) -> {name = {seconds =, calls =}, ...}, and the results of f(...).
function primitive_calls.timed(f, ...)
  local totals = {}
  local results = table.pack(primitive_calls.each(function(name, seconds)
    local total = totals[name] or {seconds = 0, calls = 0}
    totals[name] = total
    total.seconds, total.calls = total.seconds + seconds, total.calls + 1
  end, f, ...))
  for _, one in pairs(totals) do one.seconds = math.max(0, one.seconds) end
  return totals, table.unpack(results, 1, results.n)
end

return primitive_calls
