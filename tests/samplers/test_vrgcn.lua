--- VR-GCN: exact where the history is exact, unbiased where it is constant, gradients that take it
-- for a constant, the update after the step, checkpoints, and odd graphs.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local finite_differences = require "reference.finite_differences"
local plain = require "reference.plain_gcn"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local fails, close = lu.assertErrorMsgContains, compare.assert_close
local index, vrgcn = ladies.index, ladies.samplers.vrgcn

local tests = {}

local HIDDEN = 6

local function new_model(own)
  return ladies.nn.gcn(tables.merged({inputs = toy.FEATURES, hidden = HIDDEN, outputs = 3,
    layers = 3}, own))
end

local function new_sampler(P, own)
  return vrgcn(P, tables.merged({layers = 3, hidden = HIDDEN}, own))
end

-- A directed graph with weights, self-loops and empty rows.
local function weighted(n, seed)
  local rng, rows, cols, values = ladies.rng(seed), {}, {}, {}
  for v = 1, n do
    for _ = 1, v % 5 * 2 do
      rows[#rows + 1], cols[#cols + 1], values[#values + 1] = v, rng:below(n), 0.5 + rng:uniform()
    end
  end
  return ladies.matrix{n_rows = n, n_cols = n, rows = index(rows), cols = index(cols),
    values = ladies.tensor(values)}
end

-- A tensor of random numbers.
local function random(n_rows, n_cols, seed)
  local rng = ladies.rng(seed)
  return ladies.tensor(plain.filled(n_rows, n_cols, function() return rng:uniform() - 0.5 end))
end

--- Where the history is that of the present weights, the sampled forward is the exact one, whatever
-- is drawn.
function tests.test_no_variance_with_an_exact_history()
  for i, P in ipairs{toy.new().graph:normalize "sym", weighted(180, 1)} do
    local features, model = toy.new(i == 2).features, new_model{norm = i == 2}
    local exact = ladies.inference.exact(model, P, {features = features})
    local ways = {{}, {samples = 1}, {samples = 4, features = features}, {cvd = true}}
    for _, own in ipairs(ways) do
      local sampler = new_sampler(P, own)
      sampler:fill(model, features)
      for seed = 1, 5 do
        local seeds = ladies.sampling.permutation(180, ladies.rng(seed)):slice(1, 20)
        local batch = ladies.sampling.check(sampler(seeds, ladies.rng(seed)))
        close(model:forward(features, batch, false), exact[seeds], 1e-5, "logits")
      end
    end
    local sampler = new_sampler(P)                       -- and is not with another history
    local seeds = ladies.range(1, 20)
    local logits = model:forward(features, sampler(seeds, ladies.rng(1)), false)
    lu.assertTrue((logits - exact[seeds]):norm() > 0.01)
  end
end

--- P^ H + control has mean P H for any H while H' stays; P^ sqrt(k'/d) keeps the variance of
-- independent noise: the squares of its entries have the mean of P's squares. Drawn are k' entries
-- of every row.
function tests.test_unbiased_with_a_constant_history()
  local P, k = weighted(30, 3):scale_cols(random(30, 1, 4):reshape(30) + 1), 2
  local sampler = new_sampler(P, {layers = 2, samples = k, cvd = true})
  sampler.history[1]:copy_(random(30, HIDDEN, 5))
  local H, seeds = random(30, HIDDEN, 6), index{4, 9, 30, 1, 5, 22, 28}
  local exact = compare.flatten(P:rows(seeds):matmul(H))
  local squares = compare.flatten(P:row_sums(2)[seeds])
  local means, noise = {}, {}
  for i = 1, #exact do means[i] = statistics.running() end
  for i = 1, #squares do noise[i] = statistics.running() end
  local root = ladies.rng(7)
  for i = 1, 3000 do
    local block = sampler(seeds, root:fork(i)).blocks[2]
    if i == 1 then
      local d, drawn = P:degrees(seeds):to_table(), block.adj:degrees():to_table()
      for r = 1, #d do lu.assertEquals(drawn[r], math.min(k, d[r])) end
    end
    local Z = compare.flatten(block.adj:matmul(H[block.src]) + block.control)
    for j = 1, #Z do means[j].add(Z[j]) end
    for j, sum in ipairs(block.noise:row_sums(2):to_table()) do noise[j].add(sum) end
  end
  for j = 1, #exact do
    lu.assertAlmostEquals(means[j].mean(), exact[j], 4 * means[j].standard_error() + 1e-6)
  end
  for j = 1, #squares do
    lu.assertAlmostEquals(noise[j].mean(), squares[j], 4 * noise[j].standard_error() + 1e-6)
  end
end

--- The estimate is unbiased exactly, on six nodes: every choice of k neighbours comes up for every
-- row, as often as the others, and over the choices adj H + control has mean P H.
function tests.test_unbiased_by_enumeration()
  local P, k, draws = weighted(6, 2), 2, 600
  local sampler = new_sampler(P, {layers = 2, samples = k})
  sampler.history[1]:copy_(random(6, HIDDEN, 5))
  local H, seeds, root = random(6, HIDDEN, 6), ladies.range(1, 6), ladies.rng(3)
  local exact, counts, values = P:matmul(H), {{}, {}, {}, {}, {}, {}}, {}
  for i = 1, draws do
    local block = sampler(seeds, root:fork(i)).blocks[2]
    local Z = block.adj:matmul(H[block.src]) + block.control
    local rows, cols = block.adj:row_of():to_table(), block.src[block.adj:col_of()]:to_table()
    local choices = {{}, {}, {}, {}, {}, {}}
    for e, v in ipairs(rows) do table.insert(choices[v], cols[e]) end
    for v, chosen in ipairs(choices) do
      table.sort(chosen)
      local key = table.concat(chosen, " ")
      counts[v][key] = (counts[v][key] or 0) + 1
      values[v .. ": " .. key] = Z[v]:to_table()
    end
  end
  for v, d in ipairs(P:degrees():to_table()) do
    local sum, choices = ladies.zeros(HIDDEN), d <= k and 1 or d * (d - 1) // 2
    for key in pairs(counts[v]) do sum = sum + ladies.tensor(values[v .. ": " .. key]) end
    statistics.assert_equally_likely(counts[v], choices)
    close(sum / choices, exact[v], 1e-5, "node " .. v)
  end
end

--- Gradients are those of the batch's formula with the history held fixed, dropout included.
function tests.test_gradients()
  local data = toy.new()
  local P, seeds = weighted(180, 8):row_normalize(), index{4, 63, 33}
  local pull = random(3, 3, 9)
  for _, own in ipairs{{}, {cvd = true}, {features = data.features}} do
    local model = new_model{activation = "tanh", hidden = 4, dropout = 0.3}
    own.hidden = 4
    local sampler = new_sampler(P, own)
    for l = 1, 2 do sampler.history[l]:copy_(random(180, 4, l)) end
    local batch = sampler(seeds, ladies.rng(2))
    local function forward() return model:forward(data.features, batch, ladies.rng(3)) end
    do
      local _ <close> = ladies.step();
      (forward() * pull):sum():backward()
    end
    for l = 1, 3 do
      local w = model.layers[l].conv.weight
      local got = compare.flatten(w.grad)
      local wanted = finite_differences.gradient(forward, w, compare.flatten(pull))
      close(got, wanted, finite_differences.tolerance, "layer " .. l)
      lu.assertTrue(w.grad:norm() > 0)
    end
  end
end

-- One step of training on a batch, as ladies.train does it.
local function step(model, features, batch)
  local _ <close> = ladies.step()
  local logits = model:forward(features, batch, ladies.rng(1))
  logits:square():sum():backward()
  batch.after_step(batch, model)
end

--- After the step the history has the activations that were computed, and nothing else has changed.
-- Where all neighbours are drawn these are the exact ones.
function tests.test_update()
  local data = toy.new()
  local P, model = weighted(180, 2), new_model()
  local sampler = new_sampler(P, {samples = 200})
  local full = new_sampler(P)
  full:fill(model, data.features)
  local batch = sampler(ladies.range(1, 12), ladies.rng(1))
  step(model, data.features, batch)
  for l = 1, 2 do
    local nodes = batch.blocks[l].dst
    close(sampler.history[l][nodes], full.history[l][nodes], 1e-5, "history")
    local others = ladies.zeros(180):add_at_(nodes, 1):to_table()
    for v, computed in ipairs(others) do
      if computed == 0 then lu.assertEquals(sampler.history[l][v]:norm(), 0) end
    end
  end
  for _, cvd in ipairs{false, true} do                   -- with dropout: what it left, or the mean
    model = new_model{dropout = 0.5, layers = 2}
    sampler = new_sampler(P, {layers = 2, samples = 200, cvd = cvd})
    full = new_sampler(P, {layers = 2})
    full:fill(model, data.features)
    batch = sampler(ladies.range(1, 30), ladies.rng(1))
    step(model, data.features, batch)
    local nodes = batch.blocks[1].dst
    local difference = (sampler.history[1][nodes] - full.history[1][nodes]):norm()
    lu.assertEquals(difference < 1e-4, cvd)
  end
end

--- CVD's mean is that of the network without dropout.
function tests.test_cvd_leaves_dropout_out_of_the_mean()
  local data = toy.new()
  local P, model = data.graph:normalize "sym", new_model{dropout = 0.5, layers = 2}
  local sampler = new_sampler(P, {layers = 2, cvd = true})
  sampler:fill(model, data.features)
  local batch = sampler(data.val, ladies.rng(1))
  local logits = model:forward(data.features, batch, ladies.rng(2))
  local exact = ladies.inference.exact(model, P, {features = data.features})[data.val]
  close(batch.hidden[2], exact, 1e-5, "mean")
  lu.assertTrue((logits - exact):norm() > 0.01)
end

-- ---------------------------------------------------------------- runs

local function train(folder, max_batches, own)
  local data = toy.new()
  local opts = tables.merged({
    data = data, sampler = new_sampler(data.graph:normalize "sym"),
    model = new_model{dropout = 0.2}, batch_size = 20, lr = 0.02, eval_every = 7, patience = 0,
    quiet = true, max_batches = max_batches, out = temporary.path(folder),
  }, own)
  return ladies.train(opts), opts
end

--- A checkpoint has the histories, and is that of its sampler alone.
function tests.test_checkpoint_of_another_sampler()
  train("split", 7)
  local other = toy.neighbourhoods(toy.new().graph:normalize "sym", 3)
  fails("which the sampler lacks: it is of another sampler", train, "split", 20,
    {resume = true, sampler = other})
  train("other", 3, {sampler = other})
  fails("it is of another sampler", train, "other", 6, {resume = true})
end

-- ---------------------------------------------------------------- odd input

--- The sampler takes stars, graphs without entries, isolated seeds, one layer, and all seeds at
-- once.
function tests.test_odd_graphs()
  local rows, cols = {}, {}
  for v = 2, 20 do rows[v - 1], cols[v - 1] = 1, v end
  local star = ladies.matrix{n_rows = 20, n_cols = 20, rows = index(rows), cols = index(cols)}
  local empty = ladies.matrix{n_rows = 20, n_cols = 20, rows = index{}, cols = index{}}
  local features = random(20, toy.FEATURES, 1)
  for _, P in ipairs{star, star:transpose(), empty, star:symmetrize():normalize "sym"} do
    for layers = 1, 3 do
      for _, k in ipairs{1, 3, 50} do
        local model = new_model{layers = layers}
        local sampler = new_sampler(P, {layers = layers, samples = k, cvd = k == 3})
        local batch = ladies.sampling.check(sampler(ladies.range(1, 20), ladies.rng(k)))
        local isolated = 0
        for _, block in ipairs(batch.blocks) do isolated = isolated + block.adj:empty_rows() end
        lu.assertEquals(batch.stats.isolated, isolated)
        step(model, features, batch)
        sampler:fill(model, features)
        batch = sampler(index{1, 7}, ladies.rng(k))
        close(model:forward(features, batch, false),
          ladies.inference.exact(model, P, {features = features})[index{1, 7}], 1e-5, "logits")
      end
    end
  end
end

function tests.test_errors()
  local P = weighted(20, 1)
  local sampler = new_sampler(P)
  fails("must call batch.propagate", function()
    local batch = sampler(index{1}, ladies.rng(1))
    batch.after_step(batch)
  end)
  fails("3 rows of features for a graph of 20 nodes", new_sampler, P,
    {features = ladies.ones(3, 2)})
  fails("positive integer or an array of positive integers, got 0", new_sampler, P, {samples = 0})
  local batch = sampler(index{1, 2}, ladies.rng(1))
  batch.blocks[3].control = ladies.ones(1, HIDDEN)
  fails("layer 3: control has 1 rows, expected 2", ladies.sampling.check, batch)
  batch.blocks[3].control = ladies.full(2, HIDDEN, 0 / 0)
  fails("nan, expected finite numbers", ladies.sampling.check, batch)
  batch.blocks[3].control = 1
  fails("layer 3: control must be of class Tensor", ladies.sampling.check, batch)
end

return tests
