--- Whether a model is validated as it is trained: mini-batches go through its forward, the whole
-- graph through its layer, and in a model of one's own the two may be different networks.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local options = require "ladies.base.options"

-- A ring, and the nodes of it whose logits are looked at: their neighbourhoods begin small.
local NODES = 12
local SEEDS = {2, 9}

-- What the two may differ by, of the largest logit: products of other shapes round otherwise.
local TOLERANCE = 1e-3

-- The rows of P of a ring are a node and its two neighbours.
local function ring()
  local rows, cols = {}, {}
  for i = 0, NODES - 1 do
    for step = -1, 1 do
      rows[#rows + 1], cols[#cols + 1] = i + 1, (i + step) % NODES + 1
    end
  end
  return core.matrix{n_rows = NODES, n_cols = NODES, rows = core.index(rows),
    cols = core.index(cols)}:row_normalize()
end

local function largest(t) return math.max(t:max(), -t:min()) end

-- The logits of the nodes `output`, by forward and by layer; raises what the model raises.
local function by_forward(model, P, features, output)
  local dst, blocks = output, {}
  for l = model.n_layers, 1, -1 do
    local adj, src = P:slice(dst)
    blocks[l], dst = {adj = adj, dst = dst, src = src}, src
  end
  return model:forward(features, {blocks = blocks, input = dst, output = output}, false)
end

local function by_layer(model, P, features, output)
  return inference.exact(model, P, {features = features})[output]
end

-- How far the logits of forward and layer are apart, as a share of the largest; nil for a forward
-- that gives others the second time, as one that drops elements, and for a model that fails here.
local function distance(model, n_features)
  local P, output, logits = ring(), core.index(SEEDS), {}
  local features = core.zeros(NODES, n_features):normal_(1, core.rng(1))
  for i, way in ipairs{by_forward, by_forward, by_layer} do
    local ok, found = errors.try(way, model, P, features, output)
    if not ok or options.class_of(found) ~= "Tensor" then return nil end
    logits[i] = found
  end
  local first, again, whole = table.unpack(logits)
  if first.n_rows ~= whole.n_rows or first.n_cols ~= whole.n_cols then return math.huge end
  if largest(first - again) > 0 then return nil end
  return largest(first - whole) / math.max(largest(first), largest(whole))
end

--- check_model(model, n_features): a text where the two are not the same network, for features of
-- so many columns; nil where they are, or where nothing is known.
return function(model, n_features)
  if not inference.possible(model) or model.n_layers == 0 then return nil end
  local far = core.no_grad(distance, model, n_features)
  if not far or far ~= far or far <= TOLERANCE then return nil end
  return ("the model's forward and its layers are not the same network: for the same whole "
    .. "neighbourhoods their logits differ by %.3g times the largest; training goes by forward, "
    .. "validation and test by layer(i, h, block)"):format(far)
end
