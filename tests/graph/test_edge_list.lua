--- Lists of edges by plain loops: their order, and those without a reverse.
local lu = require "luaunit"
local ladies = require "ladies"

local fails, index = lu.assertErrorMsgContains, ladies.index
local tests = {}

-- Tables of n random numbers from 0 on, below each of `bounds`, and as an array of Indexes.
local function random_keys(n, bounds, seed)
  local rng, lists, keys = ladies.rng(seed), {}, {}
  for k, bound in ipairs(bounds) do
    lists[k] = {}
    for i = 1, n do lists[k][i] = rng:below(bound) - 1 end
    keys[k] = index(lists[k])
  end
  return lists, keys
end

--- By the first key, then by the next, and where all are equal by position.
function tests.test_order()
  for seed, bounds in ipairs{{3}, {4, 3}, {2, 200000, 2}, {200000, 3}} do
    local n = 200
    local lists, keys = random_keys(n, bounds, seed)
    local wanted = ladies.range(1, n):to_table()
    table.sort(wanted, function(a, b)
      for _, list in ipairs(lists) do
        if list[a] ~= list[b] then return list[a] < list[b] end
      end
      return a < b
    end)
    lu.assertEquals(ladies.edge_order(keys):to_table(), wanted)
  end
  lu.assertEquals(#ladies.edge_order{index{}, index{}}, 0)
  fails("edge_order: keys of 2 and 1 elements", ladies.edge_order, {index{1, 2}, index{1}})
  fails("edge_order: 0 keys, at least 1 expected", ladies.edge_order, {})
end

--- A reverse has the ends exchanged and all else the same; a loop is its own.
function tests.test_one_way()
  for seed, bounds in ipairs{{8, 8}, {6, 6, 2}, {4, 4, 2, 2}} do
    local n = 40
    local lists, keys = random_keys(n, bounds, seed)
    local function is_reverse(i, j)
      local same = lists[1][i] == lists[2][j] and lists[2][i] == lists[1][j]
      for k = 3, #lists do same = same and lists[k][i] == lists[k][j] end
      return same
    end
    local wanted, loops = {}, 0
    for i = 1, n do
      local has_reverse = false
      for j = 1, n do has_reverse = has_reverse or is_reverse(i, j) end
      if not has_reverse then wanted[#wanted + 1] = i end
      loops = loops + (lists[1][i] == lists[2][i] and 1 or 0)
    end
    lu.assertEquals(ladies.edge_one_way(keys):to_table(), wanted)
    lu.assertTrue(loops > 0 and #wanted > 0 and #wanted < n - loops)
  end
  fails("edge_one_way: 1 keys, at least 2 expected", ladies.edge_one_way, {index{1}})
end

return tests
