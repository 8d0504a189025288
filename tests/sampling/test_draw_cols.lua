--- P:draw_cols, by the scan and in two stages, against complete enumeration (reference/choice.lua),
-- against each other on a larger graph, and at its limits.
local lu = require "luaunit"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local outcomes = require "reference.outcomes"
local reference = require "reference.choice"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"

local sampling, index = ladies.sampling, ladies.index

local WAYS = {"scan", "two stages"}

local tests = {}

-- The options with `extra` ones, and the Index in place of the table.
local function options_of(opts, extra)
  local given = tables.merged(opts, extra)
  given.always = given.always and index(given.always)
  return given
end

-- --- enumeration --------------------------------------------------------------------------------

-- Six nodes, a column that holds most of the mass, one that dst does not touch, unequal rows.
local function skewed()
  return graphs.matrix(6, {{1, 1, 3}, {1, 2, 0.5}, {1, 3, 1}, {2, 1, 9}, {2, 4, 0.5}, {3, 3, 0.25},
    {3, 4, 1}, {4, 6, 1}, {5, 2, 2}, {6, 1, 1}})
end

-- An undirected graph, whose structure is its own transpose.
local function undirected()
  return graphs.matrix(6, {{1, 2}, {2, 3}, {3, 4}, {1, 4}, {1, 5}, {4, 5}, {5, 6}}):symmetrize()
end

-- An entry of zero in row 1, and row 3, which has no mass although it has entries.
local function with_zeros()
  return graphs.matrix(6, {{1, 1, 1}, {1, 2, 0}, {1, 3, 2}, {2, 3, 1}, {2, 5, 1}, {3, 4, 2}})
    :scale_rows(ladies.tensor{1, 1, 0, 1, 1, 1})
end

local MATRICES = {
  {"skewed", skewed(), {1, 2, 3}}, {"skewed rows", skewed():normalize "row", {2, 3}},
  {"undirected sym", undirected():normalize "sym", {5, 1}},
  {"undirected row", undirected():normalize("row", {self_loops = false}), {4, 1, 6}},
  {"undirected", undirected(), {2, 5, 1}}, {"zeros", with_zeros(), {3, 1, 2}},
  {"one row", skewed(), {1}},
}

local OPTIONS = {
  {}, {debias = true}, {draw = "wr"}, {always = {3, 6}}, {always = {1}, debias = true},
  {always = {1, 4}, draw = "wr"}, {union = "post"}, {always = {6, 1}, union = "post"},
  {draw = "poisson"}, {power = 1}, {power = 1, draw = "wr"}, {power = 1, debias = true},
}

-- The columns' exact sums of |entry|^power in the rows dst, over all columns.
local function column_sums(A, dst, power)
  local dense, p = A:to_dense(), {}
  for u = 1, A.n_cols do
    p[u] = 0
    for _, v in ipairs(dst) do p[u] = p[u] + dense:get(v, u) ^ power end
  end
  return p
end

local function positive_outside(p, always)
  local n, inside = 0, {}
  for _, u in ipairs(always or {}) do inside[u] = true end
  for u, x in ipairs(p) do n = n + (x > 0 and not inside[u] and 1 or 0) end
  return n
end

-- The options for the reference: in two stages debiased weights go by a bound of the support.
local function expected_of(A, dst, k, opts, p, way)
  local given = tables.merged(opts)
  if way == "two stages" then
    local values, entries = A:rows(index(dst)):entry_values(), 0
    for e = 1, #values do entries = entries + (values[e] ~= 0 and 1 or 0) end
    given.bound = math.min(entries, A.n_cols)
  end
  return reference.outcomes(p, k, given)
end

-- src and w as plain tables, what is behind the first ones in ascending order if `any_order`.
local function in_order(src, w, first, any_order)
  local pairs_of = {}
  for i = 1, #src do pairs_of[i] = {src[i], w[i]} end
  if any_order then
    local drawn = table.move(pairs_of, first + 1, #pairs_of, 1, {})
    table.sort(drawn, function(a, b) return a[1] < b[1] end)
    table.move(drawn, 1, #drawn, first + 1, pairs_of)
  end
  local pick, weights = {}, {}
  for i, pair in ipairs(pairs_of) do pick[i], weights[i] = pair[1], pair[2] end
  return pick, weights
end

-- Calls f(name, A, dst, k, opts, p) for every case.
local function every_case(f)
  for _, matrix in ipairs(MATRICES) do
    for o, opts in ipairs(OPTIONS) do
      for k = 2, 3 do
        local name = ("%s, options %d, k = %d"):format(matrix[1], o, k)
        f(name, matrix[2], matrix[3], k, opts, column_sums(matrix[2], matrix[3], opts.power or 2))
      end
    end
  end
end

-- The sum over the columns that can be drawn, and those that are always there, of their numbers.
local function sum_of(p, always)
  local sum = 0
  for u, x in ipairs(p) do sum = sum + (x > 0 and u or 0) end
  for _, u in ipairs(always) do sum = sum + (p[u] > 0 and 0 or u) end
  return sum
end

--- Every ordered outcome with its probability and its weights; those that are debiased have the
-- exact mean over all outcomes, by their exact probabilities.
function tests.test_every_outcome()
  every_case(function(name, A, dst, k, opts, p)
    local before = opts.union ~= "post" and opts.always or {}
    local everything = (opts.draw or "wor") ~= "wr" and k >= positive_outside(p, before)
    for seed, way in ipairs(WAYS) do
      local expected = expected_of(A, dst, k, opts, p, way)
      local rows, given = index(dst), options_of(opts, {way = way, rng = ladies.rng(seed)})
      local any_order = everything and opts.union ~= "post" or opts.draw == "poisson"
      local found = outcomes.check(name .. ", " .. way, expected, 600, function()
        local _, src, w = A:draw_cols(rows, k, given)
        return in_order(src, w, #before, any_order)
      end)
      if opts.debias then
        for _, o in ipairs(found) do o.w = o.got or o.w end
        local want = sum_of(p, before)
        lu.assertAlmostEquals(reference.mean(found, {1, 2, 3, 4, 5, 6}), want, 1e-3 * want, name)
      end
    end
  end)
end

-- --- a larger graph -----------------------------------------------------------------------------

local function power_law(kind)
  return ladies.generate.power_law{nodes = 3000, entries = 90000, features = 1, seed = 3}.graph
    :normalize(kind)
end

-- Returns such a matrix without symmetry, and with values.
local function weighted()
  local A = power_law "row"
  return A:with_values(ladies.zeros(A.nnz):uniform_(0.1, 2, ladies.rng(4)))
end

local LARGE = {power_law "sym", power_law "row", weighted()}

--- Columns are drawn as often as they should be: with replacement by p, without it as by the scan.
-- The blocks are slices, and the weights follow from p alone.
function tests.test_frequencies()
  for g, P in ipairs(LARGE) do
    local dst = sampling.uniform(3000, 40, {rng = ladies.rng(g)})
    local U, near = P:slice(dst)
    local p, total = U:col_sums(2), U:col_sums(2):sum():item()
    local position = {}
    for i = 1, #near do position[near[i]] = i end
    local counts, expected = {}, {}
    for i = 1, #near do counts[i], expected[i] = 0, 40 * 100 * p[i] / total end
    local rng = ladies.rng(g)
    for _ = 1, 100 do
      local V, src, w = P:draw_cols(dst, 40, {draw = "wr", way = "two stages", rng = rng})
      lu.assertTrue(V:hash() == P:slice(dst, src):hash())
      for j = 1, #src do
        local i = position[src[j]]
        local times = w[j] * 40 * p[i] / total
        lu.assertTrue(math.abs(times - math.floor(times + 0.5)) < 1e-4)
        counts[i] = counts[i] + math.floor(times + 0.5)
      end
    end
    statistics.assert_frequencies(counts, expected)
  end
end

--- Two samples of how often a column is among those drawn without replacement.
function tests.test_inclusion_by_both_ways()
  for g, P in ipairs(LARGE) do
    local dst = sampling.uniform(3000, 20, {rng = ladies.rng(10 + g)})
    local statistic, cells, counts = 0, 0, {}
    for i, way in ipairs(WAYS) do
      local rng = ladies.rng(20 + i)
      for _ = 1, 200 do
        local src = select(2, P:draw_cols(dst, 60, {way = way, rng = rng}))
        for j = 1, #src do
          local pair = counts[src[j]] or {0, 0}
          counts[src[j]], pair[i] = pair, pair[i] + 1
        end
      end
    end
    -- A difference varies no more than that of two binomial counts: the bound is on the safe side.
    for _, pair in pairs(counts) do
      local sum = pair[1] + pair[2]
      if sum >= 20 then statistic, cells = statistic + (pair[1] - pair[2]) ^ 2 / sum, cells + 1 end
    end
    lu.assertTrue(cells > 50)
    lu.assertTrue(statistic < cells + 5 * math.sqrt(2 * cells), statistic / cells)
  end
end

--- Columns with equal entries have equal weights, bit for bit nearly, whichever way they were
-- drawn.
function tests.test_weights_follow_from_the_draw()
  for g, P in ipairs(LARGE) do
    for _, opts in ipairs{{}, {debias = true}, {union = "post", always = {5, 9}},
      {always = {5, 9, 77}}, {always = {5, 9, 77}, debias = true}, {power = 1}} do
      local dst = sampling.uniform(3000, 60, {rng = ladies.rng(g)})
      local V, src, w = P:draw_cols(dst, 50, options_of(opts, {way = "two stages",
        rng = ladies.rng(g)}))
      lu.assertEquals(V:hash(), P:slice(dst, src):hash())
      lu.assertTrue(V.edge == P:slice(dst, src).edge)
      local p, w_of = P:slice(dst):col_sums(opts.power or 2), P:slice(dst, src)
      local sums, before = w_of:col_sums(opts.power or 2), 0
      local total, n = p:sum():item(), #p
      local first = opts.union ~= "post" and opts.always and #opts.always or 0
      for i = 1, first do
        lu.assertEquals(w[i], 1)
        total, n = total - sums[i], n - (sums[i] > 0 and 1 or 0)
      end
      for i = first + 1, first + 50 do
        local want = total / (50 * sums[i])
        if opts.union == "post" then want = total / sums[i] end
        if not opts.debias then lu.assertAlmostEquals(w[i], want, 1e-5 * want) end
        before = before + sums[i]
      end
      lu.assertTrue(before < total and n > 50)
    end
  end
end

--- Sums of f over the columns touched: within four standard errors.
function tests.test_monte_carlo_means()
  for g, P in ipairs(LARGE) do
    local dst = sampling.uniform(3000, 60, {rng = ladies.rng(g)})
    local _, near = P:slice(dst)
    local f = ladies.zeros(3000):uniform_(0, 1, ladies.rng(7))
    local total = f[near]:sum():item()
    for _, opts in ipairs{{debias = true}, {draw = "wr"}, {debias = true, always = {2, 8, 21}}} do
      local run, rng = statistics.running(), ladies.rng(g)
      local touched = 0
      for _, u in ipairs(opts.always or {}) do
        if #sampling.find(near, index{u}) == 0 then touched = touched + f[u] end
      end
      local given = options_of(opts, {way = "two stages", rng = rng})
      for _ = 1, 150 do
        local _, src, w = P:draw_cols(dst, 200, given)
        run.add((w * f[src]):sum():item())
      end
      lu.assertTrue(math.abs(run.mean() - total - touched) < 4 * run.standard_error())
    end
  end
end

--- The numbers alone decide which way is taken; each way, alone, has its own draws.
function tests.test_the_way_taken()
  local P = LARGE[1]
  local function src_of(dst, k, way)
    return select(2, P:draw_cols(dst, k, {way = way, rng = ladies.rng(5)}))
  end
  local many, few = sampling.permutation(3000, ladies.rng(1)):slice(1, 500), index{17}
  lu.assertFalse(src_of(many, 64, "scan") == src_of(many, 64, "two stages"))
  lu.assertTrue(src_of(many, 64, "cost") == src_of(many, 64, "two stages"))
  local half = P:degrees(few):item() // 2
  lu.assertFalse(src_of(few, half, "scan") == src_of(few, half, "two stages"))
  lu.assertTrue(src_of(few, half, "cost") == src_of(few, half, "scan"))
  lu.assertFalse(src_of(many, 1600, "scan") == src_of(many, 1600, "two stages"))
  lu.assertTrue(src_of(many, 1600, "cost") == src_of(many, 1600, "scan"))
end

--- The scan is, bit for bit, the long form.
function tests.test_scan_is_the_long_form()
  for _, P in ipairs(LARGE) do
    for _, opts in ipairs(OPTIONS) do
      local dst = sampling.uniform(3000, 60, {rng = ladies.rng(2)})
      local keep = opts.always and index(opts.always)
      local V, got, v = P:draw_cols(dst, 30, options_of(opts, {way = "scan", rng = ladies.rng(3)}))
      local U, near = P:slice(dst, {first = keep})
      local pick, w = sampling.choice(U:col_sums(opts.power or 2), 30, {draw = opts.draw,
        debias = opts.debias, union = opts.union, rng = ladies.rng(3),
        always = keep and ladies.range(1, #keep)})
      lu.assertTrue(got == near[pick])
      lu.assertEquals(v:hash(), w:hash())
      lu.assertEquals(V:hash(), U:pick_cols(pick):hash())
    end
  end
end

-- --- bits, memory, threads ----------------------------------------------------------------------

function tests.test_streams_and_threads()
  for _, P in ipairs(LARGE) do
    local dst = sampling.uniform(3000, 200, {rng = ladies.rng(2)})
    for _, way in ipairs(WAYS) do
      local function bits(rng)
        local U, src, w = P:scale_rows(ladies.ones(3000)):draw_cols(dst, 50, {way = way, rng = rng})
        return U:hash() .. src:hash() .. w:hash()
      end
      local rng = ladies.rng(7)
      local want, shared = bits(rng), rng:at(5)
      lu.assertNotEquals(bits(rng), want)
      lu.assertEquals(bits(shared), bits(shared))
      for _, n in ipairs{1, 2, 4} do
        ladies.threads(n)
        lu.assertEquals(bits(ladies.rng(7)), want)
      end
      local a, b = ladies.rng(8), ladies.rng(8)                 -- one sub-stream a call
      bits(a)
      b:below(2)
      lu.assertEquals(tostring(a), tostring(b))
    end
  end
end

--- Workers share the matrix with what is kept of it: the same batches, whoever makes them first.
function tests.test_workers()
  local nodes = ladies.range(1, 3000)
  for g = 1, #LARGE do
    local function hashes(workers)
      local P, list = LARGE[g]:scale_rows(ladies.ones(3000)), {}
      local sampler = function(seeds, rng)
        local U, src, w = P:draw_cols(seeds, 4, {rng = rng, way = "two stages"})
        return {blocks = {{adj = U:scale_cols(w), dst = seeds, src = src}}, input = src,
          output = seeds}
      end
      for batch in ladies.batches(nodes, {batch_size = 300, sampler = sampler, workers = workers,
        seed = 1}) do
        list[#list + 1] = sampling.hash(batch)
      end
      return list
    end
    local want = hashes(0)
    lu.assertEquals(#want, 10)
    lu.assertEquals(hashes(1), want)
    lu.assertEquals(hashes(3), want)
  end
end

--- A call whose n-th allocation fails, for every n, raises a clean error, and keeps only what a
-- call keeps that succeeds.
function tests.test_out_of_memory()
  local P = skewed()
  for _, opts in ipairs{{}, {debias = true, always = {3}}, {draw = "wr"},
    {union = "post", always = {6, 1}}} do
    for _, way in ipairs(WAYS) do
      local function call()
        local A = P:scale_rows(ladies.ones(6))
        return A:draw_cols(index{1, 2, 3}, 2, options_of(opts, {way = way, rng = ladies.rng(1)}))
      end
      call()
      lu.assertTrue(every_allocation(call) > 10)
    end
  end
end

-- --- limits and errors --------------------------------------------------------------------------

--- Matrices that cannot be drawn from in two stages are scanned.
function tests.test_scanned_when_it_must_be()
  local rows = index{1, 2, 3}
  local function same(A, opts)
    local found = {}
    for i, way in ipairs(WAYS) do
      local U, src, w = A:draw_cols(rows, 2,
        options_of(opts or {}, {way = way, rng = ladies.rng(1)}))
      found[i] = U:hash() .. src:hash() .. w:hash()
    end
    lu.assertEquals(found[2], found[1])
  end
  same(skewed(), {draw = "poisson"})
  same(skewed():scale_cols(ladies.full(6, 1e-20)):scale_rows(ladies.tensor{1e20, 1, 1, 1, 1, 1}))
  local values = ladies.full(skewed().nnz, 2)
  values:requires_grad_()
  ladies.no_grad(same, skewed():with_values(values))
  values:fill_(3)                                             -- it was not frozen
  local kept = ladies.full(skewed().nnz, 2)
  local A = skewed():with_values(kept)
  A:draw_cols(rows, 2, {way = "scan", rng = ladies.rng(1)})
  kept:fill_(3)
  A:draw_cols(rows, 2, {way = "two stages", rng = ladies.rng(1)})
  lu.assertErrorMsgContains("is frozen", kept.fill_, kept, 4)
  -- Few columns, rows without any, nothing to draw.
  for _, way in ipairs(WAYS) do
    local given = {way = way, rng = ladies.rng(1)}
    local U, src = A:draw_cols(rows, 0, given)
    lu.assertEquals({U.n_rows, U.n_cols, #src}, {3, 0, 0})
    given.always = index{6, 2}
    U, src = A:draw_cols(rows, 0, given)
    lu.assertEquals({U.n_cols, src:to_table()}, {2, {6, 2}})
    U, src = A:draw_cols(rows, 50, given)
    lu.assertEquals({U.n_cols, src:slice(1, 2):to_table()}, {5, {6, 2}})
    U, src = A:draw_cols(index{}, 5, given)
    lu.assertEquals({U.n_rows, U.nnz, src:to_table()}, {0, 0, {6, 2}})
  end
end

function tests.test_refused()
  local A, rng = skewed(), ladies.rng(1)
  for _, way in ipairs(WAYS) do
    local function refused(message, rows, k, opts)
      lu.assertErrorMsgContains(message, A.draw_cols, A, index(rows), k,
        options_of(opts, {way = way, rng = rng}))
    end
    refused("draw_cols: node 7 at position 2 is out of range 1..6", {1, 7}, 1, {})
    refused("draw_cols: node 2 occurs twice, at positions 1 and 3", {2, 1, 2}, 1, {})
    refused("draw_cols: always: column 9 at position 1 is out of range 1..6", {1}, 1,
      {always = {9}})
    refused("draw_cols: always: column 3 occurs twice", {1}, 1, {always = {3, 3}})
    refused("choice: k must be at least 0, got -1", {1}, -1, {})
    refused("choice: all 0 probabilities are zero", {}, 1, {})
    refused("choice: debias is for draw wor", {1}, 1, {debias = true, draw = "wr"})
    refused("choice: union post is for draw wor alone", {1}, 1, {union = "post", draw = "wr"})
    refused("draw_cols: draw must be wor, wr, poisson, systematic, pivotal or sampford, got wrong",
      {1}, 1, {draw = "wrong"})
    refused('draw_cols: unknown option "pwoer"; did you mean "power"?', {1}, 1, {pwoer = 1})
    refused("draw_cols: power must be 1 or 2, got 3", {1}, 1, {power = 3})
    local Z = A:scale_rows(ladies.zeros(6))
    lu.assertErrorMsgContains("choice: all 4 probabilities are zero", Z.draw_cols, Z,
      index{1, 2, 3}, 2, {way = way, rng = rng})
    local N = A:scale_rows(ladies.full(6, -1))
    lu.assertErrorMsgContains("choice: a probability must be finite and at least 0, got -",
      N.draw_cols, N, index{1, 2, 3}, 2, {power = 1, way = way, rng = rng})
    local B = A:scale_cols(ladies.tensor{0 / 0, 1, 1, 1, 1, 1})
    lu.assertErrorMsgContains("at least 0, got nan", B.draw_cols, B, index{1}, 1,
      {way = way, rng = rng})
  end
  lu.assertErrorMsgContains("draw_cols: way must be cost, scan or two stages, got 3", A.draw_cols,
    A, index{1}, 1, {way = 3, rng = rng})
  lu.assertErrorMsgContains("draw_cols: the option rng is missing", A.draw_cols, A, index{1}, 1)
end

return tests
