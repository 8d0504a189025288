--- Loops that are compiled for several vector units give the same bits on each; and what the
-- environment says of them. Those of src/core/kernel are held to plain ones on each by tests/c.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local philox = require "reference.philox"
local shell = require "tools.shell"
local training = require "reference.toy_training"

local tests = {}

local own = core.vector_units()

-- The vector units that this machine and this build have.
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
