--- The training loop on a small graph: it learns, stops, keeps the best model and writes its files.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local json = require "ladies.base.json"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}

local complaint, options = toy_training.complaint, toy_training.options
local weights = toy_training.weights

-- ---------------------------------------------------------------- learning

function tests.test_it_learns()
  local opts = options{epochs = 30, out = temporary.path "learns"}
  local before = ladies.metrics.f1(opts.model, opts.data, opts.data.test)
  local result = ladies.train(opts)
  local log = toy_training.log(temporary.path "learns")
  lu.assertTrue(before < 0.6, before)
  lu.assertTrue(result.test_f1 > 0.85, result.test_f1)
  lu.assertEquals(result.batches, 90)                -- 60 nodes, 20 a batch, 30 epochs
  lu.assertEquals(result.stopped, "epochs")
  lu.assertTrue(log[#log].loss < 0.6 * log[1].loss)
  -- The model that comes back is the one that was scored.
  lu.assertEquals(ladies.metrics.f1(opts.model, opts.data, opts.data.test), result.test_f1)
  lu.assertEquals(ladies.metrics.f1(opts.model, opts.data, opts.data.val), result.val_f1)
end

--- The loop as README has it gives the same bits as ladies.train.
function tests.test_the_loop_written_out()
  local opts = options{epochs = 4, clip = 0.5, validation = function() return 0 end,
    eval_every = 12}
  ladies.train(opts)
  local data, model = opts.data, options{}.model
  local adam = ladies.optim.adam(model:parameters(), {lr = 0.02})
  for batch in ladies.batches(data.train, {batch_size = 20, sampler = opts.sampler, epochs = 4}) do
    local _ <close> = ladies.step()
    local logits = model:forward(data.features, batch)
    local loss = ladies.loss.cross_entropy(logits, data.labels[batch.output], batch.loss_weight)
    loss:backward()
    adam:clip_norm(0.5)
    adam:step()
  end
  lu.assertEquals(weights(model), weights(opts.model))
end

-- ---------------------------------------------------------------- stopping

-- A validation that gives the values one after the other.
local function scripted(values)
  local calls = 0
  return function()
    calls = calls + 1
    return values[calls]
  end
end

--- A run that ends between two validations is validated once more.
function tests.test_last_validation()
  local result = ladies.train(options{max_batches = 7, validation = scripted{0.3, 0.6}})
  lu.assertEquals({result.best_batch, result.best_value}, {7, 0.6})
end

function tests.test_without_validation_nodes()
  local data = toy.new()
  data.val = nil
  local result = ladies.train(options{data = data, max_batches = 10})
  lu.assertNil(result.val_f1)
  lu.assertEquals(result.batches, 10)
end

-- ---------------------------------------------------------------- options

--- A model that has only `forward` trains with a validation of the user's.
function tests.test_a_model_with_nothing_but_forward()
  local data = toy.new()
  local model = {w = ladies.nn.initialize.glorot_uniform(ladies.zeros(toy.FEATURES, 3),
    ladies.rng(1))}
  model.w:requires_grad_()
  function model.forward(self, features, batch)
    return batch.blocks[2].adj:matmul(batch.blocks[1].adj:matmul(features[batch.input]))
      :matmul(self.w)
  end
  local before = model.w:hash()
  local result = ladies.train(options{data = data, model = model, max_batches = 10,
    validation = function() return 0.5 end})
  lu.assertNil(result.test_f1)
  lu.assertNotEquals(model.w:hash(), before)
  lu.assertErrorMsgContains("the model has no layer(i, h, block) and n_layers", ladies.train,
    options{data = data, model = model, max_batches = 10})
end

function tests.test_schedule_and_optimizer()
  local model = options{}.model
  local opts = options{max_batches = 6, schedule = function(batch) return batch == 6 and 0 or 1 end,
    model = model, optimizer = ladies.optim.sgd(model:parameters(), {lr = 0.5})}
  ladies.train(opts)
  lu.assertEquals(opts.optimizer.lr, 0)
end

function tests.test_loss_nodes_and_after_step()
  local opts, steps, sizes = options{max_batches = 3}, 0, {}
  local plain = opts.sampler
  opts.sampler = function(seeds)
    local batch = plain(seeds)
    batch.loss_nodes = ladies.index{2, 4, 6}
    batch.loss_weight = ladies.full(3, 1 / 3):scatter_add(batch.loss_nodes, #seeds)
    batch.after_step = function(of, model)
      lu.assertTrue(rawequal(of, batch) and rawequal(model, opts.model))
      steps = steps + 1
    end
    return batch
  end
  opts.loss = function(logits, labels, w)
    sizes[#sizes + 1] = {logits.n_rows, #labels, #w}
    return ladies.loss.cross_entropy(logits, labels, w)
  end
  ladies.train(opts)
  lu.assertEquals(steps, 3)
  lu.assertEquals(sizes, {{3, 3, 3}, {3, 3, 3}, {3, 3, 3}})
end

function tests.test_bad_options()
  lu.assertStrContains(complaint{patiense = 3}, 'did you mean "patience"?')
  lu.assertStrContains(complaint{model = {}}, "the model's forward must be a callable, got nil")
  lu.assertStrContains(complaint{model = {n_layers = 0, forward = print}}, "has no parameters")
  lu.assertStrContains(complaint{resume = true}, "resume needs out")
  lu.assertStrContains(complaint{feature_cache = "many"},
    'feature_cache must be a size, as "4G" or "500M", got "many"')
  local data = toy.new()
  data.train = nil
  lu.assertStrContains(complaint{data = data}, "the data set has no train")
  local opts = options{data = toy.new(), feature_cache = "1M",
    model = ladies.nn.mlp{inputs = toy.FEATURES, outputs = 3}}
  opts.data.graph, opts.sampler = nil, nil
  lu.assertErrorMsgContains("feature_cache is of the nodes of most edges, and there is no graph",
    ladies.train, opts)
end

-- Backward for a batch of the options, and no step after it.
local function leave_gradients(opts)
  local batch = opts.sampler(opts.data.train:slice(1, 20), ladies.rng(1))
  local _ <close> = ladies.step()
  opts.model:forward(opts.data.features, batch, false):square():sum():backward()
end

local function check_no_gradients(model)
  for _, parameter in ipairs(model:named_parameters()) do
    lu.assertNil(parameter.tensor.grad, parameter.name)
  end
end

--- Gradients that a loop left between backward and step are no part of the next training.
function tests.test_gradients_of_before()
  local clean = options{max_batches = 2}
  ladies.train(clean)
  for _, own in ipairs{{}, {optimizer = true}} do
    local opts = options{max_batches = 2}
    leave_gradients(opts)
    if own.optimizer then
      opts.optimizer, opts.lr = ladies.optim.adam(opts.model:parameters(), {lr = 0.02}), nil
    end
    lu.assertNotNil(opts.model:named_parameters()[1].tensor.grad)
    ladies.train(opts)
    lu.assertEquals(weights(opts.model), weights(clean.model))
    check_no_gradients(opts.model)
  end
end

--- A training that ends with an error leaves no gradients, not even NaN.
function tests.test_gradients_after_an_error()
  local model = options{}.model
  lu.assertStrContains(complaint{model = model, max_batches = 2, clip = 1, loss = function(logits)
    return (logits * 0):sqrt():sum()
  end}, "batch 1: the norm of the gradients is")
  check_no_gradients(model)
  lu.assertStrContains(complaint{model = model, schedule = function() error "mine" end}, "mine")
  check_no_gradients(model)
end

function tests.test_optimizers_of_other_parameters()
  local model, other = options{}.model, options{}.model
  lu.assertStrContains(complaint{model = model, optimizer = ladies.optim.sgd(other:parameters())},
    "ladies.train: the optimizer has none of the model's parameters")
  local some = model:parameters()
  local frozen = table.remove(some, 2)
  local name = model:named_parameters()[2].name
  lu.assertStrContains(complaint{model = model, optimizer = ladies.optim.sgd(some)},
    ("the optimizer lacks the model's parameter %s; one that is not to be trained is frozen by "
      .. ":requires_grad_(false)"):format(name))
  frozen:requires_grad_(false)
  local before, extra = frozen:hash(), ladies.zeros(2)
  extra:requires_grad_()
  some[#some + 1] = extra
  ladies.train(options{model = model, optimizer = ladies.optim.sgd(some), max_batches = 2})
  lu.assertEquals(frozen:hash(), before)
end

function tests.test_settings_of_an_optimizer_that_is_given()
  for name, value in pairs{lr = 0.001, weight_decay = 0.001, decoupled_decay = 0.001,
    groups = "*:lr=1"} do
    local model = options{}.model
    local own = {model = model, optimizer = ladies.optim.sgd(model:parameters()), [name] = value}
    lu.assertStrContains(complaint(own),
      ("ladies.train: %s is the optimizer's where one is given"):format(name))
  end
end

function tests.test_factors_of_a_schedule()
  for text, factor in pairs{["-1.0"] = -1.0, inf = math.huge, nan = 0 / 0, ["1e+300"] = 1e300,
    ["a string"] = "1"} do
    lu.assertStrContains(complaint{schedule = function(n) return n == 2 and factor or 1 end},
      "ladies.train: schedule must give a factor of 0 or more, and finite in float32 times the "
        .. ("learning rate, got %s for batch 2"):format(text))
  end
end

function tests.test_results_of_a_loss()
  local function refused(expected, loss)
    lu.assertStrContains(complaint{loss = loss},
      "ladies.train: the loss function's result for batch 1 " .. expected)
  end
  refused("must be a Tensor, got 1", function() return 1 end)
  refused("must be a Tensor, got nil", function() end)
  refused("must have one element, it is 20 x 3", function(logits) return logits end)
  refused("depends on no parameter", function(logits) return logits:detach():sum() end)
  refused("was not computed in the open step", function() return ladies.tensor{1} end)
end

function tests.test_predictions_of_validate()
  local function validated(predicted)
    return {max_batches = 1, validation = function() return 0.5, predicted end}
  end
  local where = "ladies.train: validation: "
  lu.assertStrContains(complaint(validated(7)), where .. "the predictions must be an Index, got 7")
  lu.assertStrContains(complaint(validated(ladies.range(1, 3))),
    ("%spredictions of 3 for labels of %d"):format(where, toy.NODES))
  ladies.train(options(validated(toy.new().labels)))
end

-- ---------------------------------------------------------------- what is not finite

-- Trains with a folder; returns the error, the summary, and the numbers of batches and validations
-- in the log.
local function trouble(name, own)
  own.out = temporary.path(name)
  own.checkpoint_every = own.checkpoint_every or 0
  local opts = options(own)
  local ok, message = pcall(ladies.train, opts)
  lu.assertFalse(ok)
  ladies.step():close()                                  -- the step of the failure is closed
  local summary = json.decode(ladies.file.read(own.out .. "/summary.json"))
  lu.assertEquals(summary.stopped, "not finite")
  lu.assertStrContains(message, summary.trouble)
  lu.assertNil(message:match "\n")
  local batches, validations = toy_training.log(own.out)
  return message, summary, {#batches, #validations}, opts
end

-- Makes a loss function that multiplies the loss by `value` from batch n on.
local function loss_of(value, n)
  local calls = 0
  return function(logits, ...)
    calls = calls + 1
    local loss = ladies.loss.cross_entropy(logits, ...)
    return calls < n and loss or loss * value
  end
end

function tests.test_a_loss_that_is_not_finite()
  for value, text in pairs{[math.huge] = "inf", [-math.huge] = "-inf"} do
    local message, summary, log, opts = trouble("loss " .. text, {loss = loss_of(value, 13)})
    lu.assertStrContains(message, ("ladies.train: batch 13: the loss is %s; a smaller learning "
      .. "rate, or clip, may help; the best model, after batch "):format(text))
    lu.assertEquals({summary.batches, log}, {12, {12, 2}})
    -- The best model is kept, in the folder and in the model, and so is the checkpoint.
    local model = ladies.load_model(opts.out)
    lu.assertEquals(weights(model), weights(opts.model))
    lu.assertEquals(ladies.metrics.f1(model, opts.data, opts.data.val), summary.val_f1)
    lu.assertEquals(ladies.npz.open(opts.out .. "/checkpoint.npz"):numbers "counter.number", 12)
  end
  lu.assertStrContains(trouble("loss nan", {loss = loss_of(0 / 0, 2)}), "batch 2: the loss is nan; "
    .. "a smaller learning rate, or clip, may help; there was no good model to keep")
  lu.assertFalse(core.exists(temporary.path "loss nan/model.npz"))
end

--- The message on a loss that is not finite blames the learning rate only after the first step, of
-- one mini-batch or several.
function tests.test_a_first_loss_that_is_not_finite()
  local start = "no parameter had changed before, so it is in the loss, in what the model computes "
    .. "or in its first weights; there was no good model to keep"
  lu.assertStrContains(trouble("first", {loss = loss_of(0 / 0, 1)}),
    "batch 1: the loss is nan; " .. start)
  lu.assertStrContains(trouble("first norm", {clip = 1, loss = function(logits, ...)
    return ladies.loss.cross_entropy(logits, ...) + (logits * 0):sqrt():sum()
  end}), "batch 1: the norm of the gradients is nan; " .. start)
  lu.assertStrContains(trouble("first step", {loss = loss_of(0 / 0, 3), accumulate = 3}),
    "batch 3: the loss is nan; " .. start)
  lu.assertStrContains(trouble("later step", {loss = loss_of(0 / 0, 4), accumulate = 3}),
    "batch 4: the loss is nan; a smaller learning rate, or clip, may help; ")
end

function tests.test_a_validation_that_is_not_finite()
  for _, value in ipairs{0 / 0, math.huge, -math.huge} do
    local name = "validation " .. value
    local message, summary, log, opts = trouble(name, {validation = scripted{0.3, 0.5, value, 0.9}})
    lu.assertStrMatches(message, ".*ladies.train: batch 15: the validation score is %-?%a+; .*; "
      .. "the best model, after batch 10, is kept")
    lu.assertEquals({summary.best_value, summary.best_batch, log}, {0.5, 10, {15, 2}})
    lu.assertEquals(weights(ladies.load_model(opts.out)), weights(opts.model))
  end
  for text, value in pairs{string = "0.5", boolean = true} do
    lu.assertErrorMsgContains("validation must return a number or a table of numbers, got a "
      .. text, ladies.train, options{validation = function() return value end})
  end
  lu.assertErrorMsgContains("validation must return a number or a table of numbers, got a nil",
    ladies.train, options{validation = function() end})
end

--- Gradients that are not finite are found where they are clipped, parameters at every validation
-- and at the end.
function tests.test_gradients_and_parameters_that_are_not_finite()
  local function spoilt(n, what)
    local calls, plain = 0, toy.neighbourhoods(toy.new().graph:normalize "sym", 2)
    return setmetatable({adaptive = true}, {__call = function(_, seeds)
      calls = calls + 1
      local batch = plain(seeds)
      batch.after_step = calls == n and function(_, model)
        model.layers[1].conv.bias:fill_(what)
      end or nil
      return batch
    end})
  end
  local message, summary = trouble("parameter", {sampler = spoilt(10, math.huge)})
  lu.assertStrContains(message, "batch 10: the parameter layers.1.conv.bias has inf; ")
  lu.assertEquals(summary.best_batch, 5)
  local data = toy.new()
  data.val = nil
  lu.assertStrContains(trouble("at the end", {data = data, sampler = spoilt(7, 0 / 0),
    max_batches = 7}), "batch 7: the parameter layers.1.conv.bias has nan; a smaller learning rate,"
    .. " or clip, may help; there was no good model to keep")
  lu.assertFalse(core.exists(temporary.path "at the end/model.npz"))
  -- Finite itself, without finite gradients: sqrt at 0.
  local calls = 0
  message, summary = trouble("gradient", {clip = 1, loss = function(logits, ...)
    calls = calls + 1
    local loss = ladies.loss.cross_entropy(logits, ...)
    return calls < 8 and loss or loss + (logits * 0):sqrt():sum()
  end})
  lu.assertStrMatches(message, ".*batch 8: the norm of the gradients is %a+; .*after batch 5, is.*")
  lu.assertEquals(summary.batches, 7)
end

--- A learning rate that leaves infinities behind ends the run without a model, without an F1 and
-- with status 1.
function tests.test_a_learning_rate_beyond_all_bounds()
  local message = trouble("rate", {lr = 1e38, max_batches = 1})
  lu.assertStrContains(message, "batch 1: ")
  lu.assertStrContains(message, "there was no good model to keep")
  lu.assertFalse(core.exists(temporary.path "rate/model.npz"))
  local model = options{}.model
  model.layers[2].conv.bias:fill_(0 / 0)
  local data = toy.new()
  lu.assertErrorMsgContains("ladies.metrics.f1: the model's logits have", ladies.metrics.f1, model,
    data, data.test)
end

-- ---------------------------------------------------------------- files

function tests.test_files_of_a_run()
  local folder = temporary.path "files/deep"
  local opts = options{max_batches = 20, out = folder, method = "toy"}
  function opts.count_memory(input, hidden) return input + 1000 * hidden end
  local result = ladies.train(opts)

  local batches, validations = toy_training.log(folder)
  lu.assertEquals({#batches, #validations}, {20, 4})
  local third = batches[3]
  lu.assertEquals({third.batch, third.epoch}, {3, 1})
  lu.assertEquals({#third.nodes, #third.edges}, {3, 2})
  lu.assertEquals(third.nodes[3], 20)
  for _, key in ipairs{"loss", "sampling_ms", "waiting_ms", "gathering_ms", "computing_ms",
    "bytes"} do
    lu.assertTrue(third[key] > 0, key)
  end

  local summary = json.read_object(folder .. "/summary.json")
  lu.assertEquals(summary.batches, 20)
  lu.assertEquals(summary.test_f1, result.test_f1)
  lu.assertEquals(summary.method, "toy")
  lu.assertEquals(summary.memory_paper, summary.input_rows + 1000 * summary.hidden_rows)
  for _, key in ipairs{"seconds", "batch_ms", "memory_batch", "memory_peak"} do
    lu.assertTrue(summary[key] > 0, key)
  end
  local text = tostring(result)
  lu.assertStrContains(text, "test micro-F1")
  lu.assertStrContains(text, "memory MB    as the paper counts it")
  lu.assertStrMatches(text, "method +test micro%-F1 +total s +memory MB +batch ms +batches\n.*")
  -- A run whose memory is not counted as the paper does, since its model is no GCN, has no such
  -- column.
  local plain = tostring(ladies.train(options{max_batches = 2, method = "toy"}))
  lu.assertStrMatches(plain, "method +test micro%-F1 +total s +batch ms +batches\n"
    .. "toy +%d+%.%d%d %% +[%d.]+ +[%d.]+ +2\n\n.*")
  lu.assertNil(plain:find("memory MB", 1, true))
  lu.assertStrMatches(plain, ".*\n  inference    exact[^\n]*\n.*")
  lu.assertNil(plain:find("up to 0 B", 1, true))
  lu.assertStrContains(text, ("%.2f %%"):format(100 * result.test_f1))

  local predictions = ladies.npz.open(folder .. "/predictions.npz")
  local predicted, labels = predictions:numbers "predicted", predictions:numbers "labels"
  local split, correct, n = predictions:numbers "split", 0, 0
  for i = 1, toy.NODES do
    if split[i] == 2 then                              -- 0 train, 1 val, 2 test
      n = n + 1
      if predicted[i] == labels[i] then correct = correct + 1 end
    end
  end
  lu.assertEquals(correct / n, result.test_f1)
end

--- Frozen parameters are in every file and as they were; a model that is made anew has nothing
-- frozen.
function tests.test_frozen_parameters()
  local folder = temporary.path "frozen"
  local opts = options{max_batches = 10, out = folder}
  local frozen = opts.model.layers[1].conv
  for _, name in ipairs{"weight", "bias"} do frozen[name]:requires_grad_(false) end
  local before, size = frozen.weight:hash(), ladies.nn.size(opts.model)
  local result = ladies.train(opts)
  lu.assertEquals(frozen.weight:hash(), before)
  lu.assertEquals(#opts.model:parameters(), 2)
  local trained = 16 * 3 + 3
  lu.assertEquals(result.memory_parameters, 4 * (4 * trained + size - trained))
  local file = ladies.npz.open(folder .. "/checkpoint.npz")
  for _, kind in ipairs{"parameter.", "best."} do
    lu.assertTrue(file:has(kind .. "layers.1.conv.weight"), kind)
  end
  local model = ladies.load_model(folder)
  lu.assertEquals(weights(model), weights(opts.model))
  lu.assertEquals(#model:parameters(), 4)
  lu.assertEquals(ladies.metrics.f1(model, opts.data, opts.data.test), result.test_f1)
  for _, each in ipairs(model:named_parameters()) do each.tensor:requires_grad_(false):fill_(0) end
  lu.assertEquals(weights(ladies.load_model(folder, model)), weights(opts.model))
  lu.assertEquals(#model:parameters(), 0)              -- what is frozen stays so
  lu.assertErrorMsgContains("no parameters that require a gradient: all are frozen", ladies.train,
    options{model = model})
end

--- A run with frozen parameters goes on as it would have; one that forgot to freeze them does not.
function tests.test_resumed_with_frozen_parameters()
  local function run(folder, batches, resume, thawed)
    local opts = options{max_batches = batches, out = temporary.path(folder), resume = resume}
    opts.model.layers[1].conv.weight:requires_grad_(thawed or false)
    ladies.train(opts)
    return weights(opts.model)
  end
  run("frozen_parts", 7)
  lu.assertErrorMsgContains("load_state: ", run, "frozen_parts", 12, true, true)
  lu.assertEquals(run("frozen_parts", 12, true), run("frozen_whole", 12))
end

--- A frozen parameter that workers share cannot change, and need not.
function tests.test_frozen_parameter_in_workers()
  local opts = options{max_batches = 10, workers = 1}
  local shared = ladies.ones(3):requires_grad_(false)
  local sampler = opts.sampler
  opts.model.shared = shared
  opts.sampler = function(nodes, rng)
    return shared.n_rows == 3 and sampler(nodes, rng)
  end
  ladies.train(opts)
  lu.assertErrorMsgContains("is frozen", shared.fill_, shared, 2)
  local path = temporary.path "shared.npz"
  ladies.save_model(opts.model, path)
  lu.assertEquals(ladies.load_model(path, opts.model).shared:to_table(), {1, 1, 1})
end

--- The log costs little: under 0.1 ms a line.
function tests.test_cost_of_the_log()
  local log = require("ladies.training.record.log").open(temporary.path "cost.jsonl")
  local block = {adj = ladies.sparse(ladies.ones(512, 8))}
  local batch = {blocks = {block, block, block, block, block}, epoch = 1,
    input = ladies.range(1, 512)}
  local timer = {sampling = 0.001, waiting = 0.001, gathering = 0.0001, computing = 0.01}
  local began = os.clock()
  for i = 1, 1000 do log:batch(batch, i, 3.14159, timer, 123456789) end
  lu.assertTrue(os.clock() - began < 0.1 * 5)      -- with room for a slow machine
  log:close()
end

return tests
