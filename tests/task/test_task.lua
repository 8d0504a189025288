--- The contract of tasks: what fields must be, how units become seeds, and that a loop by hand and
-- ladies.train do the same for any task.
local lu = require "luaunit"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}

-- A task of edges: whether both ends have the same class, by the product of their rows.
local function same_class(data)
  local from, to, same = {}, {}, {}
  for node = 1, #data - 1 do
    from[node], to[node] = node, node % #data + 1
    same[node] = data.labels[node] == data.labels[node % #data + 1] and 1 or 0
  end
  from, to, same = ladies.index(from), ladies.index(to), ladies.tensor(same)
  local unique, find = ladies.sampling.unique, ladies.sampling.find
  return ladies.task.new{
    name = "same class", unit = "edge", data = data,
    units = {train = ladies.range(1, 40), val = ladies.range(41, 60)},
    draw = function(units, _, sample)
      local batch = sample(unique(from[units] .. to[units]))
      batch.from, batch.to = find(batch.output, from[units]), find(batch.output, to[units])
      return batch
    end,
    read = function(h, batch)
      return (h:rows(batch.from) * h:rows(batch.to)):row_sums()
    end,
    score = function(h, units)
      return (h:rows(from[units]) * h:rows(to[units])):row_sums()
    end,
    targets = function(units) return same[units] end,
    loss = function(out, targets) return (out - targets):square():mean() end,
    metrics = {
      {name = "error", mode = "min", of = function(predicted, targets)
        return (predicted - targets):square():mean():item()
      end},
    },
  }
end

function tests.test_what_is_refused()
  local data = toy.new()
  local function refused(expected, changes)
    local fields = {name = "mine", data = data, units = {train = data.train},
      targets = function() end, loss = function() end,
      metrics = {{name = "m", of = function() return 0 end}}}
    for name, value in pairs(changes) do fields[name] = value or nil end
    lu.assertStrContains(message_of(ladies.task.new, fields), "ladies.task.new: " .. expected)
  end
  refused("unit must be one of node, edge, graph", {unit = "path"})
  refused("loss must be a callable, got nil", {loss = false})
  refused("units: train must be an Index, got nil", {units = {}})
  refused("metrics must have at least one", {metrics = {}})
  refused("data must be a data set, with features", {data = {}})
  refused("units: val[2] is 999, must be in 1..", {units = {train = data.train,
    val = ladies.index{1, 999}}})
  refused("units: node 6 is in both train and test", {units = {train = ladies.index{5, 6, 7},
    val = ladies.index{8}, test = ladies.index{9, 7, 6}}})
  refused("metrics[1]: of must be a callable, got nil", {metrics = {{name = "m"}}})
  refused("a task of edges needs draw", {unit = "edge"})
  refused('unknown option "los"; did you mean "loss"?', {los = 1})
end

--- Outputs that a task of one's own asks for are its own, and not the data set's.
function tests.test_other_outputs()
  local task = same_class(toy.new())
  task.outputs = 1
  lu.assertErrorMsgContains("x: the model has 3 outputs, the task same class needs 1 outputs",
    task.check_outputs, task, "x", ladies.ones(2, 3))
end

--- A part that a task does not have, or that has no units, is named.
function tests.test_units_of_no_part()
  local task = same_class(toy.new())
  task.units.val = ladies.index{}
  lu.assertErrorMsgContains("toy has no test edges", task.units_of, task, "test")
  lu.assertErrorMsgContains("toy has no val edges", task.units_of, task, "val")
  lu.assertErrorMsgContains("has no list of all edges", task.units_of, task, "all")
end

--- The units of each mini-batch are an epoch's, and workers draw the same.
function tests.test_units_become_seeds()
  local data = toy.new()
  local task = same_class(data)
  local sampler = toy.neighbourhoods(data.graph:normalize "sym", 2)
  local function drawn(workers)
    local units, sizes = {}, {}
    for batch in ladies.batches(task.units.train, {task = task, sampler = sampler, batch_size = 16,
      epochs = 2, workers = workers, quiet = true}) do
      for _, unit in ipairs(batch.units:to_table()) do units[#units + 1] = unit end
      sizes[#sizes + 1] = #batch.from .. " " .. batch.input:hash()
    end
    return units, sizes
  end
  local units, sizes = drawn(0)
  local _, again = drawn(2)
  lu.assertEquals(again, sizes)
  table.move(units, 1, 40, 1, units)
  local first = table.move(units, 1, 40, 1, {})
  table.sort(first)
  lu.assertEquals(first, task.units.train:to_table())
end

--- ladies.train trains it and goes by its metric, and a loop by hand comes to the same parameters.
function tests.test_a_task_of_edges()
  local data = toy.new()
  local task = same_class(data)
  local opts = toy_training.options{task = task, max_batches = 6, epochs = 2, data = data}
  opts.data = nil
  local result = ladies.train(opts)
  lu.assertEquals({result.monitor, result.mode, result.measure}, {"error", "min", "error"})
  lu.assertAlmostEquals(task:evaluate(opts.model, "val").error, result.best_value, 1e-6)
  lu.assertErrorMsgContains("a sampler is for tasks in time", task.evaluate, task, opts.model,
    "val", {sampler = opts.sampler})

  local other = toy_training.options{data = data}
  local adam = ladies.optim.adam(other.model:parameters(), {lr = 0.02})
  local best, best_value = nil, math.huge
  local number = 0
  for batch in ladies.batches(task.units.train, {task = task, sampler = other.sampler,
    batch_size = 20, epochs = 2}) do
    do
      local step <close> = ladies.step()                                -- luacheck: ignore step
      task:loss_of(other.model:forward(data.features, batch), batch, other.model):backward()
      adam:step()
    end
    number = number + 1
    local value = number == 4 and task:evaluate(other.model, "val").error
    if value and value < best_value then
      best, best_value = toy_training.weights(other.model), value
    end
  end
  lu.assertEquals(toy_training.weights(opts.model), best)
end

--- A decoder of the task's is trained and saved with the model.
function tests.test_decoder()
  local data = toy.new()
  local fields = tables.merged(same_class(data))
  fields.decoder = function() return {scale = ladies.full(3, 1):requires_grad_()} end
  fields.read = function(h, batch, model)
    return (h:rows(batch.from) * h:rows(batch.to) * model.decoder.scale):row_sums()
  end
  fields.score, fields.units = nil, {train = ladies.range(1, 40)}
  local task = ladies.task.new(fields)
  local opts = toy_training.options{task = task, max_batches = 4, data = data}
  ladies.train(opts)
  local scale = opts.model.decoder.scale
  lu.assertNotEquals(scale:to_table()[1], 1)
  lu.assertStrContains(toy_training.weights(opts.model), "decoder.scale " .. scale:hash())
end

--- Where a task of edges has a list of all of them, validation, test and the file of predictions
-- still give `score` the rows of the nodes of its units and no others.
function tests.test_a_task_of_edges_that_lists_all()
  local data, unique, find = toy.new(), ladies.sampling.unique, ladies.sampling.find
  local fields, from, to = tables.merged(same_class(data)), ladies.range(2, 61),
    ladies.range(1, 60) + 100
  local function nodes(units) return unique(from[units] .. to[units]) end
  fields.nodes, fields.all = nodes, ladies.range(1, 60)
  fields.units = {train = ladies.range(1, 30), val = ladies.range(31, 45),
    test = ladies.range(46, 60)}
  function fields.draw(units, _, sample)
    local batch = sample(nodes(units))
    batch.from, batch.to = find(batch.output, from[units]), find(batch.output, to[units])
    return batch
  end
  function fields.score(h, units)
    local own = nodes(units)
    lu.assertEquals(h.n_rows, #own)
    return (h:rows(find(own, from[units])) * h:rows(find(own, to[units]))):row_sums()
  end
  local task = ladies.task.new(fields)
  local folder, told = temporary.path "all edges", nil
  local opts = toy_training.options{task = task, max_batches = 10, data = data, out = folder,
    on_validation = function(found) told = found.predicted end}
  local result = ladies.train(opts)
  local h = ladies.inference.exact(opts.model, data)
  local expected = (h:rows(from) * h:rows(to)):row_sums()
  local saved = ladies.npz.open(folder .. "/predictions.npz"):numbers "predicted"
  lu.assertTrue((ladies.tensor(saved) - expected):abs():max() < 1e-5)
  lu.assertEquals(#told, 60)
  lu.assertAlmostEquals(result.test.error, task:evaluate(opts.model, "test").error, 1e-6)
  lu.assertAlmostEquals(result.best_value, task:evaluate(opts.model, "val").error, 1e-6)
end

--- A configuration that nobody has checked names a task that there is.
function tests.test_no_such_task()
  lu.assertErrorMsgContains('ladies.experiment: task must be one of edge_classification,',
    ladies.experiment.task, {task = "odd"}, toy.new())
end

--- A model without the decoder that the task has is reported.
function tests.test_no_decoder()
  local task = ladies.task.link_prediction(toy.new())
  local model = ladies.nn.gcn{inputs = toy.FEATURES, outputs = task.outputs, layers = 1}
  local h, units = ladies.ones(toy.NODES, task.outputs), task.units.test
  local fails = lu.assertErrorMsgContains
  fails("link prediction: the model has no decoder; task:equip gives it one", task.scored, task, h,
    units, model)
  fails("link prediction: the model must be a table, got nil", task.scored, task, h, units)
  fails("link prediction: the model must be a table, got 3", task.equip, task, 3)
  fails("link prediction: the units must be an Index, got nil", task.scored, task, h, nil, model)
  fails("link prediction: names must be an array of strings, got 3", task.values, task, h, h,
    units, 3)
end

--- Scores that a task does not return are not taken for scores that are no numbers.
function tests.test_nothing_is_returned()
  local data = toy.new()
  local task = same_class(data)
  task.score = function() end
  lu.assertErrorMsgContains("same class: score must return what its metrics take, got nil",
    ladies.train, toy_training.options{task = task, data = data})
end

--- A task of edges needs seeds that are given, and data that are its own.
function tests.test_what_training_refuses()
  local data = toy.new()
  local task = same_class(data)
  local function refused(expected, own)
    own.task = task
    lu.assertErrorMsgContains("ladies.train: " .. expected, ladies.train, toy_training.options(own))
  end
  refused("data is another data set than the task's; leave data out", {data = toy.new()})
  refused("ladies.samplers.clustergcn draws its own seeds, nodes, and the task same class is of "
    .. "edges", {data = data, sampler = ladies.samplers.clustergcn(data.graph.adjacency, {
      layers = 2, parts = 4, clusters = 2, train = data.train, normalize = "sym", seed = 1})})
  refused('monitor: the task same class has no metric "MAE"; it has: error', {data = data,
    monitor = "MAE"})
end

return tests
