--- Builds the mini-batches of samplers that draw layer by layer, from the output down to the input.

local arguments = require "ladies.sampling.arguments"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local class_of = options.class_of
local WHERE = "sampling.mini_batch"

-- Raises the error for a block function that returned values of a wrong kind.
local function refuse(l, adj, src, more)
  local where = ("%s: layer %d: what block returns"):format(WHERE, l)
  options.value(where, "adj", adj, "Matrix")
  options.value(where, "src", src, "Index")
  options.value(where, "more", more, "table or nil")
end

--- sampling.mini_batch(seeds: Index, layers: integer, block: function) -> MiniBatch: makes a
-- mini-batch by calling block(l, dst) -> adj, src [, more] for each layer l, from `layers` down to
-- 1. The destinations dst are the seeds in the last layer, and the src of the layer above in all
-- others. adj is #dst x #src, src an Index; `more`, if there is any, is a table of further fields
-- of the block. stats.isolated counts the rows of all layers without an entry. Errors of `block`
-- name the layer.
--
--     return function(seeds, rng)                                  -- a whole node-wise sampler
--       return sampling.mini_batch(seeds, 2, function(_, dst)
--         local S, src, w = P:sample_rows(dst, 5, {first = dst, rng = rng})
--         return S:scale_entries(w), src
--       end)
--     end
return function(seeds, layers, block)
  options.value(WHERE, "layers", layers, "positive integer")
  options.value(WHERE, "block", block, "callable")
  local dst, blocks, isolated = arguments.seeds(seeds), {}, 0
  for l = layers, 1, -1 do
    local adj, src, more = errors.within("layer %d", l, block, l, dst)
    local one = more or {}
    if class_of(adj) ~= "Matrix" or class_of(src) ~= "Index" or type(one) ~= "table" then
      refuse(l, adj, src, more)
    end
    one.adj, one.dst, one.src = adj, dst, src
    isolated, dst = isolated + adj:empty_rows(), src
    blocks[l] = one
  end
  return {blocks = blocks, input = dst, output = seeds, stats = {isolated = isolated}}
end
