--- What an examination of samplers has found: each by itself, and all beside the first.

local cost = require "ladies.lab.cost"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local report = require "ladies.lab.report"
local statistics = require "ladies.report.statistics"
local tables = require "ladies.base.tables"

local Laboratory = {__name = "ladies.lab.Laboratory"}
Laboratory.__index = Laboratory
fields.of_class(Laboratory, "data examinations:table[] settings:table comparison:table")

-- The numbers by which samplers are compared, besides those of some sections.
local COMPARED = {["embedding.error"] = true, ["embedding.bias"] = true,
  ["embedding.variance"] = true, ["gradient.error"] = true, ["gradient.bias"] = true,
  ["gradient.variance"] = true, ["connection.nodes"] = true, ["coverage.never"] = true,
  ["cost.seconds"] = true}
local SECTIONS = {ranking = true, training = true, own = true}

local function is_compared(finding)
  local key = finding.key
  return COMPARED[key] or SECTIONS[finding.section] or key:find "^connection%.alone%." ~= nil
end

-- The median of the ratios of seconds that were taken one after the other.
local function ratio_of_seconds(one, first)
  if not (one.seconds and first.seconds) then return nil end
  return cost.median(tables.map(one.seconds, function(seconds, i)
    return first.seconds[i] and seconds / first.seconds[i]
  end))
end

-- The ratio of a number of an examination to that of the first. Both met the same seeds, group by
-- group, so its interval is that of pairs where the number is a mean over groups, and their
-- mini-batches were timed in turns. The ends of the intervals of a rank's two factors are
-- multiplied, so that it is no narrower than it should be.
local function ratio(one, first, key)
  if key == "cost.seconds" then return ratio_of_seconds(one, first) end
  local ranked = key:match "^ranking%.(%l+)$"
  if ranked then
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
      -- Of training there are differences.
      if one ~= first and finding.section ~= "training" then
        row.ratios[key] = ratio(one, first, key)
      end
    end
  end
  return row
end

--- A laboratory of examinations (see ladies.lab.examination), over a data set with the options of
-- ladies.lab. comparison = {equal = what the samplers have in common, rows = {{name =, values =
-- intervals by key, ratios = those to the first sampler}, ...}}.
function Laboratory.new(data, opts, examinations)
  local first = examinations[1]
  for _, one in ipairs(examinations) do one.by_key = tables.by_field(one.findings, "key") end
  return setmetatable({
    data = data.name, examinations = examinations,
    settings = {layers = opts.layers, hidden = opts.hidden, steps = opts.steps, seed = opts.seed,
      batch_size = math.min(opts.batch_size, #data.train),
      one_set = opts.batch_size >= #data.train, draws = opts.draws,
      precision = opts.precision, seconds = opts.seconds},
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
