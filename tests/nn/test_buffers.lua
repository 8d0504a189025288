--- Tests buffers, the tensors of a model that are no parameters: however a model keeps them, they
-- are in files, in the best model and in checkpoints. A note names an adaptive sampler that does
-- not say what it learns.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local stderr_of = require "tools.stderr_of"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local nn = ladies.nn
local tests = {}

-- Ways in which a model may keep a running mean: in place, as a new tensor each time, made at the
-- first use.
local KEPT = {
  in_place = function(norm, mean)
    norm.mean:copy_(norm.mean * 0.7 + mean * 0.3)
  end,
  replaced = function(norm, mean)
    norm.mean = (norm.mean * 0.7 + mean * 0.3):clone()
  end,
  made_late = function(norm, mean)
    norm.late = norm.late and norm.late * 0.7 + mean * 0.3 or mean:clone()
    norm.mean = nil
  end,
}

-- A layer that subtracts a running mean of the rows.
local Model = {n_layers = 1, normalize = "sym"}
Model.__index = Model

function Model:layer(_, h, block, rng)
  local norm = self.norms[1]
  local near = block.adj:matmul(h)
  if rng then
    core.no_grad(KEPT[self.kind], norm, (near:detach():col_sums() / near.n_rows):detach():clone())
  end
  local mean = norm.mean or norm.late
  return (mean and near - mean or near):linear(self.weight, self.bias)
end

function Model:forward(features, batch, rng)
  if rng == nil then rng = batch.rng end
  return self:layer(1, features:rows(batch.input), batch.blocks[1], rng)
end

local function new_model(kind)
  return setmetatable({
    kind = kind,
    weight = ladies.zeros(toy.FEATURES, 3):normal_(0.3, ladies.rng(4)):requires_grad_(),
    bias = ladies.zeros(3):requires_grad_(),
    norms = {{mean = kind ~= "made_late" and ladies.zeros(toy.FEATURES) or nil}},
  }, Model)
end

local function mean_of(model)
  local norm = model.norms[1]
  return norm.mean or norm.late
end

local function train(data, model, own)
  return ladies.train(tables.merged({
    data = data, model = model, sampler = toy.neighbourhoods(data.graph:normalize "sym", 1),
    batch_size = 20, lr = 0.05, eval_every = 3, patience = 0, quiet = true, max_batches = 25,
  }, own))
end

--- The model that is left behind is the best one, as it was when it was validated.
function tests.test_best_model()
  for kind in pairs(KEPT) do
    local data, model = toy.new(), new_model(kind)
    local best, seen = nil, nil
    local result = train(data, model, {lr = 0.3, on_validation = function(at)
      if at.is_best then best, seen = mean_of(at.model):to_table(), at.batch end
    end})
    lu.assertTrue(seen < 25, kind)
    lu.assertEquals(result.best_batch, seen)
    lu.assertEquals(mean_of(model):to_table(), best, kind)
    lu.assertEquals(ladies.metrics.f1(model, data, data.val), result.best_value, kind)
  end
end

--- Files have the buffers, and put them into a model that has not made them yet.
function tests.test_files()
  for kind in pairs(KEPT) do
    local data, model = toy.new(), new_model(kind)
    local out = temporary.path("files_" .. kind)
    local result = train(data, model, {out = out})
    lu.assertEquals(#nn.buffers(model):list(), 1)
    local paths = {out .. "/model.npz"}
    for _, ending in ipairs{".npz", ".safetensors"} do
      paths[#paths + 1] = temporary.path("model_" .. kind .. ending)
      ladies.save_model(model, paths[#paths])
    end
    for _, path in ipairs(paths) do
      local again = ladies.load_model(path, new_model(kind))
      lu.assertEquals(mean_of(again):to_table(), mean_of(model):to_table(), path)
      lu.assertEquals(ladies.metrics.f1(again, data, data.test), result.test_f1, path)
    end
    local run = ladies.saved_run(out, {data = data, model = new_model(kind)})
    lu.assertEquals(run:logits(run:units "all"):hash(),
      ladies.inference.exact(model, data):hash(), kind)
  end
end

--- A run that is taken up again ends with the bits of one that was not.
function tests.test_resumed()
  for kind in pairs(KEPT) do
    local data, whole = toy.new(), new_model(kind)
    local opts = {checkpoint_every = 0}
    opts.out = temporary.path("whole_" .. kind)
    train(data, whole, opts)
    opts.out = temporary.path("parts_" .. kind)
    opts.max_batches = 13
    train(data, new_model(kind), opts)
    opts.max_batches, opts.resume = 25, true
    local rest = new_model(kind)
    train(data, rest, opts)
    lu.assertEquals(mean_of(rest):to_table(), mean_of(whole):to_table(), kind)
    lu.assertEquals(rest.weight:to_table(), whole.weight:to_table(), kind)
    local files = {}
    for i, name in ipairs{"whole_", "parts_"} do
      files[i] = ladies.file.read(temporary.path(name .. kind) .. "/model.npz")
    end
    lu.assertTrue(files[1] == files[2], kind)
  end
end

--- Buffers are neither the data that a model holds, nor tensors of steps, nor parameters.
function tests.test_what_is_none()
  local data, model = toy.new(), new_model "in_place"
  model.data, model.x, model.graph = data, data.features, data.graph
  do
    local _ <close> = ladies.step()
    model.last = model.weight * 2
  end
  local names = tables.map(nn.buffers(model, {data}):list(), function(one) return one.name end)
  lu.assertEquals(names, {"norms.1.mean"})
  local endless = setmetatable({data}, {__index = function() return data end})
  lu.assertEquals(#nn.buffers(model, endless):list(), 1)
  lu.assertErrorMsgContains("the model has no place", function()
    local path = temporary.path "other.npz"
    ladies.save_model(setmetatable({weight = model.weight, bias = model.bias,
      deep = {mean = ladies.ones(2)}}, Model), path)
    ladies.load_model(path, new_model "in_place")
  end)
end

--- A note says once that a sampler learns something that no checkpoint has, wherever it keeps it.
function tests.test_adaptive_samplers()
  local data = toy.new()
  local draw = toy.neighbourhoods(data.graph:normalize "sym", 1)
  local function sampler(learn, fields)
    fields.adaptive, fields.name = fields.adaptive == nil, "own"
    return setmetatable(fields, {__call = function(self, seeds, rng)
      local batch = draw(seeds, rng)
      function batch.after_step() learn(self) end
      return batch
    end})
  end
  local hidden, count, norms = ladies.ones(4), 0, ladies.ones(4)
  local kept = {count = 0}
  function kept:state() return {self.count} end
  function kept:load_state(state) self.count = state[1] end
  local cases = {
    tensor = {true, sampler(function() hidden:mul_at_(ladies.index{1}, 2) end, {})},
    number = {true, sampler(function() count = count + 1 end, {})},
    field = {true, sampler(function(self) self.seen = self.seen + 1 end, {seen = 0})},
    state = {false, sampler(function() norms:mul_at_(ladies.index{1}, 2) end,
      {state = {{name = "norms", tensor = norms}}})},
    object = {false, sampler(function() kept.count = kept.count + 1 end, {}), {kept}},
    nothing = {false, sampler(function() end, {})},
    -- Mini-batches with after_step are those of a sampler that learns, whatever it says.
    after_step = {true, sampler(function() count = count + 1 end, {adaptive = false})},
  }
  for name, case in pairs(cases) do
    local text = stderr_of(function()
      train(data, new_model "in_place", {sampler = case[2], state = case[3], checkpoint_every = 0,
        out = temporary.path("adaptive_" .. name)})
    end)
    local _, lines = text:gsub("the sampler has changed what checkpoints do not hold", "")
    lu.assertEquals(lines, case[1] and 1 or 0, name .. ": " .. text)
  end
end

--- A sampler's state is an array of named tensors, no function as that of other objects is, and its
-- parameters are Tensors that can be trained.
function tests.test_what_a_sampler_keeps_is_checked()
  local one = {name = "m", tensor = ladies.ones(3)}
  for expected, fields in pairs{
    ["state must be a table, got a function"] = {state = function() end},
    ["state must be an array of {name =, tensor =}, got a table with the field m"] =
      {state = {m = ladies.ones(3)}},
    ["state[1].name must be a string, got nil"] = {state = {{tensor = ladies.ones(3)}}},
    ["state[2].tensor must be a Tensor, got nil"] = {state = {one, {name = "n"}}},
    ['state[2].name is "m", which the sampler\'s state[1] has already'] = {state = {one, one}},
    ["parameters must be a table, got 3"] = {parameters = 3},
    ["parameters holds no Tensor that requires a gradient"] = {parameters = {a = ladies.ones(3)}},
  } do
    lu.assertErrorMsgContains("ladies.train: the sampler's " .. expected, train, toy.new(),
      new_model "in_place", {sampler = setmetatable(fields, {__call = function() end})})
  end
end

--- A note says once that a model changes a number of its own, which is in no tensor.
function tests.test_numbers_of_a_model()
  local data = toy.new()
  for n, counts in ipairs{false, true} do
    local model = new_model "in_place"
    model.norms[1].seen = 0
    local text = stderr_of(function()
      train(data, model, {checkpoint_every = 0, out = temporary.path("numbers" .. n),
        on_batch = function()
          if counts then model.norms[1].seen = model.norms[1].seen + 1 end
        end})
    end)
    local _, lines = text:gsub("the model has changed numbers of its own", "")
    lu.assertEquals(lines, counts and 1 or 0, text)
  end
end

--- A table that declares its buffers has those alone; files, copies and checkpoints go by the name,
-- whatever tensor is there.
function tests.test_declared()
  local function new()
    local layer = {table_of_constants = ladies.ones(3), weight = ladies.ones(2):requires_grad_()}
    lu.assertEquals(nn.buffer(layer, "mean", ladies.zeros(2)):to_table(), {0, 0})
    return {layer = layer, plain = {cache = ladies.ones(1)}}
  end
  local model = new()
  model.layer.mean = ladies.tensor{3, 4}                   -- another tensor in its place
  local names = tables.map(nn.buffers(model):list(), function(one) return one.name end)
  lu.assertEquals(names, {"layer.mean", "plain.cache"})
  for _, ending in ipairs{".npz", ".safetensors"} do
    local path, again = temporary.path("declared" .. ending), new()
    ladies.save_model(model, path)
    ladies.load_model(path, again)
    lu.assertEquals(again.layer.mean:to_table(), {3, 4})
    lu.assertEquals(again.layer.table_of_constants:to_table(), {1, 1, 1})
  end
  local fails = lu.assertErrorMsgContains
  fails("weight is a parameter", nn.buffer, model.layer, "weight", model.layer.weight)
  fails("the tensor must be a Tensor", nn.buffer, model.layer, "mean", 3)
  local _ <close> = ladies.step()
  fails("mean was computed in a step", nn.buffer, model.layer, "mean", model.layer.weight * 2)
end

return tests
