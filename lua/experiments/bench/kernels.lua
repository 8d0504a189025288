--- The primitives that a training step spends its time in, each beside the plain loop that moves
-- the same data (scripts/bench/limits/limits.c) or, for dense products, the best rate of BLAS.
-- Sizes are those of the mini-batches of `ladies train` on WordNet.
--
-- A case is {group =, name =, run = f, limit = g, of = what the limit is, scale = the limit's part
-- of what g takes (1), bytes =, flops = of one run}. f and g return their seconds or are timed
-- whole.

local core = require "ladies_core"
local ladies = require "ladies"
local paired = require "experiments.bench.paired"
local tables = require "ladies.base.tables"

local WIDTH, ROWS = 256, 2048

local kernels = {}

local function random(rng, n_rows, n_cols) return core.zeros(n_rows, n_cols):normal_(1, rng) end

local function parameter(rng, n_rows, n_cols)
  return random(rng, n_rows, n_cols):requires_grad_()
end

-- Returns a function that measures the seconds of f(h) in a step, where h is an intermediate
-- result, so that f records what its backward will need.
local function forward(x, f)
  return function()
    local _ <close> = core.step()
    local h = x * 1
    local began = paired.clock()
    f(h)
    return paired.clock() - began
  end
end

-- Returns a function that measures the seconds that backward of f(x), a single operation, takes; x
-- is an intermediate result.
local function backward(x, f)
  return function()
    local step <close> = core.step()
    f(x * 1):sum():backward()
    return step:seconds()[2]
  end
end

-- ---------------------------------------------------------------- the groups

local function elementwise(ctx)
  local x, rng = parameter(ctx.rng, ROWS, WIDTH), ctx.rng
  local gain, shift = core.ones(WIDTH), core.zeros(WIDTH):normal_(1, rng)
  local a, b, c = random(rng, ROWS, WIDTH), random(rng, ROWS, WIDTH), random(rng, ROWS, WIDTH)
  local function copy() ctx.limits.copy(a, b) end
  local function add() ctx.limits.add(a, b, c) end
  local cases, bytes = {}, 4 * ROWS * WIDTH
  for _, one in ipairs{
    {"relu", function(h) return h:relu() end},
    {"elu", function(h) return h:elu() end},
    {"dropout", function(h) return h:dropout(0.5, rng) end},
    {"add bias", function(h) return h + shift end},
    {"layer norm", function(h) return h:layer_norm(gain, shift) end},
  } do
    local name, f = one[1], one[2]
    cases[#cases + 1] = {name = name, run = forward(x, f), limit = copy, of = "copy",
      bytes = 2 * bytes}
    cases[#cases + 1] = {name = name .. ", backward", run = backward(x, f), limit = add,
      of = "a + b", bytes = 3 * bytes}
  end
  return cases
end

local function gather(ctx)
  local h = random(ctx.rng, ctx.P.n_rows, WIDTH)
  local ids = ladies.sampling.uniform(h.n_rows, 4 * ROWS, {rng = ctx.rng})
  local out = core.zeros(#ids, WIDTH)
  return {{
    name = ("%d of %d rows"):format(#ids, h.n_rows), bytes = 8 * #ids * WIDTH,
    run = function() h:rows(ids):release() end,
    limit = function() ctx.limits.gather(h, out, ids) end, of = "rows copied",
  }}
end

-- Returns the plain loop for the product of A with h.
local function rows_added(ctx, A, h)
  local out = core.zeros(A.n_rows, h.n_cols)
  return function() ctx.limits.add_rows(A, h, out) end
end

-- Returns the case of the product of A with h, forward.
local function product(ctx, name, A, h)
  return {
    name = name, run = function() A:matmul(h):release() end, limit = rows_added(ctx, A, h),
    of = "rows added", bytes = 4 * h.n_cols * (A.nnz + A.n_rows), flops = 2 * A.nnz * h.n_cols,
  }
end

local function spmm(ctx)
  local rng, P, adj, X = ctx.rng, ctx.P, ctx.block.adj, ctx.features
  local h = parameter(rng, adj.n_cols, WIDTH)
  local back = product(ctx, "block, backward", adj:transpose(), random(rng, adj.n_rows, WIDTH))
  back.run = backward(h, function(x) return adj:matmul(x) end)
  local W = parameter(rng, X.n_cols, WIDTH)
  local weights = product(ctx, "features, gradient of weights", X:transpose(),
    random(rng, X.n_rows, WIDTH))
  weights.run = backward(W, function(w) return X:matmul(w) end)
  return {
    product(ctx, "whole graph", P, random(rng, P.n_cols, WIDTH)),
    product(ctx, "block", adj, random(rng, adj.n_cols, WIDTH)), back,
    product(ctx, "sparse features", X, random(rng, X.n_cols, WIDTH)), weights,
  }
end

-- Returns a case whose dense products are of bfloat16.
local function in_bfloat16(case)
  return tables.merged(case, {name = case.name .. ", bfloat16",
    run = function() return core.in_bfloat16(case.run) end})
end

local function matmul(ctx)
  local rng, cases = ctx.rng, {}
  for _, shape in ipairs{{512, WIDTH, WIDTH}, {1536, WIDTH, WIDTH}, {100, WIDTH, WIDTH},
                         {512, WIDTH, 45}} do
    local m, k, n = table.unpack(shape)
    local a, w, G = random(rng, m, k), parameter(rng, k, n), random(rng, m, n)
    local bias = core.zeros(n)
    local flops = 2 * m * n * k
    cases[#cases + 1] = {name = ("%d x %d x %d"):format(m, k, n), flops = flops,
      run = function() a:linear(w, bias):release() end}
    cases[#cases + 1] = {name = ("%d x %d x %d, gradient of weights"):format(m, k, n),
      flops = flops, run = function()
        local step <close> = core.step()
        local loss = (a:matmul(w * 1) * G):sum()
        loss:backward()
        return step:seconds()[2]
      end}
  end
  for i = 1, core.bfloat16_units() and 4 or 0 do cases[#cases + 1] = in_bfloat16(cases[i]) end
  for _, case in ipairs(cases) do ctx.by_blas(case) end
  return cases
end

-- Adam and the norm of gradients, of the parameters of a model.
local function optimizer(ctx)
  local rng, model = ctx.rng, ctx.model
  local adam = ladies.optim.adam(model:parameters())
  local n = 0
  for _, p in ipairs(model:parameters()) do n = n + p.n_rows * p.n_cols end
  local a, b, c, d = random(rng, n, 1), random(rng, n, 1), random(rng, n, 1), random(rng, n, 1)
  local function gradients()
    local _ <close> = core.step()
    local sum = core.zeros(1)
    for _, p in ipairs(model:parameters()) do sum = sum + p:sum() end
    sum:backward()
  end
  local function after_gradients(f)
    return function()
      gradients()
      local began = paired.clock()
      f()
      return paired.clock() - began
    end
  end
  return {
    {name = ("Adam, %d parameters"):format(n), bytes = 28 * n, of = "four read, three written",
      run = after_gradients(function() adam:step() end),
      limit = function() ctx.limits.update(a, b, c, d) end},
    {name = "norm of gradients", bytes = 4 * n, of = "read",
      run = function()
        adam:clear()
        return after_gradients(function() adam:clip_norm(1e30) end)()
      end,
      limit = function() ctx.limits.read(a) end},
  }
end

--- The groups in the order of the table: {name, function(context) -> cases}.
kernels.groups = {
  {"gather", gather}, {"SpMM", spmm}, {"matmul", matmul}, {"elementwise", elementwise},
  {"optimizer", optimizer},
}

return kernels
