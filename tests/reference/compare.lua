--- Comparison of tensors with numbers that come from elsewhere.
local lu = require "luaunit"

local M = {}

--- The numbers of a Tensor, a number or (nested) tables of numbers, as one flat array, row by row.
function M.flatten(x)
  local flat = {}
  local function add(value)
    if type(value) == "table" then
      for _, element in ipairs(value) do add(element) end
    else
      flat[#flat + 1] = value
    end
  end
  add(type(x) == "userdata" and x:to_table() or x)
  return flat
end

--- Asserts |got - expected| <= tolerance * max(1, |expected|) element by element. Both are whatever
-- flatten takes; `what` begins the message.
function M.assert_close(got, expected, tolerance, what)
  got, expected = M.flatten(got), M.flatten(expected)
  if #got ~= #expected then
    lu.fail(("%s: %d elements, expected %d"):format(what, #got, #expected))
  end
  for i, want in ipairs(expected) do
    local error = math.abs(got[i] - want)
    if error ~= error or error > tolerance * math.max(1, math.abs(want)) then
      lu.fail(("%s: element %d is %.9g, expected %.9g"):format(what, i, got[i], want))
    end
  end
end

return M
