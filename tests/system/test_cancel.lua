--- Interruptions: for each of these calls the n-th look at the cancel flag finds it raised, for
-- n = 1, 2, ... until the call ends before. Whenever it was raised, the call fails with
-- an interruption and gives back all that it took; a result is never half of one.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"

local N = 3000

local tests = {}

function tests.setUp() ladies.threads(1) end

function tests.tearDown()
  core.cancel_at(0)
end

local function live()
  ladies.memory_trim()
  return ladies.memory().total
end

-- Calls with the n-th look raised: whether there was one, whether the call went well, its message.
local function attempt(n, call, ...)
  core.cancel_at(n)
  local ok, message = pcall(call, ...)
  return core.cancel_at(0), ok, not ok and message or nil
end

-- Asserts the above of call(given()), and that it looks at the flag at least `least` times.
local function interrupted(least, given, call)
  local n, was_raised, ok, message = 0
  repeat
    n = n + 1
    local before = live()
    was_raised, ok, message = attempt(n, call, given())
    if was_raised then
      lu.assertFalse(ok, "look " .. n .. " was passed over")
      lu.assertTrue(core.is_interruption(message), tostring(message))
      lu.assertEquals(live(), before, "after look " .. n)
    else
      lu.assertTrue(ok, message)
    end
  until not was_raised
  lu.assertTrue(n > least, ("only %d looks"):format(n - 1))
end

-- Every node points to the three behind it, so that the graph is not symmetric.
local function coordinates()
  local rows, cols = {}, {}
  for i = 1, N do
    for j = 1, 3 do
      rows[#rows + 1], cols[#cols + 1] = i, (i + j - 1) % N + 1
    end
  end
  return ladies.index(rows), ladies.index(cols)
end

local function graph(values)
  local rows, cols = coordinates()
  return ladies.matrix{n_rows = N, n_cols = N, rows = rows, cols = cols,
    values = values and ladies.ones(3 * N) or nil}
end

-- Makes the graph with the entries back, which is symmetric although the program does not know it.
local function both_ways()
  local rows, cols = coordinates()
  return ladies.matrix{n_rows = N, n_cols = N, rows = rows .. cols, cols = cols .. rows}
end

function tests.test_building()
  interrupted(4, coordinates, function(rows, cols)      -- three ranges of entries, twice
    return ladies.matrix{n_rows = N, n_cols = N, rows = rows, cols = cols}
  end)
  interrupted(2, function() return ladies.ones(N, 2) end, ladies.sparse)
end

function tests.test_transposes()
  for _, values in ipairs{false, true} do
    local function given() return graph(values) end
    local A = graph(values)
    interrupted(1, given, A.transpose)
    interrupted(2, both_ways, A.is_symmetric)
    interrupted(4, given, A.symmetrize)
    interrupted(2, given, function(M) return M:add_diag(1) end)
  end
end

--- The first draw may look for symmetry and transpose the whole graph.
function tests.test_columns()
  interrupted(8, function() return graph(true), ladies.rng(1) end, function(A, rng)
    return A:draw_cols(ladies.range(1, N), 8, {rng = rng, way = "two stages"})
  end)
end

--- A weighted draw that is long by itself can be interrupted in one row, and so in one chunk.
function tests.test_rows()
  interrupted(4, function()
    return ladies.sparse(ladies.ones(1, 5000)), ladies.ones(5000), ladies.rng(1)
  end, function(A, p, rng)
    return A:sample_rows(ladies.index{1}, 20, {p_cols = p, rng = rng})
  end)
end

function tests.test_draws()
  local p = ladies.ones(5000)
  local function given() return ladies.rng(1) end
  for _, options in ipairs{{}, {debias = true}, {draw = "poisson"}, {draw = "wr"}} do
    interrupted(0, given, function(rng)
      options.rng = rng
      return ladies.sampling.choice(p, 20, options)
    end)
  end
end

function tests.test_generators()
  local labels = ladies.range(1, 10)
  interrupted(5, function() return ladies.rng(1) end, function(rng)
    return ladies.generate.chung_lu(ladies.ones(10), labels, 30, 0.5, rng):components(),
      ladies.generate.blocks(labels, ladies.full(10, 10, 0.5), rng)
  end)
end

function tests.test_products()
  interrupted(2, function() return graph(true), ladies.ones(N, 4) end, function(A, x)
    return A:matmul(x), A:matmul_t(x), x:matmul(ladies.ones(4, 4))
  end)
end

--- A hook that is not for counts is not called by an interruption.
function tests.test_other_hooks()
  local events, x = {}, ladies.ones(N)
  debug.sethook(function(event) events[event] = true end, "l")
  local _, ok = attempt(1, x.sort, x)
  debug.sethook()
  lu.assertEquals({ok, events}, {false, {line = true}})
end

return tests
