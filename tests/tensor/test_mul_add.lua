--- Tests mul_add, a multiple of a tensor plus rows of another one in one pass.
local lu = require "luaunit"
local ladies = require "ladies"

local tests = {}

--- mul_add has the bits of a product, rows and a sum, with and without a gradient of the factor,
-- and also over its operand, which is released then.
function tests.test_bits()
  local rng = ladies.rng(6)
  local function random(...) return ladies.zeros(...):normal_(1, rng) end
  for _, k in ipairs{1, 3, 256} do
    local x, y, w, factor = random(400, k), random(500, k), random(400, k), random(1)
    local idx = ladies.sampling.permutation(500, rng):slice(1, 400)
    local function found(f, learned)
      local p, q, r = x:clone(), y:clone(), factor:clone():requires_grad_(learned)
      p:requires_grad_() q:requires_grad_()
      local _ <close> = ladies.step()
      local h = p * 2
      local z = f(h, learned and r or factor:item(), q);
      (z * w):sum():backward()
      return {tostring(h) == "Tensor, released", z:hash(), p.grad:hash(), q.grad:hash(),
        learned and r.grad:hash()}
    end
    for _, learned in ipairs{true, false} do
      local want = found(function(h, r, q) return h * r + q[idx] end, learned)
      lu.assertEquals(found(function(h, r, q) return h:mul_add(r, q, idx) end, learned), want)
      want[1] = not learned
      lu.assertEquals(found(function(h, r, q) return h:mul_add(r, q, idx, true) end, learned),
        want)
    end
  end
end

--- Without a step, and where the operand is needed, nothing is overwritten. What else may not be
-- is tested of relu_dropout, which asks the tape as mul_add does.
function tests.test_beside_its_operand()
  local x, y = ladies.ones(3, 2), ladies.full(3, 2, 5)
  lu.assertEquals(x:mul_add(2, y, nil, true):to_table(), ladies.full(3, 2, 7):to_table())
  lu.assertEquals(x:to_table(), ladies.ones(3, 2):to_table())
  local p = ladies.ones(3, 2):requires_grad_()
  local _ <close> = ladies.step()
  p:mul_add(2, y, nil, true)
  lu.assertEquals(p:to_table(), ladies.ones(3, 2):to_table())
  local h = p * 2
  local sum = h:mul_add(3, h, ladies.index{3, 1, 2}, true)
  lu.assertEquals(sum:to_table(), ladies.full(3, 2, 8):to_table())
  lu.assertEquals(h:to_table(), ladies.full(3, 2, 2):to_table())
end

return tests
