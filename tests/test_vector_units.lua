--- Loops that are compiled for several vector units give the same bits on each; and what the
-- environment says of them.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
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

-- What f gives on each of them must be equal.
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
  for name, f in pairs{
    relu = function(x) return x:relu() end, elu = function(x) return x:elu() end,
    tanh = function(x) return x:tanh() end, sigmoid = function(x) return x:sigmoid() end,
    exp = function(x) return x:exp() end,
    dropout = function(x) return x:dropout(0.3, ladies.rng(9)) end,
    relu_dropout = function(x) return x:relu_dropout(0.3, ladies.rng(9)) end,
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

function tests.test_draws()
  local p = random(3000):square()
  assert_same("choice", function()
    return (ladies.sampling.choice(p, 50, {rng = ladies.rng(4)})):hash()
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
  lu.assertErrorMsgContains("vector units: mmx is none of avx512, avx2 and sse2",
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
  lu.assertEquals({out, err, status}, {"", "ladies: vector units: mmx is none of avx512, avx2 and "
    .. "sse2\n", 1})
  for _, units in ipairs(available) do
    lu.assertStrContains((numerics(units)), ", " .. units .. ", ")
  end
  lu.assertStrContains((numerics ""), own)
end

return tests
