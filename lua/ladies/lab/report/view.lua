--- Prepares the contents that all forms of a laboratory's report share: sections and their order,
-- numbers as texts, and the comparison as a table.

local counted = require("ladies.base.units").counted
local tables = require "ladies.base.tables"

local view = {}

-- The sections of an examination in their order, with their titles.
local SECTIONS = {
  {"contract", "The contract"}, {"layers", "One layer at a time"}, {"embedding", "The embedding"},
  {"gradient", "The gradient of the loss"}, {"connection", "Connection"}, {"coverage", "Coverage"},
  {"cost", "Cost"}, {"scaling", "Scaling"}, {"ranking", "Variance times cost"},
  {"along", "Along a training"}, {"training", "Training"}, {"own", "Statistics of your own"},
}

--- Returns the sections of an examination that have findings, an array of {key =, title =, findings
-- =}.
function view.sections(examination)
  local by_key, list = {}, {}
  for _, one in ipairs(SECTIONS) do
    by_key[one[1]] = {key = one[1], title = one[2], findings = {}}
    list[#list + 1] = by_key[one[1]]
  end
  for _, finding in ipairs(examination.findings) do
    table.insert(by_key[finding.section].findings, finding)
  end
  local filled = {}
  for _, section in ipairs(list) do filled[#filled + 1] = section.findings[1] and section end
  return filled
end

--- Formats a number in the format of a finding, with 1200 in place of 1.2e+03.
function view.number(finding, x)
  local text = (finding.format or "%.4g"):format((finding.scale or 1) * x)
  return (text:gsub("[%d.]+e%+0[2-5]", function(number) return ("%.0f"):format(number) end))
end

-- Returns the format of a finding without its unit, and the unit.
local function without_unit(finding)
  local conversion, unit = (finding.format or "%.4g"):match "^(%%%.?%d*%a)(.*)$"
  return {format = conversion, scale = finding.scale}, unit:gsub("%%%%", "%%")
end

--- Returns the interval of a finding as text: "0.39 to 0.42 ms", "exact" for a number that is no
-- estimate, or "" for a p-value, which has none.
function view.interval(finding)
  if finding.is_p_value then return "" end
  if finding.n == 1 and finding.low == finding.high then return "exact" end
  return ("%s to %s"):format(view.number(without_unit(finding), finding.low),
    view.number(finding, finding.high))
end

--- Formats an interval {mean =, low =, high =} in the format of a finding: "0.412 ± 0.02 ms", or
-- "0.412 (0.40 to 0.44) ms" where it is not symmetric.
function view.spread(finding, interval)
  local bare, unit = without_unit(finding)
  local text = view.number(bare, interval.mean)
  local half = (interval.high - interval.low) / 2
  if interval.n == 1 and half == 0 then return text .. unit end
  if math.abs(interval.high - interval.mean - half) > 0.1 * half then
    return ("%s (%s to %s)%s"):format(text, view.number(bare, interval.low),
      view.number(bare, interval.high), unit)
  end
  local rough = {format = "%.2g", scale = finding.scale}
  return ("%s ± %s%s"):format(text, view.number(rough, half), unit)
end

--- Returns the kind of a fault: "fault", where something is certainly wrong, or "warning".
function view.kind(fault) return fault.kind or "fault" end

--- Returns the titles of the samplers of a laboratory.
function view.names(laboratory)
  return tables.map(laboratory.examinations, function(one) return one.subject.title end)
end

--- Returns a heading that names the samplers and the data set.
function view.title(laboratory)
  return ("%s on %s"):format(table.concat(view.names(laboratory), ", "), laboratory.data)
end

-- Returns the numbers of groups in the examinations that were measured, as "16" or "16 to 40".
local function groups_of(laboratory)
  local least, most = math.huge, 0
  for _, one in ipairs(laboratory.examinations) do
    local groups = one.settings.groups
    if groups > 0 then least, most = math.min(least, groups), math.max(most, groups) end
  end
  return least >= most and ("%d"):format(most) or ("%d to %d"):format(least, most)
end

-- Returns sentences on what is not as in an examination of a GCN under a task of nodes, or "".
local function apart_of(settings)
  local unit = settings.unit
  local of_task = unit and (" The task is %s: seeds are the nodes that a batch of %ss asks for, "
    .. "and what the task draws besides is one for all draws of a set."):format(settings.task, unit)
  local of_model = settings.model and " Of one layer at a time the numbers are those of P~ H, the "
    .. "sums over neighbours of what the layer is given; what the layer makes of its neighbours is "
    .. "in those of the embedding and the gradient."
  return (of_task or "") .. (of_model or "")
end

-- Returns the size of the batches in words, and sentences on their seeds, or "". The size is that
-- of samplers that are given their seeds.
local function batches_of(laboratory)
  local s = laboratory.settings
  local own, same = s.own_seeds or {}, ""
  local has_given = #own < #laboratory.examinations
  if has_given and s.one_set then
    same = (" A batch has all training %ss, so these sets are one and the same, and differ by "
      .. "their draws alone."):format(s.unit or "node")
  end
  if #own > 0 then
    same = ("%s %s %s own seeds: such sets are of draws alone."):format(same,
      table.concat(own, " and "), #own > 1 and "draw their" or "draws its")
  end
  return has_given and "batches of " .. counted(s.batch_size, s.unit or "seed")
    or "batches with seeds of their own", same
end

--- Returns a paragraph that says how the numbers were measured and what their intervals are.
function view.circumstances(laboratory)
  local s = laboratory.settings
  local batches, same = batches_of(laboratory)
  return ("A %s of %s, %d wide, after %s of training; %s; %s sets of seeds, %s of each; seed %d. "
    .. "Intervals are of 95 %%: of errors by Student's t over the sets of seeds, of times, which "
    .. "are medians, by order statistics.%s%s"):format(
    s.model and "model " .. s.model or "GCN", counted(s.layers, "layer"), s.hidden,
    counted(s.steps, "step"), batches, groups_of(laboratory), counted(s.draws, "draw"), s.seed,
    same, apart_of(s))
end

-- The sizes that may be made equal, in words.
local EQUAL = {
  samples = "numbers of samples", nodes = "numbers of distinct nodes in a mini-batch",
  entries = "numbers of entries in a mini-batch", seconds = "seconds a mini-batch",
}

--- Returns a sentence that says which size of the samplers was made equal, if any.
function view.equal(laboratory)
  local what = EQUAL[laboratory.comparison.equal]
  return what and ("Compared at equal %s, as far as samples make it so."):format(what)
    or "Compared as they are, with nothing made equal."
end

-- Returns the first finding with this key in any examination.
local function finding_of(laboratory, key)
  for _, one in ipairs(laboratory.examinations) do
    for _, finding in ipairs(one.findings) do
      if finding.key == key then return finding end
    end
  end
end

-- Returns the keys of the numbers that are compared, in the order of the findings.
local function compared(laboratory)
  local keys, seen, there = {}, {}, {}
  for _, row in ipairs(laboratory.comparison.rows) do
    for key in pairs(row.values) do there[key] = true end
  end
  for _, one in ipairs(laboratory.examinations) do
    for _, finding in ipairs(one.findings) do
      local key = finding.key
      if there[key] and not seen[key] then keys[#keys + 1], seen[key] = key, true end
    end
  end
  return keys
end

--- Returns the comparison as {names = of the samplers, rows = {{key =, finding = how its numbers
-- are shown, values = intervals by the place of the sampler, false where there is none; ratios =
-- the same, to the first sampler, where that is known to be above 0}, ...}}.
function view.comparison(laboratory)
  local rows = laboratory.comparison.rows
  local function column(field, key)
    local first = rows[1].values[key]
    local shown = field == "values" or first and first.low > 0
    return tables.map(rows, function(row) return shown and row[field][key] or false end)
  end
  return {
    names = tables.map(rows, function(row) return row.name end),
    rows = tables.map(compared(laboratory), function(key)
      return {key = key, finding = finding_of(laboratory, key), values = column("values", key),
        ratios = column("ratios", key)}
    end),
  }
end

--- The format of the ratios in a comparison.
view.RATIO = {format = "%.3g"}

return view
