--- Rows of several tensors put one after the other, and their gradients.
local lu = require "luaunit"
local ladies = require "ladies"
local gradcheck = require "reference.gradcheck"

local fails, tensor = lu.assertErrorMsgContains, ladies.tensor
local tests = {}

-- n tensors of 0, 1, 2, 3, 0, ... rows of two columns.
local function parts(n)
  local list = {}
  for i = 1, n do list[i] = ladies.zeros((i - 1) % 4, 2):normal_(1, ladies.rng(i)) end
  return list
end

function tests.test_values()
  for _, n in ipairs{1, 2, 6, 7, 36, 40} do
    local list, rows = parts(n), {}
    for _, t in ipairs(list) do table.move(t:to_table(), 1, t.n_rows, #rows + 1, rows) end
    local all = ladies.concat_rows(list)
    lu.assertEquals({all.n_rows, all.n_cols, all:to_table()}, {#rows, 2, rows})
  end
  lu.assertEquals((tensor{1, 2} .. tensor{3}):to_table(), {1, 2, 3})
  lu.assertEquals((tensor{{1, 2}} .. tensor{{3, 4}} .. tensor{{5, 6}}):to_table(),
    {{1, 2}, {3, 4}, {5, 6}})
  local t = tensor{1}
  local copy = ladies.concat_rows{t}
  t:fill_(2)
  lu.assertEquals(copy[1], 1)
end

--- More parts than an operation names are put together in a tree. Some of them are constants, and
-- one is there twice.
function tests.test_gradients()
  for _, n in ipairs{2, 6, 7, 14, 40} do
    local list = parts(n)
    local inputs = {list[2], list[n]}
    list[#list + 1] = list[2]
    gradcheck.check(n .. " parts", function(a, b)
      list[2], list[n], list[n + 1] = a, b, a
      return ladies.concat_rows(list):square()
    end, inputs)
  end
  local x, y = tensor{1, -2}, tensor{3}
  gradcheck.check("..", function(a, b) return (a .. b) * (b .. a) end, {x, y})
end

function tests.test_refused()
  fails("concat_rows: no tensors", ladies.concat_rows, {})
  fails("concat_rows: 1 x 2 and, as number 3, 1 x 3", ladies.concat_rows,
    {tensor{{1, 2}}, tensor{{3, 4}}, tensor{{1, 2, 3}}})
  fails("concat_rows: 1 x 1 and, as number 2, 1", function() return tensor{{1}} .. tensor{1} end)
  fails("Tensor expected, got string", function() return tensor{1} .. "x" end)
  fails("Tensor expected", ladies.concat_rows, {tensor{1}, 2})
end

return tests
