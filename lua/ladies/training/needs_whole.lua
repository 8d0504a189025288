--- Whether a model can be validated and tested with a graph in parts, of which exact inference has
-- products with P alone: attention and pooling by the maximum, for two, need the entries.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local MatrixInParts = require "ladies.ranks.matrix_in_parts"
local sharded_graph = require "ladies.data.formats.sharded_graph"

-- A P of two nodes that is in parts as far as a layer can see, and here all the same.
local function in_parts()
  local both = core.range(1, 2)
  local P = core.matrix{n_rows = 2, n_cols = 2, rows = both, cols = both}
  local parts = sharded_graph.in_one_part(P)
  function parts.matmul(_, ...) return P:matmul(...) end
  return parts
end

--- needs_whole(model, n_features) -> string | nil: what a layer of the model, which exact inference
-- can compute, says where it needs more of a graph in parts than there is; nil where none does, or
-- where nothing is known.
return function(model, n_features)
  local way = inference.way{}
  local ok, reason = errors.try(core.no_grad, way.logits, way, model, in_parts(),
    core.zeros(2, n_features))
  local text = not ok and errors.message(reason)
  return text and text:find(MatrixInParts.__remark, 1, true) and text or nil
end
