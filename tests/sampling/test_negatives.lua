--- Negatives of link prediction against exact probabilities, on graphs of every density.
local lu = require "luaunit"
local ladies = require "ladies"
local philox = require "reference.philox"
local statistics = require "reference.statistics"

local sampling, index = ladies.sampling, ladies.index
local tests = {}

-- Rows with 0, 1, 3, 5 and all 6 columns; row 2 has its diagonal, row 3 all but its diagonal's.
local ROWS = {{}, {2}, {1, 2, 5}, {1, 2, 3, 5, 6}, {1, 2, 3, 4, 5, 6}, {1, 3, 4, 5}}

local function matrix(lists, n_cols)
  local rows, cols = {}, {}
  for row, list in ipairs(lists) do
    for _, column in ipairs(list) do
      rows[#rows + 1], cols[#cols + 1] = row, column
    end
  end
  return ladies.matrix{n_rows = #lists, n_cols = n_cols or #lists, rows = index(rows),
    cols = index(cols)}
end

-- The columns that row `row` may be given, as a set, found one by one.
local function allowed(A, row, loops)
  local dense, set, n = A:to_dense(), {}, 0
  for column = 1, A.n_cols do
    if dense:get(row, column) == 0 and (loops or A.n_rows ~= A.n_cols or column ~= row) then
      set[column], n = true, n + 1
    end
  end
  return set, n
end

-- Draws k columns of a row and holds them to probabilities in proportion to weights[column].
local function check(name, A, row, weights, opts, k)
  local set = allowed(A, row, opts.loops)
  local drawn = sampling.negatives(A, index{row}, k, opts):to_table()
  local expected, total = {}, 0
  for column in pairs(set) do
    local weight = weights[column]
    expected[column], total = weight > 0 and weight or nil, total + weight
  end
  lu.assertEquals(#drawn, k, name)
  for column, weight in pairs(expected) do expected[column] = weight / total end
  statistics.assert_probabilities(drawn, expected, ("%s: row %d"):format(name, row))
end

local EVEN = {1, 1, 1, 1, 1, 1, 1, 1}

function tests.test_uniform()
  local A, rng = matrix(ROWS), ladies.rng(1)
  for row in ipairs(ROWS) do
    for _, loops in ipairs{false, true} do
      if select(2, allowed(A, row, loops)) > 0 then
        check("uniform", A, row, EVEN, {rng = rng, loops = loops}, 6000)
      end
    end
  end
end

--- A matrix that is not square has no column that is a row's own.
function tests.test_uniform_between_two_kinds_of_nodes()
  local A, rng = matrix(ROWS, 8), ladies.rng(2)
  for row in ipairs(ROWS) do check("two kinds", A, row, EVEN, {rng = rng}, 6000) end
end

--- Where almost all of the probability is on entries most draws are by the cumulated one.
function tests.test_in_proportion()
  local A, rng = matrix(ROWS, 8), ladies.rng(3)
  for _, weights in ipairs{{1, 2, 3, 4, 5, 6, 7, 8}, {1, 900, 0, 900, 900, 0, 2, 1},
    {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 2, 1}} do
    local p = sampling.alias(ladies.tensor(weights))
    for row in ipairs(ROWS) do check("weighted", A, row, weights, {rng = rng, p = p}, 6000) end
  end
end

--- Element (i - 1) k + j is draw j of row i; a row's draws do not depend on how many there are.
function tests.test_order_of_the_draws()
  local A = matrix(ROWS)
  local drawn = sampling.negatives(A, index{4, 2, 4}, 3, {rng = ladies.rng(4), loops = true})
  lu.assertEquals(#drawn, 9)
  lu.assertEquals(drawn:slice(1, 3):to_table(), {4, 4, 4})
  for i = 4, 6 do lu.assertTrue(allowed(A, 2, true)[drawn[i]]) end
  lu.assertEquals(drawn:slice(7, 9):to_table(), {4, 4, 4})
end

function tests.test_pairs_are_uniform()
  for _, loops in ipairs{false, true} do
    for name, A in pairs{square = matrix(ROWS), wide = matrix(ROWS, 7),
      dense = matrix{{1, 2, 3}, {1, 3}, {1, 2, 3}}} do
      local expected, all = {}, 0
      for row = 1, A.n_rows do
        for column in pairs((allowed(A, row, loops))) do
          expected[row .. " " .. column], all = true, all + 1
        end
      end
      if all > 0 then
        for key in pairs(expected) do expected[key] = 8000 / all end
        local from, to = sampling.non_edges(A, 8000, {rng = ladies.rng(5), loops = loops})
        local counts = statistics.count(#from, function(i) return from[i] .. " " .. to[i] end)
        statistics.assert_frequencies(counts, expected, name)
      end
    end
  end
end

--- A pair is the first that is no entry among those at its own places in the stream of random bits,
-- so what others are rejected for does not change it.
function tests.test_each_pair_has_its_places_in_the_stream()
  local lists, is_entry = {}, {}
  for row = 1, 16 do
    lists[row] = {}
    for column = 1, 16 do
      if row * column % 3 == 1 or column > 9 then
        table.insert(lists[row], column)
        is_entry[(row - 1) * 16 + column - 1] = true
      end
    end
  end
  local from, to = sampling.non_edges(matrix(lists), 500, {rng = ladies.rng(7), loops = true})
  for i = 1, 500 do
    local place, cell = (i - 1) * 64
    repeat
      cell, place = philox.bits(philox.seed(7), 0, place) >> 56, place + 1
    until not is_entry[cell]
    lu.assertEquals({from[i], to[i]}, {cell // 16 + 1, cell % 16 + 1})
  end
end

--- A matrix of 400 x 400 with 40 pairs that are no entries, which almost every draw rejects.
function tests.test_pairs_of_a_dense_matrix()
  local lists, missing = {}, {}
  for row = 1, 400 do
    lists[row] = {}
    for column = 1, 400 do
      if (row * 400 + column) % 4001 == 7 then
        missing[#missing + 1] = row * 1000 + column
      else
        table.insert(lists[row], column)
      end
    end
  end
  local from, to = sampling.non_edges(matrix(lists), 4000, {rng = ladies.rng(6), loops = true})
  local expected = {}
  for _, key in ipairs(missing) do expected[key] = 4000 / #missing end
  statistics.assert_frequencies(statistics.count(#from, function(i)
    return from[i] * 1000 + to[i]
  end), expected)
end

function tests.test_threads_do_not_matter()
  local n, rng = 3000, ladies.rng(7)
  local A = ladies.matrix{n_rows = n, n_cols = n,
    rows = sampling.uniform(n, 20000, {rng = rng, replace = true}),
    cols = sampling.uniform(n, 20000, {rng = rng, replace = true})}
  local p = sampling.alias(A:col_sums() + 0.1)
  local first
  for _, threads in ipairs{1, 2, 4} do
    ladies.threads(threads)
    local draw = ladies.rng(8)
    local from, to = sampling.non_edges(A, 5000, {rng = draw})
    local found = sampling.concat{from, to,
      sampling.negatives(A, ladies.range(1, n), 4, {rng = draw}),
      sampling.negatives(A, ladies.range(1, n), 4, {rng = draw, p = p})}
    first = first or found
    lu.assertTrue(found == first, threads)
  end
end

--- Two calls with one generator differ, and a slice, whose rows are in no order, does as well.
function tests.test_streams_and_slices()
  local A, rng = matrix(ROWS, 8), ladies.rng(9)
  local one, two = sampling.negatives(A, index{1, 1}, 40, {rng = rng}),
    sampling.negatives(A, index{1, 1}, 40, {rng = rng})
  lu.assertFalse(one == two)
  local U = A:slice(index{6, 4}, index{6, 5, 4, 3, 2, 1})
  for row = 1, 2 do check("slice", U, row, EVEN, {rng = rng}, 3000) end
end

function tests.test_errors()
  local A, rng = matrix(ROWS), ladies.rng(1)
  local function fails(text, ...) lu.assertErrorMsgContains(text, ...) end
  fails("row 5 has an entry in every column", sampling.negatives, A, index{1, 5}, 1, {rng = rng})
  fails("row 5 has an entry in every column of positive probability", sampling.negatives,
    matrix(ROWS, 8), index{5}, 1,
    {rng = rng, p = sampling.alias(ladies.tensor{1, 1, 1, 1, 1, 1, 0, 0})})
  fails("5 probabilities for 6 columns", sampling.negatives, A, index{1}, 1,
    {rng = rng, p = sampling.alias(ladies.ones(5))})
  fails("negatives: row", sampling.negatives, A, index{7}, 1, {rng = rng})
  fails("every pair is an entry", sampling.non_edges, matrix{{1, 2}, {1}}, 1, {rng = rng})
  fails("there are no pairs", sampling.non_edges, matrix{}, 1, {rng = rng})
  lu.assertEquals(#sampling.negatives(A, index{5}, 0, {rng = rng}), 0)
  lu.assertEquals(#sampling.non_edges(matrix{}, 0, {rng = rng}), 0)
end

return tests
