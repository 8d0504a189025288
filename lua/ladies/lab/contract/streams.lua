--- Records which random numbers a sampler uses in its calls of primitives, and which functions it
-- calls that depend on more than their arguments (such as the time).
--
-- A primitive takes its numbers from one stream, given by the key of its Rng and the number of the
-- call. Two calls on one stream get the same numbers, so their draws are dependent. That is
-- intended in poisson_rows, drift and uniform_of, whose callers share numbers between rows, layers
-- or mini-batches (LABOR); elsewhere it is a mistake, as when an rng is forked twice with one key.

local core = require "ladies_core"
local options = require "ladies.base.options"
local primitive_calls = require "ladies.base.primitive_calls"

local streams = {}

-- Primitives that take an rng but consume no random numbers.
local PURE = {["Rng:fork"] = true, ["Rng:at"] = true}

-- Primitives that are meant for sharing random numbers.
local SHARING = {["Matrix:poisson_rows"] = true, ["sampling.drift"] = true,
  ["Rng:uniform_of"] = true}

-- Functions that depend on more than their arguments, with their names.
local OUTSIDE = {
  [math.random] = "math.random", [os.time] = "os.time", [os.clock] = "os.clock",
  [os.date] = "os.date", [os.getenv] = "os.getenv", [os.tmpname] = "os.tmpname",
  [io.open] = "io.open", [io.read] = "io.read", [core.clock] = "a clock",
}

-- Returns the Rngs among the arguments of a call, or in the field rng of its options.
local function generators(arguments)
  local list = {}
  for _, argument in pairs(arguments) do
    if type(argument) == "table" then argument = rawget(argument, "rng") end
    if options.class_of(argument) == "Rng" then list[#list + 1] = argument end
  end
  return list
end

--- streams.of(f, ...): calls f(...) and returns a record of what it used, then its results. The
-- record is {streams = {[text of a stream] = array of the names of primitives that used it, ...},
-- outside = array of the names of functions that depend on more than their arguments}.
function streams.of(f, ...)
  local used, outside, told = {}, {}, {}
  local function seen(name, arguments, found)
    local other = OUTSIDE[found]
    if other and not told[other] then
      told[other] = true
      outside[#outside + 1] = other
    end
    -- A draw of no nodes uses no numbers: sampling.layerwise makes one to check its options.
    local is_none = name == "sampling.choice" and arguments[2] == 0
    if not name or PURE[name] or is_none then return end
    for _, rng in ipairs(generators(arguments)) do
      local stream = tostring(rng)
      used[stream] = used[stream] or {}
      table.insert(used[stream], name)
    end
  end
  return {streams = used, outside = outside}, primitive_calls.watch(seen, f, ...)
end

--- Returns the names of primitives that share a stream within one call of a sampler although they
-- should not; nil where none do. seen: a result of streams.of.
function streams.shared_within(seen)
  for _, names in pairs(seen.streams) do
    for _, name in ipairs(names) do
      if #names > 1 and not SHARING[name] then return names end
    end
  end
end

--- Returns the name of a primitive that uses the same random numbers in two calls of a sampler with
-- different rngs; nil where none does.
function streams.shared_between(one, other)
  for stream, names in pairs(one.streams) do
    if other.streams[stream] then return names[1] end
  end
end

return streams
