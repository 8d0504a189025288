--- The exact mini-batch: nothing is sampled.

local inputs = require "ladies.sampling.inputs"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

-- The blocks for these nodes; every layer takes all columns that the layer above touches.
local function build(P, output, layers)
  local dst, blocks, isolated = output, {}, 0
  for l = layers, 1, -1 do
    local adj, src = sampling.at_layer(l, P.slice, P, dst)
    isolated = isolated + adj:empty_rows()
    blocks[l], dst = {adj = adj, dst = dst, src = src}, src
  end
  return {blocks = blocks, input = dst, output = output, isolated = isolated}
end

--- ladies.samplers.full(P, {layers =}) -> Sampler: a sampler whose every layer has the whole
-- neighbourhood of the one above, so that a model computes exactly what it would on the whole
-- graph. With all training nodes as seeds this is full-batch training. `output` holds the seeds in
-- ascending order. The batch is a function of the set of seeds alone, and the last one is kept: the
-- same seeds again, in whatever order, cost nothing.
local function full(P, given)
  inputs.check_square("ladies.samplers.full", P, true)
  local opts = options.check("ladies.samplers.full", given, {layers = "positive integer"})
  local last
  return function(seeds)
    local output = inputs.seeds(seeds):sort()
    if not last or last.output ~= output then last = build(P, output, opts.layers) end
    return {
      blocks = last.blocks, input = last.input, output = last.output,
      stats = {isolated = last.isolated},
    }
  end
end

return full
