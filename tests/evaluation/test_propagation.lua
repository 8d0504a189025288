--- Tests that training and inference have one P: an equal P is accepted, another one is refused in
-- one line, and a note says where this cannot be known.
local lu = require "luaunit"
local ladies = require "ladies"
local stderr_of = require "tools.stderr_of"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local fails = lu.assertErrorMsgContains

local tests = {}

local data = toy.new()
local graph = data.graph
local sym, row = graph:normalize "sym", graph:normalize "row"

local function model_for(own)
  return ladies.nn.gcn(tables.merged({inputs = toy.FEATURES, hidden = 8, outputs = 3,
    layers = 2}, own))
end

local function train(sampler, own)
  local opts = tables.merged({data = data, model = model_for(), sampler = sampler, max_batches = 4,
    batch_size = 20, eval_every = 2, quiet = true}, own)
  return ladies.train(opts), opts.model
end

-- README's loop, short.
local function loop(model, sampler)
  local adam = ladies.optim.adam(model:parameters(), {lr = 1e-3})
  for batch in ladies.batches(data.train, {sampler = sampler, batch_size = 20}) do
    local _ <close> = ladies.step()
    ladies.loss.cross_entropy(model:forward(data.features, batch), data.labels[batch.output],
      batch.loss_weight):backward()
    adam:step()
    if batch.after_step then batch:after_step(model) end
  end
end

-- The samplers that ship, over a P of the graph, and a user's own.
local function samplers(kind)
  local P = graph:normalize(kind)
  return {
    ladies = ladies.samplers.ladies(P, {samples = {16, 16}}),
    flat = ladies.samplers.ladies(P, {samples = {16, 16}, flat = true, self_nodes = "previous"}),
    fastgcn = ladies.samplers.fastgcn(P, {samples = {60, 60}}),
    graphsage = ladies.samplers.graphsage(P, {samples = {2, 2}}),
    full = ladies.samplers.full(P, {layers = 2}),
    vrgcn = ladies.samplers.vrgcn(P, {layers = 2, hidden = 8}),
    vrgcn_of_features = ladies.samplers.vrgcn(P, {layers = 2, hidden = 8,
      features = data.features}),
    clustergcn = ladies.samplers.clustergcn(graph.adjacency, {layers = 2, train = data.train,
      parts = 12, partition = "random", normalize = kind}),
    own = toy.neighbourhoods(P, 2),
  }
end

function tests.test_every_sampler_tells_its_P()
  for name, sampler in pairs(samplers "sym") do
    local said = stderr_of(function() train(sampler, {quiet = false}) end)
    lu.assertNil(said:match "cannot be checked", name)
  end
  for _, sampler in pairs(samplers "row") do
    for workers = 0, 1 do
      lu.assertErrorMsgMatches('.*ladies.train: .* draws from normalize = "row", and exact '
        .. 'inference would use normalize = "sym"; make the model with normalize = "row", or .*',
        train, sampler, {workers = workers})
    end
    train(sampler, {model = model_for{normalize = "row"}})
  end
end

--- A model remembers the P that it was trained with in a loop of one's own, too.
function tests.test_the_loop_written_out()
  for _, sampler in pairs(samplers "row") do
    local model = model_for()
    loop(model, sampler)
    for _, use in ipairs{
      function(opts) return ladies.metrics.f1(model, data, data.test, opts) end,
      function(opts) return ladies.metrics.predictions(model, data, opts) end,
      function(opts) return ladies.inference.exact(model, data, opts) end,
    } do
      lu.assertErrorMsgContains('the model was trained with normalize = "row", and would be '
        .. 'used with normalize = "sym"; make the model with normalize = "row", or', use)
      use{P = sym}                                       -- what is asked for is done
    end
    lu.assertEquals(ladies.inference.exact(model, data, {P = row}):hash(),
      ladies.inference.exact(model, row, {features = data.features}):hash())
    model = model_for{normalize = "row"}
    loop(model, sampler)
    ladies.metrics.f1(model, data, data.test)
  end
end

function tests.test_an_equal_P_is_the_same()
  local again = graph.adjacency:normalize "sym"
  train(toy.neighbourhoods(again, 2))
  local lambda = sym:add_diag(sym:diagonal_values() * 0.5)
  fails('exact inference would use normalize = "sym"', train, toy.neighbourhoods(lambda, 2))
  train(toy.neighbourhoods(lambda, 2), {model = model_for{lambda = 0.5}})
end

--- A sampler whose P differs for some layers alone, or from some batch on, is refused.
function tests.test_every_block_of_every_batch_is_looked_at()
  local calls = 0
  local one, other = toy.neighbourhoods(sym, 2), toy.neighbourhoods(row, 2)
  fails('draws from normalize = "row"', train, setmetatable({adaptive = true, name = "bandit"},
    {__call = function(_, seeds)
      calls = calls + 1
      return (calls <= 2 and one or other)(seeds)
    end}))
  lu.assertEquals(calls, 3)
  fails('draws from normalize = "row"', train, function(seeds)
    local batch = one(seeds)
    batch.blocks[1].adj = row:slice(batch.blocks[1].dst)
    return batch
  end)
end

-- ---------------------------------------------------------------- what cannot be known

-- A sampler whose blocks are matrices of its own making; `say` goes into each mini-batch.
local function opaque(P, say)
  local inner = toy.neighbourhoods(P, 2)
  return function(seeds)
    local batch = inner(seeds)
    for _, block in ipairs(batch.blocks) do block.adj = ladies.sparse(block.adj:to_dense()) end
    batch.P = say
    return batch
  end
end

function tests.test_unknown()
  local said = stderr_of(function() train(opaque(sym), {quiet = false}) end)
  local _, times = said:gsub("are no slices of a P over all nodes, so that it is the P of exact "
    .. 'inference, normalize = "sym", cannot be checked', "")
  lu.assertEquals(times, 1)
  lu.assertEquals(stderr_of(function() train(opaque(sym)) end), "")
end

function tests.test_stated()
  local function table_of(P, say)
    return setmetatable({P = say, inner = opaque(P)},
      {__call = function(self, seeds) return self.inner(seeds) end})
  end
  for _, P in ipairs{row, {normalize = "row"}} do
    for _, sampler in ipairs{opaque(row, P), table_of(row, P)} do
      local said = stderr_of(function()
        train(sampler, {quiet = false, model = model_for{normalize = "row"}})
      end)
      lu.assertNil(said:match "cannot be checked")
      fails('draws from normalize = "row"', train, sampler)
      fails('draws from normalize = "row"', train, sampler, {workers = 1})
    end
  end
  fails('normalise', train, opaque(row, {normalise = "row"}))
  fails("P must be a Matrix or a table", train, opaque(row, "row"))
end

--- A P given to ladies.train is that of validation and test, whatever the sampler draws from.
function tests.test_a_P_for_validation_alone()
  local result, model = train(toy.neighbourhoods(row, 2), {P = sym})
  lu.assertEquals(result.test_f1, ladies.metrics.f1(model, data, data.test, {P = sym}))
  fails("the model was trained with", ladies.metrics.f1, model, data, data.test)
end

--- A model that was trained with a given P states it from then on, and so do its files.
function tests.test_a_P_given_to_train_is_the_models()
  local made = graph.adjacency:normalize("row", {self_loops = false})
  for _, P in ipairs{row, made} do
    local folder = temporary.path("stated" .. P:hash())
    local result, model = train(toy.neighbourhoods(P, 2), {P = P, out = folder})
    lu.assertEquals(ladies.metrics.f1(model, data, data.test), result.test_f1)
    local path = temporary.path "stated.npz"
    ladies.save_model(model, path)
    for _, file in ipairs{folder, path} do
      local loaded = ladies.load_model(file, P == made and made or nil)
      lu.assertEquals(ladies.metrics.f1(loaded, data, data.test), result.test_f1)
      lu.assertEquals(tostring(loaded), tostring(model))
      fails("the model in", ladies.load_model, file, sym)
    end
    lu.assertEquals(ladies.load_model(path).normalize, P == row and "row" or nil)
    train(toy.neighbourhoods(P, 2), {model = model})
  end
  fails("which is not in its file; give it", ladies.metrics.f1,
    ladies.load_model(temporary.path "stated.npz"), data, data.test)
end

--- Another graph's P cannot be compared.
function tests.test_another_graph()
  local model = model_for()
  loop(model, toy.neighbourhoods(sym, 2))
  local part = ladies.graph.new(graph.adjacency:induced(ladies.range(1, 50)))
  local features = data.features:rows(ladies.range(1, 50))
  lu.assertEquals(ladies.inference.exact(model, part, {features = features}):hash(),
    ladies.inference.exact(model, part:normalize "sym", {features = features}):hash())
end

function tests.test_sampled_inference()
  local _, model = train(toy.neighbourhoods(sym, 2))
  for _, sampler in pairs(samplers "row") do
    lu.assertErrorMsgContains('draws from normalize = "row"', ladies.inference.sampled, model, data,
      data.test, {sampler = sampler})
  end
  ladies.inference.sampled(model, data, data.test, {sampler = samplers "sym".ladies})
end

-- ---------------------------------------------------------------- a P of one's own

local own = ladies.sparse(sym:to_dense():matmul(sym:to_dense()))

function tests.test_any_matrix()
  local _, model = train(toy.neighbourhoods(own, 2), {model = model_for{P = own}})
  lu.assertEquals(ladies.inference.exact(model, data):hash(),
    ladies.inference.exact(model, own, {features = data.features}):hash())
  lu.assertStrContains(tostring(model), "P = of hash " .. own:hash())
  fails("and exact inference would use a Matrix 180 x 180", train, toy.neighbourhoods(sym, 2),
    {model = model_for{P = own}})
  fails("make the model with P = P, or", train, toy.neighbourhoods(own, 2))
  fails("P takes the place of normalize and lambda", model_for, {P = own, normalize = "row"})
end

function tests.test_files()
  local _, model = train(toy.neighbourhoods(own, 2), {model = model_for{P = own}})
  local logits = ladies.inference.exact(model, data):hash()
  local path = temporary.path "model.npz"
  ladies.save_model(model, path)
  local loaded = ladies.load_model(path, own)
  lu.assertEquals(ladies.inference.exact(loaded, data):hash(), logits)
  lu.assertEquals(loaded.config, model.config)
  fails(("the model in %s is for a P of hash %s, not a P of hash %s"):format(path, own:hash(),
    sym:hash()), ladies.load_model, path, sym)
  fails("is for a P of hash", ladies.load_model, path, model_for())
  local without = ladies.load_model(path)
  fails("the model is for a P of its own, of hash " .. own:hash() .. ", which is not in its file; "
    .. "give it: ladies.load_model(path, P)", ladies.inference.exact, without, data)
  lu.assertEquals(ladies.inference.exact(without, data, {P = own}):hash(), logits)

  ladies.save_model(model_for{normalize = "row", lambda = 0.5}, path)
  lu.assertEquals(ladies.load_model(path).lambda, 0.5)
  fails('is for normalize = "row", lambda = 0.5, not normalize = "row"', ladies.load_model, path,
    model_for{normalize = "row"})
  fails('is for normalize = "row", lambda = 0.5, not a P of hash', ladies.load_model, path, own)
end

--- A field that is set later is used and saved, or refused.
function tests.test_fields_set_later()
  local path = temporary.path "later.npz"
  local model = model_for()
  model.normalize, model.lambda = "row", 0.5
  ladies.save_model(model, path)
  local loaded = ladies.load_model(path)
  lu.assertEquals({loaded.normalize, loaded.lambda}, {"row", 0.5})
  lu.assertEquals(ladies.inference.exact(loaded, data):hash(),
    ladies.inference.exact(model, data):hash())
  lu.assertStrContains(tostring(model), "P = row")
  model.normalize = "rwo"
  fails('normalize must be one of sym, row, none, got "rwo"', ladies.save_model, model, path)
  model = model_for{P = own}
  model.normalize = "row"
  for _, use in ipairs{function() ladies.save_model(model, path) end,
    function() ladies.inference.exact(model, data) end} do
    fails("the model's P takes the place of its normalize and lambda; set P or "
      .. "normalize to nil", use)
  end
  model.P = nil
  ladies.save_model(model, path)
  lu.assertEquals(ladies.load_model(path).normalize, "row")
  model = model_for()
  model.normalize = nil
  fails("the model does not say which P it is for", ladies.save_model, model, path)
  lu.assertStrContains(tostring(model), "P = unknown")
end

--- A model of the user's own that does not say its P is used with what it was trained on.
function tests.test_models_of_ones_own()
  local function new(fields)
    local inner = model_for()
    local model = {inner = inner, n_layers = 2}
    function model.forward(_, ...) return inner:forward(...) end
    function model.layer(_, ...) return inner:layer(...) end
    for key, value in pairs(fields or {}) do model[key] = value end
    return model
  end
  fails('does not say which P it is for; it needs a field normalize, "sym", "row" or "none", or P',
    ladies.inference.exact, new(), data)
  local result, model = train(toy.neighbourhoods(row, 2), {model = new()})
  lu.assertEquals(result.test_f1, ladies.metrics.f1(model, data, data.test, {P = row}))
  lu.assertEquals(result.test_f1, ladies.metrics.f1(model, data, data.test))
  fails("draws from", train, toy.neighbourhoods(row, 2), {model = new{normalize = "sym"}})
  fails("draws from", train, toy.neighbourhoods(row, 2), {model = new{P = own}})
  train(toy.neighbourhoods(own, 2), {model = new{P = own}})
end

return tests
