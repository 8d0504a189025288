--- The sampler that samples nothing: it returns exact mini-batches with whole neighbourhoods.

local arguments = require "ladies.sampling.arguments"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

--- ladies.samplers.full(P, {layers =}) -> Sampler: a sampler whose every layer has the whole
-- neighbourhood of the one above, so that a model computes exactly what it would on the whole
-- graph. With all training nodes as seeds this is full-batch training. `output` holds the seeds in
-- ascending order. The batch is a function of the set of seeds alone, and the last one is kept: the
-- same seeds again, in whatever order, cost nothing.
local function full(P, given)
  arguments.check_square("ladies.samplers.full", P, true)
  local opts = options.check("ladies.samplers.full", given, {layers = "positive integer"})
  local last
  return function(seeds)
    local output = arguments.seeds(seeds):sort()
    if not last or last.output ~= output then
      last = sampling.mini_batch(output, opts.layers, function(_, dst) return P:slice(dst) end)
    end
    return {blocks = last.blocks, input = last.input, output = last.output,
      stats = {isolated = last.stats.isolated}}
  end
end

return full
