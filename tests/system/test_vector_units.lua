--- Loops that are compiled for several vector units give the same bits on each; and what the
-- environment says of them.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local philox = require "reference.philox"
local shell = require "tools.shell"
local toy = require "reference.toy_data"
local training = require "reference.toy_training"

local tests = {}

local own = core.vector_units()

-- Those that this machine and this build have.
local available = {}
for _, name in ipairs{"SSE2", "AVX2", "AVX-512"} do
  if pcall(core.vector_units, name) then available[#available + 1] = name end
end

local function back_to_own()
  if #available > 0 then core.vector_units(own) end
end

back_to_own()
tests.tearDown = back_to_own

-- Asserts that f gives the same on each of them.
local function assert_same(name, f)
  local first
  for _, units in ipairs(available) do
    lu.assertEquals(core.vector_units(units), units)
    local found = f()
    first = first or found
    lu.assertEquals(found, first, name .. " on " .. units)
  end
end

-- A vector without n_cols.
local function random(n_rows, n_cols)
  return ladies.zeros(n_rows, n_cols):normal_(1, ladies.rng(3))
end

local function gradient_of(x, y)
  y:sum():backward()
  return y:hash() .. " " .. x.grad:hash()
end

function tests.test_elements()
  local bias, other = random(37), random(71, 37) * 3
  local rows = ladies.sampling.permutation(71, ladies.rng(4))
  for name, f in pairs{
    relu = function(x) return x:relu() end, elu = function(x) return x:elu() end,
    tanh = function(x) return x:tanh() end, sigmoid = function(x) return x:sigmoid() end,
    exp = function(x) return x:exp() end,
    dropout = function(x) return x:dropout(0.3, ladies.rng(9)) end,
    relu_dropout = function(x) return x:relu_dropout(0.3, ladies.rng(9)) end,
    mul_add = function(x) return x:mul_add(x:sum(), other, rows) end,
    softmax = function(x) return x:softmax() * other end,
    log_softmax = function(x) return x:log_softmax() * other end,
    layer_norm = function(x) return x:layer_norm(bias, bias) * other end,
    concat = function(x) return x:concat(x) * 2 end,
    bias = function(x) return x + bias end, product = function(x) return x * other end,
    quotient = function(x) return x / other end, affine = function(x) return x * 2 + 1 end,
  } do
    assert_same(name, function()
      local x = random(71, 37):requires_grad_()
      local _ <close> = ladies.step()
      return gradient_of(x, f(x))
    end)
  end
end

function tests.test_products()
  local P = toy.new().graph:normalize "sym"
  for _, width in ipairs{1, 3, 16, 65, 200} do
    assert_same("width " .. width, function()
      local h, values = random(P.n_cols, width):requires_grad_(), P:entry_values()
      values = values:clone():requires_grad_()
      local _ <close> = ladies.step()
      local A = P:with_values(values)
      return gradient_of(h, A:matmul(h)) .. " " .. values.grad:hash()
    end)
  end
end

--- Few columns with many entries, which need no transpose.
function tests.test_few_columns()
  local rng, rows, cols = ladies.rng(2), {}, {}
  for e = 1, 900 do rows[e], cols[e] = rng:below(300), rng:below(7) end
  local A = ladies.matrix{n_rows = 300, n_cols = 7, rows = ladies.index(rows),
    cols = ladies.index(cols)}
  for _, width in ipairs{1, 64, 99} do
    assert_same("width " .. width, function() return A:matmul_t(random(300, width)):hash() end)
  end
end

function tests.test_draws()
  local p = random(3000):square()
  assert_same("choice", function()
    return (ladies.sampling.choice(p, 50, {rng = ladies.rng(4)})):hash()
  end)
end

-- Computes which of `size` elements dropout with probability 1/4 keeps, as 1 or 0: a group of 512
-- has 64 blocks of four words, and a word's two halves decide on two elements side by side.
local function kept_elements(size, key, stream)
  local kept, block, group = {}, {}, nil
  for e = 0, size - 1 do
    if e // 512 ~= group then
      group = e // 512
      for lane = 0, 63 do block[lane] = philox.random(key, stream, group * 64 + lane) end
    end
    local word, lane, half = e % 512 // 128, e % 128 // 2, e % 2
    kept[e + 1] = (block[lane][word + 1] >> 16 * half & 0xffff) >= 0x4000 and 1 or 0
  end
  return kept
end

--- Elements and gradients are kept by the draws of a plain Philox, in the last, partial group too;
-- on each of the units.
function tests.test_dropout()
  local expected = kept_elements(1111, philox.seed(5), philox.at(3))
  assert_same("dropout", function()
    for _, name in ipairs{"dropout", "relu_dropout"} do
      local x = ladies.full(1111, 0.75):requires_grad_()
      local _ <close> = ladies.step()
      local y = x[name](x, 0.25, ladies.rng(5):at(3))
      y:sum():backward()
      lu.assertEquals(y:to_table(), expected)
      lu.assertEquals((x.grad * 0.75):to_table(), expected)
    end
    return true
  end)
end

function tests.test_norm_of_gradients()
  assert_same("norm", function()
    local x = random(71, 37):requires_grad_()
    local _ <close> = ladies.step()
    local loss = (x * x):sum()
    loss:backward()
    return ladies.optim.sgd({x}, {lr = 1}):clip_norm(1e30)
  end)
end

function tests.test_training()
  for _, optimizer in ipairs{"adam", "sgd"} do
    assert_same(optimizer, function()
      local opts = training.options{max_batches = 6}
      opts.optimizer = ladies.optim[optimizer](opts.model:parameters(), {lr = 0.02})
      opts.lr = nil
      ladies.train(opts)
      return training.weights(opts.model)
    end)
  end
end

function tests.test_names()
  lu.assertErrorMsgContains("vector units: mmx is none of amx, avx512, avx2 and sse2",
    core.vector_units, "mmx")
  if #available == 0 then lu.skip "this build has one kind of loops" end
  for name, units in pairs{avx2 = "AVX2", ["avx-512"] = "AVX-512", AVX512 = "AVX-512"} do
    if pcall(core.vector_units, units) then lu.assertEquals(core.vector_units(name), units) end
  end
end

--- LADIES_ISA holds our loops and OpenBLAS back from the start.
function tests.test_environment()
  local function numerics(isa)
    return shell.run_ladies({"-e", "io.write(require 'ladies.base.machine'.numerics())"},
      {env = {"LADIES_ISA=" .. isa}})
  end
  local out, err, status = numerics "mmx"
  lu.assertEquals({out, err, status}, {"", "ladies: vector units: mmx is none of amx, avx512, "
    .. "avx2 and sse2\n", 1})
  for _, units in ipairs(available) do
    lu.assertStrContains((numerics(units)), ", " .. units .. ", ")
  end
  lu.assertStrContains((numerics ""), own)
end

return tests
