--- Holds what all examinations of a laboratory share: the data set, networks and exact values for
-- each propagation matrix and depth, the seeds of every group of draws, and the function that makes
-- draws.
--
-- A group is one set of seed nodes, drawn uniformly from the training nodes, and some draws of the
-- sampler for it. Groups are independent, and the same for every sampler of an examination. Where a
-- task makes seeds of edges or graphs, a group is one set of these, with all that the task draws
-- for them, such as negatives: draws of one group differ by the sampler's draws alone.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local exact = require "ladies.lab.error.exact"
local network = require "ladies.lab.error.network"
local nn = require "ladies.nn"
local numbered_batches = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local optim = require "ladies.optim"
local problems = require "ladies.lab.problem"
local propagation = require "ladies.graph.propagation"
local Subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local context = {}

local Context = {__name = "ladies.lab.Context"}
Context.__index = Context

-- The numbers of the random streams: for seeds, for the samplers' draws, for the draws in
-- training, and for the task's.
local SEEDS, DRAWS, TRAINING, TASK = 1, 2, 3, 4

--- context.new(of, opts): makes a context for a data set, without networks at first. opts has
-- batch_size, layers, hidden, steps and seed, and what ladies.lab.problem takes. `nodes` has what
-- is known of each node: labels, classes, class_names and train, the training nodes, where these
-- are of nodes.
function context.new(of, opts)
  local problem = problems.new("ladies.lab", of, opts)
  local task, data = problem.task, problem.data
  local nodes = {train = not task.draw and problem.units or nil}
  if task.unit ~= "graph" then
    nodes.labels, nodes.classes, nodes.class_names = data.labels, data.classes, data.class_names
  end
  return setmetatable({problem = problem, task = task, data = data, nodes = nodes, opts = opts,
    exacts = {}, root = core.rng(opts.seed)}, Context)
end

--- Returns the exact values of a network of `layers` layers (opts.layers) over P; see
-- ladies.lab.error.exact.
function Context:exact(P, layers)
  layers = layers or self.opts.layers
  local key = ("%s %d"):format(P:hash(), layers)
  if not self.exacts[key] then
    local model, path = network.train(self, P, layers)
    self.exacts[key] = exact.of(self.problem, P, model, path)
  end
  return self.exacts[key]
end

-- Returns the units of a group: opts.batch_size training nodes, edges or graphs, or all if there
-- are fewer, ascending.
local function units_of(self, group)
  local train = self.problem.units
  local size = math.min(self.opts.batch_size, #train)
  local rng = self.root:fork(SEEDS):fork(group)
  return train[core.sampling.uniform(#train, size, {rng = rng})]:sort()
end

-- Returns the matrices of a mini-batch's blocks.
local function matrices_of(batch)
  return tables.map(batch.blocks, function(block) return block.adj end)
end

-- Calls `sample` for a task, and fails if the task changes the mini-batch beyond adding fields.
local function drawn_by_task(task, units, rng, sample)
  local made, before
  local batch = task.draw(units, rng, function(seeds, times)
    if times then
      errors.fail(("ladies.lab: the task %s gives its seeds times, and samplers are examined at "
        .. "none"):format(task.name))
    end
    made = sample(seeds)
    before = matrices_of(made)
    return made
  end)
  local same = rawequal(batch, made)
  for l, adj in ipairs(same and matrices_of(made) or {}) do
    same = same and rawequal(adj, before[l])
  end
  if not same then
    errors.fail(("ladies.lab: the task %s changes the blocks of mini-batches, and what is examined "
      .. "are those of the sampler alone"):format(task.name))
  end
  batch.units = units
  return batch
end

--- Returns the mini-batch of some units that sample(seeds) makes, with all that the task and the
-- model read of it; rng is the task's.
function Context:drawn(units, rng, sample)
  local batch = self.task.draw and drawn_by_task(self.task, units, rng, sample) or sample(units)
  local edges = rawget(self.data, "edges")
  return edges and edges:attach_all(batch) or batch
end

--- Returns the mini-batch that sample(seeds) makes for a group.
function Context:of_group(group, sample)
  return self:drawn(units_of(self, group), self.root:fork(TASK):fork(group), sample)
end

--- Adds to a mini-batch that a sampler made for a group what the task and the model read of it.
function Context:complete(batch, group)
  if not (self.task.draw or rawget(self.data, "edges")) then return batch end
  return self:of_group(group, function() return batch end)
end

--- Returns the seeds of a group: its nodes, or those that the task makes of its edges or graphs.
function Context:seeds(group)
  if not self.task.draw then return units_of(self, group) end
  local found
  self:of_group(group, function(seeds)
    found = seeds
    return {blocks = {}, input = seeds, output = seeds}
  end)
  return found
end

--- Returns the exact gradient that the mini-batches of a group estimate, for exact values of this
-- context.
function Context:gradient(known, group)
  if known.problem.is_plain then return known:gradient(self:seeds(group)) end
  return known:gradient_of(group, function(sampler) return self:of_group(group, sampler) end)
end

-- Returns the place in training (epoch and mini-batch) that is given to the sampler for draw i of a
-- group: groups stand for the mini-batches of an epoch, and draws for epochs.
local function place_of(self, group, rng, i)
  local size = math.min(self.opts.batch_size, #self.problem.units)
  local per_epoch = math.ceil(#self.problem.units / size)
  return {epoch = i, index = (group - 1) % per_epoch + 1, rng = rng:fork(0)}
end

-- Returns the arguments for a call of a sampler: the seeds of a group, an rng and a place. A
-- sampler that draws its own seeds is given the training nodes, an rng and the place of mini-batch
-- `number`, or of a random mini-batch of an epoch.
local function arguments(self, sampler, group, rng, number, i)
  local own = numbered_batches.own_batches(sampler)
  if not own then return self:seeds(group), rng, place_of(self, group, rng, i or 1) end
  if not self.task.own_seeds then
    errors.fail(("ladies.lab: %s draws its own seeds, nodes, and the task %s is of %ss"):format(
      numbered_batches.name_of(sampler), self.task.name, self.task.unit))
  end
  number = number or rng:fork(2):below(own)
  return self.problem.units, rng:fork(1),
    {epoch = (number - 1) // own + 1, index = (number - 1) % own + 1, rng = rng:fork(0)}
end

--- Returns the arguments of the sampler for draw i of a group: seeds, rng, and a place in an epoch.
function Context:arguments(sampler, group, i)
  return arguments(self, sampler, group, self.root:fork(DRAWS):fork(group):fork(i), nil, i)
end

--- Makes draw i of a group as the sampler returns it, a mini-batch, from which penalty and
-- after_step are removed.
function Context:sampled(sampler, group, i)
  local batch = sampler(self:arguments(sampler, group, i))
  options.value("ladies.lab", "what the sampler returns", batch, "table")
  batch.penalty, batch.after_step = nil, nil
  return batch
end

--- Makes draw i of a group, with what the task and the model read of it.
function Context:draw(sampler, group, i)
  return self:complete(self:sampled(sampler, group, i), group)
end

--- Tells whether the subject's sampler for a network of `layers` layers returns as many blocks.
function Context:has_depth(subject, layers)
  return #self:draw(self:sampler(subject, {layers = layers}), 1, 1).blocks == layers
end

--- Returns the P of a subject: its own, or the one from which the first mini-batch of its sampler
-- was drawn.
function Context:propagation_of(subject)
  if subject.P then return subject.P end
  local batch = self:draw(subject:make(), 1, 1)
  propagation.state(batch, subject.given)
  subject.P = propagation.of_batch("ladies.lab", batch, self.data.graph)
  return subject.P
end

--- Makes a sampler of the subject for the network, with `over` as in subject:make. A sampler that
-- learns during training is first taken through the network's training: for each step the model is
-- given the parameters that it had then, and the sampler sees forward, gradients and after_step.
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
    local batch = self:complete(sampler(arguments(self, sampler, -i, rng, i, i)), -i)
    batch.rng = rng:fork(3)                                 -- a forward with it is one of training
    known:with_loss(batch, function()
      if optimizer then optimizer:step() end
      if batch.after_step then batch.after_step(batch, known.model) end
    end)
  end
end

-- Takes a sampler through the network's training, in which the sampler's own parameters are
-- trained. Afterwards the network is restored, also if the sampler fails, since other samplers are
-- measured with it.
function Context:accompany(sampler, known)
  local last = tables.map(known.model:parameters(), function(one) return one:clone() end)
  local ok, message = errors.try(self.go_along, self, sampler, known)
  network.set(known.model, last)
  if not ok then error(message, 0) end
end

return context
