--- The row norms ||(H W)_u|| of what the layers of a model propagate, as they were when each node
-- was last computed in training: what the variance of a layer-wise sample depends on besides P.
--
-- A norm is that of a sketch, H (W R) for a random R with 16 columns of variance 1/16, whose
-- squared norms have those of H W for mean: it costs 16 columns where H W has hundreds. A node that
-- was never computed counts as the mean of those asked for along with it that were; and no norm
-- counts for less than a tenth of that mean, for a row that is zero now (ReLU) need not stay so.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local layer_inputs = require "ladies.sampling.layer_inputs"
local options = require "ladies.base.options"

local COLUMNS, LEAST = 16, 0.1

local RowNorms = {__name = "RowNorms"}
RowNorms.__index = RowNorms
fields.of_class(RowNorms, "norms state")

local row_norms = {}

--- row_norms.new(n_nodes, layers): none is known yet. `state` is for checkpoints.
function row_norms.new(n_nodes, layers)
  local norms, state = {}, {}
  for l = 1, layers do
    norms[l] = core.zeros(n_nodes)
    state[l] = {name = ("norms.%d"):format(l), tensor = norms[l]}
  end
  return setmetatable({norms = norms, state = state}, RowNorms)
end

--- norms:of(l, ids): a positive factor for each of the nodes, to draw those of layer l's input by.
function RowNorms:of(l, ids)
  local norms = self.norms[l][ids]
  local known = norms:above(0)
  local n = known:sum():item()
  if n == 0 then return core.ones(#ids) end
  local mean = norms:sum():item() / n
  return (norms + (1 - known) * mean):clamp(LEAST * mean, math.huge)
end

--- norms:watch(batch): the mini-batch, whose propagate and after_step now note the norms of its
-- nodes. The model's layers must be convolutions as nn.gcn's.
function RowNorms:watch(batch)
  batch.propagate = layer_inputs.propagate
  function batch.after_step(own, model) self:update(own, model) end
  return batch
end

-- What the batch computed becomes the norms of its nodes.
function RowNorms:update(batch, model)
  for l, block in ipairs(batch.blocks) do
    local conv = model.layers and model.layers[l] and model.layers[l].conv
    if options.class_of(conv) ~= "GcnConv" then
      errors.fail(("sketch: layer %d must be a convolution P H W, as those of nn.gcn"):format(l))
    end
    local h = layer_inputs.of("sketch", batch, l)
    local R = core.zeros(conv.outputs, COLUMNS)
    R:normal_(1 / math.sqrt(COLUMNS), batch.rng:fork(l))
    local sketch = core.no_grad(function()
      return h:matmul(conv.weight:matmul(R)):row_sums(2):sqrt()
    end)
    self.norms[l]:copy_rows_(block.src, sketch)
  end
end

return row_norms
