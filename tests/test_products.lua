--- Dense products at shapes that fill tiles, strips and blocks, and at those that do not. Elements
-- are small whole numbers, so that every sum is exact and there is one right answer.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local compare = require "reference.compare"

local tests = {}

local own = core.vector_units()

local function back_to_own()
  if pcall(core.vector_units, "SSE2") then core.vector_units(own) end
end

tests.tearDown = back_to_own

local available = {}
for _, name in ipairs{"SSE2", "AVX2", "AVX-512"} do
  if pcall(core.vector_units, name) then available[#available + 1] = name end
end
if #available == 0 then available[1] = own end
back_to_own()

local rng = ladies.rng(21)

local function whole_numbers(n_rows, n_cols)
  local rows = {}
  for r = 1, n_rows do
    rows[r] = {}
    for c = 1, n_cols do rows[r][c] = rng:below(9) - 5 end
  end
  return rows
end

-- The product of two tables, and a table's transpose.
local function multiplied(a, b)
  local c = {}
  for i, row in ipairs(a) do
    c[i] = {}
    for j = 1, #b[1] do
      local sum = 0
      for p, x in ipairs(row) do sum = sum + x * b[p][j] end
      c[i][j] = sum
    end
  end
  return c
end

local function transposed(a)
  local t = {}
  for j = 1, #a[1] do
    t[j] = {}
    for i, row in ipairs(a) do t[j][i] = row[j] end
  end
  return t
end

-- a b + bias, and twice the gradients with respect to a and b where that of the result is g: each
-- is added to what is there already once.
local function products(a, b, bias, g)
  local x, w = ladies.tensor(a):requires_grad_(), ladies.tensor(b):requires_grad_()
  local found = {}
  local _ <close> = ladies.step()
  local y = x:linear(w, ladies.tensor(bias))
  found.product = y:to_table();
  (y * ladies.tensor(g) + x:matmul(w) * ladies.tensor(g)):sum():backward()
  found.a, found.b = x.grad:to_table(), w.grad:to_table()
  return found
end

local function twice(rows)
  for _, row in ipairs(rows) do
    for j in ipairs(row) do row[j] = 2 * row[j] end
  end
  return rows
end

--- Each with the next larger and smaller: a tile has 6 or 14 rows and 8, 16 or 32 columns, and 256
-- products make a block.
function tests.test_shapes()
  for _, shape in ipairs{{1, 1, 1}, {1, 300, 1}, {5, 3, 7}, {6, 4, 8}, {7, 5, 9}, {13, 255, 31},
                         {14, 256, 32}, {15, 257, 33}, {29, 2, 65}, {3, 513, 17}, {43, 7, 16},
                         {20, 3, 530}} do
    local m, k, n = table.unpack(shape)
    local a, b, g = whole_numbers(m, k), whole_numbers(k, n), whole_numbers(m, n)
    local bias = whole_numbers(1, n)[1]
    local want = multiplied(a, b)
    for _, row in ipairs(want) do
      for j in ipairs(row) do row[j] = row[j] + bias[j] end
    end
    for _, units in ipairs(available) do
      if #available > 1 then core.vector_units(units) end
      local found, name = products(a, b, bias, g), table.concat(shape, " x ") .. " on " .. units
      lu.assertEquals(found.product, want, name)
      lu.assertEquals(found.a, twice(multiplied(g, transposed(b))), name)
      lu.assertEquals(found.b, twice(multiplied(transposed(a), g)), name)
    end
  end
end

--- Larger ones against products in double: rows that begin where caches are crowded, too.
function tests.test_large()
  for _, shape in ipairs{{100, 512, 600}, {523, 1024, 45}} do
    local m, k, n = table.unpack(shape)
    local a = ladies.zeros(m, k):normal_(1, rng)
    local b = ladies.zeros(k, n):normal_(1, rng)
    compare.assert_close(a:matmul(b), a:matmul_precise(b), 1e-4, table.concat(shape, " x "))
  end
end

--- With and without wide vectors the sums are the same.
function tests.test_bits_on_vectors()
  local a, b = ladies.zeros(77, 300):normal_(1, rng), ladies.zeros(300, 45):normal_(1, rng)
  local hashes = {}
  for _, units in ipairs(available) do
    if #available > 1 then core.vector_units(units) end
    if units:find "AVX" then hashes[#hashes + 1] = a:matmul(b):hash() end
  end
  for _, hash in ipairs(hashes) do lu.assertEquals(hash, hashes[1]) end
end

--- Nothing times nothing.
function tests.test_empty()
  lu.assertEquals(ladies.zeros(2, 0):matmul(ladies.zeros(0, 3)):to_table(), {{0, 0, 0}, {0, 0, 0}})
  lu.assertEquals(ladies.zeros(2, 0):linear(ladies.zeros(0, 2), ladies.tensor{1, 2}):to_table(),
    {{1, 2}, {1, 2}})
  lu.assertEquals(ladies.zeros(0, 3):matmul(ladies.zeros(3, 4)).n_rows, 0)
end

return tests
