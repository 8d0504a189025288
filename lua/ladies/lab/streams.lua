--- The random numbers that a sampler uses, call by call of a primitive, and what else it asks the
-- world for.
--
-- A primitive takes its numbers from one stream: the key of its Rng and the number of the call. Two
-- calls on one stream get the same numbers, so what they draw hangs together. Ladies has that on
-- purpose in poisson_rows, drift and uniform_of, whose callers share numbers between rows, layers
-- or mini-batches (LABOR); elsewhere it is a mistake, of an rng that was forked twice by one key.

local core = require "ladies_core"
local options = require "ladies.base.options"
local primitives = require "ladies.base.primitives"

local streams = {}

-- These use no numbers up.
local PURE = {["Rng:fork"] = true, ["Rng:at"] = true}

-- Sharing is what these are for.
local SHARING = {["Matrix:poisson_rows"] = true, ["sampling.drift"] = true,
  ["Rng:uniform_of"] = true}

-- What depends on more than arguments, by function.
local OUTSIDE = {
  [math.random] = "math.random", [os.time] = "os.time", [os.clock] = "os.clock",
  [os.date] = "os.date", [os.getenv] = "os.getenv", [os.tmpname] = "os.tmpname",
  [io.open] = "io.open", [io.read] = "io.read", [core.clock] = "a clock",
}

-- The Rngs among the arguments of a call: as they are, or in the field rng of options.
local function generators(arguments)
  local list = {}
  for _, argument in pairs(arguments) do
    if type(argument) == "table" then argument = rawget(argument, "rng") end
    if options.class_of(argument) == "Rng" then list[#list + 1] = argument end
  end
  return list
end

--- streams.of(f, ...): what f(...) uses, and then its results: {streams = {[text of a stream] =
-- array of the names of primitives that used it, ...}, outside = array of the names of functions
-- that depend on more than their arguments}.
function streams.of(f, ...)
  local used, outside, told = {}, {}, {}
  local function seen(name, arguments, found)
    local other = OUTSIDE[found]
    if other and not told[other] then
      told[other] = true
      outside[#outside + 1] = other
    end
    if not name or PURE[name] then return end
    for _, rng in ipairs(generators(arguments)) do
      local stream = tostring(rng)
      used[stream] = used[stream] or {}
      table.insert(used[stream], name)
    end
  end
  return {streams = used, outside = outside}, primitives.watch(seen, f, ...)
end

--- The names of the primitives that share a stream within one call of a sampler though they should
-- not; nil where none do. seen: a result of streams.of.
function streams.shared_within(seen)
  for _, names in pairs(seen.streams) do
    for _, name in ipairs(names) do
      if #names > 1 and not SHARING[name] then return names end
    end
  end
end

--- The name of a primitive that has the same random numbers in two calls of a sampler whose rngs
-- differ; nil where none has.
function streams.shared_between(one, other)
  for stream, names in pairs(one.streams) do
    if other.streams[stream] then return names[1] end
  end
end

return streams
