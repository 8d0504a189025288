--- Computes the errors of a sampler's mini-batches: of the layers, embeddings and gradients that
-- they estimate, compared with the exact values.
--
-- A draw has an error E = estimate - exact for each of these:
--   layer l      P~ H W of the layer's block above the exact H, a row for each destination: what
--                one layer of sampling does, whatever happens in the others. Of a network that is
--                no GCN it is P~ H
--   embedding    the network's output over the whole mini-batch: all layers together
--   gradient     of the loss by the parameters
-- See ladies.lab.error.moments for the numbers that a group of draws has of each.

local core = require "ladies_core"
local moments = require "ladies.lab.error.moments"
local tables = require "ladies.base.tables"

local estimate = {}

-- Returns the error of a block's product with the exact H; `features`: those of the mini-batch
-- itself, if any.
local function layer_error(known, l, block, features)
  local products = l == 1 and features and known:mapped(l, features) or known.products[l]
  local found = block.adj:matmul(products:rows(block.src))
  if block.control then found = found + known:mapped(l, block.control) end
  return found - known.sums[l]:rows(block.dst)
end

-- Returns the gradients of a mini-batch by parameter, minus the exact ones.
local function gradient_errors(known, batch, target)
  local list = {}
  known:with_loss(batch, function()
    for i, parameter in ipairs(known.model:parameters()) do list[i] = parameter.grad:clone() end
  end)
  for i, one in ipairs(target) do list[i] = list[i] - one.tensor end
  return list
end

--- Returns the errors of a mini-batch: {layers = {{nodes =, error =}, ...}, embedding = {nodes =,
-- error =}, gradient = {tensor, ...}}. target: the exact gradient that the batch's is an estimate
-- of; without it there is none.
function estimate.of(known, batch, target)
  local layers
  local embedding = core.no_grad(function()
    layers = {}
    for l, block in ipairs(batch.blocks) do
      layers[l] = {nodes = block.dst, error = layer_error(known, l, block, batch.features)}
    end
    local logits = known.model:forward(known.data.features, batch, false)
    return {nodes = batch.output, error = logits - known.embedding:rows(batch.output)}
  end)
  return {layers = layers, embedding = embedding,
    gradient = target and gradient_errors(known, batch, target)}
end

--- Returns the numbers of a group's draws, from results of estimate.of: {layers = {...}, embedding
-- =, gradient =, parameters = {...}}, each what ladies.lab.error.moments gives, as a share of the
-- exact values' mean square; parameters: of each by itself.
function estimate.group(known, draws, target)
  local function pick(f) return tables.map(draws, f) end
  return core.no_grad(function()
    local found = {layers = {}, parameters = {}}
    for l = 1, #draws[1].layers do
      found.layers[l] = moments.of_rows(pick(function(draw) return draw.layers[l] end),
        known.sums[l], known.signal[l])
    end
    found.embedding = moments.of_rows(pick(function(draw) return draw.embedding end),
      known.embedding, known.signal.embedding)
    if not target then return found end
    found.gradient = moments.of_tensors(pick(function(draw) return draw.gradient end), target)
    for k, one in ipairs(target) do
      found.parameters[k] = moments.of_tensors(
        pick(function(draw) return {draw.gradient[k]} end), {one})
    end
    return found
  end)
end

return estimate
