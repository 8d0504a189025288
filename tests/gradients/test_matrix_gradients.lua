--- Gradients through sparse matrices: in their values, in their scales, in what they are multiplied
-- by, and in what these were made of; against central differences.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local gradcheck = require "reference.gradcheck"

local fails = lu.assertErrorMsgContains
local index = ladies.index

local tests = {}

-- A test that fails may leave its step open.
function tests.tearDown() collectgarbage() end

local rng = ladies.rng(7)
local draws = 0

-- A vector, or matrix, of numbers between 0.5 and 1.5.
local function random_tensor(...)
  draws = draws + 1
  return ladies.zeros(...):uniform_(0.5, 1.5, rng:at(draws))
end

local function parameter(...) return random_tensor(...):requires_grad_() end

-- 6 x 6; some loops, row 4 empty, column 5 empty.
local SQUARE = ladies.matrix{n_rows = 6, n_cols = 6,
  rows = index{1, 1, 1, 2, 2, 3, 3, 3, 5, 5, 6, 6},
  cols = index{1, 2, 6, 2, 4, 1, 3, 6, 1, 4, 2, 3}}
-- A symmetric pattern, which the program knows to be so.
local SYMMETRIC = SQUARE:symmetrize()
-- A slice: not sorted, and from elsewhere.
local SLICE = SYMMETRIC:induced(index{6, 2, 5, 1, 3})

-- ---------------------------------------------------------------- every way to hold the entries

local FACTORS = {"values", "row_scale", "col_scale"}
local STATES = {"none", "constant", "parameter"}

-- The structure of A with factors in the given states: a function that makes the matrix, and the
-- parameters in it. Where nothing is recorded it must be made anew for each change.
local function factored(A, states)
  local sizes = {values = A.nnz, row_scale = A.n_rows, col_scale = A.n_cols}
  local factor, parameters = {}, {}
  for i, name in ipairs(FACTORS) do
    if states[i] ~= "none" then factor[name] = random_tensor(sizes[name]) end
    if states[i] == "parameter" then
      parameters[#parameters + 1] = factor[name]:requires_grad_()
    end
  end
  return function()
    local B = factor.values and A:with_values(factor.values) or A
    B = factor.row_scale and B:scale_rows(factor.row_scale) or B
    return factor.col_scale and B:scale_cols(factor.col_scale) or B
  end, parameters
end

-- Calls f(name, make, parameters) for all 27 combinations.
local function every_matrix(A, f)
  for _, values in ipairs(STATES) do
    for _, row_scale in ipairs(STATES) do
      for _, col_scale in ipairs(STATES) do
        local states = {values, row_scale, col_scale}
        f(table.concat(states, ", "), factored(A, states))
      end
    end
  end
end

local function joined(list, ...)
  local all = table.move(list, 1, #list, 1, {})
  for _, x in ipairs{...} do all[#all + 1] = x end
  return all
end

-- ---------------------------------------------------------------- what gives a tensor

local reads = {
  entry_values = function(A) return A:entry_values() end,
  row_sums = function(A) return A:row_sums() end,
  row_sums_of_squares = function(A) return A:row_sums(2) end,
  col_sums = function(A) return A:col_sums() end,
  col_sums_of_squares = function(A) return A:col_sums(2) end,
  diagonal_values = function(A) return A:diagonal_values() end,
  to_dense = function(A) return A:to_dense() end,
}

for name, read in pairs(reads) do
  tests["test_" .. name] = function()
    for _, A in ipairs{SQUARE, SLICE} do
      every_matrix(A, function(which, make, parameters)
        if #parameters == 0 then return end
        gradcheck.check(name .. " of " .. which, function() return read(make()) end, parameters)
      end)
    end
  end
end

for _, method in ipairs{"matmul", "matmul_t"} do
  tests["test_" .. method] = function()
    for _, A in ipairs{SQUARE, SYMMETRIC, SLICE} do
      every_matrix(A, function(which, make, parameters)
        for _, x in ipairs{parameter(#A, 2), parameter(#A)} do
          gradcheck.check(method .. " of " .. which, function()
            local B = make()
            return B[method](B, x)
          end, joined(parameters, x))
        end
      end)
    end
  end
end

-- ---------------------------------------------------------------- what gives a matrix

local from_two = index{5, 1, 2}
local makers = {
  transpose = function(A) return A:transpose() end,
  slice = function(A) return (A:slice(from_two)) end,
  slice_first = function(A) return (A:slice(from_two, {first = index{4, 2}})) end,
  slice_given = function(A) return (A:slice(from_two, index{3, 1, 2})) end,
  rows = function(A) return A:rows(index{2, 5, 2, 4}) end,
  induced = function(A) return A:induced(from_two) end,
  pick_cols = function(A) return A:pick_cols(index{3, 1, 4}) end,
  slice_of_slice = function(A)
    return A:slice(from_two, index{4, 2, 1}):pick_cols(index{2, 1}):rows(index{3, 2})
  end,
  row_normalize = function(A) return A:row_normalize() end,
  normalize_sym = function(A) return A:normalize "sym" end,
  normalize_row = function(A) return A:normalize "row" end,
  normalize_sym_as_is = function(A) return A:normalize("sym", {self_loops = false}) end,
  normalize_row_as_is = function(A) return A:normalize("row", {self_loops = false}) end,
  add_diag = function(A) return A:add_diag(0.5) end,
  without_loops = function(A) return A:without_loops() end,
  sample_rows = function(A)
    return (A:sample_rows(from_two, 2, {rng = ladies.rng(3), always = A:diagonal()}))
  end,
  poisson_rows = function(A)
    return (A:poisson_rows(from_two, ladies.full(3, 0.6), {rng = ladies.rng(4)}))
  end,
}

for name, make_another in pairs(makers) do
  tests["test_" .. name] = function()
    for _, A in ipairs{SQUARE, SLICE} do
      every_matrix(A, function(which, make, parameters)
        if #parameters == 0 then return end
        local x = random_tensor(make_another(A).n_cols, 2)
        gradcheck.check(name .. " of " .. which, function()
          return make_another(make()):matmul(x)
        end, parameters)
      end)
    end
  end
end

--- Parallel entries, also a row's first, have a gradient each.
function tests.test_rows_of_parallel_entries()
  local A = ladies.data.from_arrays{edges = {{1, 2}, {1, 2}, {2, 1}}, edge_times = {1, 2, 3},
    features = ladies.ones(2, 1), labels = {1, 1}}.edges.adjacency
  local values = parameter(A.nnz)
  gradcheck.check("rows", function()
    return A:with_values(values):rows(index{2, 1}):entry_values()
  end, {values})
end

local with_vector = {
  scale_rows = "n_rows", scale_cols = "n_cols", scale_entries = "nnz", add_diag = "n_rows",
}

for method, size in pairs(with_vector) do
  tests["test_" .. method .. "_by_a_vector"] = function()
    for _, A in ipairs{SQUARE, SLICE} do
      every_matrix(A, function(which, make, parameters)
        local x = random_tensor(A.n_cols, 2)
        for _, w in ipairs{random_tensor(A[size]), parameter(A[size])} do
          local inputs = w.requires_grad and joined(parameters, w) or parameters
          if #inputs > 0 then
            gradcheck.check(method .. " of " .. which, function()
              local B = make()
              return B[method](B, w):matmul(x)
            end, inputs)
          end
        end
      end)
    end
  end
end

--- A matrix that is made in a step has the bits that it has where nothing is recorded.
function tests.test_gradients_change_no_entry()
  for name, make_another in pairs(makers) do
    every_matrix(SQUARE, function(which, make)
      local constant = ladies.no_grad(function() return make_another(make()) end)
      local _ <close> = ladies.step()
      lu.assertEquals(make_another(make()):hash(), constant:hash(), name .. " of " .. which)
    end)
  end
end

-- ---------------------------------------------------------------- models

-- Learned weights of edges, normalised by rows, get the gradients of central differences.
function tests.test_graph_convolution_with_learned_edges()
  local scores, w, b = parameter(SQUARE.nnz), parameter(3, 2), parameter(2)
  local x = random_tensor(6, 3)
  for _, normalise in ipairs{
    function(A) return A:row_normalize() end,
    function(A) return A:add_diag(1):row_normalize() end,
    function(A) return A:normalize "sym" end,
  } do
    gradcheck.check("convolution", function()
      local P = normalise(SQUARE:with_values(scores:sigmoid()))
      return P:matmul(P:matmul(x):linear(w, b):tanh())
    end, {scores, w, b})
  end
end

-- Attention on a sampled block: scores of what the ends of an edge are, softmax, then dropped
-- columns whose weights make up for it.
function tests.test_attention()
  local w, left, right = parameter(3, 2), parameter(2), parameter(2)
  local x = random_tensor(6, 3)
  gradcheck.check("attention", function()
    local h = x:matmul(w)
    local A = SYMMETRIC:add_diag(1)
    local scores = A:add_edges((h * left):row_sums(), (h * right):row_sums()):tanh()
    local attention = A:with_values(A:edge_softmax(scores))
    local U, src = attention:slice(index{4, 1, 3})
    local pick = index{2, 1, 4}
    return U:pick_cols(pick):row_normalize():matmul(h[src[pick]])
  end, {w, left, right})
end

-- The design weights of a block come from probabilities that are learned.
function tests.test_learned_sampler()
  local logits, x = parameter(6), parameter(6, 2)
  local P = SYMMETRIC:normalize "row"
  local pick = index{3, 1, 2}
  gradcheck.check("learned sampler", function()
    local U, src = P:slice(index{1, 3, 6})
    local q = U:scale_cols(logits[src]:exp()):col_sums(2)
    local w = 1 / (q / q:sum())[pick]
    return U:pick_cols(pick):scale_cols(w):row_normalize():matmul(x[src[pick]])
  end, {logits, x})
end

-- ---------------------------------------------------------------- random chains

-- Some operation on A by chance: a function from a matrix of A's structure to another, whose own
-- parameters are added to `parameters`. Numbers stay positive.
local function random_operation(A, random, parameters)
  local function vector(n)
    local v = random_tensor(n)
    if random(2) == 1 then parameters[#parameters + 1] = v:requires_grad_() end
    return v
  end
  local function ids(n) return ladies.sampling.permutation(n, ladies.rng(random(1 << 30))) end
  local function some(n) return ids(n):slice(1, (n + 1) // 2 + random(0, n // 2)) end
  local choices = {
    function() return makers.transpose end,
    function() return makers.row_normalize end,
    function()
      local rows = some(#A) .. some(#A)
      return function(B) return B:rows(rows) end
    end,
    function()
      local rows = some(#A)
      return function(B) return (B:slice(rows)) end
    end,
    function()
      local rows, cols = some(#A), some(A.n_cols)
      return function(B) return (B:slice(rows, cols)) end
    end,
    function()
      local cols = some(A.n_cols)
      return function(B) return B:pick_cols(cols) end
    end,
    function()
      local rows, seed = some(#A), random(1 << 30)
      return function(B) return (B:sample_rows(rows, 2, {rng = ladies.rng(seed)})) end
    end,
    function()
      local w = vector(A.nnz)
      return function(B) return B:scale_entries(w) end
    end,
    function()
      local w = vector(#A)
      return function(B) return B:scale_rows(w) end
    end,
    function()
      local w = vector(A.n_cols)
      return function(B) return B:scale_cols(w) end
    end,
    function()                                            -- by numbers that come from B itself
      return function(B) return B:scale_cols(1 / (B:col_sums(2) + 1)) end
    end,
    function()
      return function(B) return B:with_values(B:edge_softmax(B:entry_values())) end
    end,
    function()
      local x, y = vector(#A), vector(A.n_cols)
      return function(B) return B:scale_entries(B:add_edges(B:row_sums() + x, y):sqrt()) end
    end,
    function()
      local x = vector(A.n_cols)
      return function(B) return B:with_values(B:dot_edges(B:matmul(x), x)) end
    end,
  }
  local square = {
    function() return random(2) == 1 and makers.normalize_sym or makers.normalize_row_as_is end,
    function() return random(2) == 1 and makers.without_loops or makers.add_diag end,
    function()
      local v = vector(#A)
      return function(B) return B:add_diag(v) end
    end,
    function()
      local nodes = some(#A)
      return function(B) return B:induced(nodes) end
    end,
    function()
      return function(B) return B:scale_rows(B:diagonal_values() + 0.5) end
    end,
  }
  if #A == A.n_cols then table.move(square, 1, #square, #choices + 1, choices) end
  return choices[random(#choices)]()
end

-- A matrix made of parameters by up to six operations, and read in some way.
local function random_chain(random)
  local states = {}
  for i = 1, 3 do states[i] = STATES[random(3)] end
  local make, parameters = factored(({SQUARE, SYMMETRIC, SLICE})[random(3)], states)
  local steps, A = {}, ladies.no_grad(make)
  for i = 1, random(6) do
    steps[i] = random_operation(A, random, parameters)
    A = ladies.no_grad(steps[i], A)
  end
  local names = {}
  for name in pairs(reads) do
    if name ~= "diagonal_values" or #A == A.n_cols then names[#names + 1] = name end
  end
  table.sort(names)
  local read, x = reads[names[random(2 * #names)]], parameter(A.n_cols)
  if not read then parameters[#parameters + 1] = x end
  return function()
    local B = make()
    for _, step in ipairs(steps) do B = step(B) end
    return read and read(B) or B:matmul(x)
  end, parameters
end

function tests.test_random_chains()
  for seed = 1, 150 do
    math.randomseed(seed)
    draws = 1000 * seed
    local compute, parameters = random_chain(math.random)
    if #parameters > 0 and ladies.no_grad(compute):norm() < 20 then
      gradcheck.check("chain " .. seed, compute, parameters)
    end
  end
end

-- ---------------------------------------------------------------- rows of zero, empty matrices

function tests.test_rows_of_sum_zero()
  local A = ladies.matrix{n_rows = 3, n_cols = 3, rows = index{1, 1, 2, 3},
    cols = index{1, 2, 3, 1}}
  local w = ladies.tensor{1, -1, 0, 2}:requires_grad_()
  for _, normalise in ipairs{
    function(B) return B:row_normalize() end,
    function(B) return B:normalize("row", {self_loops = false}) end,
    function(B) return B:normalize("sym", {self_loops = false}) end,
  } do
    local _ <close> = ladies.step()
    w:set_grad_(ladies.zeros(4))
    normalise(A:with_values(w)):entry_values():sum():backward()
    lu.assertTrue(w.grad:is_finite())
  end
end

function tests.test_without_entries()
  local none = ladies.matrix{n_rows = 6, n_cols = 6, rows = index{}, cols = index{}}
  local values, scale, x = ladies.zeros(0):requires_grad_(), parameter(6), parameter(6, 1)
  for _, make_another in pairs(makers) do
    scale:set_grad_(ladies.zeros(6))
    local _ <close> = ladies.step()
    make_another(none:with_values(values):scale_rows(scale)):entry_values():sum():backward()
    lu.assertTrue(scale.grad:is_finite())
  end
  local _ <close> = ladies.step()
  none:with_values(values):add_diag(1):row_normalize():matmul(x):sum():backward()
  lu.assertEquals(x.grad:to_table(), ladies.ones(6, 1):to_table())
end

-- ---------------------------------------------------------------- lifetimes

function tests.test_matrices_end_with_their_step()
  local w, constant = parameter(SQUARE.nnz), random_tensor(6)
  local made, kept, untouched = {}
  do
    local _ <close> = ladies.step()
    local A = SQUARE:with_values(w * 2)
    for _, make_another in pairs(makers) do made[#made + 1] = make_another(A) end
    made[#made + 1] = SQUARE:scale_cols(w:slice(1, 6))
    kept = A:row_normalize():detach()
    untouched = SQUARE:scale_rows(constant):row_normalize()
  end
  for _, A in ipairs(made) do
    fails("belongs to a closed step", A.entry_values, A)
    fails("belongs to a closed step", A.matmul, A, ladies.ones(6))
    fails("belongs to a closed step", A.detach, A)
  end
  compare.assert_close(kept:row_sums(), SQUARE:row_normalize():row_sums(), 1e-6, "kept")
  lu.assertEquals(untouched:hash(), SQUARE:scale_rows(constant):row_normalize():hash())
end

--- A detached matrix is a constant, whatever in it carried a gradient.
function tests.test_detach()
  every_matrix(SQUARE, function(_, make)
    local x = parameter(6)
    local _ <close> = ladies.step()
    local A = make()
    lu.assertEquals(A:detach():hash(), A:hash())
    local y = A:detach():row_normalize():matmul(x:detach())
    fails("the loss depends on no parameter", function() y:sum():backward() end)
  end)
end

-- ---------------------------------------------------------------- where nothing is recorded

-- Every operation that gives a matrix, with constants for whatever else it takes.
local function matrices_of(A, w)
  local all = {}
  for name, make_another in pairs(makers) do all[name] = make_another(A) end
  for method, size in pairs(with_vector) do
    all[method] = A[method](A, random_tensor(A[size]))
  end
  all.with_values = A:with_values(w)
  all.symmetrize = SYMMETRIC:with_values(parameter(SYMMETRIC.nnz)):symmetrize()
  all.draw_cols = A:draw_cols(from_two, 2, {rng = ladies.rng(1)})
  return all
end

--- All factors are constants, those too that a matrix shares with one that carries a gradient.
function tests.test_matrices_are_wholly_constant_where_nothing_is_recorded()
  local w = parameter(SQUARE.nnz)
  local function check(A, where)
    for name, B in pairs(matrices_of(A, w)) do
      lu.assertFalse(B.requires_grad, ("%s %s"):format(name, where))
    end
  end
  every_matrix(SQUARE, function(which, make, parameters)
    if #parameters == 0 then return end
    local _ <close> = ladies.step()
    local A = make()
    lu.assertTrue(A.requires_grad)
    ladies.no_grad(check, A, "in no_grad, of " .. which)
    A:entry_values():sum():backward()
    check(A, "after backward, of " .. which)
  end)
  local A = SQUARE:with_values(w)
  ladies.no_grad(check, A, "in no_grad")
  local _ <close> = ladies.step{record = false}
  check(A, "in a step without recording")
end

--- The optimizer changes a parameter, not the matrices that were made of it.
function tests.test_constants_stay_when_a_parameter_changes()
  local w = parameter(SQUARE.nnz)
  local A = SQUARE:with_values(w)
  local made = ladies.no_grad(matrices_of, A, w)
  made.detach = A:detach()
  do
    local _ <close> = ladies.step()
    made.detached_result = A:row_normalize():detach()
  end
  local before = {}
  for name, B in pairs(made) do before[name] = B:hash() end
  w:fill_(9)
  for name, B in pairs(made) do lu.assertEquals(B:hash(), before[name], name) end
end

local OUTSIDE = ": the %s carries a gradient, and no step is open that could record it; " ..
  "open a step first, or use :detach() or ladies.no_grad"

--- A matrix may be made of a parameter before the step, but nothing of that matrix.
function tests.test_a_gradient_needs_a_step()
  local w, x = parameter(SQUARE.nnz), ladies.ones(6)
  local A = SQUARE:with_values(w)
  lu.assertEquals({A.requires_grad, A:hash()}, {true, A:detach():hash()})
  local function refused(name, ...) fails(name .. OUTSIDE:format "matrix", ...) end
  for _, make_another in pairs(makers) do refused("", make_another, A) end
  for _, read in pairs(reads) do refused("", read, A) end
  refused("matmul", A.matmul, A, x)
  refused("matmul_t", A.matmul_t, A, x)
  refused("normalize", function() ladies.graph.new(A):normalize "sym" end)
  local lost = "the matrix carries a gradient, which %s does not pass on; use :detach()"
  fails(lost:format "symmetrize", A.symmetrize, A)
  fails(lost:format "draw_cols", A.draw_cols, A, from_two, 2, {rng = ladies.rng(1)})
  local product = ladies.op{forward = function(B) return B:matmul(x) end, backward = print}
  fails(lost:format "op ?", product, A)
  ladies.no_grad(product, A)
  for method, size in pairs(with_vector) do
    refused(method, A[method], A, random_tensor(A[size]))
    fails(method .. OUTSIDE:format "tensor", SQUARE[method], SQUARE, parameter(A[size]))
  end
end

--- A batch that is drawn before its step would train without the gradient.
function tests.test_samplers_lose_no_gradient()
  local learned = SQUARE:with_values(parameter(SQUARE.nnz))
  local samplers = {
    full = ladies.samplers.full(learned, {layers = 1}),
    graphsage = ladies.samplers.graphsage(learned, {samples = {2}}),
    vrgcn = ladies.samplers.vrgcn(learned, {layers = 2, hidden = 3}),
    ladies = function(...) return ladies.samplers.ladies(learned, {samples = {2}})(...) end,
    fastgcn = function(...) return ladies.samplers.fastgcn(learned, {samples = {2}})(...) end,
  }
  for _, sampler in pairs(samplers) do
    fails("the matrix carries a gradient", sampler, index{1, 2}, ladies.rng(1))
  end
end

-- ---------------------------------------------------------------- what gives and takes no gradient

-- Whatever factor it is that carries one; tests/reference/contract says what each method does.

function tests.test_what_reads_the_structure_is_constant()
  local ones, pairs_of = ladies.ones(SQUARE.nnz), ladies.ones(6, 2)
  every_matrix(SQUARE, function(_, make)
    local _ <close> = ladies.step()
    local A = make()
    for _, constant in ipairs{
      A:degrees(), A:with_values(ones):entry_values(), A:edge_softmax(ones),
      A:dot_edges(pairs_of, pairs_of), A:add_edges(ladies.ones(6), ladies.ones(6)),
    } do
      fails("the loss depends on no parameter", function() constant:sum():backward() end)
    end
  end)
end

function tests.test_what_is_not_differentiable_raises()
  local refused = {
    symmetrize = function(A) return A:symmetrize() end,
    draw_cols = function(A) return A:draw_cols(from_two, 2, {rng = ladies.rng(1)}) end,
  }
  every_matrix(SQUARE, function(_, make, parameters)
    for name, call in pairs(refused) do
      ladies.no_grad(function() call(make()) end)
      local _ <close> = ladies.step()
      call(make():detach())
      if #parameters > 0 then
        fails(name .. ": the matrix carries a gradient, which " .. name ..
              " does not pass on; use :detach()", call, make())
      end
    end
  end)
end

return tests
