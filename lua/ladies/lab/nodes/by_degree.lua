--- Averages numbers of nodes over classes of degree, with confidence intervals over repetitions.

local statistics = require "ladies.statistics"

local by_degree = {}

local ByDegree = {__name = "ladies.lab.ByDegree"}
ByDegree.__index = ByDegree

-- An interval needs so many repetitions that have a node in the bin.
local LEAST = 4

-- Returns the number of a degree's bin: 1 for the degrees 0 and 1, 2 for 2 and 3, 3 for 4 to 7, ...
local function bin_of(degree)
  return math.max(1, math.floor(math.log(math.max(1, degree), 2)) + 1)
end

--- by_degree.new(): makes an object for means of nodes' numbers, by bins of degrees that double in
-- width.
function by_degree.new()
  return setmetatable({bins = {}, most = 0}, ByDegree)
end

--- Adds a repetition: lists of the degrees of nodes and of their numbers; a node may occur several
-- times.
function ByDegree:add(degrees, numbers)
  local sums = {}
  for k, degree in ipairs(degrees) do
    local bin = bin_of(degree)
    local sum = sums[bin] or {0, 0, 0}
    sums[bin] = sum
    sum[1], sum[2], sum[3] = sum[1] + numbers[k], sum[2] + 1, sum[3] + degree
  end
  for bin, sum in pairs(sums) do
    local one = self.bins[bin] or {means = {}, degree = 0}
    self.bins[bin], self.most = one, math.max(self.most, bin)
    table.insert(one.means, sum[1] / sum[2])
    one.degree = one.degree + sum[3] / sum[2]
  end
end

--- Returns the points {mean degree, mean, low, high} of a line, for those bins that occur in enough
-- repetitions.
function ByDegree:points()
  local points = {}
  for bin = 1, self.most do
    local one = self.bins[bin]
    if one and #one.means >= LEAST then
      local x = statistics.interval(one.means)
      points[#points + 1] = {one.degree / #one.means, x.mean, x.low, x.high}
    end
  end
  return points
end

return by_degree
