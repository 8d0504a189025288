--- Tests ladies.base.tables: its results, and that it leaves its arguments as they are.
local lu = require "luaunit"
local tables = require "ladies.base.tables"

local tests = {}

function tests.test_merged()
  local first, second = {a = 1, b = 2}, {b = false, c = 3}
  lu.assertEquals(tables.merged(first, nil, second), {a = 1, b = false, c = 3})
  lu.assertEquals({first, second}, {{a = 1, b = 2}, {b = false, c = 3}})
  lu.assertNotIs(tables.merged(first), first)
  lu.assertEquals(tables.merged(), {})
end

function tests.test_keys_and_fields()
  lu.assertEquals(tables.sorted_keys{b = 1, a = 1, [3] = 1}, {3, "a", "b"})
  local one, two = {name = "one"}, {name = "two"}
  lu.assertEquals(tables.by_field({one, two}, "name"), {one = one, two = two})
end

function tests.test_lists()
  lu.assertEquals(tables.map({"a", "b"}, function(x, i) return x .. i end), {"a1", "b2"})
  lu.assertEquals(tables.repeated("x", 3), {"x", "x", "x"})
  lu.assertEquals(tables.repeated("x", 0), {})
  local list, more = {1}, {2, 3}
  lu.assertIs(tables.append(list, more), list)
  lu.assertEquals({list, more}, {{1, 2, 3}, {2, 3}})
end

return tests
