--- Calls of the functions of the C core while a piece of Lua runs: which, with what, and how long
-- each took. A hook of Lua's debug library sees every call, also of functions that code keeps in
-- locals, and no code is changed.
--
-- What a call took is the time between its call and its return, less that of the primitives called
-- within it, and less what the same measurement finds for a function that does next to nothing. So
-- the time that the hook itself takes stands in no primitive, but for some tens of nanoseconds of
-- noise. It does make the whole slower: what all took together is measured without a hook, and what
-- the primitives leave of that is Lua's own (see ladies.lab.timing, ladies.training.profile).

local core = require "ladies_core"
local core_classes = require "ladies.base.core_classes"

local primitives = {}

local clock, getinfo = core.clock, debug.getinfo

local OPERATORS = {__add = "+", __sub = "-", __mul = "*", __div = "/", __pow = "^", __unm = "-",
  __concat = "..", __eq = "=="}

-- These run a function of Lua's, whose time is not theirs.
local OF_LUA = {[core.no_grad] = true, [core.workers] = true, [core.in_bfloat16] = true,
  [core.in_float32] = true}

-- The names of what is a function in a table.
local function add(names, list, prefix)
  for key, value in pairs(list) do
    if type(value) == "function" and getinfo(value, "S").what == "C" and not OF_LUA[value] then
      names[value] = prefix .. key
    end
  end
end

-- Function -> name: "Matrix:slice", "Tensor *", "sampling.choice", "zeros".
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

-- The results of f(...), with a hook for these events while it runs; then the former hook comes
-- back, unless another one, of Ctrl-C, has taken the place.
local function under_hook(hook, events, f, ...)
  local former, mask, count = debug.gethook()
  local _ <close> = setmetatable({}, {__close = function()
    if debug.gethook() == hook then debug.sethook(former, mask, count) end
  end})
  debug.sethook(hook, events)
  return f(...)
end

--- primitives.watch(seen, f, ...): the results of f(...); for every call of a C function in it
-- first calls seen(name, arguments): its name, nil for functions that are not the core's, the
-- function itself in their place, and an array of its arguments, perhaps with others behind them.
function primitives.watch(seen, f, ...)
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

-- A hook that calls returned(name, seconds) after each call of a primitive.
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

-- What the stopwatch finds for one call of a function that only reads the clock.
local function empty_call()
  local sum, calls = 0, 0
  under_hook(stopwatch(function(_, seconds) sum, calls = sum + seconds, calls + 1 end), "cr",
    function()
      for _ = 1, 2000 do clock() end
    end)
  return sum / calls
end

local of_empty_call

--- primitives.each(returned, f, ...): the results of f(...); after every call of a primitive in it
-- comes returned(name, seconds), the seconds perhaps a little less than 0.
function primitives.each(returned, f, ...)
  of_empty_call = of_empty_call or math.min(empty_call(), empty_call(), empty_call())
  return under_hook(stopwatch(function(name, seconds)
    returned(name, seconds - of_empty_call)
  end), "cr", f, ...)
end

--- primitives.timed(f, ...) -> {name = {seconds =, calls =}, ...}, and the results of f(...).
function primitives.timed(f, ...)
  local totals = {}
  local results = table.pack(primitives.each(function(name, seconds)
    local total = totals[name] or {seconds = 0, calls = 0}
    totals[name] = total
    total.seconds, total.calls = total.seconds + seconds, total.calls + 1
  end, f, ...))
  for _, one in pairs(totals) do one.seconds = math.max(0, one.seconds) end
  return totals, table.unpack(results, 1, results.n)
end

return primitives
