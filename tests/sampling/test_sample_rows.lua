--- Sampling row by row: every outcome of a small row with its probability and weights (the
-- enumeration of reference/choice.lua), large rows by chi-square, structure against dense tables,
-- bits, errors.
local lu = require "luaunit"
local ladies = require "ladies"
local dense = require "reference.dense"
local reference = require "reference.choice"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"

local index, sampling = ladies.index, ladies.sampling
local fails = lu.assertErrorMsgContains

local tests = {}

-- n equal rows with an entry in each of d columns; the value of column j is j.
local function equal_rows(n, d)
  local columns, values, offsets = {}, {}, {1}
  for e = 1, n * d do columns[e], values[e] = (e - 1) % d + 1, (e - 1) % d + 1 end
  for r = 1, n do offsets[r + 1] = r * d + 1 end
  return ladies.csr{n_rows = n, n_cols = d, offsets = index(offsets), columns = index(columns),
    values = ladies.tensor(values)}
end

-- p, repeated for each of n rows.
local function repeated(p, n)
  local all = {}
  for r = 0, n - 1 do table.move(p, 1, #p, r * #p + 1, all) end
  return ladies.tensor(all)
end

-- --- every outcome ------------------------------------------------------------------------------

-- Entries and weights as text; the order of the entries does not count.
local function key_of(entries, w)
  local words = tables.map(entries, function(at, i) return ("%d:%.4g"):format(at, w[i]) end)
  table.sort(words)
  return table.concat(words, " ")
end

-- Returns the outcome of each row of S, a sample of equal rows with d entries: a list of key_of.
local function outcomes_of(S, w, d)
  local edge, row, list = S.edge:to_table(), S:row_of():to_table(), {}
  local weights, entries, of_row = w:to_table(), {}, {}
  for r = 1, S.n_rows do entries[r], of_row[r] = {}, {} end
  for e, r in ipairs(row) do
    table.insert(entries[r], (edge[e] - 1) % d + 1)
    table.insert(of_row[r], weights[e])
  end
  for r = 1, S.n_rows do list[r] = key_of(entries[r], of_row[r]) end
  return list
end

-- Outcomes of the reference as {key = probability}; asserts that the weights are unbiased.
local function expected_outcomes(p, k, opts, biased)
  local outcomes, expected = reference.outcomes(p, k, opts), {}
  local f, total = {}, 0
  for u, x in ipairs(p) do f[u] = x > 0 and u * u or 0; total = total + f[u] end
  if not biased then lu.assertAlmostEquals(reference.mean(outcomes, f), total, 1e-9) end
  for _, o in ipairs(outcomes) do
    local key = key_of(o.pick, o.w)
    expected[key] = (expected[key] or 0) + o.probability
  end
  return expected
end

local ROWS = 4000
local EVEN, UNEVEN = {1, 1, 1, 1, 1}, {0.5, 2.5, 0, 1, 1.5}

local VARIANTS = {
  {p = EVEN, given = {}, reference = {}},
  {p = EVEN, given = {replace = true}, reference = {draw = "wr"}},
  {p = UNEVEN, given = {}, reference = {}, weighted = true, biased = true},
  {p = UNEVEN, given = {debias = true}, reference = {debias = true}, weighted = true},
  {p = UNEVEN, given = {replace = true}, reference = {draw = "wr"}, weighted = true},
}

function tests.test_every_outcome()
  local A, rng = equal_rows(ROWS, 5), ladies.rng(1)
  for v, variant in ipairs(VARIANTS) do
    for k = 1, 5 do
      for _, kept in ipairs{false, 2} do
        for _, by_column in ipairs(variant.weighted and {false, true} or {false}) do
          local given = {rng = rng}
          for name, value in pairs(variant.given) do given[name] = value end
          if variant.weighted and by_column then
            given.p_cols = ladies.tensor(variant.p)
          elseif variant.weighted then
            given.p = repeated(variant.p, ROWS)
          end
          variant.reference.always = nil
          if kept then
            variant.reference.always = {kept}
            local always = {}
            for r = 1, ROWS do always[r] = kept end
            given.always = index(always)
          end
          local S, src, w = A:sample_rows(ladies.range(1, ROWS), k, given)
          lu.assertTrue(#src <= 5)
          statistics.assert_probabilities(outcomes_of(S, w, 5),
            expected_outcomes(variant.p, k, variant.reference, variant.biased),
            ("variant %d, k = %d, always %s"):format(v, k, kept))
        end
      end
    end
  end
end

--- With count, w is the multiplicity: k in all with replacement, else one each.
function tests.test_counts()
  local A, all, rng = equal_rows(300, 7), ladies.range(1, 300), ladies.rng(2)
  local p = ladies.tensor{1, 2, 0, 4, 5, 6, 7}
  for _, p_cols in ipairs{false, p} do
    local S, _, w = A:sample_rows(all, 9, {replace = true, count = true, rng = rng,
      p_cols = p_cols or nil})
    local sums = S:with_values(w):row_sums()
    lu.assertEquals({sums:min(), sums:max()}, {9, 9})
    S, _, w = A:sample_rows(all, 3, {count = true, rng = rng, p_cols = p_cols or nil})
    lu.assertEquals({w:min(), w:max(), S.nnz}, {1, 1, 900})
  end
end

-- --- larger rows --------------------------------------------------------------------------------

--- All pairs of 70 entries are equally likely, across the words of the bitmap.
function tests.test_pairs_are_equally_likely()
  local n, d = 24150, 70
  local S = equal_rows(n, d):sample_rows(ladies.range(1, n), 2, {rng = ladies.rng(5)})
  local col = S.edge:to_table()
  lu.assertEquals(S.nnz, 2 * n)
  statistics.assert_frequencies(statistics.count(n, function(r)
    local low, high = (col[2 * r - 1] - 1) % d, (col[2 * r] - 1) % d
    lu.assertTrue(low < high)
    return high * (high - 1) // 2 + low + 1
  end), tables.repeated(10, d * (d - 1) // 2))
end

--- Each of 3000 entries is drawn as often as its probability says, with weights that fall by a
-- factor of 50.
function tests.test_long_rows()
  local d, k, rows, rng = 3000, 400, 40, ladies.rng(6)
  local A, p = equal_rows(rows, d), ladies.zeros(d)
  local total = 0
  for u = 1, d do p[u] = u % 10 == 0 and 0 or 1 + 49 * u / d; total = total + p[u] end
  for _, p_cols in ipairs{false, p} do
    for _, replace in ipairs{false, true} do
      if not (p_cols and not replace) then
        local S, _, w = A:sample_rows(ladies.range(1, rows), k,
          {replace = replace, count = true, p_cols = p_cols or nil, rng = rng})
        local counts, means, edge, times = {}, {}, S.edge:to_table(), w:to_table()
        for u = 1, d do means[u] = rows * k * (p_cols and p[u] / total or 1 / d) end
        for e, at in ipairs(edge) do
          local u = (at - 1) % d + 1
          counts[u] = (counts[u] or 0) + times[e]
          lu.assertTrue(means[u] > 0)
        end
        statistics.assert_frequencies(counts, means)
      end
    end
  end
  -- Weighted without replacement: the debiased estimate of a sum.
  local run = statistics.running()
  local S, _, w = A:sample_rows(ladies.range(1, rows), k, {debias = true, p_cols = p, rng = rng})
  local sums, want = S:scale_entries(w):row_sums(), 0
  for u = 1, d do want = want + (p[u] > 0 and u or 0) end
  for r = 1, rows do run.add(sums[r]) end
  lu.assertTrue(math.abs(run.mean() - want) < 4 * run.standard_error())
end

-- --- structure ----------------------------------------------------------------------------------

-- S must be some entries of A's rows dst, with A's values and scales, `most` at most in a row.
local function assert_sample(S, src, dst, A, D, first, most)
  local row, col, edge, value = S:row_of(), S:col_of(), S.edge, S:entry_values()
  local parent_row, parent_col, touched = A:row_of(), A:col_of(), {}
  lu.assertEquals({S.n_rows, S.n_cols}, {#dst, #src})
  for i = 1, #first do lu.assertEquals(src[i], first[i]) end
  lu.assertEquals(#sampling.unique(src), #src)
  for e = 1, S.nnz do
    local v, u = dst[row[e]], src[col[e]]
    lu.assertEquals({parent_row[edge[e]], parent_col[edge[e]]}, {v, u})
    lu.assertAlmostEquals(value[e], D[v][u], 1e-6 * math.abs(D[v][u]))
    if e > 1 and row[e] == row[e - 1] then lu.assertTrue(edge[e] > edge[e - 1]) end
    touched[u] = true
  end
  for j = #first + 1, #src do lu.assertTrue(touched[src[j]]) end
  local degrees, parent = S:degrees(), A:degrees(dst)
  for i = 1, #dst do lu.assertEquals(degrees[i], math.min(parent[i], most)) end
end

function tests.test_structure()
  local rng = ladies.rng(7)
  dense.cases(function(A, D)
    local r, c = dense.random_vector(13), dense.random_vector(13)
    for _, pair in ipairs{{A, D}, {A:scale_rows(r):scale_cols(c), dense.scale(D, r, c)}} do
      for _, k in ipairs{0, 1, 3, 20} do
        local dst = dense.some(13, 6)
        for _, first in ipairs{index{}, index{5, 2, 13}, dst} do
          local S, src, w = pair[1]:sample_rows(dst, k, {first = first, rng = rng})
          assert_sample(S, src, dst, pair[1], pair[2], first, k)
          local parent, row = pair[1]:degrees(dst), S:row_of()
          for e = 1, S.nnz do
            lu.assertAlmostEquals(w[e], math.max(1, parent[row[e]] / k), 1e-6)
          end
        end
        local whole, src = pair[1]:sample_rows(dst, 20, {rng = rng})
        local U, near = pair[1]:slice(dst)
        lu.assertTrue(src == near)
        lu.assertEquals(whole:hash(), U:hash())
      end
    end
  end)
end

--- S.edge of a sample of a slice counts in the graph.
function tests.test_samples_of_slices()
  local rng = ladies.rng(8)
  dense.cases(function(A)
    local dst = dense.some(13, 8)
    for _, U in ipairs{(A:slice(dst)), A:slice(dst, dense.some(13, 9)),
      (A:sample_rows(dst, 4, {rng = rng}))} do
      local S = U:sample_rows(index{7, 2}, 2, {rng = rng})
      local parent = A:row_of()
      local row, edge = S:row_of(), S.edge
      for e = 1, S.nnz do lu.assertEquals(parent[edge[e]], dst[index{7, 2}[row[e]]]) end
      local wanted = S.nnz == 0 and {} or A:entry_values()[S.edge]:to_table()
      lu.assertEquals(S:entry_values():to_table(), wanted)
    end
  end)
end

function tests.test_diagonal()
  dense.cases(function(A, D)
    local diagonal, row, col = A:diagonal(), A:row_of(), A:col_of()
    local offsets = A:offsets()
    for v = 1, 13 do
      local place = diagonal[v]
      lu.assertEquals(place > 0, D[v][v] ~= nil)
      local at = offsets[v] + place - 1
      if place > 0 then lu.assertEquals({row[at], col[at]}, {v, v}) end
    end
    local all = ladies.range(1, 13)
    local S, src = A:sample_rows(all, 1, {always = diagonal, first = all, rng = ladies.rng(9)})
    local loops, degrees, parent = S:diagonal(), S:degrees(), A:degrees()
    lu.assertTrue(src:slice(1, 13) == all)
    for v = 1, 13 do
      lu.assertEquals(loops[v] > 0, D[v][v] ~= nil)
      lu.assertEquals(degrees[v], math.min(parent[v], D[v][v] and 2 or 1))
    end
  end)
end

-- --- bits ---------------------------------------------------------------------------------------

local function graph()
  return ladies.generate.power_law{nodes = 4000, entries = 60000, features = 1, seed = 3}.graph
    :normalize "sym"
end

--- Bits are the same whatever the number of threads, and a row's draw does not depend on the other
-- rows.
function tests.test_same_bits()
  local A = graph()
  local rows, p = sampling.permutation(4000, ladies.rng(1)), ladies.zeros(4000)
  p:uniform_(0, 1, ladies.rng(2))
  local calls = {
    function(dst, rng) return A:sample_rows(dst, 5, {first = dst, rng = rng}) end,
    function(dst, rng) return A:sample_rows(dst, 9, {replace = true, rng = rng}) end,
    function(dst, rng) return A:sample_rows(dst, 5, {p_cols = p, rng = rng}) end,
    function(dst, rng)
      return A:sample_rows(dst, 5, {p_cols = p, debias = true, always = A:diagonal(), rng = rng})
    end,
    function(dst, rng) return A:sample_rows(dst, 5, {p_cols = p, replace = true, rng = rng}) end,
    function(dst, rng) return A:poisson_rows(dst, ladies.full(#dst, 0.3), {rng = rng}) end,
    function(dst, rng)
      return A:poisson_rows(dst, ladies.full(#dst, 0.3), {pi = p, shared = true, rng = rng})
    end,
  }
  for i, call in ipairs(calls) do
    local function bits(dst, seed)
      local S, src, w = call(dst, ladies.rng(seed))
      return S:hash() .. src:hash() .. w:hash() .. S.edge:hash()
    end
    local want = bits(rows, i)
    lu.assertNotEquals(bits(rows, i + 100), want)
    for _, n in ipairs{1, 2, 4} do
      ladies.threads(n)
      lu.assertEquals(bits(rows, i), want)
    end
    local S, _, w = call(rows, ladies.rng(i))
    local T, _, v = call(rows:slice(1001, 1001), ladies.rng(i))
    local place = S:offsets()
    local own = ladies.range(place[1001], place[1002] - 1)
    lu.assertTrue(T.edge == S.edge[own])
    lu.assertEquals(v:to_table(), w[own]:to_table())
    -- One sub-stream a call.
    local a, b = ladies.rng(i), ladies.rng(i)
    call(rows, a)
    b:below(2)
    lu.assertEquals(tostring(a), tostring(b))
  end
end

-- --- limits and errors --------------------------------------------------------------------------

function tests.test_nothing_to_draw()
  local A = ladies.matrix{n_rows = 3, n_cols = 3, rows = index{1, 1}, cols = index{2, 3}}
  local rng = ladies.rng(1)
  for _, opts in ipairs{{}, {replace = true}, {p = ladies.ones(2)},
    {p = ladies.ones(2), replace = true}} do
    opts.rng = rng
    local S, src, w = A:sample_rows(index{}, 2, opts)
    lu.assertEquals({S.n_rows, S.n_cols, S.nnz, #src, #w}, {0, 0, 0, 0, 0})
    S, src, w = A:sample_rows(index{2, 3}, 2, opts)
    lu.assertEquals({S.n_rows, S.n_cols, S.nnz, #src, #w}, {2, 0, 0, 0, 0})
    S = A:sample_rows(index{1, 2}, 0, opts)
    lu.assertEquals({S.n_rows, S.nnz}, {2, 0})
    if opts.p then
      opts.p = ladies.zeros(2)
      lu.assertEquals(A:sample_rows(index{1, 2}, 2, opts).nnz, 0)
    end
  end
  lu.assertEquals(A:poisson_rows(index{}, ladies.zeros(0), {rng = rng}).nnz, 0)
  lu.assertEquals(A:poisson_rows(index{1}, ladies.zeros(1), {rng = rng}).nnz, 0)
  lu.assertEquals(A:poisson_rows(index{1}, ladies.ones(1), {rng = rng}).nnz, 2)
end

function tests.test_refused()
  local A, rng = equal_rows(3, 4), ladies.rng(1)
  local function refused(message, dst, k, opts)
    opts.rng = opts.rng == nil and rng or opts.rng
    fails("sample_rows: " .. message, A.sample_rows, A, index(dst), k, opts)
  end
  refused("node 4 at position 2 is out of range 1..3", {1, 4}, 1, {})
  refused("node 2 occurs twice, at positions 1 and 3", {2, 1, 2}, 1, {})
  refused("first column 5 at position 1 is out of range 1..4", {1}, 1, {first = index{5}})
  refused("first column 3 occurs twice", {1}, 1, {first = index{3, 3}})
  refused("k must be 0 to 2147483647, got -1", {1}, -1, {})
  refused("p must be a vector of 12, one for every entry, got 4", {1}, 1, {p = ladies.ones(4)})
  refused("p_cols must be a vector of 4, one for every column, got 2 x 2", {1}, 1,
    {p_cols = ladies.ones(2, 2)})
  refused("p and p_cols do not go together", {1}, 1, {p = ladies.ones(12), p_cols = ladies.ones(4)})
  refused("debias is for weighted draws without replacement", {1}, 1, {debias = true})
  refused("debias is for weighted draws", {1}, 1,
    {debias = true, replace = true, p_cols = ladies.ones(4)})
  refused("always has 2 elements for 3 rows", {1}, 1, {always = index{0, 0}})
  refused("always has place 5 for row 2, which has 4 entries", {1, 2}, 1,
    {always = index{0, 5, 0}})
  refused("p must be of class Tensor, got 3", {1}, 1, {p = 3})
  refused('unknown option "relpace"; did you mean "replace"?', {1}, 1, {relpace = true})
  for _, replace in ipairs{false, true} do
    refused("a probability must be finite and at least 0, got -2 for column 3 (row 2)", {2}, 1,
      {p_cols = ladies.tensor{1, 1, -2, 1}, replace = replace})
    refused("a probability must be finite and at least 0, got nan for entry 6 (row 2)", {2, 3}, 1,
      {p = ladies.tensor{1, 1, 1, 1, 1, 0 / 0, 1, 1, 1, 1, 1, 1}, replace = replace})
    refused("a probability must be finite and at least 0, got inf for column 1 (row 1)", {1}, 1,
      {p_cols = ladies.tensor{math.huge, 1, 1, 1}, replace = replace})
  end
  refused("a weight in row 1 passes float32", {1}, 3,
    {p_cols = ladies.tensor{3e38, 1e-38, 1e-38, 1e-38}})
  fails("sample_rows: the option rng is missing", A.sample_rows, A, index{1}, 1)
  local function refused_poisson(message, c, opts)
    opts.rng = rng
    fails("poisson_rows: " .. message, A.poisson_rows, A, index{1, 2}, ladies.tensor(c), opts)
  end
  refused_poisson("c must be a vector of 2, one for every row, got 3", {1, 1, 1}, {})
  refused_poisson("c must be at least 0, got -1 at position 2", {1, -1}, {})
  refused_poisson("c must be at least 0, got nan at position 1", {0 / 0, 1}, {})
  refused_poisson("a probability must be finite and at least 0, got -3 for column 2 (row 1)",
    {1, 1}, {pi = ladies.tensor{1, -3, 1, 1}})
  refused_poisson("pi must be a vector of 4", {1, 1}, {pi = ladies.ones(3)})
  refused_poisson("r must be a vector of 4", {1, 1}, {r = ladies.ones(3)})
  fails("scale_entries: a vector of 12 expected, got 2", A.scale_entries, A, ladies.ones(2))
end

return tests
