--- The gradient contract of Matrix: its methods and operators.
local ladies = require "ladies"
local core = require "ladies_core"
local kinds = require "reference.contract.kinds"

local refuses, reads, constant = kinds.refuses, kinds.reads, kinds.constant
local vector, ENTRIES, rng = kinds.vector, kinds.ENTRIES, kinds.rng
local of_matrix, of_structure = kinds.of_matrix, kinds.of_structure
local index = ladies.index
local M = kinds.dense(4, 3)

return {
  -- passing on
  ["Matrix:matmul"] = {
    of_matrix(function(A, x) return A:matmul(x) end, M),
    of_matrix(function(A, x, b) return A:matmul(x, b) end, M, vector(3)),
    of_matrix(function(A, x, b) return A:matmul(x, b, index{4, 2, 2, 1}) end, M, vector(3)),
  },
  ["Matrix:matmul_t"] = of_matrix(function(A, x) return A:matmul_t(x) end, M),
  ["Matrix:with_values"] = of_matrix(function(A) return A end),
  ["Matrix:edge_softmax"] = of_structure(function(A, w) return A:edge_softmax(w) end,
                                         vector(ENTRIES)),
  ["Matrix:dot_edges"] = of_structure(function(A, x, y) return A:dot_edges(x, y) end, M, M),
  ["Matrix:add_edges"] = of_structure(function(A, x, y) return A:add_edges(x, y) end,
                                      vector(4), vector(4)),
  ["Matrix:matmul_heads"] = of_structure(function(A, w, x) return A:matmul_heads(w, x) end,
                                         kinds.dense(ENTRIES, 2), kinds.dense(4, 4)),
  ["Matrix.__index"] = {
    of_matrix(function(A) return A.values * 2 end),
    reads(function(c) return c.A.n_rows, c.A.n_cols, c.A.nnz, c.A.edge, c.A.requires_grad end),
  },
  ["Matrix:scale_rows"] = of_matrix(function(A, v) return A:scale_rows(v) end, vector(4)),
  ["Matrix:scale_cols"] = of_matrix(function(A, v) return A:scale_cols(v) end, vector(4)),
  ["Matrix:scale_entries"] = of_matrix(function(A, v) return A:scale_entries(v) end,
                                       vector(ENTRIES)),
  ["Matrix:row_normalize"] = of_matrix(function(A) return A:row_normalize() end),
  ["Matrix:normalize"] = {
    of_matrix(function(A) return A:normalize "sym" end),
    of_matrix(function(A) return A:normalize("row", {self_loops = false}) end),
  },
  ["Matrix:add_diag"] = {
    of_matrix(function(A) return A:add_diag(2) end),
    of_matrix(function(A, v) return A:add_diag(v) end, vector(4)),
  },
  ["Matrix:diagonal_values"] = of_matrix(function(A) return A:diagonal_values() end),
  ["Matrix:without_loops"] = of_matrix(function(A) return A:without_loops() end),
  ["Matrix:pick_cols"] = of_matrix(function(A) return A:pick_cols(index{2, 1}) end),
  ["Matrix:pick_entries"] = {
    of_matrix(function(A, v) return A:scale_rows(v):pick_entries(index{2, 3, 7}) end, vector(4)),
    of_matrix(function(A) return A:pick_entries(A:entry_values():detach():above(1)) end),
  },
  ["Matrix:dropout"] = of_matrix(function(A) return A:dropout(0.5, rng()) end),
  ["Matrix:slice"] = {
    of_matrix(function(A) return (A:slice(index{3, 1})) end),
    of_matrix(function(A) return (A:slice(index{2, 1}, index{1, 2})) end),
  },
  ["Matrix:rows"] = of_matrix(function(A) return A:rows(index{2, 1, 2}) end),
  ["Matrix:induced"] = of_matrix(function(A) return A:induced(index{4, 1}) end),
  ["Matrix:transpose"] = of_matrix(function(A) return A:transpose() end),
  ["Matrix:row_sums"] = of_matrix(function(A) return A:row_sums() end),
  ["Matrix:col_sums"] = of_matrix(function(A) return A:col_sums(2) end),
  ["Matrix:row_max"] = of_matrix(function(A) return A:row_max() end),
  ["Matrix:col_max"] = of_matrix(function(A, v) return A:scale_rows(v):col_max() end, vector(4)),
  ["Matrix:neighbour_max"] = of_structure(function(A, x) return A:neighbour_max(x) end, M),
  ["Matrix:neighbour_mean"] = of_structure(function(A, x) return A:neighbour_mean(x) end, M),
  ["Matrix:neighbour_std"] = of_structure(function(A, x) return A:neighbour_std(x) end, M),
  ["Matrix:relu_sums"] = {
    of_structure(function(A, v, x, f, w, b) return A:relu_sums(v, x, f, w, b) end,
      vector(ENTRIES), M, kinds.dense(ENTRIES, 2), kinds.dense(2, 3), vector(3)),
    refuses(function(c) return c.plain:relu_sums(ladies.ones(ENTRIES), c.A,
      ladies.ones(ENTRIES, 1), ladies.ones(1, 4)) end),
  },
  ["Matrix:entry_values"] = of_matrix(function(A) return A:entry_values() end),
  ["Matrix:to_dense"] = of_matrix(function(A) return A:to_dense() end),
  ["Matrix:degrees"] = of_matrix(function(A) return A:degrees() * A:row_sums() end),
  ["Matrix:has"] = of_matrix(function(A)
    return A:has(index{1, 2, 3, 4}, index{1, 3, 2, 4}) * A:row_sums()
  end),
  ["Matrix:common_neighbours"] = {
    of_matrix(function(A)
      return A:common_neighbours(index{1, 2, 3, 4}, index{2, 2, 1, 1}) * A:row_sums()
    end),
    refuses(function(c) return c.plain:common_neighbours(index{1}, index{2}, c.v4) end),
  },
  ["Matrix:sample_rows"] = {
    of_matrix(function(A) return (A:sample_rows(index{1, 4}, 1, {rng = rng()})) end),
    refuses(function(c) return c.plain:sample_rows(index{1, 2}, 1, {rng = rng(), p = c.e}) end),
    refuses(function(c) return c.plain:sample_rows(index{1}, 1, {rng = rng(), p_cols = c.v4}) end),
  },
  ["Matrix:poisson_rows"] = {
    of_matrix(function(A)
      return (A:poisson_rows(index{1, 4}, ladies.full(2, 0.5), {rng = rng()}))
    end),
    refuses(function(c) return c.plain:poisson_rows(index{1, 2, 3, 4}, c.v4, {rng = rng()}) end),
    refuses(function(c)
      return c.plain:poisson_rows(index{1}, ladies.ones(1), {rng = rng(), pi = c.v4})
    end),
  },
  ["Matrix:poisson_factors"] = {
    reads(function(c) return c.A:poisson_factors(index{1}, 1):to_table() end),
    refuses(function(c) return c.plain:poisson_factors(index{1}, 1, {pi = c.v4}) end),
  },

  -- refusing
  ["Matrix:matmul_precise"] = {
    refuses(function(c) return c.A:matmul_precise(M()) end),
    refuses(function(c) return c.plain:matmul_precise(c.m) end),
  },
  ["Matrix:matmul_t_precise"] = {
    refuses(function(c) return c.A:matmul_t_precise(M()) end),
    refuses(function(c) return c.plain:matmul_t_precise(c.m) end),
  },
  ["Matrix:matmul_sparse"] = {
    refuses(function(c) return c.A:matmul_sparse(c.plain) end),
    refuses(function(c) return c.plain:matmul_sparse(c.A) end),
  },
  ["Matrix.__add"] = {
    refuses(function(c) return c.A + c.plain end), refuses(function(c) return c.plain + c.A end),
  },
  ["Matrix.__sub"] = {
    refuses(function(c) return c.A - c.plain end), refuses(function(c) return c.plain - c.A end),
  },
  ["Matrix:symmetrize"] = refuses(function(c) return c.A:symmetrize() end),
  ["Matrix:draw_cols"] = refuses(function(c)
    return c.A:draw_cols(index{1, 2}, 2, {rng = rng()})
  end),
  ["Matrix:sample_before"] = refuses(function(c)
    local times, order = c.A:row_of() * 0 + 1, ladies.range(1, c.A.nnz)
    return (c.A:sample_before(index{1, 2}, index{2, 2}, 1, times, order, {rng = rng()}))
  end),
  ["Matrix:ego_graphs"] = refuses(function(c)
    return (c.A:ego_graphs(index{1, 2}, 2, 1, {rng = rng()}))
  end),

  -- the way out
  ["Matrix:detach"] = constant("constants", function(c) return c.A:detach() end),

  -- reading
  ["Matrix:hash"] = reads(function(c) return c.A:hash() end),
  ["Matrix:random_walk"] = reads(function(c)
    return c.A:random_walk(index{1, 2}, 2, {rng = rng()})
  end),
  ["Matrix:frontier_walk"] = reads(function(c)
    return c.A:frontier_walk(index{1, 2}, 2, {rng = rng()})
  end),
  ["Matrix:row_of"] = reads(function(c) return c.A:row_of() end),
  ["Matrix:col_of"] = reads(function(c) return c.A:col_of() end),
  ["Matrix:offsets"] = reads(function(c) return c.A:offsets() end),
  ["Matrix:find"] = reads(function(c) return c.A:find(index{1, 2}, index{2, 4}) end),
  ["Matrix:align"] = reads(function(c) return c.A:align(c.plain) end),
  ["Matrix:is_simple"] = reads(function(c) return c.A:is_simple() end),
  ["Matrix:diagonal"] = reads(function(c) return c.A:diagonal() end),
  ["Matrix:empty_rows"] = reads(function(c) return c.A:empty_rows() end),
  ["value_range"] = reads(function(c) return core.value_range(c.A) end),
  ["Matrix:loops"] = reads(function(c) return c.A:loops() end),
  ["Matrix:is_symmetric"] = reads(function(c) return c.A:is_symmetric() end),
  ["Matrix:is_close"] = reads(function(c) return c.A:is_close(c.plain, 0.5) end),
  ["Matrix:components"] = reads(function(c) return c.A:components() end),
  ["Matrix:ldg"] = reads(function(c) return c.A:ldg(2, rng()) end),
  ["Matrix:metis"] = reads(function(c)
    return core.have_metis and c.A:metis(2, rng()) or nil
  end),
  ["Matrix:cut"] = reads(function(c) return c.A:cut(index{1, 2, 1, 2}) end),
  ["Matrix.__eq"] = reads(function(c) return c.A == c.plain end),
  ["Matrix.__len"] = reads(function(c) return #c.A end),
  ["Matrix.__tostring"] = reads(function(c) return tostring(c.A) end),
  ["Matrix.__show"] = reads(function(c) return ladies.show(c.A) end),
  ["Matrix.__gc"] = reads(function() end),
}
