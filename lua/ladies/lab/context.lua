--- What all examinations of the laboratory share: the data set, the networks and exact values by
-- propagation matrix and depth, the seeds of every group of draws, and the draws themselves.
--
-- A group is one set of seed nodes, drawn uniformly from the training nodes, and some draws of the
-- sampler for it. Groups are independent, and the same for every sampler of an examination.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local exact = require "ladies.lab.exact"
local network = require "ladies.lab.network"
local nn = require "ladies.nn"
local numbered_batches = require "ladies.training.numbered_batches"
local options = require "ladies.base.options"
local optim = require "ladies.optim"
local propagation = require "ladies.graph.propagation"
local Subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local context = {}

local Context = {__name = "ladies.lab.Context"}
Context.__index = Context

-- The streams of seeds, of the samplers' draws, and of those that go in step with training.
local SEEDS, DRAWS, TRAINING = 1, 2, 3

--- context.new(data, opts): opts has batch_size, layers, hidden, steps and seed.
function context.new(data, opts)
  return setmetatable({data = data, opts = opts, exacts = {}, root = core.rng(opts.seed)}, Context)
end

--- The exact values of a network of `layers` layers (opts.layers) over P; see ladies.lab.exact.
function Context:exact(P, layers)
  layers = layers or self.opts.layers
  local key = ("%s %d"):format(P:hash(), layers)
  if not self.exacts[key] then
    local opts = setmetatable({layers = layers}, {__index = self.opts})
    local model, path = network.train(self.data, P, opts)
    self.exacts[key] = exact.of(self.data, P, model, path)
  end
  return self.exacts[key]
end

--- The seeds of a group: opts.batch_size training nodes, or all where there are fewer, ascending.
function Context:seeds(group)
  local train = self.data.train
  local size = math.min(self.opts.batch_size, #train)
  local rng = self.root:fork(SEEDS):fork(group)
  return train[core.sampling.uniform(#train, size, {rng = rng})]:sort()
end

-- The place in training of draw i of a group: the group goes through the mini-batches of an epoch,
-- i through the epochs.
local function place_of(self, group, rng, i)
  local size = math.min(self.opts.batch_size, #self.data.train)
  local per_epoch = math.ceil(#self.data.train / size)
  return {epoch = i, index = (group - 1) % per_epoch + 1, rng = rng:fork(0)}
end

-- What a sampler is called with: the seeds of a group, the rng and its place; or, where it draws
-- its own seeds, the training nodes, an rng and its place, that of mini-batch `number`, or any of
-- an epoch.
local function arguments(self, sampler, group, rng, number, i)
  local own = numbered_batches.own_batches(sampler)
  if not own then return self:seeds(group), rng, place_of(self, group, rng, i or 1) end
  number = number or rng:fork(2):below(own)
  return self.data.train, rng:fork(1),
    {epoch = (number - 1) // own + 1, index = (number - 1) % own + 1, rng = rng:fork(0)}
end

--- What the sampler is called with for draw i of a group: seeds, rng, and a place in an epoch.
function Context:arguments(sampler, group, i)
  return arguments(self, sampler, group, self.root:fork(DRAWS):fork(group):fork(i), nil, i)
end

--- Draw i of a group: a mini-batch whose penalty and after_step are taken away.
function Context:draw(sampler, group, i)
  local batch = sampler(self:arguments(sampler, group, i))
  options.value("ladies.lab", "what the sampler returns", batch, "table")
  batch.penalty, batch.after_step = nil, nil
  return batch
end

--- Whether a sampler of the subject for a network of `layers` layers has as many blocks.
function Context:has_depth(subject, layers)
  return #self:draw(self:sampler(subject, {layers = layers}), 1, 1).blocks == layers
end

--- The P of a subject: its own, or that which the first mini-batch of its sampler tells.
function Context:propagation_of(subject)
  if subject.P then return subject.P end
  local batch = self:draw(subject:make(), 1, 1)
  propagation.state(batch, subject.given)
  subject.P = propagation.of_batch("ladies.lab", batch, self.data.graph)
  return subject.P
end

--- A sampler of the subject for the network, with `over` as in subject:make. One that goes in step
-- with training has gone along with the network's: for each of its steps the model gets the
-- parameters that it had, and the sampler its forward, its gradients and after_step.
function Context:sampler(subject, over)
  local known = self:exact(self:propagation_of(subject), over and over.layers)
  local model = known.model
  local sampler = subject:make(model, over)
  if Subject.is_adaptive(sampler) then self:accompany(sampler, known) end
  return sampler
end

-- Takes a sampler through the steps of the network's training.
function Context:go_along(sampler, known)
  local parameters = nn.parameters(rawget(sampler, "parameters") or {})
  local optimizer = #parameters > 0 and optim.adam(parameters, {lr = network.LR})
  for i, values in ipairs(known.path) do
    network.set(known.model, values)
    local rng = self.root:fork(TRAINING):fork(i)
    local batch = sampler(arguments(self, sampler, -i, rng, i, i))
    batch.rng = rng:fork(3)                                 -- a forward with it is one of training
    known:with_loss(batch, function()
      if optimizer then optimizer:step() end
      if batch.after_step then batch.after_step(batch, known.model) end
    end)
  end
end

-- Lets a sampler go along with the training of the network; its own parameters are trained. The
-- network, which others are measured with, is as it was afterwards, also if the sampler fails.
function Context:accompany(sampler, known)
  local last = tables.map(known.model:parameters(), function(one) return one:clone() end)
  local ok, message = errors.try(self.go_along, self, sampler, known)
  network.set(known.model, last)
  if not ok then error(message, 0) end
end

return context
