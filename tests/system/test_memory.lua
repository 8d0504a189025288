--- Tests the counting of memory, and running out of it: for each of many calls the n-th allocation
-- of core fails, for n = 1, 2, ... until the call succeeds. Every failure must be a clean error
-- that gives back all that was taken.
local lu = require "luaunit"
local core = require "ladies_core"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local shell = require "tools.shell"

local index, tensor, sampling = ladies.index, ladies.tensor, ladies.sampling

local tests = {}

-- ---------------------------------------------------------------- counting

-- The most bytes that a tensor counts besides its numbers.
local OBJECT = 256

--- Memory counts the bytes that were asked for, whatever room a block has.
function tests.test_sizes()
  for _, rows in ipairs{1, 100, 512, 600, 5000, 60000} do
    local before = ladies.memory()
    local t = ladies.zeros(rows, 256)
    local now = ladies.memory()
    local bytes = now.tensor - before.tensor
    lu.assertTrue(bytes >= rows * 1024 and bytes <= rows * 1024 + OBJECT, bytes)
    lu.assertEquals(now.total - before.total, bytes)
    t:release()
    lu.assertEquals(ladies.memory().total, before.total)
  end
end

--- The peak is the largest total that there was, to the byte.
function tests.test_the_peak()
  ladies.memory_trim()
  local before = ladies.memory().total
  local a, b = ladies.zeros(512, 256), ladies.zeros(700, 256)
  local highest = ladies.memory().total
  a:release()
  local c = ladies.zeros(300, 256)
  lu.assertEquals(ladies.memory().peak, highest)
  b:release()
  c:release()
  lu.assertEquals(ladies.memory().peak, highest)
  ladies.memory_trim()
  lu.assertEquals({ladies.memory().total, ladies.memory().peak}, {before, before})
end

--- A small block has the least room of those that there are, up to the last byte of it.
function tests.test_rooms_of_small_blocks()
  local function kept(bytes)
    ladies.memory_trim()
    ladies.zeros(bytes // 4):release()
    return ladies.memory().cached
  end
  local full = (1 << 12) - 64                             -- with its header
  if kept(full) == 0 then return end                      -- the sanitizers see every free
  lu.assertEquals(kept(full), kept(full - 4))
  lu.assertTrue(kept(full) < kept(full + 4))
end

--- A large block brings no spare one, has little more room than was asked for, and is used again.
function tests.test_large_blocks()
  ladies.memory_trim()
  local t = ladies.zeros(20000, 300)
  lu.assertTrue(ladies.memory().cached < 1 << 20)
  t:release()
  local kept = ladies.memory().cached
  if kept == 0 then return end                            -- the sanitizers see every free
  lu.assertTrue(kept < 1.07 * 20000 * 300 * 4)
  local calls = ladies.memory().system_calls
  for rows = 20000, 19000, -100 do ladies.zeros(rows, 300):release() end
  lu.assertTrue(ladies.memory().system_calls - calls < 3)
end

-- Ten large blocks, each in turn replaced by one of another size, for a while.
local REPLACED = [[
  local rng, blocks = ladies.rng(1), {}
  for i = 1, 200 do
    local at = i % 10 + 1
    if blocks[at] then blocks[at]:release() end
    blocks[at] = ladies.zeros(2000 + rng:below(8000), 256)
  end
  local resident
  for line in io.lines "/proc/self/status" do
    resident = resident or tonumber(line:match "^VmHWM:%s*(%d+)")
  end
  print(resident * 1024, ladies.memory().peak, ladies.memory().system_calls)
]]

--- Sizes that change leave no holes: what is resident stays near what is held, and blocks are used
-- again whatever their sizes were.
function tests.test_large_blocks_of_changing_sizes()
  local out = shell.succeeded(shell.run_ladies{"-e", REPLACED})
  local resident, peak, calls = out:match "(%d+)%s+(%d+)%s+(%d+)"
  if ladies.memory().cached == 0 then return end          -- the sanitizers see every free
  lu.assertTrue(resident - 24e6 < 1.25 * peak, ("%d resident for %d"):format(resident, peak))
  lu.assertTrue(tonumber(calls) < 100, calls)
end

-- Blocks of one size, then of another, as training and inference take turns.
local TURNS = [[
  for _, turn in ipairs{{16, 12}, {4, 100}, {8, 40}, {4, 100}, {16, 12}, {2, 200}} do
    local blocks = {}
    for i = 1, turn[1] do blocks[i] = ladies.zeros(turn[2] * 1000, 250) end
    for _, block in ipairs(blocks) do block:release() end
  end
  local resident
  for line in io.lines "/proc/self/status" do
    resident = resident or tonumber(line:match "^VmHWM:%s*(%d+)")
  end
  print(resident * 1024, ladies.memory().peak)
]]

--- Free blocks of one size make way for those of another.
function tests.test_large_blocks_make_way()
  if ladies.memory().cached == 0 then return end          -- the sanitizers see every free
  local out = shell.succeeded(shell.run_ladies{"-e", TURNS})
  local resident, peak = out:match "(%d+)%s+(%d+)"
  lu.assertTrue(resident - 24e6 < peak + (65 << 20), ("%d resident for %d"):format(resident, peak))
end

-- A large block again and again in a process that has had many small ones: how often the system was
-- asked, once it had been.
local AFTER_SMALL = [[
  local blocks = {}
  for i = 1, 170 do blocks[i] = ladies.zeros(600, 256) end
  for _, block in ipairs(blocks) do block:release() end
  ladies.zeros(100000, 256):release()
  local before = ladies.memory().system_calls
  for i = 1, 5 do ladies.zeros(100000, 256):release() end
  io.write(ladies.memory().system_calls - before)
]]

--- Free small blocks leave large ones their place.
function tests.test_large_blocks_after_small_ones()
  if ladies.memory().cached == 0 then return end          -- the sanitizers see every free
  local out, _, status = shell.run_ladies{"-e", AFTER_SMALL}
  lu.assertEquals({out, status}, {"0", 0})
end

-- Blocks as a training step takes them, smaller ones for each layer and then larger ones again, and
-- the pages that the system had to give for a step once there were a few.
local STEPS = [[
  local function faults()
    local file <close> = assert(io.open "/proc/self/stat")
    return tonumber(file:read("a"):match("%) " .. ("%S+ "):rep(7) .. "(%d+)"))
  end
  local function step()
    local blocks = {}
    for n = 5, 1, -1 do
      for i = 1, 2 do blocks[#blocks + 1] = ladies.zeros(512 * n, 256) end
    end
    while #blocks > 2 do table.remove(blocks):release() end
    for n = 2, 6 do
      local next = {ladies.zeros(512 * n, 256), ladies.zeros(512 * n + 1, 256)}
      for _, block in ipairs(next) do block:release() end
    end
    for _, block in ipairs(blocks) do block:release() end
  end
  for i = 1, 10 do step() end
  local before = faults()
  for i = 1, 20 do step() end
  print((faults() - before) / 20)
]]

--- A step that takes blocks of the same sizes as those before it has all its pages.
function tests.test_large_blocks_of_steps()
  if ladies.memory().cached == 0 then return end          -- the sanitizers see every free
  local out = shell.succeeded(shell.run_ladies{"-e", STEPS})
  lu.assertTrue(tonumber(out) < 100, out .. " page faults a step")
end

-- ---------------------------------------------------------------- running out

-- Asserts that each failure of call(), which keeps nothing, is a clean one, and that it allocates
-- at least `least` times. `keeps` names an owner that may hold on to more than before.
local function exhaust(call, least, keeps)
  local n = every_allocation(call, keeps)
  lu.assertTrue(n > least, ("only %d allocations"):format(n - 1))
end

local function graph()
  return ladies.matrix{n_rows = 5, n_cols = 5, rows = index{1, 2, 3, 3, 5, 5},
    cols = index{2, 1, 3, 1, 4, 4}, values = tensor{1, 2, 3, 4, 5, 6}}
end

-- The tape keeps room for 64 operations from now on.
do
  local _ <close> = ladies.step()
  ladies.ones(1):requires_grad_():sum():backward()
end

function tests.test_products_with_one_rounding()
  local m, A = ladies.ones(5, 5), graph()
  exhaust(function() return m:matmul_precise(m), m:matmul_t_precise(m) end, 10)
  exhaust(function() return A:matmul_precise(m), graph():matmul_t_precise(m) end, 15)
end

function tests.test_constructors()
  exhaust(function()
    return tensor{{1, 2}, {3, 4}}, tensor{1}, ladies.zeros(3), ladies.ones(2, 2), ladies.full(2, 1),
      index{1, 2}, ladies.range(1, 9)
  end, 15)
  exhaust(function()
    local t, x = ladies.zeros(3, 2), index{3, 1}
    return t:clone(), t:clamp(0, 1), t:above(1), t[x], t[1], t:slice(1, 2), t:reshape(6),
      t:argmax(), x[x:slice(2, 2)], x:sort(), x:slice(1, 1), x .. x, x:check_unique()
  end, 25)
end

function tests.test_orders_and_numbers()
  exhaust(function()
    local t, x, rng = tensor{3, 1, 2}, index{3, 1, 2}, ladies.rng(1)
    return t:argsort(), t:topk(2), t:positions(), t:to_index(), t[t:above(1)], x[x:below(3)],
      x + 1, x * x, x:equals(x), x:to_tensor(), rng:uniform_of(x)
  end, 25)
end

function tests.test_matrices()
  exhaust(function() return graph() end, 12)
  exhaust(function()
    return ladies.csr{n_rows = 2, n_cols = 3, offsets = index{1, 4, 5}, columns = index{2, 1, 2, 3},
      values = ladies.ones(4)}
  end, 15)
  exhaust(function() return ladies.sparse(tensor{{1, 0}, {0, 2}}) end, 8)
  exhaust(function()
    local A = graph()
    return A:transpose(), A:symmetrize(), A:is_symmetric(), A:add_diag(1), A:without_loops()
  end, 40)
  exhaust(function()
    local A = graph()
    return A.values, A.edge, A:to_dense(), A:entry_values(), A:row_of(), A:col_of(), A:offsets(),
      A:with_values(ladies.ones(A.nnz))
  end, 25)
end

function tests.test_normalisation_and_sums()
  exhaust(function()
    local A = graph()
    return A:normalize "sym", A:normalize("row", {self_loops = false}), A:row_normalize(),
      A:scale_rows(ladies.ones(5)):scale_cols(ladies.ones(5)), A:degrees(), A:degrees(index{2})
  end, 50)
  exhaust(function()
    local A = graph()
    local unvalued = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{1}, cols = index{1}}
    return A:row_sums(2), A:col_sums(2), unvalued:col_sums()
  end, 25)
end

function tests.test_slices()
  exhaust(function()
    local A = graph():scale_cols(ladies.ones(5)):scale_rows(ladies.ones(5))
    local U, src = A:slice(index{5, 3}, {first = index{2}})
    return U.edge, src, U:slice(index{2}), U:pick_cols(index{1}), A:rows(index{1, 1}),
      A:slice(index{1, 3}, index{1, 2}), A:induced(index{3, 1}):is_symmetric()
  end, 80)
end

function tests.test_samples_of_rows()
  local rng, dst, p = ladies.rng(1), index{5, 3, 1}, ladies.ones(5)
  for _, given in ipairs{{}, {replace = true}, {p_cols = p}, {p_cols = p, replace = true},
    {p_cols = p, debias = true, always = graph():diagonal()}} do
    given.rng, given.first = rng, dst
    exhaust(function()
      local S, src, w = graph():scale_cols(p):sample_rows(dst, 1, given)
      return S, src, S:scale_entries(w)
    end, 30)
  end
  exhaust(function()
    return graph():poisson_rows(dst, tensor{0.5, 0.5, 1}, {pi = p, rng = rng}), graph():diagonal()
  end, 30)
end

function tests.test_partitions()
  local A = graph()
  exhaust(function()
    return A:diagonal_values(), A:add_diag(ladies.ones(5)), A:cut(ladies.range(1, 5))
  end, 4)
  exhaust(function() return index{2, 1, 2}:group(2) end, 4)
  if not ladies.have_metis then return end
  for k = 2, 9, 7 do                                     -- with METIS, and where it is not asked
    exhaust(function()
      local path = ladies.matrix{n_rows = 9, n_cols = 9, rows = ladies.range(1, 8),
        cols = ladies.range(2, 9)}
      return path:metis(k, ladies.rng(1), {weighted = true})
    end, 15)
  end
end

function tests.test_generators()
  local generate, rng = ladies.generate, ladies.rng
  local labels = index{1, 2, 1, 2, 1, 2}
  -- Enough edges for a second round of draws.
  exhaust(function()
    return generate.chung_lu(ladies.ones(6), labels, 30, 0.5, rng(1)):components()
  end, 20)
  exhaust(function() return generate.blocks(labels, ladies.full(2, 2, 0.5), rng(1)) end, 8)
  exhaust(function()
    return generate.labels(5, ladies.ones(2), rng(1)), generate.weights(5, 2, rng(1)),
      generate.features(labels, ladies.ones(2, 3), rng(1))
  end, 10)
end

function tests.test_sampling()
  local rng = ladies.rng(1)
  local function choose(given, always)
    local options = {rng = rng, always = always}
    for name, value in pairs(given) do options[name] = value end
    return sampling.choice(tensor{1, 2, 0, 4, 5, 6}, 2, options)
  end
  for _, given in ipairs{{}, {debias = true}, {draw = "wr"}, {draw = "poisson"},
    {union = "post"}} do
    exhaust(function() return choose(given), choose(given, index{3, 6}) end, 15)
  end
  exhaust(function()
    local table_of_p = sampling.alias(tensor{1, 2, 3})
    return sampling.choice(table_of_p, 2, {draw = "wr", rng = rng})
  end, 10)
  exhaust(function()
    local a, b = index{1, 5, 1}, sampling.permutation(4, rng)
    return sampling.unique(a), sampling.union(a, b), sampling.find(a, b),
      sampling.uniform(9, 3, {rng = rng}), sampling.uniform(9, 3, {replace = true, rng = rng})
  end, 18)
end

-- ---------------------------------------------------------------- training

-- Calls f with parameters, then goes backward from the sum of what it returns; twice, so that
-- gradients accumulate.
local function train(f)
  local given = {}
  for i = 1, 3 do given[i] = ladies.full(5, 2, 0.5):requires_grad_() end
  for _ = 1, 2 do
    local _ <close> = ladies.step()
    f(table.unpack(given)):sum():backward()
  end
end

function tests.test_operations()
  local rng, row, class_weights = ladies.rng(1), tensor{1, 2}, tensor{3, 4}
  local operations = {
    function(x, y) return x:matmul(y:reshape(2, 5)) end,
    function(x, y) return x:linear(y:slice(1, 2), row) end,
    function(x) return graph():matmul(x) end,
    function(x) return graph():matmul(x, nil, index{5, 1, 1, 2, 3}) end,
    function(x) return graph():matmul_t(x) end,
    function(x) return graph():with_values(x:reshape(10):slice(1, 5)):matmul_t(x) end,
    function(x)
      local A = graph():with_values(x:reshape(10):slice(1, 5)):scale_cols(x:row_sums())
      local U, src = A:slice(index{5, 3}, {first = index{2}})
      return U:pick_cols(index{2, 1}):row_normalize():matmul(x[src[index{2, 1}]])
    end,
    function(x)
      local A = graph():with_values(x:reshape(10):slice(1, 5)):scale_rows(x:row_sums())
      return A:add_diag(x:row_sums()):transpose():rows(index{1, 3}):col_sums(2) +
        A:without_loops():normalize "sym":to_dense():row_sums() + A:detach():diagonal_values()
    end,
    function(x)
      local A = graph():scale_cols(x:row_sums())
      local S = A:sample_rows(index{1, 3}, 1, {rng = rng})
      return S:scale_entries(S:entry_values()):row_sums()
    end,
    function(x) return x[index{1, 1, 3}]:scatter_add(index{2, 2, 1}, 3) end,
    function(x, y) return x:concat(y) end,
    function(x, y) return (x * 2):mul_add(y:sum(), y[index{1, 2, 1}], index{1, 2, 3, 3, 1}) end,
    function(x, y) return (x * 2):mul_add(3, y, nil, true) end,
    function(x, y, z) return (x + y) * z / y - z * row + 1 end,
    function(x) return 1 / x:square():relu():tanh():exp():log():sqrt():sigmoid():elu() end,
    function(x) return (-x):leaky_relu(0.1):dropout(0.5, rng) end,
    function(x, y, z) return x:layer_norm(y[1], z[1]) end,
    function(x) return x:normalize_rows():log_softmax() end,
    function(x, y, z) return (x:batch_norm(y[1], z[1])) end,
    function(x, y) return ladies.where(x:above(y), x, y ^ x:abs()) end,
    function(x) return x:softmax():cumsum(2):transpose():slice_cols(2, 4) end,
    function(x) return (x:row_sums():topk(2)) end,
    function(x)
      local A = graph():with_values(x:reshape(10):slice(1, 5))
      return A:pick_entries(index{1, 4}):to_dense() + A:dropout(0.5, rng):to_dense()
    end,
    function(x) return x:row_sums():sum() + x:col_sums():mean() end,
    function(x) return graph():edge_softmax(x:reshape(10):slice(1, 5)) end,
    function(x, y) return graph():dot_edges(x, y) end,
    function(x, y) return graph():matmul_heads(graph():edge_softmax(x), y) end,
    function(x, y) return graph():relu_sums(ladies.ones(5), x, y, ladies.ones(2, 2)) end,
    function(x, y) return graph():add_edges(x:col_sums()[index{1, 2, 1, 1, 1}], y:row_sums()) end,
    function(x)
      return ladies.loss.cross_entropy(x, index{1, 2, 1, 2, 1},
        {weights = ladies.ones(5), class_factors = class_weights})
    end,
    function(x) return ladies.loss.binary_cross_entropy(x, ladies.ones(5, 2), ladies.ones(5)) end,
    ladies.op{
      forward = function(x, y) return x * y end,
      backward = function(g, x, y) return g * y, g * x, g * 0 end,
    },
  }
  for _, operation in ipairs(operations) do
    exhaust(function() train(operation) end, 15)
    exhaust(function()
      return operation(ladies.ones(5, 2), ladies.ones(5, 2), ladies.ones(5, 2))
    end, 12)
  end
end

function tests.test_the_tape_grows()
  exhaust(function()
    local x = ladies.ones(1):requires_grad_()
    local _ <close> = ladies.step()
    for _ = 1, 70 do x = x:relu() end
  end, 210, "tape")
end

function tests.test_optimizers()
  for _, method in ipairs{"sgd", "adam", "adamw"} do
    exhaust(function()
      local w, b = ladies.ones(3, 2), ladies.ones(2)
      w:requires_grad_():set_grad_(w:clone())             -- there is a gradient to take over
      local optimizer = ladies.optim[method]({w, b}, method == "sgd" and {momentum = 0.5} or nil)
      local _ <close> = ladies.step()
      ladies.ones(4, 3):linear(w, b):square():sum():backward()
      optimizer:clip_norm(1)
      optimizer:step()
    end, 40)
  end
end

--- After a failed backward a parameter has no gradient, rather than memory that was never filled.
function tests.test_failed_backward()
  local w = ladies.ones(5, 2):requires_grad_()
  local n, ok = 0
  repeat
    n = n + 1
    do
      local _ <close> = ladies.step()
      local loss = graph():matmul(w):sum()
      core.memory_fail_at(n)
      ok = pcall(loss.backward, loss)
      core.memory_fail_at(0)
      if ok then lu.assertEquals(w.grad:to_table()[4], {11, 11}) else lu.assertNil(w.grad) end
    end
  until ok
  lu.assertTrue(n > 8)
end

-- ---------------------------------------------------------------- files

function tests.test_files()
  local folder <close> = shell.folder()
  local path = folder.path .. "/arrays.npz"
  local arrays = {t = tensor{{1, 2}, {3, 4}}, x = index{1, 2}, text = "some text", n = {1, 2, 3},
    s = {"a", "bc"}, small = ladies.npz.int16{1, 2}}
  for _, compress in ipairs{true, false} do
    exhaust(function() ladies.npz.write(path, arrays, {compress = compress}) end, 1)
    local built = {n = {1, 2}, s = {"a"}}
    exhaust(function() ladies.npz.write(path, built, {compress = compress}) end, 2)
    exhaust(function()
      local f <close> = ladies.npz.open(path)
      return f:names(), f:numbers "n", f:strings "s"
    end, 3)
  end
  ladies.npz.write(path, arrays)
  exhaust(function()
    local f <close> = ladies.npz.open(path)
    return f:tensor "t", f:index "x", f:text "text", f:numbers "t", f:shape "t", f:dtype "s"
  end, 10)
  exhaust(function()                                      -- left to the collector
    return ladies.npz.open(path):tensor "t"
  end, 5)
  local single = folder.path .. "/array.npy"
  exhaust(function() ladies.npy.write(single, {1, 2, 3}) end, 1)
  exhaust(function()
    return ladies.npy.read(single), ladies.npy.read(single, {as = "numbers"})
  end, 5)
  local left = shell.run{"ls", "-A", folder.path}
  lu.assertEquals(left, "array.npy\narrays.npz\n")        -- no half-written files
end

function tests.test_the_message()
  core.memory_fail_at(1)
  lu.assertErrorMsgMatches(".*test_memory.lua:%d+: out of memory: %d+ bytes wanted for tensor "
    .. "data, %d+ bytes in use", function() ladies.zeros(10) end)
end

return tests
