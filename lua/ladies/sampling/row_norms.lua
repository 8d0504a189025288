--- Estimates the row norms ||(H W)_u|| of the features that each layer of a model propagates, on
-- which the variance of a layer-wise sample depends besides P. They are kept from training, for
-- each node from the last mini-batch that computed it.
--
-- The norms are computed from a sketch, H (W R) with a random R of 16 columns of variance 1/16,
-- whose squared row norms have those of H W as their mean: it has 16 columns where H W has
-- hundreds. A node that was never computed gets the mean of the known norms that are asked for
-- along with it; and no norm counts for less than a tenth of that mean, since a row that is zero
-- now (ReLU) need not stay so.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local learning = require "ladies.sampling.learning"
local options = require "ladies.base.options"

local COLUMNS, LEAST = 16, 0.1

local RowNorms = {__name = "RowNorms"}
RowNorms.__index = RowNorms
fields.of_class(RowNorms, "norms state")

local row_norms = {}

--- row_norms.new(n_nodes, layers): makes the store of the norms of each layer, none of which is
-- known yet. Its field `state` is for checkpoints.
function row_norms.new(n_nodes, layers)
  local norms, state = {}, {}
  for l = 1, layers do
    norms[l] = core.zeros(n_nodes)
    state[l] = {name = ("norms.%d"):format(l), tensor = norms[l]}
  end
  return setmetatable({norms = norms, state = state}, RowNorms)
end

--- norms:of(l, ids): returns a positive factor for each of the nodes `ids`, by which their
-- probabilities are multiplied when the input nodes of layer l are drawn.
function RowNorms:of(l, ids)
  local norms = self.norms[l][ids]
  local known = norms:above(0)
  local n = known:sum():item()
  if n == 0 then return core.ones(#ids) end
  local mean = norms:sum():item() / n
  return (norms + (1 - known) * mean):clamp(LEAST * mean, math.huge)
end

--- norms:watch(batch): sets the functions propagate and after_step of a mini-batch so that training
-- on it updates the norms of its nodes; returns the mini-batch. The model's layers must be
-- convolutions as nn.gcn's.
function RowNorms:watch(batch)
  batch.propagate = learning.propagate
  function batch.after_step(own, model) self:update(own, model) end
  return batch
end

-- Computes the sketched norms of the rows that training on the mini-batch has computed, and keeps
-- them for their nodes.
function RowNorms:update(batch, model)
  for l, block in ipairs(batch.blocks) do
    local conv = model.layers and model.layers[l] and model.layers[l].conv
    if options.class_of(conv) ~= "GcnConv" then
      errors.fail(("sketch: layer %d must be a convolution P H W, as those of nn.gcn"):format(l))
    end
    local h = learning.input_of("sketch", batch, l)
    local R = core.zeros(conv.outputs, COLUMNS)
    R:normal_(1 / math.sqrt(COLUMNS), batch.rng:fork(l))
    local sketch = core.no_grad(function()
      return h:matmul(conv.weight:matmul(R)):row_sums(2):sqrt()
    end)
    self.norms[l]:copy_rows_(block.src, sketch)
  end
end

return row_norms
