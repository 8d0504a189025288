--- Tells whether a model needs the whole graph for validation and test. With a graph in parts,
-- exact inference has only products with P: attention and pooling by the maximum, for two, need the
-- entries.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local MatrixInParts = require "ladies.ranks.matrix_in_parts"
local sharded_graph = require "ladies.data.formats.large.sharded_graph"

-- Makes a P of two nodes that looks to a layer as if it were divided among ranks, although this
-- process has all of it.
local function in_parts()
  local both = core.range(1, 2)
  local P = core.matrix{n_rows = 2, n_cols = 2, rows = both, cols = both}
  local parts = sharded_graph.in_one_part(P)
  function parts.matmul(_, ...) return P:matmul(...) end
  return parts
end

--- needs_whole(model, n_features) -> string | nil: returns the error of a layer that cannot be
-- computed on a graph that is divided among ranks; nil if all layers can, or nothing is known.
return function(model, n_features)
  local way = inference.way{}
  local ok, reason = errors.try(core.no_grad, way.logits, way, model, in_parts(),
    core.zeros(2, n_features))
  local text = not ok and errors.message(reason)
  return text and text:find(MatrixInParts.__remark, 1, true) and text or nil
end
