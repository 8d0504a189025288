--- The features of a mini-batch's input nodes, not copied yet: what the first layer of a model may
-- be given in place of features:rows(batch.input). A layer that propagates them first reads them
-- where they are: where fan-outs reach most of a graph, a copy would be of most of its features.

local core = require "ladies_core"
local fields = require "ladies.base.fields"

local InputRows = fields.of_class({__name = "ladies.InputRows"},
  "features batch n_rows:integer n_cols:integer copy")
InputRows.__index = InputRows

--- The functions whose h may be InputRows: `layer` of models and `forward` of convolutions. Any
-- other, such as one that somebody puts in the place of these, is given a Tensor.
InputRows.taken_by = setmetatable({}, {__mode = "k"})

--- InputRows.new(features: Tensor, batch) -> InputRows: batch.gathering becomes the seconds that a
-- copy takes, 0 while there is none.
function InputRows.new(features, batch)
  batch.gathering = 0
  return setmetatable({
    features = features, batch = batch, n_rows = #batch.input, n_cols = features.n_cols,
  }, InputRows)
end

--- h:to_tensor() -> Tensor: a copy of the rows; the same one every time.
function InputRows:to_tensor()
  if not self.copy then
    local began = core.clock()
    self.copy = self.features:rows(self.batch.input)
    self.batch.gathering = core.clock() - began
  end
  return self.copy
end

--- h:rows(places: Index) -> Tensor: some of the rows.
function InputRows:rows(places) return self.features:rows(self.batch.input[places]) end

--- h:propagated(adj: Matrix) -> Tensor: the product of adj and the rows.
function InputRows:propagated(adj)
  if self.copy then return adj:matmul(self.copy) end
  return adj:matmul(self.features, nil, self.batch.input)
end

return InputRows
