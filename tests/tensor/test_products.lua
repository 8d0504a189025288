--- Dense products at shapes that fill tiles, and at those that do not. Elements are small whole
-- numbers, so that every sum is exact and there is one right answer.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local plain = require "reference.plain_gcn"

local tests = {}

local rng = ladies.rng(21)

local function whole_numbers(n_rows, n_cols)
  return plain.filled(n_rows, n_cols, function() return rng:below(9) - 5 end)
end

local function twice(x) return 2 * x end



-- a b, and twice the gradients with respect to a and b where that of the result is g: each is added
-- to what is there already once.
local function products(a, b, g)
  local x, w = ladies.tensor(a):requires_grad_(), ladies.tensor(b):requires_grad_()
  local _ <close> = ladies.step()
  local y, weights = x:matmul(w), ladies.tensor(g);
  (y * weights + x:matmul(w) * weights):sum():backward()
  return y:to_table(), x.grad:to_table(), w.grad:to_table()
end

--- Tiles have at most 192 rows, 512 from 4,097 rows on, or 128 where the result has 128 columns or
-- less, and at most 128 columns, or 256 from 1,537 rows on. Gradients of b have sums of m products:
-- from 768 on in 2, 4, 8, 16 pieces of 384 or more, with tiles of at most 608 rows and 256 columns.
function tests.test_shapes()
  for _, shape in ipairs{{1, 1, 1}, {1, 300, 1}, {6, 4, 8}, {128, 3, 128}, {129, 3, 5},
                         {192, 2, 129}, {193, 5, 130}, {3, 260, 300}, {1536, 2, 17},
                         {1537, 1, 257}, {767, 3, 4}, {768, 3, 4}, {769, 609, 2}, {1543, 2, 259},
                         {4097, 1, 130}, {6149, 2, 3}} do
    local m, k, n = table.unpack(shape)
    local a, b, g = whole_numbers(m, k), whole_numbers(k, n), whole_numbers(m, n)
    local product, of_a, of_b = products(a, b, g)
    local name = table.concat(shape, " x ")
    lu.assertEquals(product, plain.matmul(a, b), name)
    lu.assertEquals(of_a, plain.map(plain.matmul(g, plain.transpose(b)), twice), name)
    lu.assertEquals(of_b, plain.map(plain.matmul(plain.transpose(a), g), twice), name)
  end
end

--- Large products agree with those in double.
function tests.test_large()
  for _, shape in ipairs{{100, 512, 600}, {523, 1024, 45}, {2000, 256, 300}} do
    local m, k, n = table.unpack(shape)
    local a = ladies.zeros(m, k):normal_(1, rng)
    local b = ladies.zeros(k, n):normal_(1, rng)
    compare.assert_close(a:matmul(b), a:matmul_precise(b), 1e-4, table.concat(shape, " x "))
  end
end

--- Products of empty matrices are right.
function tests.test_empty()
  lu.assertEquals(ladies.zeros(2, 0):matmul(ladies.zeros(0, 3)):to_table(), {{0, 0, 0}, {0, 0, 0}})
  lu.assertEquals(ladies.zeros(2, 0):linear(ladies.zeros(0, 2), ladies.tensor{1, 2}):to_table(),
    {{1, 2}, {1, 2}})
  lu.assertEquals(ladies.zeros(0, 3):matmul(ladies.zeros(3, 4)).n_rows, 0)
end

return tests
