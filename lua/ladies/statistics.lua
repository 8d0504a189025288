--- Means and spreads of repeated runs.

local statistics = {}

--- The mean of a list of numbers; nil for an empty one.
function statistics.mean(list)
  if #list == 0 then return nil end
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

--- The standard deviation of a sample, with n - 1 below; 0 for a single number.
function statistics.deviation(list)
  local mean, sum = statistics.mean(list), 0
  for _, x in ipairs(list) do sum = sum + (x - mean) ^ 2 end
  return #list > 1 and math.sqrt(sum / (#list - 1)) or 0
end

--- "76.5 ± 1.4": mean and standard deviation of a list, each times `scale` (1) and in the format
-- of a number (%.2f); "-" for an empty list.
function statistics.text(list, scale, format)
  if #list == 0 then return "-" end
  scale, format = scale or 1, format or "%.2f"
  return (format .. " ± " .. format):format(scale * statistics.mean(list),
    scale * statistics.deviation(list))
end

return statistics
