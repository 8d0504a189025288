--- sparkline(values, width): draws a curve in one line of at most `width` columns, with a bar for
-- each of the numbers, or for the mean of several neighbours where there are more.

local BARS = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

-- Divides a list into n parts that follow one another, and returns their means.
local function means(values, n)
  local list = {}
  for part = 1, n do
    local first, last = (part - 1) * #values // n + 1, part * #values // n
    local sum = 0
    for i = first, last do sum = sum + values[i] end
    list[part] = sum / (last - first + 1)
  end
  return list
end

return function(values, width)
  local list = means(values, math.min(#values, width))
  local least, most = math.huge, -math.huge
  for _, x in ipairs(list) do least, most = math.min(least, x), math.max(most, x) end
  for i, x in ipairs(list) do
    local share = most > least and (x - least) / (most - least) or 0
    list[i] = BARS[math.min(#BARS, 1 + math.floor(share * #BARS))]
  end
  return table.concat(list)
end
