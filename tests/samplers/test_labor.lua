--- LABOR: its factors against bisection, its draws against their exact probabilities, its variance
-- against that of neighbour sampling, and random numbers shared by rows, layers and batches.
local lu = require "luaunit"
local ladies = require "ladies"
local dense = require "reference.dense"
local graphs = require "reference.graphs"
local reference = require "reference.labor"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"

local sampling, index, labor = ladies.sampling, ladies.index, ladies.samplers.labor
local fails = lu.assertErrorMsgContains

-- Standard errors of a mean that a right program passes once in a million.
local BOUND = 4.9

local tests = {}

-- ---------------------------------------------------------------- primitives

-- The numbers pi of the entries of row v, without its certain one, which is at place `kept`.
local function row_of(A, v, pi, kept)
  local row, col, own = A:row_of(), A:col_of(), {}
  local first = A:offsets()[v]
  for e = 1, A.nnz do
    if row[e] == v and e ~= first + (kept or 0) - 1 then own[#own + 1] = pi and pi[col[e]] or 1 end
  end
  return own
end

function tests.test_factors()
  dense.cases(function(A)
    local all, pi = ladies.range(1, 13), ladies.zeros(13):uniform_(1e-3, 2, ladies.rng(1))
    local loops = A:diagonal()
    for _, given in ipairs{{}, {pi = pi}, {always = loops}, {pi = pi, always = loops}} do
      for k = 1, 6 do
        local c = A:poisson_factors(all, k, given)
        for v = 1, 13 do
          local own = row_of(A, v, given.pi, given.always and loops[v])
          if #own > k then
            lu.assertAlmostEquals(c[v] / reference.factor(own, k), 1, 1e-5)
          end
          for _, x in ipairs(own) do
            lu.assertTrue(#own > k or c[v] * x >= 1, "all are kept")
          end
        end
      end
    end
    lu.assertEquals(A:poisson_factors(index{5, 2}, 3):to_table(),
      A:poisson_factors(all, 3)[index{5, 2}]:to_table())
  end)
end

function tests.test_factors_refuse()
  local A = graphs.star()
  fails("k must be 1 to", A.poisson_factors, A, index{1}, 0)
  fails("node 21 at position 1 is out of range", A.poisson_factors, A, index{21}, 2)
  fails("pi must be a vector of 20", A.poisson_factors, A, index{1}, 2, {pi = ladies.ones(3)})
  fails("pi must be positive and finite, got 0 for column 2 (row 1)", A.poisson_factors, A,
    index{1}, 2, {pi = ladies.zeros(20)})
  fails("always has 1 elements for 20 rows", A.poisson_factors, A, index{1}, 2, {always = index{1}})
  fails("always has place 30 for row 1", A.poisson_factors, A, index{1}, 2,
    {always = ladies.range(30, 49)})
end

-- Tests that the numbers are uniform, by how many fall into each of 20 equal intervals.
local function assert_uniform(numbers, what)
  local counts = statistics.count(#numbers, function(i)
    return math.min(20, math.floor(20 * numbers[i]) + 1)
  end)
  statistics.assert_frequencies(counts, tables.repeated(#numbers / 20, 20), what)
end

function tests.test_drift()
  local n = 20000
  local ids, rng = ladies.range(1, n), ladies.rng(5)
  local function at(t, nodes) return sampling.drift(nodes or ids, t, rng:at(1), rng:at(2)) end
  local before
  for i = 0, 8 do
    local r = at(i / 8)
    assert_uniform(r, i)
    lu.assertTrue(r:min() > 0 and r:max() < 1)
    if before then
      -- Neighbours in time are close: a correlation of cos(pi / 16) between normals.
      local near = (r - before):square():mean():item()
      lu.assertTrue(near < 0.01, near)
    end
    before = r
  end
  local far = (at(1) - at(0)):square():mean():item()              -- independent: 1/6
  lu.assertTrue(math.abs(far - 1 / 6) < BOUND * math.sqrt(7 / 180 / n), far)
  lu.assertEquals(at(1):hash(), sampling.drift(ids, 0, rng:at(2), rng:at(3)):hash())
  local some = index{77, 3, 19999}
  lu.assertEquals(at(0.3, some):to_table(), at(0.3)[some]:to_table())
  fails("t must be 0 to 1", sampling.drift, ids, 1.5, rng, rng)
  fails("drift: id", sampling.drift, index{0}, 0, rng, rng)
end

-- ---------------------------------------------------------------- the sampler

-- Returns {v = its neighbours} for the rows dst of P, without v itself when `apart`.
local function neighbours(P, dst, apart)
  local row, col, rows = P:row_of(), P:col_of(), {}
  for _, v in ipairs(dst:to_table()) do rows[v] = {} end
  for e = 1, P.nnz do
    local v, u = row[e], col[e]
    if rows[v] and not (apart and u == v) then table.insert(rows[v], u) end
  end
  return rows
end

local RUNS = 1200

-- Draws one layer RUNS times: how often each entry and each column was kept, and the running mean
-- of the number of columns. Asserts the weights.
local function counts_of(P, dst, opts, q)
  local sampler, rng = labor(P, opts), ladies.rng(9)
  local of_entry, of_column, size = {}, {}, statistics.running()
  for v in pairs(q) do of_entry[v] = {} end
  local values = P:to_dense()
  for i = 1, RUNS do
    local block = sampler(dst, rng:fork(i)).blocks[1]
    local row, col, value = block.adj:row_of(), block.adj:col_of(), block.adj:entry_values()
    local seen, n = {}, 0
    for e = 1, block.adj.nnz do
      local v, u = dst[row[e]], block.src[col[e]]
      if opts.self_nodes == "previous" and u == v then
        lu.assertAlmostEquals(value[e], values:get(v, v), 1e-6)
      else
        of_entry[v][u] = (of_entry[v][u] or 0) + 1
        if not seen[u] then seen[u], n = true, n + 1 end
        lu.assertAlmostEquals(value[e] * q[v][u] / values:get(v, u), 1, 1e-5)
      end
    end
    for u in pairs(seen) do of_column[u] = (of_column[u] or 0) + 1 end
    size.add(n)
  end
  return of_entry, of_column, size
end

-- Asserts that a count out of RUNS fits the probability q.
local function assert_count(count, q, what)
  local error = math.abs((count or 0) - RUNS * q)
  lu.assertTrue(error <= 5.5 * math.sqrt(RUNS * q * (1 - q)) + 1e-6,
    ("%s: %d of %d, probability %g"):format(what, count or 0, RUNS, q))
end

--- Every entry and every column is kept with its exact probability; a column as often as in the row
-- that wants it most, since rows share its number; the number of columns is the sum of these.
function tests.test_inclusion_probabilities()
  local P = graphs.random(25, 5, 3):normalize "row"
  local dst = index{4, 11, 2, 19, 7}
  local expected = {}
  for _, self_nodes in ipairs{"none", "previous"} do
    local rows = neighbours(P, dst, self_nodes == "previous")
    for _, iterations in ipairs{0, 1, 3} do
      local opts = {samples = {3}, iterations = iterations, self_nodes = self_nodes,
        form = "unbiased"}
      local q, of_column = reference.inclusions(rows, 3, iterations)
      local entries, columns, size = counts_of(P, dst, opts, q)
      local sum = 0
      for v, own in pairs(q) do
        for u, x in pairs(own) do assert_count(entries[v][u], x, ("entry %d %d"):format(v, u)) end
      end
      for u, x in pairs(of_column) do
        assert_count(columns[u], x, "column " .. u)
        sum = sum + x
      end
      lu.assertTrue(math.abs(size.mean() - sum) < BOUND * size.standard_error(), size.mean())
      expected[#expected + 1] = sum
    end
    local last = #expected
    lu.assertTrue(expected[last - 1] < expected[last - 2] and expected[last] < expected[last - 1])
  end
end

--- With iterations = "converge" no further iteration lowers the expected number of nodes by more
-- than 1e-4 of it.
function tests.test_convergence()
  local P = graphs.random(25, 5, 3):normalize "row"
  local dst = index{4, 11, 2, 19, 7}
  local function size(iterations)
    local _, columns = reference.inclusions(neighbours(P, dst), 3, iterations)
    local sum = 0
    for _, x in pairs(columns) do sum = sum + x end
    return sum
  end
  local function hash(iterations)
    local sampler = labor(P, {samples = {3}, iterations = iterations, self_nodes = "none"})
    return sampling.hash(sampler(dst, ladies.rng(1)))
  end
  local n = 1
  while hash(n) ~= hash "converge" do
    n = n + 1
    lu.assertTrue(n < 100)
  end
  lu.assertTrue(size(n - 1) >= size(n - 2) * (1 - 1.01e-4))
  lu.assertTrue(size(n - 2) < size(n - 3) * (1 - 0.99e-4))
end

--- The factors c do what their equation is for. For numbers of variance 1 the mean over the
-- neighbours has the expected variance of k neighbours drawn without replacement, 1/k - 1/d, in
-- every row: the mean of the sum of squared weights is 1/k.
function tests.test_variance_of_neighbour_sampling()
  local A = graphs.random(60, 8, 4):without_loops()
  local P, k = A:with_values(ladies.ones(A.nnz)):row_normalize(), 4
  local dst, degrees = ladies.range(1, 60), A:degrees()
  lu.assertTrue(degrees:max() > 2 * k)
  for _, iterations in ipairs{0, 1, "converge"} do
    local sampler, rng, runs = labor(P, {samples = {k}, iterations = iterations,
      form = "unbiased", self_nodes = "none"}), ladies.rng(3), {}
    for v = 1, 60 do runs[v] = statistics.running() end
    for i = 1, 700 do
      local squares = sampler(dst, rng:fork(i)).blocks[1].adj:row_sums(2):to_table()
      for v, x in ipairs(squares) do runs[v].add(x) end
    end
    for v, run in ipairs(runs) do
      local error = math.abs(run.mean() - 1 / math.min(k, degrees[v]))
      lu.assertTrue(error <= 5.5 * run.standard_error() + 1e-6,
        ("%s, node %d: %g"):format(iterations, v, run.mean()))
    end
  end
end

--- Layers with the same numbers make the same choice for a node: the seeds are in both.
function tests.test_layer_dependency()
  local P = graphs.random(400, 10, 8):normalize "row"
  local seeds = ladies.range(1, 40)
  for _, iterations in ipairs{0, 1} do
    local function shares(layer_dependency)
      local batch = labor(P, {samples = {3, 3}, layer_dependency = layer_dependency,
        iterations = iterations})(seeds, ladies.rng(2))
      local above, below = batch.blocks[2], batch.blocks[1]
      return #sampling.find(below.src:slice(#below.dst + 1, #below.src), above.src), #below.src
    end
    local _, apart = shares(false)
    local again, together = shares(true)
    lu.assertEquals(again, 0)
    lu.assertTrue(together < apart)
  end
  local batch = labor(P, {samples = {3, 3}, layer_dependency = true})(seeds, ladies.rng(2))
  local first = batch.blocks[1].adj:rows(ladies.range(1, 40))
  lu.assertEquals(first:row_of():to_table(), batch.blocks[2].adj:row_of():to_table())
  lu.assertEquals(first:col_of():to_table(), batch.blocks[2].adj:col_of():to_table())
end

--- With kappa each batch of the same seeds resembles the one before, even where r reaches one of
-- the numbers that it moves between; batches 2 kappa apart do not.
function tests.test_batch_dependency()
  local P = graphs.random(400, 10, 8):normalize "row"
  local seeds = ladies.range(1, 40)
  local function overlaps(kappa)
    local sampler = labor(P, {samples = {3}, batch_dependency = kappa})
    local shared, apart = {}, 0
    for seed = 1, 60 do
      local sources, rng = {}, ladies.rng(seed)
      for i = 1, 17 do
        sources[i] = sampler(seeds, rng:fork(i), {epoch = 1, index = i, rng = rng:fork(0)}).input
      end
      for i = 1, 16 do
        shared[i] = (shared[i] or 0) + (#sampling.find(sources[i], sources[i + 1]) - 40) / 60
      end
      apart = apart + #sampling.find(sources[1], sources[17]) - 40
    end
    table.sort(shared)
    return shared[1], apart / 60, shared[16]
  end
  local _, _, independent = overlaps(1)
  local shared, apart = overlaps(8)
  lu.assertTrue(shared > 1.5 * independent, shared .. " " .. independent)
  lu.assertTrue(apart < 1.15 * independent, apart .. " " .. independent)
end

function tests.test_errors()
  local P = graphs.star():normalize "row"
  local function rejects(message, ...)
    fails("ladies.samplers.labor: " .. message, labor, ...)
  end
  rejects('iterations must be a non-negative integer or "converge", got -1', P,
    {samples = {1}, iterations = -1})
  rejects('form must be one of mean, unbiased, got "means"; did you mean "mean"?', P,
    {samples = {5}, form = "means"})
  rejects("batch_dependency must be a positive integer, got 0", P,
    {samples = {5}, batch_dependency = 0})
  fails("ladies.samplers.labor: rng must be an Rng, got nil", labor(P, {samples = {5}}), index{1})
end

return tests
