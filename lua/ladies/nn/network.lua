--- Defines what models over a graph have in common: their options, which propagation matrix P
-- (sym, row or none) they are made for, and the loop over the blocks of a mini-batch. A model is a
-- table with `config`, its options; `layers`; `n_layers`; and layer(i, h, block, rng), which
-- gives the input of layer i + 1, at last the logits: a Tensor, or a table of Tensors where later
-- layers read more than the last output (see own_rows).

local core = require "ladies_core"
local activation = require "ladies.nn.activation"
local errors = require "ladies.base.errors"
local initialize = require "ladies.nn.initialize"
local InputRows = require "ladies.nn.input_rows"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local plain = require("ladies.base.units").plain
local propagation = require "ladies.graph.propagation"

local network = {}

-- The number of the random stream for first weights, negative so that mini-batches with the same
-- seed use other streams.
local FIRST_WEIGHTS = -1

--- The options that every model has.
network.SPEC = {
  inputs = "positive integer",
  hidden = {"positive integer", 256},
  outputs = "positive integer",
  layers = {"positive integer", 5},
  activation = {activation.names, "relu"},
  dropout = {"number in [0, 1)", 0},
  input_dropout = "number in [0, 1) or nil",
  norm = {"boolean", false},
  bias = {"boolean", true},
  init = {initialize.names, "glorot_uniform"},
  normalize = "sym|row|none or nil",
  lambda = {"number", 0},
  P = "Matrix or string or nil",
  seed = {"integer", 1},
}

-- Replaces a P that is a Matrix by its hash in the options, so that a file can hold them; returns
-- the Matrix, or nil. Without a P, normalize becomes "sym" unless it is given.
local function settle_propagation(where, opts)
  if not opts.P then
    opts.normalize = opts.normalize or "sym"
    return nil
  end
  if opts.normalize or opts.lambda ~= 0 then
    errors.fail(where .. ": P takes the place of normalize and lambda; give only one")
  end
  if type(opts.P) == "string" then return nil end
  local P = opts.P
  opts.P = P:hash()
  return P
end

--- Makes the metatable for a kind of model, with `fields` besides layers; see nn.class.
function network.class(name, fields)
  local class = module.class(name, "layers:table[] " .. fields)
  class.forward = network.forward
  return class
end

--- Makes a model of the class, still without layers, from options checked by `spec`. Returns it and
-- the generator for its first weights. Its fields name the P that the options give. Errors begin
-- with `where`.
function network.new(class, where, given, spec)
  local opts = options.check(where, given, spec)
  local P = spec.normalize and settle_propagation(where, opts)
  return setmetatable({
    config = opts, layers = {}, n_layers = opts.layers, normalize = opts.normalize,
    lambda = opts.lambda, P = P or nil,
  }, class), core.rng(opts.seed):fork(FIRST_WEIGHTS)
end

--- Checks the arguments i and block of model:layer and returns model.layers[i].
function network.layer_of(model, i, block)
  local layer = model.layers[i]
  if not layer then
    errors.fail(("model:layer: the layers are 1 to %d, got %s"):format(model.n_layers, i))
  end
  options.value("model:layer", "the block", block, "table")
  return layer
end

local WHOLE = {Graph = true, Matrix = true, Dataset = true}

-- Describes for an error a value that was given instead of a mini-batch, and says what to give.
local function in_its_place(given)
  local class = options.class_of(given)
  if WHOLE[class] then
    return ("a %s; ladies.inference.exact(model, data) gives the logits over the whole graph")
      :format(class)
  elseif type(given) == "table" and type(given[1]) == "table" and given[1].adj then
    return "its blocks alone"
  end
  return type(given) == "table" and "another table" or class or type(given)
end

--- Fails where `batch` is no mini-batch, which has the field `field`.
function network.check_batch(batch, field)
  if type(batch) == "table" and not WHOLE[options.class_of(batch)] and batch[field] then return end
  errors.fail("model:forward: the mini-batch must be a table with blocks, input and output, as "
    .. "samplers return it, got " .. in_its_place(batch))
end

--- Begins model:forward(features, batch, rng): checks the mini-batch and, in training, notes in the
-- model the P that it is trained with. Returns the generator that dropout draws from, or false.
function network.begin(model, batch, rng)
  network.check_batch(batch, "blocks")
  local blocks = options.value("model:forward", "blocks", batch.blocks, "table")
  if #blocks ~= model.n_layers then
    errors.fail(("model:forward: the batch has %d blocks, the model %d layers"):format(
      #blocks, model.n_layers))
  end
  if rng == nil then rng = batch.rng end
  if rng then propagation.trained(model, batch) end
  return rng
end

-- Returns the features that the batch brings itself or, without any, those of all nodes.
local function features_of(features, batch)
  return options.value("model:forward", "features", batch.features or features,
    "Tensor or Matrix or Rows")
end

--- Copies the rows of some nodes from the features, or from those that the batch brings, and
-- returns them; sets batch.gathering to the seconds that it took.
function network.gather(features, batch, nodes)
  local began = core.clock()
  local h = features_of(features, batch):rows(nodes)
  batch.gathering = core.clock() - began
  return h
end

-- The number of columns below which copying rows of features is not slower than reading them in
-- place.
local NARROW = 64

-- Tells whether the first layer is given InputRows in place of a Tensor: if it takes them, the
-- model uses the library's own loop over layers, and the features are wide and need no gradient.
local function reads_in_place(model, features, batch)
  return InputRows.taken_by[model.layer] and not batch.propagate
    and options.class_of(features) == "Tensor" and features.n_cols >= NARROW
    and not features.requires_grad and not features.in_step
end

--- Takes the input of the first layer through all layers to the logits, by batch.propagate(model,
-- h, batch, rng) where there is one.
function network.through(model, h, batch, rng)
  if batch.propagate then return batch.propagate(model, h, batch, rng) end
  for i, block in ipairs(batch.blocks) do
    h = errors.within("layer %d", i, model.layer, model, i, h, block, rng)
  end
  return h
end

--- model:forward(features: Tensor | Matrix | Rows, batch [, rng: Rng | boolean]) -> Tensor: the
-- logits of a mini-batch, #batch.output x outputs. features: Tensor or sparse Matrix of all nodes,
-- whose rows batch.input are gathered; batch.gathering becomes the seconds that took, 0 where the
-- first layer reads them where they are. Dropout draws from `rng`, by default batch.rng, which
-- ladies.batches sets; false switches it off. A batch may bring features of its own, and
-- batch.propagate(model, h, batch, rng), which takes the place of the loop over the layers (see
-- samplers/vrgcn.lua).
function network.forward(model, features, batch, rng)
  rng = network.begin(model, batch, rng)
  features = features_of(features, batch)
  local h = reads_in_place(model, features, batch) and InputRows.new(features, batch)
    or network.gather(features, batch, batch.input)
  return network.through(model, h, batch, rng)
end

--- Describes a model in one line: its kind, its P and its size.
function network.describe(model)
  local hash = model.P and model.P:hash() or model.config.P
  local P = model.normalize or hash and "of hash " .. hash or "unknown"
  return ("%s of %s, %s, %s"):format(options.class_of(model), plain(#model.layers, "layer"),
    model.n_layers == 0 and "no graph" or "P = " .. P, plain(module.size(model), "parameter"))
end

return network
