--- Has what samplers that learn during training share: their classes, their arguments, and the
-- record of the inputs of layers, from which they learn.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"

local learning = {}

-- The number of the random stream for first weights, negative so that it differs from those of
-- epochs. A task's draws begin with the same number, and are forked by the mini-batch from there.
local FIRST_WEIGHTS = -3

--- learning.class(where, names): makes a class of samplers whose objects have the fields in
-- `names`, a text with blanks between them, besides those that all samplers may have. Called with
-- seeds and rng, an object returns what its method draw(seeds, rng) does, which records no
-- gradients.
function learning.class(where, names)
  local class = {__name = where}
  class.__index = class
  fields.of_class(class, "name adaptive batches_per_epoch P state " .. names)
  function class.__call(self, seeds, rng)
    core.check_constant(where, self.P)
    return core.no_grad(self.draw, self, seeds, rng)
  end
  return class
end

--- Checks the arguments P and `given` of a sampler that learns; errors begin with `where`. Returns
-- the options, how many samples each layer has, and, where `spec` has a seed, the generator for the
-- sampler's first weights.
function learning.checked(where, P, given, spec)
  arguments.check_square(where, P)
  local opts = options.check(where, given, spec)
  if opts.features then arguments.check_features(where, P, opts.features) end
  return opts, arguments.samples(where, opts), opts.seed and core.rng(opts.seed):fork(FIRST_WEIGHTS)
end

--- Runs the model's loop over its layers, as the `propagate` of a mini-batch, and keeps the input
-- of layer l as batch.layer_inputs[l].
function learning.propagate(model, h, batch, rng)
  batch.layer_inputs = {}
  for l, block in ipairs(batch.blocks) do
    batch.layer_inputs[l] = h
    h = errors.within("layer %d", l, model.layer, model, l, h, block, rng)
  end
  return h
end

--- Makes a mini-batch record the inputs of layers, and call sampler:learn(batch) after its step;
-- returns it.
function learning.after_step(sampler, batch)
  batch.propagate = learning.propagate
  function batch.after_step(own) core.no_grad(sampler.learn, sampler, own) end
  return batch
end

--- Fails if the model did not call a batch's `propagate` although the sampler needs it.
function learning.check_propagated(where, was_called)
  if not was_called then
    errors.fail(where .. ": the model's forward must call batch.propagate, as that of nn.gcn does")
  end
end

--- Returns the input that layer l of a batch was given, a Tensor or Matrix with a row for each of
-- its src, and a constant for the gradient. A layer passes on a Tensor, or a table with the Tensor
-- in `last`, as the layers of nn.gcnii do. Errors begin with `where`.
function learning.input_of(where, batch, l)
  local h = batch.layer_inputs and batch.layer_inputs[l]
  learning.check_propagated(where, h)
  if type(h) == "table" then h = h.last end
  return options.value(where, ("what layer %d is given, or its field last"):format(l), h,
    "Tensor or Matrix"):detach()
end

return learning
