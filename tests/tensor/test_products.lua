--- Dense products that are large or empty. tests/c/kernel_gemm.c has those at shapes that fill
-- tiles, and at those that do not.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local tests = {}

local rng = ladies.rng(21)

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
