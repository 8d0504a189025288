--- Measures a case: makes sure that a peer computes the same, and then times the two in turn.

local core = require "ladies_core"
local ladies = require "ladies"
local Resident = require "experiments.bench.peers.resident"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local ours = require "experiments.bench.peers.ours"
local medians = require "ladies.statistics.medians"
local tables = require "ladies.base.tables"

local compare = {}

--- The largest relative difference from ours that passes as rounding.
compare.TOLERANCE = 2e-3

local LEAST_ROUNDS, MOST_ROUNDS = 3, 100
local TURNS = 24    -- that the seconds for a peer are divided into, twelve for each side

-- Writes the files of a case into the folder, for peers.
local function write(folder, prepared)
  core.file.write(folder .. "/case.json", json.encode(prepared.settings))
  for name, arrays in pairs(prepared.arrays) do
    core.npz.write(("%s/%s.npz"):format(folder, name), arrays, {compress = false})
  end
end

-- Takes our turn of n pieces of work, as Resident:run takes a peer's.
local function run(f, n)
  local whole, sampling, gathering = {}, {}, {}
  for i = 1, n do whole[i], sampling[i], gathering[i] = f() end
  return whole, sampling, gathering
end

-- Returns the difference that is too large, as a text, or nil; and the largest difference.
local function wrong(differences)
  local worst = 0
  for name, x in pairs(differences) do
    if x ~= x or x > compare.TOLERANCE then
      return ("a relative difference of %.2g in its %s"):format(x, name)
    end
    worst = math.max(worst, x)
  end
  return nil, worst
end

-- Adds a turn's lists to a side's, and the turn's median to its turns.
local function take(side, whole, sampling, gathering)
  tables.append(side.whole, whole)
  tables.append(side.sampling, sampling)
  tables.append(side.gathering, gathering)
  side.turns[#side.turns + 1] = medians.of(whole)
end

local function new_side() return {whole = {}, sampling = {}, gathering = {}, turns = {}} end

-- Returns the medians of a side in milliseconds; what is neither sampling nor gathering is
-- computing.
local function in_ms(side)
  local computing = {}
  for i, x in ipairs(side.whole) do computing[i] = x - side.sampling[i] - side.gathering[i] end
  local function ms(list) return 1e3 * medians.of(list) end
  return {whole = ms(side.whole), sampling = ms(side.sampling), gathering = ms(side.gathering),
    computing = ms(computing)}
end

-- Returns how many pieces of work, each of which takes `piece` seconds, make a turn. Turns take as
-- long on either side: after the other's turn caches are cold and threads asleep, and a short turn
-- would measure that.
local function size_of_turn(seconds, piece)
  return math.max(1, math.ceil(seconds / TURNS / piece))
end

-- Runs the two in turn, for `seconds` and three rounds at least; each is warm.
local function in_turn(mine, theirs, seconds)
  local a, b = new_side(), new_side()
  local n = size_of_turn(seconds, medians.of((run(mine, 3))))
  local m = size_of_turn(seconds, medians.of((theirs(3))))
  local began = core.clock()
  for round = 1, MOST_ROUNDS do
    if round > LEAST_ROUNDS and core.clock() - began > seconds then break end
    if round % 2 == 0 then take(b, theirs(m)) end
    take(a, run(mine, n))
    if round % 2 == 1 then take(b, theirs(m)) end
  end
  return {ours = in_ms(a), theirs = in_ms(b), ratio = medians.ratio(b.turns, a.turns),
    rounds = #a.turns}
end

-- Makes a piece of work of a process: a function that runs it and returns its seconds.
local function process_of(words)
  return function()
    local began = core.clock()
    local process <close> = core.process.start(words)
    if process:wait() ~= 0 then error(table.concat(words, " ") .. " failed", 0) end
    return core.clock() - began, 0, 0
  end
end

-- Compares the start of our program with that of a peer. Each process reads uncompressed arrays:
-- ours the data set, as the cache holds one.
local function compare_start(peer, data, opts)
  local scripts, path = ladies.home() .. "/scripts/bench/peers/", opts.folder .. "/dataset.npz"
  ladies.data.save(data, path, {compress = false})
  local theirs = process_of{opts.python, "-B", scripts .. peer[1] .. ".py", opts.folder, "once"}
  local result = in_turn(process_of{opts.program, scripts .. "start.lua", path},
    function(n) return run(theirs, n) end, opts.seconds)
  result.peer = peer[1] == "expert" and "expert: NumPy + PyTorch" or "PyTorch + SciPy"
  return result
end

local function compare_with(peer, mine, opts)
  local resident <close>, reason = Resident.start(opts.python, peer, opts.folder)
  if not resident then return {failed = reason} end
  local different, worst = wrong(resident:check())
  if different then return {failed = ("%s: %s"):format(resident.name, different)} end
  local result = in_turn(mine, function(n) return resident:run(n) end, opts.seconds)
  result.peer, result.difference = resident.name, worst
  return result
end

--- compare.case(case, data, opts) -> array of results, one for each peer: {name =, work =, given =
-- and variant = of the case, settings = what peers are given, peer =, ours =, theirs = {whole =,
-- sampling =, gathering =, computing = in ms}, ratio = of their time to ours (a spread of
-- ladies.statistics.medians), rounds =, difference = the largest relative one of logits, loss and
-- gradients}, or with failed = a line in place of what follows `settings`; a peer that fails takes
-- no other one with it. opts: python, program (this one), folder (a new one for files), seconds
-- (for each peer), threads.
function compare.case(case, data, opts)
  local prepared = ours.prepare(case, data, opts.threads)
  write(opts.folder, prepared)
  return tables.map(case.peers, function(peer)
    local ok, result = errors.try(function()
      if case.work == "start" then return compare_start(peer, data, opts) end
      return compare_with(peer, prepared.run, opts)
    end)
    if not ok then result = {failed = errors.message(result)} end
    collectgarbage()
    return tables.merged(result, {name = case.name, work = case.work, given = case.settings,
      variant = case.variant, settings = prepared.settings})
  end)
end

return compare
