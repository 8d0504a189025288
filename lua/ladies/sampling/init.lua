--- Gathers the parts of which samplers are made (ladies.sampling). Written in C are the random
-- choice with design weights and the functions on index vectors (choice, alias, uniform,
-- permutation, unique, union, find); in Lua the general layer-wise sampler, the loop over layers,
-- independent draws, and the check of what a sampler returns.

local core = require "ladies_core"
local contract = require "ladies.sampling.contract"
local errors = require "ladies.base.errors"
local inclusion = require "ladies.sampling.inclusion"
local layerwise = require "ladies.sampling.layerwise"
local mini_batch = require "ladies.sampling.mini_batch"
local options = require "ladies.base.options"
local poisson = require "ladies.sampling.poisson"

local sampling = core.sampling

sampling.check, sampling.hash = contract.check, contract.hash
sampling.joint_probabilities = inclusion.joint_probabilities
sampling.layerwise, sampling.mini_batch = layerwise.public, mini_batch
sampling.poisson, sampling.poisson_probabilities = poisson.draw, poisson.probabilities

--- sampling.at_layer(l: integer, f, ...) -> ...: calls f(...) and returns its results; errors name
-- layer l.
function sampling.at_layer(layer, f, ...)
  layer = options.value("sampling.at_layer", "the layer", layer, "integer")
  options.value("sampling.at_layer", "f", f, "callable")
  return errors.within("layer %d", layer, f, ...)
end

--- sampling.put_first(src, dst) -> Index: returns a permutation of the positions of src that puts
-- those of its nodes that are in dst first, in dst's order, and leaves the others in their order.
-- It is used as adj:pick_cols(pick) and src[pick].
function sampling.put_first(src, dst)
  return sampling.union(sampling.find(src, dst), core.range(1, #src))
end

--- sampling.disjoint_union(blocks: Block[]) -> block: joins a list of blocks {adj =, dst =, src =}
-- into one without edges between them: adj is block-diagonal, and their nodes follow one another. A
-- node that is in several blocks occurs as often. See ladies.block_diagonal.
function sampling.disjoint_union(blocks)
  local where, parts = "sampling.disjoint_union", {adj = {}, dst = {}, src = {}}
  for i, block in ipairs(options.value(where, "the blocks", blocks, "array of tables")) do
    for key, class in pairs{adj = "Matrix", dst = "Index", src = "Index"} do
      parts[key][i] = options.value(where, ("%s of block %d"):format(key, i), block[key], class)
    end
  end
  return {adj = core.block_diagonal(parts.adj), dst = sampling.concat(parts.dst),
    src = sampling.concat(parts.src)}
end

return sampling
