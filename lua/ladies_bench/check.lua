--- `ladies bench --check`: whether something has become slower, on whatever machine. Numbers are
-- not compared, but their ratios to loops that were timed in turn with them: what a primitive takes
-- in units of the plain loop beside it, in the fastest rounds of both, on one thread and in the
-- processor's time, so that others who are at work on the machine are not in it, but for what they
-- take of caches and memory. They differ between vector units, so there are results of each.

local tables = require "ladies.base.tables"

local check = {}

-- How many times as slow, against its loop, a case may be.
check.TOLERANCE = 1.6

-- What waits for disks and new processes says nothing of the program's loops.
local NOT_KEPT = {loading = true, start = true}

local function key(result) return result.group .. ": " .. result.name end

--- The results of machine.measure as they are kept: {name = percent}.
function check.kept(results)
  local kept = {}
  for _, one in ipairs(results) do
    if not NOT_KEPT[one.group] then kept[key(one)] = tonumber(("%.4g"):format(one.best)) end
  end
  return kept
end

--- What of the results is slower than `kept` tells: an array of {result =, times =}, how many
-- times as slow. Then the names of results that `kept` has not, and could have.
function check.slower(results, kept)
  local slower, unknown = {}, {}
  for _, one in ipairs(results) do
    local percent = kept[key(one)]
    if percent and percent > check.TOLERANCE * one.best then
      slower[#slower + 1] = {result = one, times = percent / one.best}
    elseif not percent and not NOT_KEPT[one.group] then
      unknown[#unknown + 1] = key(one)
    end
  end
  return slower, unknown
end

--- Those of `slower` that are so in results of a second measurement, too: one disturbed
-- measurement is none.
function check.confirmed(slower, results, kept)
  local again = tables.by_field(tables.map((check.slower(results, kept)), function(one)
    return {name = key(one.result), one = one}
  end), "name")
  local list = {}
  for _, one in ipairs(slower) do
    local other = again[key(one.result)]
    if other then list[#list + 1] = other.one end
  end
  return list
end

--- A line for each of `slower`.
function check.text(slower)
  return table.concat(tables.map(slower, function(one)
    return ("%s: %.2f times as slow as it was (%.1f %% of %s)"):format(key(one.result), one.times,
      one.result.best, one.result.of or "its measure")
  end), "\n")
end

return check
