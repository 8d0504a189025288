--- Operations over the entries of a matrix for several heads at once, against one head at a time,
-- and their gradients against central differences.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local gradcheck = require "reference.gradcheck"
local graphs = require "reference.graphs"
local heads = require "ladies.nn.heads"

local tests = {}
local HEADS, WIDTH = 3, 2

local function random(seed, n_rows, n_cols)
  return ladies.zeros(n_rows, n_cols):normal_(1, ladies.rng(seed))
end

local function column(t, h) return t:slice_cols(h, h):reshape(t.n_rows) end

-- The columns that f(h) gives for each head, side by side.
local function side_by_side(f)
  local all
  for h = 1, HEADS do
    local one = f(h)
    if one.ndim == 1 then one = one:reshape(#one, 1) end
    all = all and all:concat(one) or one
  end
  return all
end

function tests.test_softmax_of_each_head()
  local A = graphs.five_by_six()
  local scores = random(1, A.nnz, HEADS)
  compare.assert_close(A:edge_softmax(scores),
    side_by_side(function(h) return A:edge_softmax(column(scores, h)) end), 0, "softmax")
  scores:requires_grad_()
  gradcheck.check("edge_softmax", function() return A:edge_softmax(scores) end, {scores})
end

--- A score of -inf takes no part; where all of a row have it, none does.
function tests.test_softmax_without_some()
  local A, inf = graphs.five_by_six(), math.huge
  local found = A:edge_softmax(ladies.tensor{-inf, 1, 1, -inf, -inf, -inf, -inf, -inf, 0, -inf})
  lu.assertEquals(found:to_table(), {0, 0.5, 0.5, 0, 0, 0, 0, 0, 1, 0})
end

function tests.test_sums_of_each_head()
  local A = graphs.five_by_six()
  local x, y = random(2, 5, HEADS):requires_grad_(), random(3, 6, HEADS):requires_grad_()
  local function sums() return A:add_edges(x, y) end
  compare.assert_close(sums(),
    side_by_side(function(h) return A:add_edges(column(x, h), column(y, h)) end), 0, "sums")
  gradcheck.check("add_edges", sums, {x, y})
end

--- One product a head with a matrix of its own values.
function tests.test_products_of_each_head()
  local A = graphs.five_by_six()
  for _, width in ipairs{WIDTH, 1, 70} do
    local w, x = random(4, A.nnz, HEADS), random(5, 6, HEADS * width)
    compare.assert_close(A:matmul_heads(w, x), side_by_side(function(h)
      return A:with_values(column(w, h)):matmul(x:slice_cols((h - 1) * width + 1, h * width))
    end), 1e-6, "width " .. width)
  end
end

function tests.test_gradients_of_products()
  local edges = ladies.matrix{n_rows = 4, n_cols = 4, rows = ladies.index{1, 1, 2, 3},
    cols = ladies.index{2, 3, 4, 3}}
  for _, A in ipairs{graphs.five_by_six(), edges:symmetrize()} do
    local w = random(6, A.nnz, HEADS):requires_grad_()
    local x = random(7, A.n_cols, HEADS * WIDTH):requires_grad_()
    gradcheck.check("matmul_heads", function() return A:matmul_heads(w, x) end, {w, x})
    gradcheck.check("twice x", function()
      return A:matmul_heads(w, x):concat(A:matmul(x))
    end, {w, x})
  end
end

--- The matrices that sum over heads, or average them, outlive the step in which they are made.
function tests.test_matrices_of_heads()
  local columns = HEADS * WIDTH
  local layer = {combine = "mean", columns = columns, heads = HEADS}
  local sums
  local x = ladies.range(1, 2 * columns):to_tensor():reshape(2, columns)
  do
    local _ <close> = ladies.step()
    sums = heads.sums(columns, HEADS)
    heads.combined(layer, x * 1)
  end
  compare.assert_close(sums, ladies.tensor{{1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, 0, 1},
    {0, 0, 1}}, 0, "sums")
  compare.assert_close(heads.combined(layer, x * 1), ladies.tensor{{3, 4}, {9, 10}}, 1e-6, "mean")
end

return tests
