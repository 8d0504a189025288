--- Measures the effect of a sampler on training: how far the expected loss of its mini-batches is
-- from the loss over all training nodes, and how much their gradients vary, at points along a
-- training. After Wang, Vialle, Vaysse and Bonald (arXiv 2605.22480, 2026): for a small learning
-- rate, steps of gradient descent on mini-batches follow the expected loss plus a share of the
-- variance of the gradients, so these two numbers say which objective a sampler really minimises.
--
-- The training is that of the laboratory's network with whole neighbourhoods and all training
-- nodes, the same for all samplers. At a point of it the exact loss L and gradient G are those of
-- all training nodes, and mini-batches come in independent pairs. A pair with the losses l1 and l2
-- and the gradients g1 and g2 has
--     gap        ((l1 + l2) / 2 - L) / L
--     variance   ||g1 - g2||^2 / 2 / ||G0||^2           without bias, as the next one
--     bias^2     (g1 - G) . (g2 - G) / ||G0||^2
-- G0 is the gradient with which the training begins: G itself goes to zero. The variance is that of
-- mini-batches in training: of the draw of the seeds and of all below them.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local exact = require "ladies.lab.error.exact"
local full = require "ladies.samplers.full"
local network = require "ladies.lab.error.network"
local statistics = require "ladies.statistics"
local subjects = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local along = {}

-- The points, as shares of the training's steps.
local SHARES = {0, 0.25, 1}

-- The fewest and the most pairs of mini-batches at a point.
local LEAST, MOST = 8, 200

-- The first group of the draws.
local FIRST = 70001

local function squared_norm(list)
  local sum = 0
  for _, one in ipairs(list) do sum = sum + one:square():sum():item() end
  return sum
end

local function less(a, b) return tables.map(a, function(one, i) return one - b[i] end) end

local function dot(a, b)
  local sum = 0
  for i, one in ipairs(a) do sum = sum + (one * b[i]):sum():item() end
  return sum
end

-- Returns the loss and the gradients of a mini-batch.
local function seen(known, batch)
  local loss, gradients
  known:with_loss(batch, function(value)
    loss = value:item()
    gradients = tables.map(known.model:parameters(), function(one) return one.grad:clone() end)
  end)
  return loss, gradients
end

--- along.pair(whole, one, other, square): the numbers of a pair of mini-batches beside those of all
-- training nodes, {gap =, variance =, bias =}; the first three are {loss =, gradients = tensors},
-- and the squares are divided by `square`.
function along.pair(whole, one, other, square)
  local a, b = less(one.gradients, whole.gradients), less(other.gradients, whole.gradients)
  return {gap = ((one.loss + other.loss) / 2 - whole.loss) / whole.loss,
    variance = squared_norm(less(a, b)) / 2 / square, bias = dot(a, b) / square}
end

-- Draws pairs of mini-batches of a sampler, at most `seconds` long; returns lists of numbers by
-- name.
local function pairs_of(context, training, sampler, whole, seconds)
  local columns, began, group = {gap = {}, variance = {}, bias = {}}, core.clock(), FIRST
  for k = 1, MOST do
    local two = {}
    for i = 1, 2 do
      local batch = context:draw(sampler, group, 1)
      local loss, gradients = seen(training.known, batch)
      two[i], group = {loss = loss, gradients = gradients}, group + 1
    end
    local numbers = along.pair(whole, two[1], two[2], training.square)
    for name, x in pairs(numbers) do columns[name][k] = x end
    if k >= LEAST and core.clock() - began > seconds then break end
  end
  return columns
end

-- Makes a training of `steps` steps over P: {known = its network with its task, points = {at =
-- step, values = parameters, whole = {loss =, gradients =}}, square = ||G0||^2}.
local function training_of(context, P, steps)
  local units, layers = context.problem.units, context.opts.layers
  local model, path = network.train(context, P, layers, {steps = steps, batch_size = #units})
  path[steps + 1] = tables.map(model:parameters(), function(one) return one:clone() end)
  local known = exact.of(context.problem, P, model, path)
  local batch = context:drawn(units, context.root, full(P, {layers = layers}))
  local points, taken = {}, {}
  for _, share in ipairs(SHARES) do
    local at = math.floor(share * steps + 0.5)
    if not taken[at] then
      taken[at] = true
      network.set(model, path[at + 1])
      local loss, gradients = seen(known, batch)
      points[#points + 1] = {at = at, values = path[at + 1],
        whole = {loss = loss, gradients = gradients}}
    end
  end
  return {known = known, points = points, square = squared_norm(points[1].whole.gradients)}
end

-- Returns the training over P that a context keeps, so that the samplers of one P share it.
local function shared_training(context, P, steps)
  local key = ("%s %d"):format(P:hash(), steps)
  context.trainings = context.trainings or {}
  context.trainings[key] = context.trainings[key] or training_of(context, P, steps)
  return context.trainings[key]
end

local LABELS = {
  {"gap", "loss above that of all", "%.2f %%", 100},
  {"variance", "gradient's variance", "%.4g"},
  {"bias", "gradient's bias²", "%.4g"},
}

-- Says what the gap of the last point is.
local function sentence_of(gap)
  if gap.low > 0 then return "Mini-batches end with a higher loss than all training nodes have." end
  if gap.high < 0 then return "Mini-batches end with a lower loss than all training nodes have." end
  return "The loss of mini-batches is not told from that of all training nodes in the end."
end

local function series_of(subject, key, title, lines)
  return {key = "along." .. key, title = title, x_label = "step of training", log_x = false,
    y_label = key == "gap" and "(mini-batches - all) / all" or "variance / square at the beginning",
    log_y = key ~= "gap", lines = {{name = subject.title, points = lines}}}
end

--- along.examine(context, subject, steps, seconds): the findings and series of a subject along a
-- training of so many steps, measured for about so many seconds; nil and a text where a sampler
-- cannot be measured so.
function along.examine(context, subject, steps, seconds)
  if context.task.draw then
    errors.fail(("ladies.lab: along is for tasks of nodes, and %s is of %ss"):format(
      context.task.name, context.task.unit))
  end
  local training = shared_training(context, context:propagation_of(subject), steps)
  local known, points = training.known, training.points
  local sampler = subject:make(known.model)
  if subjects.is_adaptive(sampler) then
    return nil, "not measured along a training: it goes in step with its own"
  end
  local findings, gap, variance = {}, {}, {}
  for i, point in ipairs(points) do
    network.set(known.model, point.values)
    local columns = pairs_of(context, training, sampler, point.whole, seconds / #points)
    local found = tables.map(LABELS, function(one)
      return tables.merged({key = ("along.%d.%s"):format(point.at, one[1]), section = "along",
        label = ("step %d: %s"):format(point.at, one[2]), format = one[3], scale = one[4]},
        statistics.interval(columns[one[1]]))
    end)
    if i == #points then found[1].sentence = sentence_of(found[1]) end
    gap[i] = {point.at, found[1].mean, found[1].low, found[1].high}
    variance[i] = {point.at, found[2].mean, found[2].low, found[2].high}
    tables.append(findings, found)
  end
  return findings, {series_of(subject, "gap", "Loss of mini-batches along a training", gap),
    series_of(subject, "variance", "Variance of the gradient along a training", variance)}
end

return along
