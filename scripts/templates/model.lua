-- NAME.lua: a network.
--
-- As it stands it is a GCN (Kipf and Welling, ICLR 2017) whose hidden layers add what came in to
-- what they make of it.

local nn = require("ladies").nn

-- A class: parameters are found in the fields of its objects.
local Model = nn.class "NAME"

-- Layer i alone, for mini-batches and for exact inference. h: the rows of block.src; the result has
-- those of block.dst, others in number and order: the rows of h that are the layer's own nodes are
-- nn.own_rows(h, block). block.adj is the P of the layer, exact or sampled. With an rng, that of
-- training, elements are dropped.
function Model:layer(i, h, block, rng)
  local near = self.convs[i]:forward(h, block.adj)
  if i == self.n_layers then return near end
  near = near:relu()
  if i > 1 then near = near + block.adj:matmul(h) end
  return self.dropout:forward(near, rng)
end

-- The logits of a mini-batch, a row for each node of batch.output.
function Model:forward(features, batch, rng)
  if rng == nil then rng = batch.rng end
  local h = features:rows(batch.input)
  if batch.propagate then return batch.propagate(self, h, batch, rng) end
  for i, block in ipairs(batch.blocks) do h = self:layer(i, h, block, rng) end
  return h
end

-- settings: of the run. data: the data set.
local function make(settings, data)
  local rng = require("ladies").rng(settings.seed):fork(-1)       -- of the first weights
  local convs = {}
  for i = 1, settings.layers do
    convs[i] = nn.gcn_conv{
      inputs = i == 1 and data.features.n_cols or settings.hidden,
      outputs = i == settings.layers and data.classes or settings.hidden, rng = rng:fork(i),
    }
  end
  return setmetatable({
    convs = convs, dropout = nn.dropout{p = settings.dropout}, n_layers = settings.layers,
    normalize = settings.normalize,                               -- the P that it is for
  }, Model)
end

return {settings = {"dropout"}, make = make}
