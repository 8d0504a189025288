--- Holds the sentences of a laboratory to its numbers: check(laboratory) fails where one says what
-- the numbers beside it do not.

local lu = require "luaunit"
local causes = require "ladies.lab.causes"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"

-- The least relative bias of a layer that is spoken of, as ladies.lab.causes has it.
local MUCH = 0.03

-- A share in a sentence, which has at least two digits of the number.
local function check_percent(said, share, where)
  lu.assertTrue(math.abs(tonumber(said) - 100 * share) <= 0.051 * 100 * share + 1e-9,
    ("%s: said %s %%, is %.4g %%"):format(where, said, 100 * share))
end

local function root(x) return math.sqrt(math.max(0, x)) end

-- "The embedding is off by 3 % of its size, the gradient by 4 %.", which where rare draws decide is
-- said of these draws alone, and otherwise where there is no gradient.
local function check_errors(one, by_key)
  if not by_key["gradient.error"] then
    local said = one.verdict:match "off by ([%d.e+-]+) %% of its size; the gradient is 0%.$"
    lu.assertNotNil(said, one.verdict)
    return check_percent(said, root(by_key["embedding.error"].mean), one.verdict)
  end
  local embedding, gradient = one.verdict:match(one.has_tails and "In these draws the embedding is "
    .. "off by ([%d.e+-]+) %% of its size, the gradient by ([%d.e+-]+) %%; rare ones may make it "
    .. "more%.$"
    or "The embedding is off by ([%d.e+-]+) %% of its size, the gradient by ([%d.e+-]+) %%%.$")
  lu.assertNotNil(embedding, one.verdict)
  check_percent(embedding, root(by_key["embedding.error"].mean), one.verdict)
  check_percent(gradient, root(by_key["gradient.error"].mean), one.verdict)
end

-- Bounds in the verdict are the ends of the intervals of bias², and what is close is close.
local function check_bounds(one, by_key)
  local function bound(name, said)
    local found = by_key[name .. ".bias"]
    lu.assertTrue(tonumber(said) >= 99 * root(found.high) * 0.95, one.verdict)
    return tonumber(said)
  end
  local a, b = one.verdict:match("Close to unbiased: [%l ]+ by at most ([%d.]+) %% of its size in "
    .. "the embedding, by at most ([%d.]+) %% in the gradient")
  if a then
    lu.assertTrue(bound("embedding", a) <= 10.1 and bound("gradient", b) <= 10.1, one.verdict)
  end
  for name in pairs{embedding = true, gradient = true} do
    local kind, said = one.verdict:match(name .. " is? ?([%l ]+) %(by at most ([%d.]+) %%")
    if kind then
      lu.assertTrue(bound(name, said) <= 10.1 or not kind:find "close", one.verdict)
    end
  end
  if one.verdict:find("^Exact") then lu.assertTrue(by_key["embedding.error"].mean < 1e-9) end
end

-- Checks the sentences about layers: one on all layers must hold for each, and a layer whose bias²
-- is beyond chance must be named.
local function check_layers(one, by_key)
  local columns, l = one.sample.columns, 1
  local text = one.verdict
  for _, fault in ipairs(one.faults) do text = text .. "\n" .. fault.text end
  local bound = text:match "no layer by itself is off by more than ([%d.e+-]+) %%"
  while by_key[("layers.%d.error"):format(l)] do
    local key = ("layers.%d.bias"):format(l)
    local found = by_key[key]
    if found then
      if bound then lu.assertTrue(tonumber(bound) >= 95 * root(found.high), text) end
      -- Holm's adjustment is by the number of layers, at most 4 here.
      local is_certain = statistics.p_value(columns[key], 0) < causes.LEVEL / 4
      if is_certain and found.mean > MUCH ^ 2 then
        lu.assertStrContains(text, ("layer %d "):format(l))
        lu.assertNil(bound)
        lu.assertNil(text:find "no layer by itself is off beyond chance")
      end
    end
    l = l + 1
  end
end

-- Numbers with an interval are in it: "1.30 times (1.28 to 1.32)", "as frequency^-1.02 (-1.10 to
-- -0.94)".
local NUMBER = "(%-?%d[%d.e-]*)"
local function check_intervals(one)
  for _, fault in ipairs(one.faults) do
    local text = fault.text .. "; " .. (fault.proof or "")
    for x, low, high in text:gmatch(NUMBER .. "[ %a]* %(" .. NUMBER .. " to " .. NUMBER .. "%)") do
      lu.assertTrue(tonumber(low) <= tonumber(x) and tonumber(x) <= tonumber(high), text)
    end
  end
end

return function(laboratory)
  for _, one in ipairs(laboratory.examinations) do
    local by_key = tables.by_field(one.findings, "key")
    local is_wrong = false
    for _, fault in ipairs(one.faults) do is_wrong = is_wrong or fault.kind == "fault" end
    lu.assertEquals(one.verdict:find("Something is wrong", 1, true) ~= nil,
      is_wrong and not one.verdict:find("^It fails"), one.verdict)
    if by_key["embedding.error"] then
      check_errors(one, by_key)
      check_bounds(one, by_key)
      check_layers(one, by_key)
    end
    check_intervals(one)
  end
  return laboratory
end
