--- Measures samplers beside LADIES: the processor time of their mini-batches, taken in turns with
-- those of LADIES, and the number of samples with which a sampler draws as many distinct nodes as
-- LADIES.

local equal = require "ladies.lab.cost.equal"
local in_turns = require "experiments.bench.in_turns"
local tables = require "ladies.base.tables"

-- The numbers of the first groups of draws, for times and for equal numbers of nodes.
local TIMES, EQUAL = 40001, 60001

local beside_ladies = {}

--- beside_ladies.equal(shared, list): finds, for each subject of a list, the number of samples with
-- which its mini-batches have as many distinct nodes as those of the first subject; returns an
-- array of {subject =, reached =} (see ladies.lab.cost.equal).
function beside_ladies.equal(shared, list) return equal.find(shared, list, "nodes", EQUAL) end

--- beside_ladies.run(shared, one, draws, statistics): returns what the laboratory's measurements
-- take as a `run`, for a subject in one of its contexts.
function beside_ladies.run(shared, one, draws, statistics)
  return {context = shared, sampler = shared:sampler(one), statistics = statistics or {},
    draws = draws, known = shared:exact(shared:propagation_of(one)), name = one.title}
end

-- Returns the processor seconds of sampling one mini-batch, and of sampling it and its step.
local function seconds_of(run, group)
  local seeds, rng, place = run.context:arguments(run.sampler, group, 1)
  local began = os.clock()
  local batch = run.sampler(seeds, rng, place)
  local sampled = os.clock()
  batch.rng = rng
  run.known:with_loss(batch, function()
    if batch.after_step then batch.after_step(batch, run.known.model) end
  end)
  return {sampled - began, os.clock() - began}
end

--- beside_ladies.times(base, run, batches): returns the ratios of the seconds of `run` to those of
-- `base`, for sampling and for sampling with the step: medians over the batches with intervals.
function beside_ladies.times(base, run, batches)
  return in_turns(tables.map({base, run}, function(one)
    return function(round) return seconds_of(one, TIMES + round) end
  end), batches)[2]
end

return beside_ladies
