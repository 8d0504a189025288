--- The class of the result of ladies.lab: it holds the examinations of samplers, and compares all
-- of them with the first.

local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local report = require "ladies.lab.report"
local medians = require "ladies.statistics.medians"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"

local Laboratory = {__name = "ladies.lab.Laboratory"}
Laboratory.__index = Laboratory
fields.of_class(Laboratory, "data examinations:table[] settings:table comparison:table")

-- The numbers by which samplers are compared, in addition to those of some sections.
local COMPARED = {["embedding.error"] = true, ["embedding.bias"] = true,
  ["embedding.variance"] = true, ["gradient.error"] = true, ["gradient.bias"] = true,
  ["gradient.variance"] = true, ["connection.nodes"] = true, ["coverage.never"] = true,
  ["cost.seconds"] = true}
local SECTIONS = {along = true, ranking = true, training = true, own = true}

local function is_compared(finding)
  local key = finding.key
  return COMPARED[key] or SECTIONS[finding.section] or key:find "^connection%.alone%." ~= nil
end

-- Returns the median ratio of two samplers' times, measured in turns.
local function ratio_of_seconds(one, first)
  if not (one.seconds and first.seconds) then return nil end
  return medians.interval(tables.map(one.seconds, function(seconds, i)
    return first.seconds[i] and seconds / first.seconds[i]
  end))
end

-- Returns the ratio of a number in an examination to that in the first. Both had the same seeds in
-- each group, so the interval is that of paired numbers; times were measured in turns. For variance
-- times cost the ends of both factors' intervals are multiplied, so that the interval is not too
-- narrow; where heavy tails are warned of, nothing is ranked by it.
local function ratio(one, first, key)
  if key == "cost.seconds" then return ratio_of_seconds(one, first) end
  local ranked = key:match "^ranking%.(%l+)$"
  if ranked then
    if one.has_tails or first.has_tails then return nil end
    local x, y = ratio(one, first, ranked .. ".variance"), ratio_of_seconds(one, first)
    return x and y and {mean = x.mean * y.mean, low = math.max(0, x.low) * y.low,
      high = x.high * y.high}
  end
  local a, b = one.sample.columns[key], first.sample.columns[key]
  if not (a and b and a[2] and b[2]) then return nil end
  local value, half = statistics.ratio(a, b)
  return value and {mean = value, low = value - half, high = value + half}
end

local function row_of(one, first)
  local row = {name = one.subject.title, values = {}, ratios = {}}
  for key, finding in pairs(one.by_key) do
    if is_compared(finding) then
      row.values[key] = finding
      -- For training results, differences are shown instead of ratios.
      if one ~= first and finding.section ~= "training" then
        row.ratios[key] = ratio(one, first, key)
      end
    end
  end
  return row
end

-- Returns the titles of the samplers that draw their own seeds; nil where none does.
local function with_own_seeds(examinations)
  local titles = {}
  for _, one in ipairs(examinations) do
    titles[#titles + 1] = one.sample.own_seeds and one.subject.title or nil
  end
  return titles[1] and titles
end

--- Laboratory.new(problem, opts, examinations): makes a laboratory from examinations (see
-- ladies.lab.examination) of a problem (see ladies.lab.problem), with the options of ladies.lab.
-- Its field comparison is {equal = what the samplers have in common, rows = {{name =, values =
-- intervals by key, ratios = those to the first sampler}, ...}}.
function Laboratory.new(problem, opts, examinations)
  local first, n = examinations[1], #problem.units
  for _, one in ipairs(examinations) do one.by_key = tables.by_field(one.findings, "key") end
  return setmetatable({
    data = problem.data.name, examinations = examinations,
    settings = tables.merged(problem:words(), {layers = opts.layers, hidden = opts.hidden,
      steps = opts.steps, seed = opts.seed, batch_size = math.min(opts.batch_size, n),
      one_set = opts.batch_size >= n, own_seeds = with_own_seeds(examinations),
      draws = opts.draws, precision = opts.precision, seconds = opts.seconds}),
    comparison = {equal = opts.equal or "as they are", rows = tables.map(examinations, function(one)
      return row_of(one, first)
    end)},
  }, Laboratory)
end

--- lab:write(folder: string) -> table: writes lab.html, one page that needs nothing else, lab.json,
-- lab.md, lab.csv and the pictures into a folder, which is new, empty, or of an earlier laboratory;
-- returns their report (see ladies.report).
function Laboratory:write(folder)
  options.value("laboratory:write", "the folder", folder, "string")
  return report.write(self, folder)
end

function Laboratory:__tostring() return report.text(self) end

return Laboratory
