--- Tests that bits are the same with any number of threads, at sizes that fill no chunk evenly, and
-- what is seen of loops that are watched. The kernels' are held to plain ones by tests/c, in one
-- thread and in three.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"

local index = ladies.index
local rng = ladies.rng(5)

local tests = {}

local function normal(...) return ladies.zeros(...):normal_(1, rng) end
local function parameter(...) return normal(...):requires_grad_() end

-- Hashes of f(given, rng), of a loss made of it, and of its gradients with respect to `given`.
local function fingerprint(f, given)
  local _ <close> = ladies.step()
  local out = f(given, rng:fork(9))
  local loss = (out * ladies.zeros(out.n_rows, out.ndim == 2 and out.n_cols or nil)
    :normal_(1, rng:at(1))):sum()
  loss:backward()
  local hashes = {out:hash(), loss:hash()}
  for _, p in ipairs(given) do hashes[#hashes + 1] = p.grad:hash() end
  return hashes
end

--- Asserts that f(given, rng) and its gradients are the same with 1, 2, 3, 4 and 7 threads.
local function assert_same(f, given)
  local optimizer = ladies.optim.sgd(given)
  local want
  for _, n in ipairs{1, 2, 3, 4, 7} do
    ladies.threads(n)
    local got = fingerprint(f, given)
    want = want or got
    lu.assertEquals(got, want, n .. " threads")
    optimizer:clear()
  end
end

-- A sparse matrix with rows of very different length.
local function sparse(n_rows, n_cols)
  local rows, cols = {}, {}
  local draw = rng:fork(3)
  for r = 1, n_rows do
    for _ = 1, r % 50 == 0 and 300 or r % 7 do
      rows[#rows + 1], cols[#cols + 1] = r, draw:below(n_cols)
    end
  end
  return ladies.matrix{n_rows = n_rows, n_cols = n_cols, rows = index(rows), cols = index(cols)}
end

-- ---------------------------------------------------------------- watched loops

-- Returns the costs of the parallel loops of f, by name, and the seconds of watching.
local function seen_of(f)
  core.watch_loops(true)
  f()
  local list, found = core.watch_loops(false), {}
  for _, loop in ipairs(list) do found[loop.name] = loop end
  return found, list.watching
end

--- A watched loop gives the same bits; its chunks are those that its size asks for, and the
-- estimates for several threads are faster than one thread by no more than their number, and no
-- more than there are chunks.
function tests.test_watched_loops()
  ladies.threads(2)
  local x = normal(40000)
  local plain, watched = x:exp():hash(), nil
  local found, watching = seen_of(function()
    watched = x:exp():hash()
    x:exp()
  end)
  lu.assertEquals(watched, plain)
  local map = found.map
  lu.assertEquals({map.calls, map.chunks}, {2, 2 * 10})
  lu.assertTrue(map.seconds > 0 and watching >= map.seconds)
  local faster = map.seconds
  for _, p in ipairs{2, 8, 16, 32, 64} do
    lu.assertTrue(map.within[p] <= faster)
    lu.assertTrue(map.within[p] * math.min(p, 10) >= map.seconds * (1 - 1e-9))
    faster = map.within[p]
  end
  lu.assertEquals(map.within[64], map.within[16])            -- ten chunks are for ten threads
  x:exp()                                                     -- nobody watches any more
  lu.assertEquals(core.watch_loops(false)[1].calls, found[core.watch_loops(false)[1].name].calls)
  lu.assertEquals({seen_of(function() end)}, {{}, 0})
end

--- A loop of one chunk is a loop, too; an interrupted one ends.
function tests.test_watched_interruption()
  local found = seen_of(function() normal(10):exp() end)
  lu.assertEquals({found.map.calls, found.map.chunks}, {1, 1})
  lu.assertEquals(found.map.within[2], found.map.seconds)
  core.watch_loops(true)
  local x = normal(100000)
  core.cancel_at(3)
  local ok = pcall(x.exp, x)
  core.cancel_at(0)
  core.watch_loops(false)
  lu.assertFalse(ok)
end

-- ---------------------------------------------------------------- the same bits

function tests.test_matmul()
  for _, shape in ipairs{{129, 7, 3}, {193, 1000, 300}, {1031, 257, 65}, {300, 1433, 16},
                         {1600, 40, 300}, {6150, 20, 30}} do
    local m, k, n = table.unpack(shape)
    assert_same(function(p) return p[1]:matmul(p[2]) end, {parameter(m, k), parameter(k, n)})
  end
  assert_same(function(p) return p[1]:linear(p[2], p[3]) end,
    {parameter(1031, 257), parameter(257, 65), parameter(65)})
end

function tests.test_sparse_products()
  local A = sparse(1031, 777)
  local x, y, values = parameter(777, 65), parameter(1031, 65), parameter(A.nnz)
  local S = A:with_values(values)
  local scaled = A:scale_cols(normal(777)):row_normalize()
  assert_same(function(p) return A:matmul(p[1]) end, {x})
  assert_same(function(p) return A:matmul_t(p[1]) end, {y})
  assert_same(function(p) return scaled:matmul(p[1]) end, {x})
  assert_same(function(p) return S:matmul(p[1]) end, {x, values})
  assert_same(function(p) return S:matmul_t(p[1]) end, {y, values})
  assert_same(function(p) return A:dot_edges(p[1], p[2]) end, {y, x})
  assert_same(function(p) return A:edge_softmax(p[1]) end, {values})
  local heads = parameter(A.nnz, 5)
  assert_same(function(p) return A:edge_softmax(p[1]) end, {heads})
  assert_same(function(p) return A:add_edges(p[1], p[2]) end, {y, x})
  assert_same(function(p) return A:matmul_heads(p[1], p[2]) end, {heads, x})
  assert_same(function(p) return A:relu_sums(p[1], p[2], p[3], p[4], p[5]) end,
    {values, x, heads, parameter(5, 65), parameter(65)})
end

function tests.test_dropout_and_losses()
  local x = parameter(1031, 257)
  assert_same(function(p, own) return p[1]:dropout(0.5, own) end, {x})
  local labels, weights = x:detach():argmax(), ladies.zeros(1031):uniform_(0, 1, rng)
  assert_same(function(p) return ladies.loss.cross_entropy(p[1], labels) end, {x})
  assert_same(function(p) return ladies.loss.cross_entropy(p[1], labels, weights) end, {x})
  local targets = ladies.zeros(1031, 257):uniform_(0, 1, rng)
  assert_same(function(p) return ladies.loss.binary_cross_entropy(p[1], targets) end, {x})
end

function tests.test_random_fills()
  assert_same(function(p, own) return p[1] * ladies.zeros(1031, 257):normal_(1, own) end,
    {parameter(1031, 257)})
end

--- Three steps of training with clipping: the parameters afterwards.
function tests.test_optimizers()
  for _, method in ipairs{"sgd", "adam", "adamw"} do
    local function train(n)
      ladies.threads(n)
      local own = ladies.rng(3)
      local w, b = ladies.zeros(257, 131):normal_(1, own), ladies.zeros(131)
      local decay = method == "adamw" and "decoupled_decay" or "weight_decay"
      local optimizer = ladies.optim[method]({w, b}, {[decay] = 0.01})
      local x = ladies.zeros(509, 257):normal_(1, own)
      local norms = {}
      for i = 1, 3 do
        local _ <close> = ladies.step()
        x:linear(w, b):dropout(0.5, own):square():mean():backward()
        norms[i] = optimizer:clip_norm(0.01)
        optimizer:step()
      end
      return {w:hash(), b:hash(), table.unpack(norms)}
    end
    local want = train(1)
    lu.assertTrue(want[3] > 0.01)                         -- it was clipped
    for _, n in ipairs{2, 3, 4, 7} do lu.assertEquals(train(n), want) end
  end
end

function tests.test_number_of_threads()
  lu.assertEquals(ladies.threads(3), 3)
  lu.assertEquals(ladies.threads(), 3)
  lu.assertErrorMsgContains("threads must be 1 to 256, got 0", ladies.threads, 0)
  lu.assertErrorMsgContains("threads must be 1 to 256, got 257", ladies.threads, 257)
  lu.assertErrorMsgContains("threads must be 1 to 256, got -1", ladies.threads, -1)
  lu.assertErrorMsgContains("threads must be 1 to 256, got 4294967298", ladies.threads, 2^32 + 2)
  lu.assertErrorMsgContains("number expected, got string", ladies.threads, "two")
  lu.assertEquals(ladies.threads(), 3)
end

return tests
