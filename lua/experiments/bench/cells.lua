--- Formats numbers for the cells of the tables of samplers and models.

local core = require "ladies_core"

local cells = {}

--- "0.0123 ± 0.0004": {mean =, low =, high =} with half its interval; "0" where all is zero, "-"
-- where there is none. There are at most four digits behind the point, fewer for large numbers.
function cells.mean(x)
  if not x then return "-" end
  local half = (x.high - x.low) / 2
  local size = math.max(math.abs(x.mean), half)
  if size == 0 then return "0" end
  local format = ("%%.%df"):format(math.max(0, math.min(4, 2 - math.floor(math.log(size, 10)))))
  return (format .. " ± " .. format):format(x.mean, half)
end

--- "1.23 (1.10 to 1.40)": a ratio with its interval; "-" where there is none.
function cells.ratio(x)
  return x and ("%.2f (%.2f to %.2f)"):format(x.mean, x.low, x.high) or "-"
end

--- Returns the number of lines of code of Lua modules, those that are neither blank nor comments.
function cells.lines(...)
  local n = 0
  for _, name in ipairs{...} do
    for line in core.file.read((package.searchpath(name, package.path))):gmatch "[^\n]+" do
      if line:find "%S" and not line:find "^%s*%-%-" then n = n + 1 end
    end
  end
  return n
end

return cells
