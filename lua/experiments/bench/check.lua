--- Implements `ladies bench --check`, which finds what has become slower, on whatever machine it
-- runs. It compares no times but ratios: the time of a primitive in units of the plain loop that
-- was timed in turn with it. Both are the fastest of their rounds, on one thread and in the
-- processor's time, so that other work on the machine disturbs them only through caches and memory.
-- The ratios differ between vector units, so there is a set of results for each.

local tables = require "ladies.base.tables"

local check = {}

-- The factor by which a case may have become slower, relative to its loop, before it counts as
-- slower.
check.TOLERANCE = 1.6

-- Groups that wait for disks and new processes, which says nothing of the program's loops.
local NOT_KEPT = {loading = true, start = true}

local function key(result) return result.group .. ": " .. result.name end

--- Returns the results of machine.measure as they are kept: {name = percent}.
function check.kept(results)
  local kept = {}
  for _, one in ipairs(results) do
    if not NOT_KEPT[one.group] then kept[key(one)] = tonumber(("%.4g"):format(one.best)) end
  end
  return kept
end

--- Finds the results that are slower than those in `kept`: an array of {result =, times =}, where
-- `times` is the factor. Also returns the names of the results that are missing in `kept`, except
-- for those of the groups that are never kept.
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

--- Keeps those elements of `slower` that are slower in the results of a second measurement, too,
-- since one measurement may have been disturbed.
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

--- Writes a line for each result in `slower`, with how many times as slow it is.
function check.text(slower)
  return table.concat(tables.map(slower, function(one)
    return ("%s: %.2f times as slow as it was (%.1f %% of %s)"):format(key(one.result), one.times,
      one.result.best, one.result.of or "its measure")
  end), "\n")
end

return check
