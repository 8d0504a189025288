--- Measures the errors of a sampler, with as many draws as the requested width of the intervals
-- needs.
--
-- Every number is the mean over independent groups (see ladies.lab.context), so its interval is
-- that of a mean of independent numbers, by Student's t. How many groups there are is decided
-- before any of them is drawn, from a pilot sample, which is thrown away (Stein, "A two-sample test
-- for a linear hypothesis whose power is independent of the variance", 1945). Looking at the
-- intervals while drawing, and stopping when they are narrow, would make them too narrow; intervals
-- that allow for it are wider for the same draws, or ask for bounds that errors do not have.

local core = require "ladies_core"
local estimate = require "ladies.lab.error.estimate"
local numbered_batches = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local shares = require "ladies.ranks.shares"
local statistics = require "ladies.statistics"

local measure = {}

--- The error, relative to the mean square of the exact values, below which it is rounding in single
-- precision.
measure.ROUNDING = 1e-9

local ROUNDING = measure.ROUNDING

-- The number of groups of the pilot sample, and the fewest and the most of the second one.
local PILOT, LEAST, MOST = 8, 16, 400

-- The numbers whose interval is to have a half width of `precision` times the mean.
local GOALS = {"embedding.error", "gradient.error"}

-- Flattens nested tables: {layers = {{error = 1}}} becomes found["layers.1.error"] = 1.
local function flatten(found, prefix, value)
  if type(value) ~= "table" then
    found[prefix] = value
    return found
  end
  for key, part in pairs(value) do
    flatten(found, (prefix and prefix .. "." or "") .. tostring(key), part)
  end
  return found
end

-- Returns the share of their mass that the rows of P~ keep: the mean, over rows that are not empty
-- in P, of the row sums of the block divided by those of P.
local function mass_of(known, block)
  local of_P = known.row_sums[block.dst]
  local there = of_P:square():above(0)
  local ratio = block.adj:row_sums() / (of_P + 1 - there) * there
  return ratio:sum():item() / math.max(1, there:sum():item())
end

-- Computes the numbers of one mini-batch.
local function numbers_of(run, batch)
  local found = {}
  for l, block in ipairs(batch.blocks) do
    -- With a control the row sums of the block are only a part of the estimate.
    if not block.control then found[("layers.%d.mass"):format(l)] = mass_of(run.known, block) end
  end
  for _, one in ipairs(run.statistics) do
    local value = one.see(batch, run.known)
    if value ~= nil then
      found[one.key] = options.value("ladies.lab", ("the statistic %q"):format(one.key), value,
        "number")
    end
  end
  return found
end

-- Returns the exact gradient that the mini-batches of a group estimate: that of its seeds or, where
-- the sampler draws its own, of all training nodes.
local function target_of(run, group)
  local own = numbered_batches.own_batches(run.sampler)
  if own then return run.known:gradient(run.context.problem.units) end
  return run.context:gradient(run.known, group)
end

--- Computes the numbers of one group, by key; "layers.1.error" is a field of estimate.group. run:
-- {context =, sampler =, known = exact values, statistics = array of {key =, see(batch, known) ->
-- number or nil}, draws =, name =, without_gradient =}. A statistic's number is the mean over the
-- draws that have one.
function measure.group(run, group)
  local context, known = run.context, run.known
  local target = not run.without_gradient and target_of(run, group) or nil
  local draws, sums, counts = {}, {}, {}
  for i = 1, run.draws do
    local batch = context:draw(run.sampler, group, i)
    sampling.check(batch, run.name, {nodes = known.P.n_rows})
    draws[i] = estimate.of(known, batch, target)
    for key, value in pairs(core.no_grad(numbers_of, run, batch)) do
      sums[key], counts[key] = (sums[key] or 0) + value, (counts[key] or 0) + 1
    end
  end
  local found = flatten({}, nil, estimate.group(known, draws, target))
  for key, sum in pairs(sums) do found[key] = sum / counts[key] end
  return found
end

-- The kind of data under which what ranks send each other for a laboratory is counted.
local KIND = "laboratory"

--- Computes the numbers of the groups first .. last, as lists by key; of several ranks each
-- computes those of its share of the groups.
function measure.columns(run, first, last)
  local columns = {}
  local groups = shares.map(KIND, last - first + 1, function(i)
    return measure.group(run, first + i - 1)
  end)
  for _, found in ipairs(groups) do
    for key, value in pairs(found) do
      local list = columns[key] or {}
      columns[key], list[#list + 1] = list, value
    end
  end
  return columns
end

-- Returns the number of groups that the second sample needs for the requested precision, estimated
-- from the pilot sample.
local function needed(pilot, precision)
  local most = LEAST
  for _, key in ipairs(GOALS) do
    local list = pilot[key] or {}
    local mean, deviation = statistics.mean(list), statistics.deviation(list)
    if mean and mean > ROUNDING then
      local t = statistics.student(0.95, PILOT - 1)
      most = math.max(most, math.ceil((t * deviation / (precision * mean)) ^ 2))
    end
  end
  return most
end

--- Measures a sampler by a pilot and a second sample, and returns the second: {columns = lists by
-- key, a number for each group; groups = how many; wanted = how many the precision asked for, where
-- the time or MOST did not allow it; own_seeds = whether the sampler draws its own}. opts:
-- precision (0.1 is a half width of a tenth), seconds, for pilot and second sample together.
function measure.run(run, opts)
  local began = core.clock()
  local pilot = measure.columns(run, 1, PILOT)
  local each = (core.clock() - began) / PILOT
  local wanted = needed(pilot, opts.precision)
  local affordable = math.max(LEAST, math.min(MOST, opts.seconds // each - PILOT))
  local groups = shares.first(KIND, math.tointeger(math.min(wanted, affordable)))
  return {columns = measure.columns(run, PILOT + 1, PILOT + groups), groups = groups,
    draws = run.draws, wanted = wanted > groups and wanted or nil,
    own_seeds = numbered_batches.own_batches(run.sampler) ~= nil}
end

return measure
