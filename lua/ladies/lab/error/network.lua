--- Trains the network whose embeddings and gradients samplers estimate in the laboratory: a GCN
-- without dropout, Z = P H W + b and H = ReLU(Z) in every layer but the last, or another model. It
-- is trained for some steps with whole neighbourhoods, so that its weights are like those during
-- training, neither random nor converged.

local core = require "ladies_core"
local full = require "ladies.samplers.full"
local optim = require "ladies.optim"
local tables = require "ladies.base.tables"

-- LR: the learning rate of Adam.
local network = {LR = 0.01}

-- The number of the random stream for the training units, different from those of context.lua with
-- the same seed.
local TRAINING = -7

local function values_of(model)
  return tables.map(model:parameters(), function(parameter) return parameter:clone() end)
end

--- Puts the values of a list of tensors into the parameters of a model.
function network.set(model, values)
  for i, parameter in ipairs(model:parameters()) do parameter:copy_(values[i]) end
end

--- Trains a network of `layers` layers over P for how.steps steps of Adam on batches of at most
-- how.batch_size training units; how: by default the options of the context. Returns the model, and
-- the values of its parameters before each of the steps, an array of arrays of tensors.
function network.train(context, P, layers, how)
  local opts, task, train = context.opts, context.task, context.problem.units
  how = how or opts
  local model = context.problem:model(P, layers)
  local sampler = full(P, {layers = layers})
  local optimizer = optim.adam(model:parameters(), {lr = network.LR})
  local rng, path = core.rng(opts.seed):fork(TRAINING), {}
  local size = math.min(how.batch_size, #train)
  for i = 1, how.steps do
    path[i] = values_of(model)
    local units = train[core.sampling.uniform(#train, size, {rng = rng:fork(i)})]
    local _ <close> = core.step()
    local batch = context:drawn(units, rng:fork(i):fork(1), sampler)
    local h = model:forward(context.data.features, batch, false)
    task:check_outputs(context.problem.where, h)
    task:loss_of(h, batch, model):backward()
    optimizer:step()
  end
  return model, path
end

return network
