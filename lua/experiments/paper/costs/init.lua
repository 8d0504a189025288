--- Time and memory of a batch over layers L, width K, batch b, samples s and nodes V, beside the
-- complexities of the paper's Table 2 (Zou et al. 2019).
--
-- One quantity is varied at a time, the others staying at the base of costs/methods.lua, on
-- generated graphs whose degrees follow a power law. Of each shape are measured, as medians over
-- batches after three for warming up, in one thread and in seconds of the processor, which a busy
-- machine changes little:
--     sampling   of the sampler
--     computing  of gathering, forward, backward and the optimizer's step
--     held       bytes of the batch, its activations and gradients after the backward pass, as the
--                program counts them, the weights, and the histories of VR-GCN
--     counted    the same as the paper counts it for its Table 3 (ladies.summary), with
--                histories
-- An exponent is the slope of least squares between logarithms; the one of Table 2 is
-- fitted in the same way to its formula at the same shapes, since a sum such as L K s^2 + L K^2 s
-- has no single exponent. The shapes of a sweep take turns, so that a busy machine is equally busy
-- for all.

local core = require "ladies_core"
local carry_out = require "ladies.study.carry_out"
local declared = require "experiments.options"
local errors = require "ladies.base.errors"
local generate = require "ladies.data.generate"
local loss = require "ladies.nn.loss"
local methods = require "experiments.paper.costs.methods"
local nn = require "ladies.nn"
local optim = require "ladies.optim"
local options = require "ladies.base.options"
local report = require "experiments.paper.costs.report"
local medians = require "ladies.statistics.medians"
local summary = require "ladies.training.record.summary"
local tables = require "ladies.base.tables"
local with_threads = require "ladies.base.with_threads"

local clock = os.clock

local WHERE = "experiments.paper.costs"
local VARIABLES = {"L", "K", "b", "s", "V"}
local DEGREE = 10     -- entries in a row of the adjacency
local CLASSES = 10
local WARM_UP = 3     -- batches, which are weighed

-- Returns a function that generates a graph of a size once and keeps it while the command runs.
local function graphs(seed)
  local kept = {}
  return function(n_nodes)
    kept[n_nodes] = kept[n_nodes] or generate.power_law{nodes = n_nodes,
      entries = DEGREE * n_nodes, classes = CLASSES, features = 1, seed = seed}
    return kept[n_nodes]
  end
end

-- Bytes in use, apart from scratch, which is kept from batch to batch.
local function in_use()
  local memory = core.memory()
  return memory.total - memory.scratch
end

-- Returns a function that runs one batch of a method at a shape and returns its measurements:
-- run(number, weigh). With `weigh` it also measures memory. Before that, garbage and the
-- allocator's free blocks are given back: a larger free block that is used again would be counted
-- with its whole size.
local function runner(method, shape, data, seed)
  local rng, V, K = core.rng(seed), shape.V, shape.K
  local features = core.zeros(V, K):normal_(1, rng:fork(0))
  local model = nn.gcn{inputs = K, hidden = K, outputs = K, layers = shape.L, seed = seed}
  local optimizer = optim.adam(model:parameters(), {lr = 1e-3})
  local sampler = method.make(data.graph:normalize "sym", shape)
  local static = 4 * (nn.size(model) + (method.history and method.history(shape) or 0))
  local everything = core.range(1, V)
  return function(number, weigh)
    local draw = rng:fork(number)
    local seeds = method.whole and everything
      or core.sampling.uniform(V, shape.b, {rng = draw:fork(1)})
    if weigh then core.memory_trim() else collectgarbage() end
    local before, began = in_use(), clock()
    local batch = sampler(seeds, draw:fork(2))
    local sampled = clock()
    local held
    do
      local _ <close> = core.step()
      local logits = model:forward(features, batch, false)
      loss.cross_entropy(logits, data.labels[batch.output]):backward()
      if weigh then
        collectgarbage()
        held = in_use() - before + static
      end
      optimizer:step()
      if batch.after_step then batch.after_step(batch, model) end
    end
    local hidden = 0
    for _, block in ipairs(batch.blocks) do hidden = hidden + #block.dst end
    return {
      sampling = sampled - began, computing = clock() - sampled, held = held,
      counted = summary.paper_memory{features = K, width = K, layers = shape.L,
        input = #batch.input, hidden = hidden}
        + 4 * (method.history and method.history(shape) or 0),
    }
  end
end

-- Returns the measurements of a sweep, for each value: {x, shape, sampling, computing, held,
-- counted}.
local function measure(method, variable, opts, graph_of)
  local runners, points = {}, {}
  for i, value in ipairs(method.shapes.sweeps[variable]) do
    local shape = tables.merged(method.shapes.base, {[variable] = value})
    shape.V = math.max(shape.b, math.floor(shape.V * opts.scale))
    local data = graph_of(shape.V)
    shape.D = data.graph:normalize "sym".nnz / shape.V
    runners[i] = runner(method, shape, data, opts.seed)
    points[i] = {x = shape[variable], shape = shape}
  end
  local lists = {}
  for i, run in ipairs(runners) do
    local held = {}
    for number = 1, WARM_UP do held[number] = run(number, true).held end
    points[i].held = medians.of(held)
    lists[i] = {sampling = {}, computing = {}, counted = {}}
  end
  for number = WARM_UP + 1, WARM_UP + opts.batches do
    for i, run in ipairs(runners) do
      local one = run(number)
      for name, list in pairs(lists[i]) do table.insert(list, one[name]) end
    end
  end
  for i, point in ipairs(points) do
    for name, list in pairs(lists[i]) do point[name] = medians.of(list) end
  end
  return points
end

local function chosen(names)
  local by_name = tables.by_field(methods, "name")
  local all = tables.map(methods, function(method) return method.name end)
  return tables.map(names or all, function(name)
    return by_name[name] or errors.fail(("%s: no method %q%s"):format(WHERE, name,
      options.hint(name, all, "there are")))
  end)
end

local COSTS = {
  where = WHERE, name = "costs", title = "Table 2, measured: time and memory of a batch",
  folder = "runs/costs", identity = {"costs", "batches", "scale", "seed"},
  unit = "sweep", show = report,
  options = declared.types "costs",
}

function COSTS.cases(opts)
  local sweeps = {}
  for _, method in ipairs(chosen(opts.methods)) do
    for _, variable in ipairs(VARIABLES) do
      if method.shapes.sweeps[variable] then
        sweeps[#sweeps + 1] = {method = method, variable = variable,
          key = ("%s over %s"):format(method.name, variable)}
      end
    end
  end
  return sweeps
end

function COSTS.measure(opts)
  local graph_of = graphs(opts.seed)
  return function(sweep)
    local _ <close> = with_threads(1)
    return {points = measure(sweep.method, sweep.variable, opts, graph_of), threads = 1}
  end
end

--- experiments.paper.costs{methods = {"ladies", ...}, batches = 7, ...} -> table: measures time and
-- memory of a batch and fits exponents, as the head of costs/init.lua defines them.
-- methods   of full, graphsage, vrgcn, fastgcn, ladies (all)
-- batches   that are measured at every shape (7)
-- scale     a factor for the number of nodes (1)
-- seed      of everything random
-- quick     3 batches and a quarter of the nodes, where they are not given
-- out       a folder (runs/costs-N): results.jsonl, costs.csv, costs.md and the pictures. Sweeps
--           that are there are not measured again.
-- quiet     no progress
-- Returns a report (see ladies.report).
local function costs(given) return carry_out(COSTS, given) end

return costs
