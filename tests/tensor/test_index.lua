--- Index: vectors of ids and positions, 1-based in Lua.
local lu = require "luaunit"
local ladies = require "ladies"

local fails = lu.assertErrorMsgContains
local index, range = ladies.index, ladies.range
local LARGEST = (1 << 31) - 1

local tests = {}

function tests.test_making()
  lu.assertEquals(index{3, 1, 3}:to_table(), {3, 1, 3})
  lu.assertEquals(index{2.0}:to_table(), {2})
  lu.assertEquals(math.type(index{2.0}[1]), "integer")
  lu.assertEquals(index{0, LARGEST}:to_table(), {0, LARGEST})     -- 0: none
  lu.assertEquals(range(3, 6):to_table(), {3, 4, 5, 6})
  lu.assertEquals(#range(5, 4), 0)
  lu.assertEquals(range(LARGEST, LARGEST)[1], LARGEST)
end

function tests.test_refused()
  local element = "must be an integer 0 to 2147483647, got "
  fails("index: element 2 " .. element .. "-1", index, {1, -1})
  fails("index: element 1 " .. element .. "1.5", index, {1.5})
  fails("index: element 1 " .. element .. "2147483648", index, {1 << 31})
  fails("index: element 2 " .. element .. "nil", index, {1, nil, 3})
  fails("index: element 1 " .. element .. "x", index, {"x"})
  fails("index: element 1 " .. element .. "table", index, {{}})
  fails("index: element 1 " .. element .. "nan", index, {math.abs(0 / 0)})
  fails("table expected, got number", index, 3)
  fails("table expected, got no value", index)
  fails("ids start at 1", range, 0, 3)
  fails("ids start at 1", range, 1 << 31, 1 << 31)
  fails("must not lie before the first", range, 3, 1)
  fails("must not lie before the first", range, 1, 1 << 31)
end

function tests.test_reading()
  local x = index{5, 7, 9}
  lu.assertEquals({#x, x[1], x[3], x[2.0]}, {3, 5, 9, 7})
  for _, i in ipairs{0, 4, -1, math.mininteger, 1.5, 1 / 0} do
    fails(("[%s] of an Index of 3: positions are 1 to #x"):format(i), function() return x[i] end)
  end
  lu.assertEquals(x[index{3, 1, 1}]:to_table(), {9, 5, 5})
  lu.assertEquals({x:max(), x:min(), index{0, 4}:min()}, {9, 5, 0})
  lu.assertEquals(tostring(x), "Index 3")
  fails('Index has no field or method "slcie"; did you mean "slice"?',
    function() return x.slcie end)
  fails("attempt to index a ladies.Index value", function() x[1] = 2 end)
  fails("index: position 4 at position 2 is out of range 1..3",
    function() return x[index{1, 4}] end)
  fails("index: position 0 at position 1 is out of range 1..3", function() return x[index{0}] end)
end

function tests.test_empty()
  local none = index{}
  lu.assertEquals({#none, tostring(none)}, {0, "Index 0"})
  fails("[1] of an Index of 0", function() return none[1] end)
  lu.assertEquals(none:to_table(), {})
  lu.assertTrue(none == range(1, 0) and none == none .. none and none == none:sort())
  lu.assertEquals(index{4}[none]:to_table(), {})
  fails("an empty Index has no largest or smallest element", none.max, none)
  fails("an empty Index has no largest or smallest element", none.min, none)
  fails("index: position 1 at position 1 is out of range: there are none",
    function() return none[index{1}] end)
  none:check_unique()
end

function tests.test_slice_and_concat()
  local x = index{5, 7, 9}
  lu.assertEquals(x:slice(2, 3):to_table(), {7, 9})
  lu.assertEquals(x:slice(1, 0):to_table(), {})
  lu.assertEquals(x:slice(4, 3):to_table(), {})
  lu.assertEquals((x .. index{1}):to_table(), {5, 7, 9, 1})
  fails("slice: elements 2..4 of an index of 3", x.slice, x, 2, 4)
  fails("slice: elements 5..4 of an index of 3", x.slice, x, 5, 4)
  fails("positions start at 1", x.slice, x, 0, 2)
  fails("positions start at 1", x.slice, x, math.mininteger, 2)
  fails("must not lie before the first", x.slice, x, 3, 1)
  fails("must not lie before the first", x.slice, x, 1, math.maxinteger)
  fails("ladies.Index expected, got string", function() return x .. "1" end)
end

function tests.test_order_and_equality()
  local x = index{3, 0, 2, 3}
  lu.assertEquals(x:sort():to_table(), {0, 2, 3, 3})
  lu.assertEquals(x:to_table(), {3, 0, 2, 3})                     -- sort copies
  lu.assertTrue(x == index{3, 0, 2, 3})
  lu.assertFalse(x == index{3, 0, 2})
  lu.assertFalse(x == index{3, 0, 2, 4})
  lu.assertFalse(x == ladies.ones(4))
  local hashes = {}
  for _, y in ipairs{x, x:sort(), index{3}, index{}, index{0}, index{0, 0}, range(1, 9)} do
    local hash = y:hash()
    lu.assertEquals(#hash, 16)
    lu.assertNil(hashes[hash])
    lu.assertEquals((y .. index{}):hash(), hash)
    hashes[hash] = true
  end
end

--- Sorting is right for any order, even one that quicksort splits as badly as can be.
function tests.test_sort_of_many()
  local n, half = 60000, 30000
  local orders = {
    ascending = function(i) return i end,
    descending = function(i) return n - i end,
    equal = function() return 7 end,
    few = function(i) return i * i % 5 end,
    organ_pipe = function(i) return math.min(i, n - i) end,
    scattered = function(i) return i * 7919 % 60013 end,
    worst = function(i) return i > half and 2 * (i - half) or i % 2 == 1 and i or half + i - 1 end,
  }
  for name, of in pairs(orders) do
    for _, size in ipairs{1, 2, 24, 25, 100, n} do
      local numbers = {}
      for i = 1, size do numbers[i] = of(i) end
      local x = index(numbers)
      table.sort(numbers)
      lu.assertTrue(x:sort() == index(numbers), name .. " " .. size)
    end
  end
end

function tests.test_check_unique()
  index{3, 1, 2, 0}:check_unique()
  fails("id 3 occurs twice, at positions 2 and 4", function() index{1, 3, 2, 3}:check_unique() end)
  fails("seed 0 occurs twice, at positions 1 and 2", function() index{0, 0}:check_unique "seed" end)
end

function tests.test_repeated()
  lu.assertEquals(index{2, 0, 3}:repeated():to_table(), {1, 1, 3, 3, 3})
  lu.assertEquals(#index{}:repeated(), 0)
  lu.assertEquals(#index{0, 0}:repeated(), 0)
  fails("the length must be 0 to 2147483647, got 4294967294", function()
    index{LARGEST, LARGEST}:repeated()
  end)
end

function tests.test_counts()
  lu.assertEquals(index{3, 1, 3, 0}:counts(4), {1, 0, 2, 0})
  lu.assertEquals(index{}:counts(2), {0, 0})
  fails("counts: id 3 at position 1 is out of range 0..2", function() index{3}:counts(2) end)
  fails("counts: n must be an integer", function() index{3}:counts(-1) end)
end

function tests.test_set_algebra()
  local sampling = ladies.sampling
  lu.assertEquals(sampling.unique(index{4, 2, 4, 0, 2}):to_table(), {4, 2, 0})
  lu.assertEquals(sampling.union(index{4, 2}, index{1, 2, 4, 3}):to_table(), {4, 2, 1, 3})
  lu.assertEquals(sampling.find(index{5, 3, 5, 9}, index{9, 1, 5, 9}):to_table(), {4, 1, 4})
  lu.assertEquals(#sampling.find(index{}, index{1}), 0)
  for absent, want in pairs{dropped = {4, 1, 4}, zero = {4, 0, 1, 4, 0}} do
    lu.assertEquals(sampling.find(index{5, 3, 5, 9}, index{9, 1, 5, 9, 2}, {absent = absent})
      :to_table(), want)
  end
  lu.assertEquals(sampling.find(index{5, 3}, index{3, 3}, {absent = "error"}):to_table(), {2, 2})
  lu.assertErrorMsgContains("find: id 1 at position 2 is not there", sampling.find, index{5, 9},
    index{9, 1, 2}, {absent = "error"})
  lu.assertErrorMsgContains("absent must be dropped, zero or error", sampling.find, index{5},
    index{9}, {absent = "none"})
  lu.assertEquals(#sampling.union(index{}, index{}), 0)
  local p = sampling.permutation(1000, ladies.rng(1))
  lu.assertTrue(p:sort() == range(1, 1000))
  lu.assertFalse(p == range(1, 1000))
  lu.assertTrue(p == sampling.permutation(1000, ladies.rng(1)))
  lu.assertEquals(#sampling.permutation(0, ladies.rng(1)), 0)
end

function tests.test_large_ids_cost_nothing()
  local wild = index{2147483647, 1, 2147483647, 0}
  local before = ladies.memory().peak
  lu.assertEquals(ladies.sampling.unique(wild):to_table(), {2147483647, 1, 0})
  lu.assertEquals(ladies.sampling.find(wild, index{0, 5, 2147483647}):to_table(), {4, 1})
  lu.assertTrue(ladies.memory().peak - before < 1 << 20)
end

return tests
