--- Times two pieces of work in turn, now the one first and now the other, so that both meet the
-- same machine: their ratio holds where a single time would not.

local core = require "ladies_core"

local paired = {}

local LEAST_SECONDS = 1e-3           -- of a measurement, for clock and caches
local MOST_REPEATS, LEAST_ROUNDS, MOST_ROUNDS = 64, 3, 400

--- Reads the clock by which work is timed, in seconds. With one thread it is the processor time of
-- this program, which leaves out the time of other programs.
function paired.clock()
  return core.threads() == 1 and os.clock() or core.clock()
end

-- Returns the mean seconds of f(): the number that it returns, or else the time that passes.
local function seconds_of(f, times)
  local sum = 0
  for _ = 1, times do
    local began = paired.clock()
    local own = f()
    sum = sum + (own or paired.clock() - began)
  end
  return sum / times
end

-- Calls f to warm up, and returns how often it is to be repeated for one measurement.
local function repeats(f)
  local seconds = seconds_of(f, 1)
  if seconds < 0.1 then seconds = seconds_of(f, 2) end
  return math.max(1, math.min(MOST_REPEATS, math.ceil(LEAST_SECONDS / math.max(1e-9, seconds))))
end

--- paired.measure(f, g, seconds): times f() and g() in rounds, as many as there is time for and
-- three at least, and returns their lists of seconds, an entry for each round. A function that
-- returns a number has measured itself: that is its seconds.
function paired.measure(f, g, seconds)
  local began = core.clock()
  local of_f, of_g, times_f, times_g = {}, {}, repeats(f), repeats(g)
  for i = 1, MOST_ROUNDS do
    if i > LEAST_ROUNDS and core.clock() - began > seconds then break end
    if i % 2 == 0 then of_g[i] = seconds_of(g, times_g) end
    of_f[i] = seconds_of(f, times_f)
    of_g[i] = of_g[i] or seconds_of(g, times_g)
  end
  return of_f, of_g
end

--- Returns the ratio of the smallest of `above` to the smallest of `below`, times `scale` (1). It
-- leaves out other work on a busy machine, if each had one quiet moment.
function paired.best(above, below, scale)
  return (scale or 1) * math.min(table.unpack(above)) / math.min(table.unpack(below))
end

return paired
