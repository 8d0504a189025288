--- Checks that the functions forward, for mini-batches, and layer, for exact inference, of a user's
-- model compute the same network, and that no layer mistakes the row of one node for that of
-- another, which otherwise goes unnoticed if the shapes fit.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

-- The number of nodes of the ring graph on which models are checked, and the nodes whose logits are
-- compared.
local NODES = 12
local SEEDS = {2, 9}

-- The difference of logits that is allowed, relative to the largest, since products of other shapes
-- or orders round differently.
local TOLERANCE = 1e-3

local NOT_THE_SAME = "the model's forward and its layers are not the same network: for the same "
  .. "whole neighbourhoods their logits differ by %.3g times the largest; training goes by "
  .. "forward, validation and test by layer(i, h, block)"

local OF_ITS_BLOCK = "a layer of the model gives a node another row in a mini-batch than among all "
  .. "nodes: for the same whole neighbourhoods the logits differ by %.3g times the largest, as "
  .. "where a row depends on the other rows of its block, by their mean or their number; "
  .. "validation and test have the block of all nodes"

local WRONG_ROWS = "the model's logits depend on the order of the nodes in block.src: in another "
  .. "they differ by %.3g times the largest; what a layer reads of its own nodes, block.dst, is "
  .. "nn.own_rows(h, block), not h, and where it gets no rng it draws nothing, as dropout would"

-- Makes the P of a ring, whose rows are a node and its two neighbours.
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

-- Makes a mini-batch of so many layers; src_of(l, dst) returns the nodes that its layer l reads.
local function batch_of(P, n_layers, output, src_of)
  local dst, blocks = output, {}
  for l = n_layers, 1, -1 do
    local adj, src = P:slice(dst, src_of(l, dst))
    blocks[l], dst = {adj = adj, dst = dst, src = src}, src
  end
  return {blocks = blocks, input = dst, output = output}
end

local function nearest() return nil end
local function in_order() return core.range(1, NODES) end
local function shuffled(l) return sampling.permutation(NODES, core.rng(2):fork(l)) end

local function largest(t) return math.max(t:max(), -t:min()) end

-- Returns the difference of two logits relative to the largest; 0 if one of them is unknown.
local function distance(x, y)
  if not x or not y then return 0 end
  if x.n_rows ~= y.n_rows or x.n_cols ~= y.n_cols then return math.huge end
  local apart = largest(x - y)
  return apart > 0 and apart / math.max(largest(x), largest(y)) or 0
end

-- Returns the logits that way(...) computes, in the order of SEEDS instead of `output`; nil if it
-- fails.
local function try(output, way, ...)
  local ok, found = errors.try(way, ...)
  if not ok or options.class_of(found) ~= "Tensor" or found.n_rows ~= #output then return nil end
  return found[sampling.find(output, core.index(SEEDS))]
end

-- Returns the logits by forward; nil if a second call returns others, as with dropout, and for a
-- model that fails here.
local function by_forward(model, features, batch)
  local first = try(batch.output, model.forward, model, features, batch, false)
  local again = try(batch.output, model.forward, model, features, batch, false)
  return first and again and distance(first, again) == 0 and first or nil
end

local function by_layer(model, features, P)
  return try(in_order(), inference.exact, model, P, {features = features})
end

-- Returns the logits of the model's layers for the blocks of a mini-batch, one after the other.
local function by_blocks(model, features, batch)
  return try(batch.output, function()
    local h = features:rows(batch.input)
    for i, block in ipairs(batch.blocks) do h = model:layer(i, h, block) end
    return h
  end)
end

-- Returns a text that says what is wrong with a model, or nil.
local function complaint(model, n_features)
  local P, features = ring(), core.zeros(NODES, n_features):normal_(1, core.rng(1))
  local function found(output, src_of)
    return by_forward(model, features, batch_of(P, model.n_layers, output, src_of))
  end
  local far = distance(found(in_order(), in_order), found(shuffled(0), shuffled))
  if far > TOLERANCE then return WRONG_ROWS:format(far) end
  if not inference.possible(model) then return nil end
  local batch = batch_of(P, model.n_layers, core.index(SEEDS), nearest)
  local logits = by_forward(model, features, batch)
  far = distance(logits, by_layer(model, features, P))
  if far <= TOLERANCE then return nil end
  local looped = by_blocks(model, features, batch)
  local is_loop = looped and distance(logits, looped) <= TOLERANCE
  return (is_loop and OF_ITS_BLOCK or NOT_THE_SAME):format(far)
end

--- check_model(model, n_features): returns a text if forward and layer are not the same network, if
-- a layer gives a node another row beside other nodes, or if logits depend on the order of a
-- layer's nodes, for features of so many columns; nil if none of this is so, or nothing is known.
return function(model, n_features)
  if math.type(model.n_layers) ~= "integer" or model.n_layers < 1 then return nil end
  return core.no_grad(complaint, model, n_features)
end
