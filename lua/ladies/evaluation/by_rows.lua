--- Tells whether exact inference can compute some rows of a model's layers without the others.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local layers = require "ladies.evaluation.layers"
local Room = require "ladies.evaluation.room"

--- by_rows(model, P, n_features, own) -> boolean | nil: whether a model can be computed on some
-- rows alone. This is so where, besides what it takes from P, a row of each layer's output depends
-- on the same row of its input. Then two nodes without neighbours have the same logits beside two
-- others as by themselves; where a layer subtracts the mean over all nodes, for one, they have not.
-- nil where that cannot be tried. own(n): P for n nodes without neighbours as layers.compute takes
-- it, or nil for a Matrix.
local function by_rows(model, P, n_features, own)
  local x = core.zeros(4, n_features)
  x:normal_(1, core.rng(1))
  local function logits(n)
    local room, nodes = Room.new "ladies.inference", core.range(1, n)
    local alone = own and P or core.matrix{n_rows = n, n_cols = n, rows = nodes, cols = nodes}
    return room:call(layers.compute, {
      model = model, field = {P = alone, first = model.n_layers + 1}, features = x,
      input = function() return x:rows(nodes) end, own = own and own(n),
    })
  end
  local ok, of_four = errors.try(logits, 4)
  local alone, of_two = errors.try(logits, 2)
  if not (ok and alone) then return nil end
  if of_four.n_rows ~= 4 or of_two.n_rows ~= 2 then return false end
  local size = of_four:abs():max()
  return (of_four:slice(1, 2) - of_two):abs():max() <= 1e-4 * size
end

return by_rows
