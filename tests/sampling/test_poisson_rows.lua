--- The entries that poisson_rows keeps, and their weights, one by one against the definition: with
-- random numbers by entry, by column and given ones, for few entries and for more than columns.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local philox = require "reference.philox"

local index = ladies.index

local tests = {}

local N, SEED = 700, 5

-- Computes from the definition which entries rows keep: their positions in A, and their weights.
local function plain(A, rows, c, opts)
  local offsets, columns, key = A:offsets():to_table(), A:col_of():to_table(), philox.seed(SEED)
  local kept, weights = {}, {}
  for i, v in ipairs(rows:to_table()) do
    local own, certain = 0, opts.always and opts.always[v] or 0
    for e = offsets[v], offsets[v + 1] - 1 do
      local u, r = columns[e]
      local q = c[i] * (opts.pi and opts.pi[u] or 1)
      if e - offsets[v] + 1 == certain then
        q, r = 1, 0
      elseif opts.r then
        r = opts.r[u]
      else
        r = philox.uniform(philox.bits(key, 0, opts.shared and u - 1 or (v - 1 << 32) + own))
      end
      if e - offsets[v] + 1 ~= certain then own = own + 1 end
      if q >= 1 or r <= q then
        kept[#kept + 1], weights[#weights + 1] = e, q < 1 and 1 / q or 1
      end
    end
  end
  return index(kept), ladies.tensor(weights)
end

local function same(A, rows, c, opts, what)
  local kept, weights = plain(A, rows, c, opts)
  opts.rng = ladies.rng(SEED)
  local S, src, w = A:poisson_rows(rows, c, opts)
  lu.assertTrue(S.edge == kept, what)
  lu.assertTrue(w:hash() == weights:hash(), what)
  lu.assertTrue(src[S:col_of()] == A:col_of()[kept], what)
  return #kept
end

-- Rows of 350 entries or so, one of all columns and one of none.
local function matrix()
  local entries, rng = {}, ladies.rng(3)
  for v = 1, 39 do
    for u = 1, N do
      if v == 7 or rng:below(2) == 1 then entries[#entries + 1] = {v, u} end
    end
  end
  return graphs.matrix(N, entries)
end

function tests.test_every_entry()
  local A, rng = matrix(), ladies.rng(4)
  local pi, r = ladies.zeros(N):uniform_(0.1, 3, rng), ladies.zeros(N):uniform_(0, 1, rng)
  pi[8], pi[9], r[10], r[11] = 0, 1e30, -1, 2
  local always = A:diagonal()
  for _, rows in ipairs{ladies.range(1, 40), index{7}, index{3, 40}} do
    local c = ladies.zeros(#rows):uniform_(0, 0.05, rng)
    c[1] = 0.5
    if #rows == 40 then c[2], c[3], c[4], c[5], c[6], c[8] = 0, 1, 7, 1e-7, 1e20, r[20] end
    for bits = 0, 15 do
      local opts = {
        pi = bits & 1 > 0 and pi or nil, r = bits & 2 > 0 and r or nil, shared = bits & 4 > 0,
        always = bits & 8 > 0 and always or nil,
      }
      local what = ("%d rows, options %d"):format(#rows, bits)
      lu.assertTrue(same(A, rows, c, opts, what) > 20, what)
    end
  end
end

-- A number on the bound is kept, and the next one below it is not.
function tests.test_on_the_bound()
  local A = matrix()
  local rows, r = ladies.range(1, 39), ladies.full(N, 0.25)
  local below = 0.25 - 2 ^ -25
  lu.assertEquals(A:poisson_rows(rows, ladies.full(39, 0.25), {r = r, rng = ladies.rng(1)}).nnz,
    A.nnz)
  lu.assertEquals(A:poisson_rows(rows, ladies.full(39, below), {r = r, rng = ladies.rng(1)}).nnz, 0)
  local pi = ladies.full(N, 0.75)
  for _, c in ipairs{1 / 3, 0.1, 1e-3} do
    r:fill_(ladies.tensor{c}[1] * 0.75)
    same(A, rows, ladies.full(39, c), {pi = pi, r = r}, "on the bound")
  end
end

-- Bad factors are found as well where columns have levels.
function tests.test_refused()
  local A = matrix()
  local rows = ladies.range(1, 39)
  for _, bad in ipairs{-1, 0 / 0} do
    local pi = ladies.ones(N)
    pi[20] = bad
    lu.assertErrorMsgContains("poisson_rows: a probability must be finite and at least 0",
      A.poisson_rows, A, rows, ladies.full(39, 1e-6),
      {pi = pi, shared = true, rng = ladies.rng(1)})
  end
  local c = ladies.full(39, 1e-6)
  c[30] = -1
  lu.assertErrorMsgContains("poisson_rows: c must be at least 0, got -1 at position 30",
    A.poisson_rows, A, rows, c, {shared = true, rng = ladies.rng(1)})
end

return tests
