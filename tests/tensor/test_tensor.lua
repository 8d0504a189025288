--- Tensors: making, reading, views, changes in place, and what is refused.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local fails = lu.assertErrorMsgContains
local tensor, index = ladies.tensor, ladies.index
local HUGE, NAN = math.huge, 0 / 0

local tests = {}

local function assert_shape(t, ndim, n_rows, n_cols)
  lu.assertEquals({t.ndim, t.n_rows, t.n_cols, #t}, {ndim, n_rows, n_cols, n_rows})
end

-- ---------------------------------------------------------------- making

function tests.test_constructors()
  local v, m = tensor{1, -2.5, 3}, tensor{{1, 2, 3}, {4, 5, 6}}
  assert_shape(v, 1, 3, 1)
  assert_shape(m, 2, 2, 3)
  lu.assertEquals(v:to_table(), {1, -2.5, 3})
  lu.assertEquals(m:to_table(), {{1, 2, 3}, {4, 5, 6}})
  lu.assertEquals(ladies.zeros(2):to_table(), {0, 0})
  lu.assertEquals(ladies.ones(1, 2):to_table(), {{1, 1}})
  lu.assertEquals(ladies.full(2, 1, -3):to_table(), {{-3}, {-3}})
  lu.assertEquals(ladies.full(2.0, 7):to_table(), {7, 7})
  lu.assertEquals(ladies.full(2, nil, 7):to_table(), {7, 7})
  lu.assertEquals(tensor{0.1}:item(), 0x1.99999ap-4)      -- rounded to float32
  assert_shape(tensor{{1}}, 2, 1, 1)
end

function tests.test_empty()
  for _, t in ipairs{ladies.zeros(0), tensor{}, tensor{1}:slice(2, 1)} do
    assert_shape(t, 1, 0, 1)
    lu.assertEquals(t:to_table(), {})
    lu.assertEquals(t:norm(), 0)
    lu.assertTrue(t:is_finite())
    lu.assertEquals(t:sum():item(), 0)
    fails("an empty tensor has no largest or smallest element", t.max, t)
    fails("an empty tensor has no largest or smallest element", t.min, t)
    fails("mean: the tensor is empty", t.mean, t)
    fails("one element expected, the tensor is 0", t.item, t)
  end
  assert_shape(tensor{{}}, 2, 1, 0)
  assert_shape(ladies.zeros(0, 3), 2, 0, 3)
  lu.assertEquals(ladies.zeros(2, 0):to_table(), {{}, {}})
  lu.assertEquals(#ladies.zeros(0, 3):argmax(), 0)
  lu.assertEquals(tensor{{1, 2}, {3, 0 / 0}}:above(1):to_table(), {{0, 1}, {1, 0}})
  fails("argmax: rows without elements", ladies.zeros(3, 0).argmax, ladies.zeros(3, 0))
  local t = ladies.zeros(0, 3)
  for _, u in ipairs{t + tensor{1, 2, 3}, tensor{1, 2, 3} - t, t * tensor{2}, t / ladies.ones(0, 1),
    t + t, t * 2, t:relu(), t[index{}], t:matmul(ladies.zeros(3, 3)), tensor{{5}} + t} do
    assert_shape(u, 2, 0, 3)
  end
  lu.assertEquals(ladies.ones(2, 0):matmul(ladies.ones(0, 2)):to_table(), {{0, 0}, {0, 0}})
end

function tests.test_special_values()
  local t = tensor{HUGE, -HUGE, NAN, -0.0, 1e300, 0x1p-149, 2 ^ 24 + 1}
  local got = t:to_table()
  lu.assertEquals({got[1], got[2], got[5]}, {HUGE, -HUGE, HUGE})
  lu.assertTrue(got[3] ~= got[3])
  lu.assertEquals(1 / got[4], -HUGE)
  lu.assertEquals({got[6], got[7]}, {0x1p-149, 2 ^ 24})
  lu.assertEquals({t:is_finite()}, {false, HUGE, 1, 1})
  lu.assertEquals({tensor{{1, 2}, {3, -HUGE}}:is_finite()}, {false, -HUGE, 2, 2})
  lu.assertEquals(tensor{1, HUGE}:max(), HUGE)
  lu.assertEquals(tensor{1, -HUGE}:norm(), HUGE)
  lu.assertEquals(tensor{HUGE, -HUGE, 3}:clamp(-1, 2):to_table(), {2, -1, 2})
  lu.assertNotEquals(tensor{0.0}:hash(), tensor{-0.0}:hash())
  lu.assertEquals(tensor{NAN}:hash(), tensor{NAN}:hash())
end

function tests.test_refused_constructions()
  fails("tensor: element [2] must be a number, got a boolean", tensor, {1, true})
  fails("tensor: element [2] must be a number, got a nil", tensor, {1, nil, 3})
  fails("tensor: element [1] must be a number, got a string", tensor, {"a"})
  fails("tensor: element [2][1] must be a number, got a table", tensor, {{1}, {{}}})
  fails("tensor: element [2] must be a number, got a table", tensor, {1, {2}})
  fails("tensor: row 2 must be a table of 2 numbers", tensor, {{1, 2}, {3}})
  fails("tensor: row 3 must be a table of 1 numbers", tensor, {{1}, {2}, {3, 4}})
  fails("tensor: row 2 must be a table of 1 numbers", tensor, {{1}, 2})
  fails("table expected, got number", tensor, 3)
  local limit = "must be an integer 0 to 2147483647, got "
  fails("n_rows " .. limit .. "2147483648", ladies.zeros, 1 << 31)
  fails("n_cols " .. limit .. "2147483648", ladies.ones, 2, 1 << 31)
  fails("n_rows " .. limit .. "-1", ladies.full, -1, 0)
  fails("n_cols " .. limit .. "0.5", ladies.full, 2, 0.5, 0)
  fails("n_rows " .. limit .. "nil", ladies.zeros)
  fails("n_rows " .. limit .. "1.5", ladies.zeros, 1.5)
  fails("number expected, got table", ladies.full, 1, {})
  fails("number expected, got nil", ladies.full, 2, 3, nil) -- no vector of threes
  fails("number expected, got no value", ladies.full, 2)
  fails("out of memory: ", ladies.zeros, (1 << 31) - 1, (1 << 31) - 1)
  fails("out of memory: ", ladies.zeros, (1 << 31) - 1, 1 << 20)
end

-- ---------------------------------------------------------------- reading

function tests.test_elements()
  local v, m = tensor{5, 6, 7}, tensor{{1, 2, 3}, {4, 5, 6}}
  lu.assertEquals({v[1], v[3]}, {5, 7})
  for _, i in ipairs{0, 4, -1, 1 << 40, 1.5} do
    fails(("[%s] of a vector of 3: positions are 1 to #x"):format(i), function() return v[i] end)
  end
  lu.assertEquals({m:get(2, 3), m:get(1, 1), v:get(2, 1)}, {6, 1, 6})
  lu.assertEquals(m[2]:to_table(), {4, 5, 6})
  fails("[3] of a tensor with rows of 2: positions are 1 to #x", function() return m[3] end)
  fails("element (3, 1) of a tensor of 2 x 3", m.get, m, 3, 1)
  fails("element (1, 0) of a tensor of 2 x 3", m.get, m, 1, 0)
  fails("element (1, 4) of a tensor of 2 x 3", m.set_, m, 1, 4, 0)
  fails("item: one element expected, the tensor is 2 x 3", m.item, m)
  lu.assertEquals(tensor{{9}}:item(), 9)
end

function tests.test_fields()
  local t = tensor{1, 2}
  fails('Tensor has no field or method "n_row"; did you mean "n_rows"?',
    function() return t.n_row end)
  fails('Tensor has no field or method "matmull"; did you mean "matmul"?',
    function() return t.matmull end)
  local ok, message = pcall(function() return t.something_else_entirely end)
  lu.assertFalse(ok)
  lu.assertStrContains(message, 'no field or method "something_else_entirely"')
  lu.assertNotStrContains(message, "did you mean")
  lu.assertStrContains(message, "test_tensor.lua")        -- blamed on the caller's line
  lu.assertEquals({t.requires_grad, t.in_step, t.grad}, {false, false, nil})
  fails("[true] of a vector: a position, an Index (ladies.index{1, 2}) or a mask (a Tensor) "
    .. "expected", function() return t[true] end)
  fails("ladies.Tensor expected, got table", t.sum, {})
end

function tests.test_extremes()
  local m = tensor{{1, 5, 5}, {-2, -7, -1}, {0, 0, 0}}
  lu.assertEquals({m:max(), m:min()}, {5, -7})
  lu.assertEquals(m:argmax():to_table(), {2, 3, 1})       -- the first among equals
  lu.assertEquals(tensor{4, 9}:argmax():to_table(), {1, 1})
  lu.assertEquals(tensor{{3, NAN, 4}, {NAN, 3, NAN}}:argmax():to_table(), {2, 1})
  lu.assertAlmostEquals(tensor{{3, 0}, {0, 4}}:norm(), 5, 0)
  lu.assertEquals(m:clamp(-1, 1):to_table(), {{1, 1, 1}, {-1, -1, -1}, {0, 0, 0}})
  lu.assertEquals(m:max(), 5)                             -- clamp copied
end

function tests.test_reductions_are_in_double()
  local n = 1 << 20
  local t = ladies.full(n, 0.1)
  lu.assertAlmostEquals(t:sum():item() / n, t[1], 1e-8)
  lu.assertAlmostEquals(t:mean():item(), t[1], 1e-8)
  lu.assertAlmostEquals(t:norm(), t[1] * 2 ^ 10, 1e-9)
  local m = t:reshape(n / 2, 2)
  compare.assert_close(m:col_sums(), {t[1] * n / 2, t[1] * n / 2}, 1e-7, "col_sums")
  lu.assertEquals(#m:row_sums(), n // 2)
end

function tests.test_tostring()
  lu.assertEquals(tostring(tensor{1, 2.5, -3e-10}), "Tensor 3: 1 2.5 -3e-10")
  lu.assertEquals(tostring(ladies.zeros(9)), "Tensor 9")
  lu.assertEquals(tostring(ladies.zeros(0)), "Tensor 0:")
  lu.assertEquals(tostring(ladies.zeros(512, 256)), "Tensor 512 x 256")
end

function tests.test_hash()
  local hashes = {}
  for _, t in ipairs{tensor{1, 2}, tensor{2, 1}, tensor{{1, 2}}, tensor{{1}, {2}}, tensor{1},
    tensor{1, 2, 0}, tensor{1, 2 + 2 ^ -22}, ladies.zeros(0), ladies.zeros(0, 1)} do
    local hash = t:hash()
    lu.assertStrMatches(hash, "%x+")
    lu.assertEquals(#hash, 16)
    lu.assertNil(hashes[hash])
    lu.assertEquals(t:clone():hash(), hash)
    hashes[hash] = true
  end
end

-- ---------------------------------------------------------------- views

function tests.test_views_share_memory()
  local m = tensor{{1, 2}, {3, 4}, {5, 6}}
  local rows, row, flat = m:slice(2, 3), m[2], m:reshape(6)
  assert_shape(rows, 2, 2, 2)
  assert_shape(row, 1, 2, 1)
  assert_shape(flat, 1, 6, 1)
  m:set_(2, 1, 30)
  lu.assertEquals({rows:get(1, 1), row[1], flat[3]}, {30, 30, 30})
  flat[4] = 40
  row:fill_(7)
  lu.assertEquals(m:to_table(), {{1, 2}, {7, 7}, {5, 6}})
  lu.assertEquals(m:reshape(2, 3):to_table(), {{1, 2, 7}, {7, 5, 6}})
end

function tests.test_a_view_keeps_the_memory()
  local view
  do
    local m = tensor{{1, 2}, {3, 4}, {5, 6}}
    view = m:slice(2, 3):reshape(4):slice(2, 3)
  end
  collectgarbage()
  ladies.full(100, 7)                                     -- would take the memory if it were free
  lu.assertEquals(view:to_table(), {4, 5})
end

function tests.test_copies_do_not_share()
  local m = tensor{{1, 2}, {3, 4}}
  local others = {m:clone(), m[index{1, 2}], m + 0, m:rows(index{1, 2}), m:clamp(-9, 9)}
  m:fill_(0)
  for _, other in ipairs(others) do lu.assertEquals(other:to_table(), {{1, 2}, {3, 4}}) end
end

function tests.test_slice_and_reshape_errors()
  local m = ladies.zeros(3, 2)
  assert_shape(m:slice(4, 3), 2, 0, 2)
  fails("slice: rows 2..4 of a tensor of 3", m.slice, m, 2, 4)
  fails("slice: rows 5..4 of a tensor of 3", m.slice, m, 5, 4)
  fails("positions start at 1", m.slice, m, 0, 1)
  fails("positions start at 1", m.slice, m, math.mininteger, 1)
  fails("must not lie before the first", m.slice, m, 3, 1)
  fails("must not lie before the first", m.slice, m, 1, math.mininteger)
  fails("reshape: 3 x 2 does not hold 4 x 2 elements", m.reshape, m, 4, 2)
  fails("reshape: 3 x 2 does not hold 5 x 1 elements", m.reshape, m, 5)
  fails("n_rows must be an integer 0 to 2147483647, got -1", m.reshape, m, -1)
end

function tests.test_gather()
  local v, m = tensor{5, 6, 7}, tensor{{1, 2}, {3, 4}, {5, 6}}
  lu.assertEquals(v[index{3, 1, 1}]:to_table(), {7, 5, 5})
  lu.assertEquals(m[index{3, 1, 3}]:to_table(), {{5, 6}, {1, 2}, {5, 6}})
  lu.assertEquals(m:gather(index{2}):to_table(), {{3, 4}})
  lu.assertEquals(m:rows(index{2}):to_table(), {{3, 4}})
  assert_shape(m[index{}], 2, 0, 2)
  fails("gather: row 4 at position 2 is out of range 1..3", m.gather, m, index{1, 4})
  fails("gather: row 0 at position 1 is out of range 1..3", m.gather, m, index{0})
  fails("gather: row 1 at position 1 is out of range: there are none",
    ladies.zeros(0).gather, ladies.zeros(0), index{1})
end

-- ---------------------------------------------------------------- changes in place

function tests.test_in_place()
  local v, m = ladies.zeros(3), ladies.zeros(2, 2)
  v[2] = 5
  lu.assertEquals(v:to_table(), {0, 5, 0})
  lu.assertIs(v:fill_(1), v)
  lu.assertIs(m:set_(1, 2, 3), m)
  lu.assertEquals(m:to_table(), {{0, 3}, {0, 0}})
  lu.assertEquals(v:add_at_(index{1, 3, 1}, 2):to_table(), {5, 1, 3})     -- repeats add up
  lu.assertEquals(v:add_at_(index{2, 2}, tensor{10, 20}):to_table(), {5, 31, 3})
  lu.assertEquals(v:mul_at_(index{1, 1}, 2):to_table(), {20, 31, 3})
  lu.assertEquals(v:mul_at_(index{3}, tensor{-1}):to_table(), {20, 31, -3})
  lu.assertEquals(v:copy_(tensor{1, 2, 3}):to_table(), {1, 2, 3})
  lu.assertEquals(v:copy_(v):to_table(), {1, 2, 3})
  lu.assertEquals(m:copy_rows_(index{2, 1}, tensor{{1, 2}, {3, 4}}):to_table(), {{3, 4}, {1, 2}})
  lu.assertEquals(m:copy_rows_(index{1}, m:slice(2, 2)):to_table(), {{1, 2}, {1, 2}})
  lu.assertEquals(v:copy_rows_(index{2}, tensor{9}):to_table(), {1, 9, 3})
end

--- What is read is what was there before, also where it shares its memory with what changes.
function tests.test_in_place_of_itself()
  local list = {1, 2, 3, 4}
  local function reversed(change)
    local t = tensor(list)
    return change(t, index{4, 3, 2, 1}, t):to_table()
  end
  local t = tensor{0}
  lu.assertEquals(reversed(t.copy_rows_), {4, 3, 2, 1})
  lu.assertEquals(reversed(t.add_at_), {5, 5, 5, 5})
  lu.assertEquals(reversed(t.mul_at_), {4, 6, 6, 4})
  local m = tensor{{1, 2}, {3, 4}, {5, 6}}
  lu.assertEquals(m:copy_rows_(index{2, 3}, m:slice(1, 2)):to_table(), {{1, 2}, {1, 2}, {3, 4}})
end

function tests.test_refused_changes()
  local v, m = ladies.zeros(3), ladies.zeros(2, 2)
  fails("t[i] = number is for vectors, and t:set_(row, column, number) for matrices; the tensor is "
    .. "2 x 2", function() m[1] = 3 end)
  fails("[4] of a vector of 3: positions are 1 to #x", function() v[4] = 3 end)
  fails("[0] of a vector of 3", function() v[0] = 3 end)
  fails("element (4294967297, 1) of a tensor of 2 x 2", m.get, m, (1 << 32) + 1, 1)
  fails("number expected, got string", function() v[1] = "x" end)
  fails("number expected, got string", function() v.name = 1 end)
  fails("copy_: 2 x 2 into 3", v.copy_, v, m)
  fails("copy_: 3 x 1 into 3", v.copy_, v, ladies.zeros(3, 1))
  fails("add_at_: position 4 at position 2 is out of range 1..3", v.add_at_, v, index{1, 4}, 1)
  fails("add_at_: a tensor of 1 for 2 positions", v.add_at_, v, index{1, 2}, tensor{1})
  fails("mul_at_: a tensor of 2 x 1 for 2 positions",
    v.mul_at_, v, index{1, 2}, ladies.ones(2, 1))
  fails("mul_at_: a vector expected, the tensor is 2 x 2", m.mul_at_, m, index{1}, 1)
  fails("number expected, got nil", v.add_at_, v, index{1}, nil)
  fails("copy_rows_: rows of 1 x 3 at 1 positions into 2 x 2",
    m.copy_rows_, m, index{1}, ladies.zeros(1, 3))
  fails("copy_rows_: rows of 1 x 2 at 2 positions into 2 x 2",
    m.copy_rows_, m, index{1, 2}, ladies.zeros(1, 2))
  fails("copy_rows_: row 3 at position 1", m.copy_rows_, m, index{3}, ladies.zeros(1, 2))
  lu.assertEquals(v:norm() + m:norm(), 0)                 -- nothing changed
end

function tests.test_random_fills()
  local rng = ladies.rng(1)
  local a, b = ladies.zeros(7):normal_(2, rng:at(1)), ladies.zeros(7):normal_(2, rng:at(1))
  lu.assertEquals(a:hash(), b:hash())
  lu.assertIs(a:uniform_(0, 1, rng), a)
  lu.assertTrue(a:min() >= 0 and a:max() <= 1)
  fails("ladies.Rng expected, got nil", a.normal_, a, 1, nil)
end

-- ---------------------------------------------------------------- arithmetic and release

function tests.test_broadcasting()
  local m = tensor{{1, 2}, {3, 4}, {5, 6}}
  local row, column, one = tensor{10, 20}, tensor{{1}, {2}, {3}}, tensor{100}
  lu.assertEquals((m + row):to_table(), {{11, 22}, {13, 24}, {15, 26}})
  lu.assertEquals((column * m):to_table(), {{1, 2}, {6, 8}, {15, 18}})
  lu.assertEquals((one - m):to_table(), {{99, 98}, {97, 96}, {95, 94}})
  lu.assertEquals((one:reshape(1, 1) * m):to_table(), {{100, 200}, {300, 400}, {500, 600}})
  lu.assertEquals((tensor{6, 8} / tensor{2, 4}):to_table(), {3, 2})
  lu.assertEquals((2 - tensor{1, 3}):to_table(), {1, -1})
  lu.assertEquals((12 / tensor{3, 4}):to_table(), {4, 3})
  lu.assertEquals((-tensor{1, -3}):to_table(), {-1, 3})
  local square = tensor{{1, 2}, {3, 4}}
  lu.assertEquals((square + row):to_table(), {{11, 22}, {13, 24}})        -- a row, not a column
  lu.assertEquals((row + tensor{{1}}):to_table(), {11, 21})
  fails("add: shapes 3 x 2 and 3 do not fit (the same shape, a vector as long as a row, "
    .. "an n x 1 column, or one element)", function() return m + tensor{1, 2, 3} end)
  fails("mul: shapes 3 x 1 and 2 do not fit", function() return column * row end)
  fails("sub: shapes 2 and 3 do not fit", function() return row - tensor{1, 2, 3} end)
  fails("div: shapes 3 x 2 and 2 x 2 do not fit", function() return m / square end)
  fails("number expected, got table", function() return m + {} end)
end

function tests.test_matmul_shapes()
  local m = ladies.ones(2, 3)
  fails("matmul: (2 x 3) * (2 x 3)", m.matmul, m, m)
  fails("linear: the bias is 2, 4 expected", m.linear, m, ladies.ones(3, 4), tensor{1, 2})
  lu.assertEquals(m:linear(ladies.ones(3, 2), tensor{1, 2}):to_table(), {{4, 5}, {4, 5}})
  fails("concat: 2 x 3 beside 3 x 1", m.concat, m, ladies.ones(3, 1))
  fails("col_sums: a matrix expected, got 2", tensor{1, 2}.col_sums, tensor{1, 2})
  fails("scatter_add: 1 positions for 2 rows", m.scatter_add, m, index{1}, 4)
  fails("scatter_add: row 5 at position 2 is out of range 1..4", m.scatter_add, m, index{1, 5}, 4)
  for _, p in ipairs{1, -0.1, 0.999999, 1e300, NAN} do
    fails("dropout: the probability must be in [0, 1 - 2^-17), got", m.dropout, m, p, ladies.rng(1))
  end
end

function tests.test_release()
  local t = ladies.ones(1000)
  local view, name = t:slice(1, 2), {t}
  t:release()
  lu.assertEquals(tostring(name[1]), "Tensor, released")
  fails("the tensor has been released", function() return name[1].n_rows end)
  fails("the tensor has been released", t.sum, t)
  fails("the tensor has been released", function() return ladies.ones(2) + t end)
  t:release()
  lu.assertEquals(view:to_table(), {1, 1})
  local w = ladies.ones(2):requires_grad_()
  fails("release: a step or a model still owns the tensor", w.release, w)
  -- Values that others hold, too, are not given back.
  local A = ladies.matrix{n_rows = 1, n_cols = 1, rows = index{1}, cols = index{1},
    values = tensor{4}}
  A.values:release()
  lu.assertEquals(A:to_dense():item(), 4)
  local adam = ladies.optim.adam{w}
  adam:state().moment1:release()
  w:set_grad_(tensor{1, 1})
  w.grad:release()
  adam:step()
  lu.assertAlmostEquals(w[1], 0.999, 1e-6)
end

function tests.test_division_rounds_once()
  for n = 1, 100 do lu.assertEquals((tensor{n, 1} / n)[1], 1) end
  lu.assertEquals((ladies.full(2, 3, 41) / 41):to_table(), {{1, 1, 1}, {1, 1, 1}})
end

return tests
