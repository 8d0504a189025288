--- Tests the messages with which core refuses calls: each call beside the whole message that it
-- must raise.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"

local index, ones, tensor = ladies.index, ladies.ones, ladies.tensor
local tests = {}

-- A 2 x 3 matrix with two entries.
local A = ladies.matrix{n_rows = 2, n_cols = 3, rows = index{1, 2}, cols = index{3, 1}}

-- Every case is {message, call}; the message lacks the line of the script.
local function refuse(cases)
  for _, case in ipairs(cases) do
    local ok, message = pcall(case[2])
    lu.assertFalse(ok, case[1])
    message = message:gsub("^[^\n]-%.lua:%d+: ", ""):gsub("-nan", "nan")   -- a sign of the machine
    lu.assertEquals(message, case[1])
  end
end

function tests.test_optimizers()
  local function made(make, opts) return function() core[make]({ones(1)}, opts) end end
  local w = ones(3)
  refuse{
    {"optimizer: lr must be 0 or more and finite in float32, got -1", made("sgd", {lr = -1})},
    {"optimizer: lr must be 0 or more and finite in float32, got nan", made("adam", {lr = 0 / 0})},
    {"optimizer: weight_decay must be 0 or more and finite in float32, got -0.5",
      made("adamw", {decoupled_decay = -0.5})},
    {"optimizer: momentum must be in [0, 1), got 1", made("sgd", {momentum = 1})},
    {"optimizer: momentum must be in [0, 1), got -0.1", made("sgd", {momentum = -0.1})},
    {"optimizer: beta1 and beta2 must be in [0, 1), got 1 and 0.999", made("adam", {beta1 = 1})},
    {"optimizer: beta1 and beta2 must be in [0, 1), got 0.9 and 1", made("adam", {beta2 = 1})},
    {"optimizer: beta1 and beta2 must be in [0, 1), got -0.1 and 0.999",
      made("adam", {beta1 = -0.1})},
    {"optimizer: beta1 and beta2 must be in [0, 1), got 0.9 and -0.1",
      made("adam", {beta2 = -0.1})},
    {"optimizer: eps must be positive and finite in float32, got 0", made("adam", {eps = 0})},
    {"optimizer: parameters 2 and 3 are the same tensor", function() core.adam{ones(1), w, w} end},
    {"a tensor of 1 cannot become a parameter of an optimizer while a view of it (a slice, another "
      .. "shape) is in use; keep a clone instead of the view",
      function() core.adam{ones(1), w:slice(2, 2)} end},
    {"the tensor 3 is frozen: others, such as workers or draw_cols, read it; change a :clone()",
      function() core.adam{ones(1), core.freeze(ones(3))} end},
    {"optimizer: parameter 2 was computed in a step", function()
      local _ <close> = ladies.step()
      core.adam{ones(1), ones(1):requires_grad_() * 2}
    end},
    {"clip_norm: the largest norm must be positive, got 0", function()
      core.adam{ones(1)}:clip_norm(0)
    end},
  }
end

--- The edges of what is allowed are allowed.
function tests.test_optimizers_at_the_edge()
  core.sgd({ones(1)}, {lr = 0, weight_decay = 0, momentum = 0})
  core.adam({ones(1)}, {beta1 = 0, beta2 = 0, eps = 1e-30})
end

--- A norm that is not finite is an error, and the gradients stay as they are.
function tests.test_clipping_no_number()
  local w = ones(2)
  local adam = core.adam{w}
  local _ <close> = ladies.step()
  local loss = (w * tensor{math.huge, 1}):sum()
  loss:backward()
  refuse{{"clip_norm: the gradients' norm is inf", function() adam:clip_norm(1) end}}
  lu.assertEquals(w.grad[2], 1.0)
end

function tests.test_losses()
  local classes = ones(2, 3)
  refuse{
    {"cross_entropy: logits of n x classes expected, got 3", function()
      core.cross_entropy(ones(3), index{1, 1, 1})
    end},
    {"cross_entropy: there are no rows", function()
      core.cross_entropy(ones(0, 3), index{})
    end},
    {"cross_entropy: 1 labels for logits of 2 x 3", function()
      core.cross_entropy(classes, index{1})
    end},
    {"cross_entropy: weights of 3 for logits of 2 x 3", function()
      core.cross_entropy(classes, index{1, 1}, ones(3))
    end},
    {"cross_entropy: class weights of 2 for 3 classes", function()
      core.cross_entropy(classes, index{1, 1}, nil, ones(2))
    end},
    {"binary_cross_entropy: logits of 2 x 3 against targets of 3 x 2", function()
      core.binary_cross_entropy(classes, ones(3, 2))
    end},
    {"binary_cross_entropy: weights of 3 for logits of 2 x 3", function()
      core.binary_cross_entropy(classes, classes, ones(3))
    end},
  }
end

function tests.test_shapes()
  refuse{
    {"edge_softmax: scores of 3 for 2 entries", function() A:edge_softmax(ones(3)) end},
    {"add_edges: 3 and 3 for the rows and columns of a 2 x 3 matrix", function()
      A:add_edges(ones(3), ones(3))
    end},
    {"add_edges: 2 x 4 and 3 for the rows and columns of a 2 x 3 matrix", function()
      A:add_edges(ones(2, 4), ones(3))
    end},
    {"matmul_heads: weights of 2 x 2 and 3 x 3 on a 2 x 3 matrix of 2 entries", function()
      A:matmul_heads(ones(2, 2), ones(3, 3))
    end},
    {"matmul_heads: weights of 2 x 0 and 3 x 3 on a 2 x 3 matrix of 2 entries", function()
      A:matmul_heads(ones(2, 0), ones(3, 3))
    end},
    {"matmul_heads: weights of 3 x 2 and 3 x 4 on a 2 x 3 matrix of 2 entries", function()
      A:matmul_heads(ones(3, 2), ones(3, 4))
    end},
    {"dot_edges: 2 x 4 and 3 x 5 on a 2 x 3 matrix", function()
      A:dot_edges(ones(2, 4), ones(3, 5))
    end},
    {"layer_norm: x is 2 x 3, gain 3 and bias 2; vectors as long as a row of x expected", function()
      ones(2, 3):layer_norm(ones(3), ones(2))
    end},
    {"mul_add: the factor must have one element, it is 2", function()
      ones(2, 3):mul_add(ones(2), ones(2, 3))
    end},
    {"mul_add: 2 x 4 does not fit 2 x 3", function() ones(2, 3):mul_add(1, ones(2, 4)) end},
    {"mul_add: 3 does not fit 1 x 3", function() ones(1, 3):mul_add(1, ones(3)) end},
    {"mul_add: 1 rows of 5 x 3 do not fit 2 x 3", function()
      ones(2, 3):mul_add(1, ones(5, 3), index{4})
    end},
    {"mul_add: row 6 at position 2 is out of range 1..5", function()
      ones(2, 3):mul_add(1, ones(5, 3), index{4, 6})
    end},
    {"normalize_rows: a matrix expected, got 3", function() ones(3):normalize_rows() end},
    {"diagonal_values: a square matrix expected, got 2 x 3", function() A:diagonal_values() end},
    {"chung_lu: a graph of 2 nodes has at most 2 entries, got 2147483648", function()
      core.generate.chung_lu(ones(2), index{1, 1}, 2^31, 0.5, ladies.rng(1))
    end},
  }
end

-- A data set with a field of its own, or without one (false).
local function data_with(own)
  local data = {}
  for name, value in pairs(ladies.data.from_arrays{
    graph = ladies.matrix{n_rows = 4, n_cols = 4, rows = index{1, 2, 3, 4},
      cols = index{2, 1, 4, 3}},
    features = ones(4, 2), labels = index{1, 2, 1, 2}, train = index{1, 2}, name = "mine",
  }) do data[name] = value end
  for name, value in pairs(own or {}) do data[name] = value or nil end
  return data
end

function tests.test_training()
  local adjacency = data_with().graph.adjacency
  local model = ladies.nn.gcn{inputs = 2, outputs = 2, layers = 2}
  local function train(own, opts)
    return function()
      local given = {data = data_with(own), model = model,
        sampler = ladies.samplers.full(adjacency, {layers = 2})}
      for key, value in pairs(opts or {}) do given[key] = value end
      ladies.train(given)
    end
  end
  refuse{
    {"ladies.train: the data set has no graph", train{graph = false}},
    {"ladies.train: the data set has no features", train{features = false}},
    {"ladies.train: the data set has no labels", train{labels = false}},
    {'ladies.train: the data set has no train; data:split "10/10/80" makes a split',
      train{train = false}},
    {"ladies.batches: the nodes must be an Index, got nil; a data set without a split has no "
      .. 'train: data:split "10/10/80" makes one', ladies.batches},
    {"ladies.train: resume needs out, the run's folder", train({}, {resume = true})},
    {"ladies.train: the model's forward must be a callable, got nil", train({}, {model = {}})},
    {"ladies.train: the model has no parameters",
      train({}, {model = {forward = print, layer = print, layers = {{}, {}}}})},
    {'ladies.experiment: mine has no nodes for training; data:split "10/10/80" makes a split',
      function()
        ladies.experiment.run(ladies.experiment.configure{layers = 2}, data_with{train = false}, {})
      end},
    {"model:forward: the batch has 3 blocks, the model 2 layers", function()
      local sampler = ladies.samplers.full(adjacency, {layers = 3})
      model:forward(ones(4, 2), sampler(index{1}, ladies.rng(1)))
    end},
    {"ladies.samplers.clustergcn: parts[1] has the node 9, expected ids 1..4", function()
      ladies.samplers.clustergcn(adjacency, {train = index{1}, parts = {index{1, 9}}, layers = 1})
    end},
    {"ladies.samplers.clustergcn: node 2 is in parts[1] and in parts[2]", function()
      ladies.samplers.clustergcn(adjacency, {train = index{1}, parts = {index{1, 2}, index{2}},
        layers = 1})
    end},
  }
end

return tests
