--- Outputs and gradients of every differentiable operation, against PyTorch in float64
-- (fixtures/make_gradients.py says what a case holds); test_gradient_contract.lua holds them to
-- central differences.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local fixture = require "reference.fixture"
local tables = require "ladies.base.tables"

local TOLERANCE = 1e-5
local fixtures = fixture.open "gradients"

-- ---------------------------------------------------------------- what a case computes

local function two(f)
  return function(c) return f(c[1], c[2]) end
end

local function one(f)
  return function(c) return f(c[1]) end
end

local function arithmetic(f)
  local both = two(f)
  return {
    same = both, vectors = both,
    row_left = both, row_right = both, row_square = both,
    column_left = both, column_right = both,
    number_left = function(c) return f(c:number "number", c[1]) end,
    number_right = function(c) return f(c[1], c:number "number") end,
  }
end

local function scaled(A, c)
  return A:scale_rows(c:tensor "row_scale"):scale_cols(c:tensor "col_scale")
end

--- Sparse times dense by `method`, for every way in which a matrix holds its entries.
local function products(method)
  local function times(make)
    return function(c)
      local A = make(c:matrix(), c)
      return A[method](A, c[1])
    end
  end
  local function as_is(A) return A end
  local function normalized(kind, self_loops)
    return function(A) return A:normalize(kind, {self_loops = self_loops}) end
  end
  return {
    plain = times(as_is), values = times(as_is), one_column = times(as_is),
    scaled = times(scaled), scaled_values = times(scaled),
    sym = times(normalized("sym", true)), row = times(normalized("row", true)),
    row_no_loops = times(normalized("row", false)),
    block = times(function(A, c)
      local U = A:normalize("row", {self_loops = true}):slice(c:index "dst", c:index "src")
      return U:scale_cols(c:tensor "scale"):row_normalize()
    end),
  }
end

local function gather(c) return c[1]:gather(c:index "index") end
local function scatter_add(c) return c[1]:scatter_add(c:index "index", c:number "rows") end
local function layer_norm(c) return c[1]:layer_norm(c[2], c[3]) end
local function edge_softmax(c) return c:matrix():edge_softmax(c[1]) end

local function cross_entropy(c)
  local weights = c:tensor "weights"
  if c:has "class_weights" then
    weights = {weights = weights,
      [weights and "class_factors" or "class_weights"] = c:tensor "class_weights"}
  end
  return ladies.loss.cross_entropy(c[1], c:index "labels", weights)
end

local function binary_cross_entropy(c)
  return ladies.loss.binary_cross_entropy(c[1], c:tensor "targets", c:tensor "weights")
end

local relu = one(function(x) return x:relu() end)
local sigmoid = one(function(x) return x:sigmoid() end)
local tanh = one(function(x) return x:tanh() end)
local log_softmax = one(function(x) return x:log_softmax() end)
local normalize_rows = one(function(x) return x:normalize_rows() end)
local sum = one(function(x) return x:sum() end)
local mean = one(function(x) return x:mean() end)
local matmul = two(function(x, w) return x:matmul(w) end)

-- operations[op][mode]: every case of the fixtures.
local operations = {
  matmul = {plain = matmul, one_row = matmul},
  linear = {
    bias = function(c) return c[1]:linear(c[2], c[3]) end,
    no_bias = function(c) return c[1]:linear(c[2]) end,
  },
  gather = {repeated = gather, vector = gather},
  scatter_add = {repeated = scatter_add, vector = scatter_add},
  slice = {rows = one(function(x) return x:slice(2, 4) end)},
  reshape = {columns = one(function(x) return x:reshape(2, 6) end)},
  concat = {plain = two(function(x, y) return x:concat(y) end)},
  add = arithmetic(function(x, y) return x + y end),
  sub = arithmetic(function(x, y) return x - y end),
  mul = arithmetic(function(x, y) return x * y end),
  div = arithmetic(function(x, y) return x / y end),
  neg = {plain = one(function(x) return -x end)},

  relu = {plain = relu, zero = relu},
  leaky_relu = {slope = function(c) return c[1]:leaky_relu(c:number "slope") end},
  elu = {
    one = one(function(x) return x:elu(1) end),
    alpha = function(c) return c[1]:elu(c:number "alpha") end,
  },
  sigmoid = {plain = sigmoid, large = sigmoid},
  tanh = {plain = tanh, large = tanh},
  exp = {plain = one(function(x) return x:exp() end)},
  log = {plain = one(function(x) return x:log() end)},
  sqrt = {plain = one(function(x) return x:sqrt() end)},
  square = {plain = one(function(x) return x:square() end)},

  layer_norm = {
    plain = layer_norm, near_constant = layer_norm,
    eps = function(c) return c[1]:layer_norm(c[2], c[3], c:number "eps") end,
  },
  log_softmax = {plain = log_softmax, large = log_softmax},
  normalize_rows = {plain = normalize_rows, zero_row = normalize_rows},
  sum = {matrix = sum, vector = sum},
  mean = {matrix = mean, vector = mean},
  row_sums = {plain = one(function(x) return x:row_sums() end)},
  col_sums = {plain = one(function(x) return x:col_sums() end)},

  spmm = products "matmul",
  spmm_t = products "matmul_t",
  with_values = {
    plain = function(c) return c:matrix():with_values(c[1]):matmul(c[2]) end,
    transposed = function(c) return c:matrix():with_values(c[1]):matmul_t(c[2]) end,
    scaled = function(c) return scaled(c:matrix():with_values(c[1]), c):matmul(c[2]) end,
  },
  edge_softmax = {plain = edge_softmax, large = edge_softmax},
  dot_edges = {plain = function(c) return c:matrix():dot_edges(c[1], c[2]) end},
  add_edges = {plain = function(c) return c:matrix():add_edges(c[1], c[2]) end},

  cross_entropy = {
    plain = cross_entropy, weighted = cross_entropy, class_weighted = cross_entropy,
    both = cross_entropy, large = cross_entropy,
  },
  binary_cross_entropy = {
    plain = binary_cross_entropy, soft = binary_cross_entropy, large = binary_cross_entropy,
    weighted = binary_cross_entropy, weighted_vector = binary_cross_entropy,
  },
}

-- Several operations together, in most of them a tensor used twice.
local chains = {
  self_product = one(function(x) return x * x + x:relu() / x end),
  element = one(function(x) return x * x:mean() + x:square():sum():sqrt() / x end),
  self_matmul = one(function(x) return x:matmul(x) + x end),
  self_concat = one(function(x) return x:concat(x:tanh()) end),
  self_dot_edges = function(c) return c:matrix():dot_edges(c[1], c[1]) end,
  two_gathers = function(c) return c[1]:gather(c:index "first") * c[1]:gather(c:index "second") end,
  two_products = function(c)
    local P = c:matrix():normalize("sym", {self_loops = true})
    return P:matmul(P:matmul(c[1])) + c[1]
  end,
  detach = one(function(x) return x * x:detach() + x:detach() end),

  gcn = function(c)
    local w1, b1, w2, b2 = table.unpack(c, 1, 4)
    local P = c:matrix():normalize("sym", {self_loops = true})
    local hidden = (P:matmul(c:matrix "features":matmul(w1)) + b1):relu()
    local logits = P:matmul(hidden):linear(w2, b2)
    return ladies.loss.cross_entropy(logits, c:index "labels", c:tensor "weights")
  end,

  gat = function(c)
    local x, w, left, right = table.unpack(c, 1, 4)
    local A, h = c:matrix(), x:matmul(w)
    local scores = A:add_edges((h * left):row_sums(), (h * right):row_sums()):leaky_relu(0.2)
    return A:with_values(A:edge_softmax(scores)):matmul(h)
  end,

  sage = function(c)
    local x, w, b = table.unpack(c, 1, 3)
    local means = c:matrix():normalize("row", {self_loops = false}):matmul(x)
    return x:concat(means):linear(w, b):elu(1):normalize_rows()
  end,

  residual = function(c)
    local x, w, gain, bias = table.unpack(c, 1, 4)
    local P = c:matrix():normalize("row", {self_loops = true})
    for _ = 1, 3 do x = x + P:matmul(x):matmul(w):layer_norm(gain, bias):elu(1) end
    return x:log_softmax()
  end,
}

-- ---------------------------------------------------------------- one case of the fixtures

local Case = {}
Case.__index = Case

--- A case by name; case[1], case[2], ... are its differentiable inputs.
local function open_case(name)
  local case = setmetatable({name = name, made = {}}, Case)
  while case:has("in" .. #case + 1) do
    local x = fixtures:tensor(name .. ".in" .. #case + 1)
    x:requires_grad_()
    case[#case + 1] = x
  end
  return case
end

function Case:has(member) return fixtures:has(self.name .. "." .. member) end

--- A member, read once by method `kind` of the npz file; nil when the case does not have it.
function Case:read(kind, member)
  if self.made[member] == nil and self:has(member) then
    self.made[member] = fixtures[kind](fixtures, self.name .. "." .. member)
  end
  return self.made[member]
end

function Case:tensor(member) return self:read("tensor", member) end
function Case:index(member) return self:read("index", member) end
function Case:number(member) return self:read("numbers", member) end

--- The matrix of the case, or a second one by its name.
function Case:matrix(name)
  local prefix = name and name .. "." or ""
  local shape = self:read("numbers", prefix .. "shape")
  return ladies.csr{
    n_rows = shape[1], n_cols = shape[2],
    offsets = self:index(prefix .. "indptr"), columns = self:index(prefix .. "indices"),
    values = self:tensor(prefix .. "data"),
  }
end

local function shape_of(x)
  return x.ndim == 1 and {x.n_rows} or {x.n_rows, x.n_cols}
end

--- Runs the case in a step of its own and leaves the gradients in its inputs; returns the output
-- as a flat array, and its shape.
local function run(case, compute)
  local _ <close> = ladies.step()
  local out = compute(case)
  local loss = (out * case:tensor "cotangent"):sum()
  loss:backward()
  return compare.flatten(out), shape_of(out)
end

local function check_fixture(name, compute)
  local case = open_case(name)
  local out, shape = run(case, compute)
  lu.assertEquals(shape, fixtures:shape(name .. ".out"), name .. ": shape")
  compare.assert_close(out, case:read("numbers", "out"), TOLERANCE, name .. ": output")
  for i, x in ipairs(case) do
    local expected = case:read("numbers", "grad" .. i)
    compare.assert_close(x.grad, expected, TOLERANCE, ("%s: gradient %d"):format(name, i))
  end
end

--- Gradients of two steps add up.
local function check_sum(name, case, compute)
  run(case, compute)
  local once = tables.map(case, function(x) return compare.flatten(x.grad) end)
  run(case, compute)
  for i, x in ipairs(case) do
    local twice = tables.map(once[i], function(value) return 2 * value end)
    compare.assert_close(x.grad, twice, 1e-6, ("%s: gradient %d of two steps"):format(name, i))
  end
end

-- Returns the tensors of a case that can be changed: its inputs, by a name that the tape does not
-- see, and constants.
local function changeable(case)
  local all = {}
  for i, x in ipairs(case) do all["in" .. i] = x:detach() end
  for member, value in pairs(case.made) do
    if ladies.options.class_of(value) == "Tensor" then all[member] = value end
  end
  return all
end

--- Gradients after `member` was changed in place before backward: those of the case as it was, or
-- nil where backward refuses.
local function gradients_after_change(name, compute, member)
  local case = open_case(name)
  local _ <close> = ladies.step()
  local out = compute(case)
  local loss = (out * case:tensor "cotangent"):sum()
  changeable(case)[member]:uniform_(0.25, 0.75, ladies.rng(1))
  local ok, message = pcall(loss.backward, loss)
  if not ok then
    lu.assertStrContains(message, "was changed in place after it was used")
    return nil
  end
  return tables.map(case, function(x) return compare.flatten(x.grad) end)
end

--- A change in place before backward does not matter or is an error.
local function check_changes(name, compute)
  local case = open_case(name)
  run(case, compute)
  for member in pairs(changeable(case)) do
    local gradients = gradients_after_change(name, compute, member)
    for i, expected in ipairs(gradients or {}) do
      lu.assertEquals(expected, compare.flatten(case[i].grad),
                      ("%s: gradient %d after a change of %s"):format(name, i, member))
    end
  end
end

-- ---------------------------------------------------------------- tests

local tests = {}

local computed = {}  -- case name -> function
for op, modes in pairs(operations) do
  for mode, compute in pairs(modes) do computed[op .. "." .. mode] = compute end
end
for name, compute in pairs(chains) do computed["chain." .. name] = compute end

for name, compute in pairs(computed) do
  local suffix = name:gsub("%.", "_")
  tests["test_fixture_" .. suffix] = function() check_fixture(name, compute) end
  tests["test_sum_" .. suffix] = function() check_sum(name, open_case(name), compute) end
  tests["test_changes_" .. suffix] = function() check_changes(name, compute) end
end

function tests.test_every_fixture_is_used()
  local names = {}
  for _, member in ipairs(fixtures:names()) do
    names[#names + 1] = member:match "^(.*)%.out$"
  end
  table.sort(names)
  lu.assertEquals(tables.sorted_keys(computed), names)
end

-- Dropout with a fixed sub-stream draws the same mask at every call.
local function dropout_case()
  local rng, x, weights = ladies.rng(5), ladies.zeros(12, 7), ladies.zeros(12, 7)
  for i = 1, x.n_rows do
    for j = 1, x.n_cols do
      x:set_(i, j, 0.5 + (i * 5 + j * 3) % 11 / 8)
      weights:set_(i, j, (i * 7 + j * 2) % 13 / 8 - 0.75)
    end
  end
  x:requires_grad_()
  local case = {x, tensor = function() return weights end}
  return case, function(c) return c[1]:dropout(0.375, rng:at(3)) end
end

function tests.test_sum_dropout() check_sum("dropout", dropout_case()) end

--- A row, a column or a number that is added to a matrix gets the sum of the gradients of its
-- copies; here these are whole numbers, so that their order makes no difference.
function tests.test_spread_operands()
  local rng = ladies.rng(8)
  for _, shape in ipairs{{1, 1}, {300, 37}, {3, 131}, {200, 64}} do
    local n_rows, n_cols = table.unpack(shape)
    local weights, rows, cols, all = {}, {}, {}, 0
    for i = 1, n_rows do
      weights[i], rows[i] = {}, {0}
      for j = 1, n_cols do
        local w = rng:below(9) - 5
        weights[i][j], rows[i][1], cols[j], all = w, rows[i][1] + w, (cols[j] or 0) + w, all + w
      end
    end
    local x, g = ladies.ones(n_rows, n_cols), ladies.tensor(weights)
    local row, bias = ladies.zeros(n_cols):requires_grad_(), ladies.zeros(n_cols):requires_grad_()
    local column = ladies.zeros(n_rows, 1):requires_grad_()
    local number = ladies.zeros(1):requires_grad_()
    local _ <close> = ladies.step()
    local y = x + row + column + number + x:linear(ladies.zeros(n_cols, n_cols), bias);
    (y * g):sum():backward()
    for want, got in pairs{[cols] = row, [rows] = column, [{all}] = number} do
      lu.assertEquals(got.grad:to_table(), want)
    end
    lu.assertEquals(bias.grad:to_table(), cols)
  end
end

--- Dropout gives the same numbers with the ReLU in the same pass as without, at sizes that fill no
-- group evenly. The gradient is one to write, or one to add to.
function tests.test_relu_dropout()
  local rng = ladies.rng(6)
  for _, size in ipairs{1, 511, 512, 40000} do
    local x, weights = ladies.zeros(size):normal_(1, rng), ladies.zeros(size):normal_(1, rng)
    local function found(f, more)
      local p = x:clone():requires_grad_()
      local _ <close> = ladies.step()
      local y = f(p, rng:at(4))
      local loss = (y * weights):sum()
      if more then loss = loss + (p * 3):sum() end
      loss:backward()
      return {y:to_table(), p.grad:to_table()}
    end
    for _, more in ipairs{false, true} do
      lu.assertEquals(found(function(h, draws) return h:relu_dropout(0.25, draws) end, more),
        found(function(h, draws) return h:relu():dropout(0.25, draws) end, more), size)
    end
  end
end

--- The operation relu_dropout may write over an operand which nothing needs any more: it gives the
-- same numbers, and the operand is released.
function tests.test_relu_dropout_over_its_operand()
  local rng = ladies.rng(6)
  local x, weights = ladies.zeros(700, 3):normal_(1, rng), ladies.zeros(700, 3):normal_(1, rng)
  local function found(done)
    local p = x:clone():requires_grad_()
    local _ <close> = ladies.step()
    local h = p * 2
    local before = ladies.memory().tensor
    local y = h:relu_dropout(0.25, rng:at(4), done)
    lu.assertEquals(ladies.memory().tensor - before < 4 * 700 * 3, done)
    lu.assertEquals(tostring(h) == "Tensor, released", done);
    (y * weights):sum():backward()
    return {y:to_table(), p.grad:to_table()}
  end
  lu.assertEquals(found(true), found(false))
end

--- An operand that the step needs, or that is none of its results, stays as it is.
function tests.test_relu_dropout_beside_its_operand()
  local x = ladies.zeros(40, 3):normal_(1, ladies.rng(6))
  local function found(make, done)
    local p = x:clone():requires_grad_()
    local _ <close> = ladies.step()
    local h, other = make(p)
    local before = h:to_table()
    local y = h:relu_dropout(0.25, ladies.rng(4), done)
    lu.assertEquals(h:to_table(), before)
    local loss = y:sum()
    if other then loss = loss + other():sum() end
    loss:backward()
    return {y:to_table(), p.grad:to_table(), h.grad and h.grad:to_table()}
  end
  for name, make in pairs{
    parameter = function(p) return p end,
    ["a view"] = function(p) return p:reshape(20, 6) end,
    ["with a view"] = function(p)
      local h = p * 2
      local view = h:reshape(120)
      return h, function() return view end
    end,
    ["read by its own backward"] = function(p) return p:exp() end,
    ["read by another's"] = function(p)
      local h = p * 2
      local square = h * h
      return h, function() return square end
    end,
    ["the values of a matrix"] = function(p)
      local h = p:row_sums() * 2
      local A = ladies.sparse(ladies.ones(40, 1)):with_values(h)
      return h, function() return A:matmul(ladies.ones(1, 1)) end
    end,
    ["with a gradient that is kept"] = function(p) return (p * 2):keep_grad_() end,
  } do
    lu.assertEquals(found(make, true), found(make, false), name)
  end
  x:relu_dropout(0.25, ladies.rng(4), true)
  lu.assertEquals(#x, 40)
end

--- Kept elements and their gradients are divided by 1 - p, dropped ones are zero.
function tests.test_dropout_mask()
  local case, compute = dropout_case()
  local out = run(case, compute)
  local grad, weights = compare.flatten(case[1].grad), compare.flatten(case:tensor())
  local kept, dropped = 0, 0
  for i, x in ipairs(compare.flatten(case[1])) do
    local factor = out[i] == 0 and 0 or 1 / (1 - 0.375)
    lu.assertAlmostEquals(out[i], x * factor, 1e-6)
    lu.assertAlmostEquals(grad[i], weights[i] * factor, 1e-6)
    if out[i] == 0 then dropped = dropped + 1 else kept = kept + 1 end
  end
  lu.assertTrue(kept > 0 and dropped > 0)
end

return tests
