--- Compares random draws with an enumeration of all their outcomes (reference/choice.lua).
local lu = require "luaunit"
local statistics = require "reference.statistics"

local M = {}

local function same(w, expected)
  for i, want in ipairs(expected) do
    if math.abs(w[i] - want) > 1e-6 * want then return false end
  end
  return #w == #expected
end

-- The distinct outcomes by what was picked; with replacement one pick has several weights.
local function by_pick(outcomes)
  local groups, distinct = {}, {}
  for _, o in ipairs(outcomes) do
    local key = table.concat(o.pick, ",")
    local group = groups[key] or {}
    groups[key] = group
    local known
    for _, other in ipairs(group) do
      if same(o.w, other.w) then known = other end
    end
    if known then
      known.probability = known.probability + o.probability
    else
      group[#group + 1], distinct[#distinct + 1] = o, o
    end
  end
  return groups, distinct
end

--- Calls draw() -> pick, w (plain tables) many times; every draw must be one of the outcomes with
-- just its weights, and the frequencies must fit. Returns the distinct outcomes, each with the
-- weights that the program gave it in `got`.
function M.check(name, outcomes, draws, draw)
  local groups, distinct = by_pick(outcomes)
  for _, o in ipairs(distinct) do o.count = 0 end
  for _ = 1, draws do
    local pick, w = draw()
    local key, found = table.concat(pick, ","), nil
    for _, o in ipairs(groups[key] or {}) do
      if same(w, o.w) then found = o end
    end
    if not found then lu.fail(("%s: no such outcome: %s with weights %s"):format(name, key,
      table.concat(w, ","))) end
    found.count, found.got = found.count + 1, w
  end
  local counts, expected = {}, {}
  for i, o in ipairs(distinct) do counts[i], expected[i] = o.count, draws * o.probability end
  statistics.assert_frequencies(counts, expected, name)
  return distinct
end

return M
