--- A:ego_graphs against the same in other operations, bit for bit; odd input.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local reference = require "reference.ego_graphs"

local fails, index = lu.assertErrorMsgContains, ladies.index

local tests = {}

-- Asserts that two matrices have the same entries in the same places and the same order, of the
-- same entries of the matrix that they are slices of.
local function assert_same(A, B, what)
  lu.assertEquals({A.n_rows, A.n_cols, A.nnz}, {B.n_rows, B.n_cols, B.nnz}, what)
  for _, part in ipairs{"offsets", "col_of", "entry_values"} do
    lu.assertTrue(A[part](A) == B[part](B), ("%s: %s"):format(what, part))
  end
  lu.assertTrue(A.edge == B.edge, what .. ": edge")
end

local function assert_as_reference(A, seeds, k, depth, what)
  for seed = 1, 3 do
    local rng, other = ladies.rng(seed), ladies.rng(seed)
    local adj, nodes = A:ego_graphs(seeds, k, depth, {rng = rng})
    local expected, ids = reference(A, seeds, k, depth, other)
    assert_same(adj, expected, ("%s, k %d, depth %d"):format(what, k, depth))
    lu.assertTrue(nodes == ids, what)
    lu.assertEquals(rng:uniform(), other:uniform(), what)
  end
end

--- Ego graphs are right for graphs with values, without, scaled, and slices of others; for few
-- neighbours and all of them; for rows that are so long that their draws are kept as bits; and for
-- seeds that repeat.
function tests.test_as_reference()
  local plain = graphs.random(90, 4, 1)
  local dense = graphs.random(90, 40, 2)
  local scaled = plain:normalize "sym"
  local slice = dense:induced(ladies.range(11, 80))
  for name, A in pairs{plain = plain, dense = dense, scaled = scaled, slice = slice} do
    for _, k in ipairs{0, 1, 3, 20, 1000} do
      for depth = 0, 3 do
        assert_as_reference(A, index{4, 60, 17, 5, 60}, k, depth, name)
      end
    end
  end
end

--- A node without neighbours has a graph of itself, and ends the draws of its own graph alone.
function tests.test_alone()
  local A = graphs.matrix(6, {{1, 2}, {2, 1}, {2, 3}, {3, 2}, {5, 5}})
  assert_as_reference(A, index{4, 1, 5, 6, 3}, 1, 3, "alone")
  local adj, nodes = A:ego_graphs(index{4, 6}, 2, 2, {rng = ladies.rng(1)})
  lu.assertEquals({adj.n_rows, adj.nnz, nodes:to_table()}, {2, 0, {4, 6}})
end

function tests.test_without_seeds()
  local adj, nodes = graphs.random(9, 3, 1):ego_graphs(index{}, 2, 2, {rng = ladies.rng(1)})
  lu.assertEquals({adj.n_rows, adj.n_cols, adj.nnz, #nodes}, {0, 0, 0, 0})
end

function tests.test_errors()
  local A, rng = graphs.random(9, 3, 1), ladies.rng(1)
  local function call(...) return A.ego_graphs(...) end
  fails("ego_graphs: a square matrix expected, got 2 x 9", call, A:rows(index{1, 2}), index{1}, 1,
    1, {rng = rng})
  fails("ego_graphs: seed", call, A, index{10}, 1, 1, {rng = rng})
  fails("ego_graphs: k and depth must be at least 0, got -1 and 2", call, A, index{1}, -1, 2,
    {rng = rng})
  fails("ego_graphs: k and depth must be at least 0, got 1 and -2", call, A, index{1}, 1, -2,
    {rng = rng})
  fails("rng", call, A, index{1}, 1, 1)
  local w, _ <close> = ladies.ones(A.nnz):requires_grad_(), ladies.step()
  fails("detach", call, A:scale_entries(w), index{1}, 1, 1, {rng = rng})
end

return tests
