--- Repeats calls of a sampler: immediately, in another order, with a new sampler, and in another
-- Lua state. A sampler that depends only on its seeds and rng returns the same mini-batches each
-- time.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local sampling = require "ladies.sampling"

local replay = {}

--- Returns the calls that are repeated, an array of {group, i}, which are draws of
-- ladies.lab.context, two of each group.
function replay.calls(groups)
  local calls = {}
  for group = 1, groups do
    calls[#calls + 1], calls[#calls + 2] = {group, 1}, {group, 2}
  end
  return calls
end

-- Makes a call and returns the hash of its mini-batch.
local function hash_of(context, sampler, call)
  return sampling.hash(context:sampled(sampler, call[1], call[2]))
end

--- Makes the calls and returns the hashes of their mini-batches, in the order of the calls. With
-- from_last the last call is made first.
function replay.hashes(context, sampler, calls, from_last)
  local hashes, n = {}, #calls
  for k = 1, n do
    local place = from_last and n + 1 - k or k
    hashes[place] = hash_of(context, sampler, calls[place])
  end
  return hashes
end

-- Returns a function make(sampler), as core.workers takes it, which returns a function job(number)
-- that makes a call, with the last call as the first job. Only its upvalues are copied to the
-- worker.
local function jobs(context, sampler, calls)
  local arguments = {}
  for k, call in ipairs(calls) do
    local seeds, rng, place = context:arguments(sampler, call[1], call[2])
    arguments[#calls + 1 - k] = {seeds = seeds, rng = rng, place = place}
  end
  return function(of)
    return function(number)
      local given = arguments[number]
      return of(given.seeds, given.rng, given.place)
    end
  end
end

--- Returns the hashes of replay.hashes from a worker, which makes the calls in a Lua state of its
-- own, the last call first, with a copy of the sampler as it is now. If that fails it returns nil,
-- the message, and "call" or "crossing" (copying the sampler), which says when. The objects to
-- which the sampler refers become read-only, as with the workers of ladies.batches.
function replay.hashes_of_worker(context, sampler, calls)
  local n = #calls
  local ok, workers = errors.try(core.workers, jobs(context, sampler, calls), sampler,
    {threads = 1, ahead = 1, first = 1, last = n})
  if not ok then return nil, errors.message(workers), "crossing" end
  local hashes, reason = {}, nil
  for k = 1, n do
    local done, hash = errors.try(function() return sampling.hash(workers:next()) end)
    if not done then
      reason = errors.message(hash)
      break
    end
    hashes[n + 1 - k] = hash
  end
  workers:close()
  if reason then return nil, reason, "call" end
  return hashes
end

--- Returns the number of places at which two lists of hashes differ.
function replay.differing(a, b)
  local count = 0
  for k, hash in ipairs(a) do count = count + (b[k] ~= hash and 1 or 0) end
  return count
end

return replay
