--- Calls everything that the library has, at random: ladies tests/fuzz/api.lua [--seed N]
--   [--seconds S | --rounds R] [--calls C] [--trace]
-- A round is C calls (400) on objects of its own and follows from its seed; the next one has the
-- next seed. A call must return or raise one honest line; a crash is for the sanitizers to see. The
-- seed is printed before its round: --seed N --rounds 1 --trace shows the calls up to the crash.
local here = debug.getinfo(1, "S").source:match "^@(.*)/fuzz/" or ".."
package.path = here .. "/?.lua;" .. package.path

local ladies = require "ladies"
local core = require "ladies_core"
local surface = require "fuzz.api.surface"
local values = require "fuzz.api.values"
local new_world = require "fuzz.api.world"
local shell = require "tools.shell"

local random, one_of = math.random, values.one_of

local function settings()
  local given = {seed = 1, rounds = math.huge, seconds = math.huge, calls = 400, trace = false}
  local i = 1
  while arg[i] do
    local name = arg[i]:match "^%-%-(%a+)$"
    if given[name] == nil then error("api: unknown option " .. arg[i], 0) end
    if name == "trace" then
      given.trace = true
    else
      i = i + 1
      given[name] = assert(tonumber(arg[i]), "api: a number expected")
    end
    i = i + 1
  end
  if given.rounds == math.huge and given.seconds == math.huge then given.rounds = 1 end
  return given
end

local set = settings()
local functions = surface.functions(ladies)
local findings, counts = {}, {calls = 0, errors = 0, rounds = 0}
local seed, position, world

-- ---------------------------------------------------------------- errors

-- Lua's own errors about callbacks.
local LUAS_OWN = {
  "attempt to yield across a C%-call boundary", "attempt to yield from outside a coroutine",
}

-- Returns what is wrong with the message of an error, or nil.
local function complaint(message)
  if type(message) ~= "string" then
    return not world.called and "an error that is no text: " .. type(message) or nil
  end
  if message == "" then return "an empty message" end
  if message:find "%c" then return "not one line: " .. ("%q"):format(message) end
  if #message > 1500 then return "a message of " .. #message .. " characters" end
  if message:find "%(local 'self'%)" then return nil end   -- a method without its object
  for _, own in ipairs(LUAS_OWN) do
    if message:find(own) then return nil end
  end
  if message:find "attempt to" or message:find "%(local '" or message:find "%(null%)"
     or message:find "stack overflow" then
    return "not for a user: " .. message
  end
end

local function note(name, what)
  local key = name .. what:gsub("0x%x+", ""):gsub("%-?%d+", "#")
  if findings[key] then return end
  findings[key] = true
  findings[#findings + 1] = ("seed %d, call %d: %s: %s"):format(seed, position, name, what)
  io.write(findings[#findings], "\n")
end

-- ---------------------------------------------------------------- calls

local function show(value)
  if type(value) == "string" then return ("%q"):format(value:sub(1, 40)) end
  if type(value) ~= "table" then
    local ok, text = pcall(tostring, value)
    return ok and text or type(value)
  end
  return type(value)
end

local function trace(name, arguments)
  if not set.trace then return end
  local shown = {}
  for i = 1, arguments.n do shown[i] = show(arguments[i]) end
  io.write(("%d %s(%s)\n"):format(position, name, table.concat(shown, ", ")))
  io.flush()
end

-- Calls f; keeps what it returns, and looks at what it raises.
local function try(name, f, arguments)
  trace(name, arguments)
  world.called = false
  counts.calls = counts.calls + 1
  local begin = core.clock()
  local results = table.pack(pcall(f, table.unpack(arguments, 1, arguments.n)))
  local seconds = core.clock() - begin   -- a callback may take as long as it likes
  if seconds > 20 and not world.called then note(name, "takes too long") end
  if results[1] then
    for i = 2, math.min(results.n, 5) do world.keep(results[i]) end
    return
  end
  counts.errors = counts.errors + 1
  local what = complaint(results[2])
  if what and not (world.called and world.depth > 0) then note(name, what) end
end

local function call_function()
  local entry = one_of(functions)
  try(entry.name, entry.call, values.arguments(world, entry.parameters))
end

local function call_method()
  local object = world.pick()
  local methods = surface.methods(ladies, object)
  if #methods == 0 then return end
  local entry = one_of(methods)
  local arguments = values.arguments(world, entry.parameters)
  local other = type(object) == "userdata" and random(60) == 1
  table.insert(arguments, 1, other and values.any(world) or object)
  arguments.n = arguments.n + 1
  try(entry.name, entry.call, arguments)
end

local OPERATORS = {
  ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end, ["/"] = function(a, b) return a / b end,
  [".."] = function(a, b) return a .. b end, ["=="] = function(a, b) return a == b end,
  ["-x"] = function(a) return -a end, ["#"] = function(a) return #a end,
  ["tostring"] = tostring,
  ["index"] = function(a, b) return a[b] end,
  ["newindex"] = function(a, b, c) a[b] = c end,
}
local OPERATOR_NAMES = {"+", "-", "*", "/", "..", "==", "-x", "#", "tostring", "index", "newindex"}

-- Operators on values that have none are Lua's own errors, and no finding.
local function operate()
  local name, a, b = one_of(OPERATOR_NAMES), world.pick(), world.pick()
  local fields = surface.fields(a)
  if name:find "index" and random(2) == 1 then
    b = #fields > 0 and one_of(fields) or "n"
  elseif random(3) == 1 then
    b = values.any(world)
  end
  local c = values.any(world)
  trace(name, {n = 3, a, b, c})
  local ok, result = pcall(OPERATORS[name], a, b, c)
  if ok then
    world.keep(result)
  elseif type(result) == "string" and result:find "%c" then
    note(name, "not one line: " .. result)
  end
end

local function open_or_close_step()
  if world.step and random(2) == 1 then
    world.step:close()
    world.step = nil
    return
  end
  local ok, step = pcall(ladies.step, random(5) == 1 and {record = false} or nil)
  if ok then world.step = step end
end

-- A loss through an operation of callbacks, and back.
local function go_backward()
  local op = ladies.op{name = "odd", forward = world.callback(), backward = world.callback()}
  local x = world.pick "Tensor"
  try("op", function()
    local y = op(x, world.pick "Tensor")
    y:sum():backward()
  end, {n = 0})
end

local function in_coroutine(act)
  local thread = coroutine.create(function() for _ = 1, random(4) do act() end end)
  for _ = 1, random(5) do coroutine.resume(thread, world.pick()) end
  if random(2) == 1 then coroutine.close(thread) end
end

local function train()
  local data, model = world.pick "data", world.pick "model"
  local maybe = function(f) return random(3) == 1 and world.callback() or f end
  try("train", ladies.train, {n = 1, {
    data = data, model = model, sampler = maybe(world.pick "sampler"), batch_size = random(5, 60),
    max_batches = random(1, 3), eval_every = 1, quiet = true, loss = maybe(nil),
    validation = maybe("exact"), on_validation = maybe(nil), workers = random(8) == 1 and 1 or 0,
  }})
end

local function work()
  local crew = core.workers(function(x) return function() return x end end, world.pick(),
    {threads = random(2), first = 1, last = random(4), ahead = random(3)})
  for _ = 1, random(3) do world.keep(crew:next()) end
  if random(2) == 1 then crew:close() end
end

local function collect()
  collectgarbage(one_of{"collect", "step", "step"})
  if random(4) == 1 then collectgarbage(one_of{"generational", "incremental"}) end
end

local act

-- Deeds with their weights.
local DEEDS = {}
for _, deed in ipairs{
  {30, call_function}, {50, call_method}, {12, operate}, {5, open_or_close_step}, {4, go_backward},
  {3, function() world.finalizer() end}, {3, collect}, {2, function() in_coroutine(act) end},
  {1, function() try("workers", work, {n = 0}) end}, {1, train},
} do
  for _ = 1, deed[1] do DEEDS[#DEEDS + 1] = deed[2] end
end

function act() one_of(DEEDS)() end

-- ---------------------------------------------------------------- rounds

-- A round has a folder of its own, so that its seed is all that it depends on.
local function run_round()
  local scratch <close> = shell.folder()
  math.randomseed(seed)
  world = new_world(scratch.path, function() act() end)
  for call = 1, set.calls do
    position = call
    act()
  end
  if world.step then pcall(world.step.close, world.step) end
  world = nil
  collectgarbage()
  collectgarbage "incremental"
end

local function run()
  local begin = core.clock()
  seed = math.tointeger(set.seed)
  while counts.rounds < set.rounds and core.clock() - begin < set.seconds do
    io.write("seed ", seed, "\n")
    io.flush()
    run_round()
    counts.rounds, seed = counts.rounds + 1, seed + 1
  end
  io.write(("%d calls in %d rounds, %d of them errors; %d findings\n"):format(counts.calls,
    counts.rounds, counts.errors, #findings))
end

run()
os.exit(#findings == 0, true)
