--- Stands for the features of a mini-batch's input nodes without copying them; the first layer of a
-- model may be given it in place of features:rows(batch.input). A layer that propagates first reads
-- the features where they are, which saves much where fan-outs reach most of a graph, since a copy
-- would be of most of its features.

local core = require "ladies_core"
local fields = require "ladies.base.fields"

local InputRows = fields.of_class({__name = "ladies.InputRows"},
  "features batch n_rows:integer n_cols:integer copy")
InputRows.__index = InputRows

--- The set of functions that take InputRows for h: `layer` of some models and `forward` of some
-- convolutions. Any other function, such as one of the user's own in their place, is given a
-- Tensor.
InputRows.taken_by = setmetatable({}, {__mode = "k"})

--- InputRows.new(features: Tensor, batch) -> InputRows: stands for the rows batch.input of the
-- features. Sets batch.gathering to the seconds that copying them took, 0 as long as they are not
-- copied.
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

--- h:propagated(adj: Matrix) -> Tensor: returns the product of adj and the rows, without copying
-- them.
function InputRows:propagated(adj)
  if self.copy then return adj:matmul(self.copy) end
  return adj:matmul(self.features, nil, self.batch.input)
end

return InputRows
