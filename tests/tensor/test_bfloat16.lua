--- Products whose factors are rounded to bfloat16, on each of the units that multiply them; and
-- training in that precision.
local lu = require "luaunit"
local core = require "ladies_core"
local json = require "ladies.base.json"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local training = require "reference.toy_training"

local tests = {}

-- Maps a name for LADIES_ISA to the units that multiply bfloat16 under it.
local UNITS = {amx = "AMX", avx512 = "AVX512-BF16"}

local own = core.bfloat16_units()
local own_name = own == "AMX" and "amx" or core.vector_units()

-- Names of the units that this machine and this build have.
local available = {}
for name, units in pairs(UNITS) do
  if pcall(core.vector_units, name) and core.bfloat16_units() == units then
    available[#available + 1] = name
  end
end

function tests.tearDown()
  if #available > 0 then core.vector_units(own_name) end
end

tests.tearDown()

local function random(n_rows, n_cols, seed)
  return ladies.zeros(n_rows, n_cols):normal_(1, ladies.rng(seed))
end

local function product(a, b) return core.in_bfloat16(a.matmul, a, b) end

-- Calls f with each of the units, which are used meanwhile.
local function on_each(f)
  for _, name in ipairs(available) do
    core.vector_units(name)
    lu.assertEquals(core.bfloat16_units(), UNITS[name])
    f(UNITS[name])
  end
end

--- Products and the gradients of both factors are near those of float32, by the rounding of their
-- factors, and not the same. tests/c/kernel_bfloat16.c has their numbers.
function tests.test_products_and_gradients()
  local x, w = random(34, 470, 1):requires_grad_(), random(470, 19, 2):requires_grad_()
  local bias, g = random(1, 19, 3):reshape(19), random(34, 19, 4)
  local function found()
    local optimizer <const> = ladies.optim.sgd{x, w}
    optimizer:clear()
    local _ <close> = core.step()
    local y = x:linear(w, bias)
    local loss = (y * g):sum()
    loss:backward()
    return {y:detach(), x.grad:clone(), w.grad:clone()}
  end
  local wide = found()
  on_each(function(units)
    for i, narrow in ipairs(core.in_bfloat16(found)) do
      local off = (narrow - wide[i]):norm() / wide[i]:norm()
      lu.assertTrue(off > 1e-4 and off < 1e-2, ("%s, %d: off by %g"):format(units, i, off))
    end
  end)
end

--- Bits of a row depend neither on the other rows and columns nor on the number of threads.
function tests.test_same_bits()
  on_each(function()
    local a, b = random(2100, 70, 1), random(70, 75, 2)
    local first
    for _, n in ipairs{1, 2, 3, 7} do
      ladies.threads(n)
      first = first or product(a, b):hash()
      lu.assertEquals(product(a, b):hash(), first)
    end
    local whole = product(a, b)
    local some = ladies.index{2100, 3, 77, 1}
    lu.assertEquals(product(a:rows(some), b):hash(), whole:rows(some):hash())
  end)
end

--- A scope ends with its function, however that ends; float32 is as it was.
function tests.test_scope()
  local a, b = random(20, 30, 1), random(30, 40, 2)
  local plain = a:matmul(b):hash()
  if not own then
    lu.assertErrorMsgContains("in_bfloat16: nothing multiplies bfloat16 here",
      core.in_bfloat16, print)
    return
  end
  lu.assertEquals({core.in_bfloat16(select, 2, "a", "b", "c")}, {"b", "c"})
  lu.assertNotEquals(product(a, b):hash(), plain)
  lu.assertErrorMsgContains("on purpose", core.in_bfloat16, error, "on purpose")
  lu.assertEquals(a:matmul(b):hash(), plain)
  core.in_bfloat16(function()
    lu.assertEquals(product(a, b):hash(), a:matmul(b):hash())
    lu.assertNotEquals(a:matmul(b):hash(), plain)
  end)
  lu.assertErrorMsgContains("function expected", core.in_bfloat16, 1)
end

-- ---------------------------------------------------------------- training

-- The weights of a run with these options, and its summary.
local function train(own_options)
  local opts = training.options(own_options)
  local summary = ladies.train(opts)
  return training.weights(opts.model), summary
end

--- A run in bfloat16 can be repeated to the bit, and differs from one in float32.
function tests.test_training()
  local wide, in_float32 = train{max_batches = 8}
  local narrow, summary = train{max_batches = 8, precision = "bfloat16"}
  lu.assertEquals((train{max_batches = 8, precision = "float32"}), wide)
  lu.assertEquals((train{max_batches = 8, precision = "bfloat16"}), narrow)
  lu.assertEquals(narrow ~= wide, own ~= nil)
  lu.assertEquals(summary.numerics,
    in_float32.numerics .. (own and ", bfloat16 by " .. own or ""))
  lu.assertErrorMsgContains("precision must be one of float32, bfloat16", train,
    {precision = "half"})
end

--- A run goes on in its own precision alone.
function tests.test_resume()
  local folder = temporary.path "resumed"
  train{max_batches = 4, precision = "bfloat16", out = folder}
  lu.assertErrorMsgContains('precision was "bfloat16" and is "float32"', train,
    {max_batches = 8, precision = "float32", out = folder, resume = true})
  local parts = train{max_batches = 8, precision = "bfloat16", out = folder, resume = true}
  lu.assertEquals(parts, (train{max_batches = 8, precision = "bfloat16"}))
end

--- A run goes on alike whether float32, the default, is given or not.
function tests.test_resume_in_float32()
  local function parts(first, second)
    local folder = temporary.path(first or "unsaid")
    train{max_batches = 2, precision = first, out = folder}
    return (train{max_batches = 4, precision = second, out = folder, resume = true})
  end
  local whole = train{max_batches = 4}
  lu.assertEquals(parts(nil, "float32"), whole)
  lu.assertEquals(parts("float32", nil), whole)
end

--- Within in_bfloat16 checks of gradients, exact inference and runs are as without it. It calls
-- nothing where there are no instructions.
function tests.test_float32_within()
  if not own then
    lu.assertErrorMsgContains("in_bfloat16: nothing multiplies bfloat16 here (AMX, AVX512-BF16)",
      core.in_bfloat16, lu.fail, "called")
    return
  end
  local W = random(5, 3, 1):requires_grad_()
  local function worst()
    local function f(x) return x:matmul(W) end
    return tostring(select(2, ladies.gradcheck(f, {random(4, 5, 2)})))
  end
  lu.assertEquals(core.in_bfloat16(worst), worst())
  local data, model = toy.new(), ladies.nn.gcn{inputs = toy.FEATURES, outputs = 3, layers = 2}
  local function logits() return ladies.inference.exact(model, data):hash() end
  lu.assertEquals(core.in_bfloat16(logits), logits())
  local without = ladies.nn.mlp{inputs = toy.FEATURES, outputs = 3, layers = 2}
  local function of_rows() return ladies.inference.exact(without, data):hash() end
  lu.assertEquals(core.in_bfloat16(of_rows), of_rows())
  for _, precision in ipairs{"float32", "bfloat16"} do
    local function weights() return (train{max_batches = 4, precision = precision}) end
    lu.assertEquals(core.in_bfloat16(weights), weights())
  end
end

--- Where there are no instructions, a run says so and is one of float32.
function tests.test_without_units()
  local dataset = temporary.path "toy.npz"
  ladies.data.save(toy.new(true), dataset)
  local function run(isa, precision)
    local folder = temporary.path(isa .. precision)
    local out, err = shell.succeeded(shell.run_ladies({"train", "--dataset", dataset, "--layers=2",
      "--hidden=8", "--batch-size=20", "--max-batches=4", "--quiet", "--precision", precision,
      "--out", folder}, {env = {"LADIES_ISA=" .. isa}}))
    lu.assertStrContains(out:gsub("%s+", " "), " precision " .. precision .. ",")
    local summary = json.decode(ladies.file.read(folder .. "/summary.json"))
    return ladies.file.read(folder .. "/model.npz"), err, summary.numerics
  end
  local wide, _, numerics = run("sse2", "float32")
  local narrow, err, narrow_numerics = run("sse2", "bfloat16")
  lu.assertTrue(narrow == wide)
  lu.assertEquals(narrow_numerics, numerics)
  lu.assertEquals(err, "ladies.train: precision bfloat16: nothing multiplies it here (AMX, "
    .. "AVX512-BF16), for this processor has neither or LADIES_ISA holds them back; so products "
    .. "are of float32\n")
end

return tests
