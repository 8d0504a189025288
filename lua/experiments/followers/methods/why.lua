--- Lets the laboratory examine the methods whose F1 is below that of full batches, and beside them
-- the first method, to find out why.

local examination = require "experiments.followers.methods.examination"
local measured = require "ladies.study.measured"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

-- Points of test F1 that a method may be below full batch.
local FAR = 3

local why = {}

-- Groups the variants by data set and by what is equal among them (nodes or seconds); `first` is
-- the first variant of a group, and `full` that of full batches.
local function groups_of(variants)
  local groups, by_name = {}, {}
  for _, one in ipairs(variants) do
    local name = one.dataset .. one.equal
    if not by_name[name] then
      by_name[name] = {first = one}
      groups[#groups + 1] = by_name[name]
    end
    table.insert(by_name[name], one)
    if one.method == "full" then by_name[name].full = one end
  end
  return groups
end

-- Gives each variant `behind`, by how much full batch is above it, seed by seed, and `far`, whether
-- the mean of that is more than FAR. Returns those that are far behind, and the first of their
-- groups.
local function far_behind(variants)
  local list = {}
  for _, group in ipairs(groups_of(variants)) do
    local any = false
    for _, one in ipairs(group) do
      one.behind = group.full and test_f1.differences(group.full, one) or {}
      one.far = #one.behind > 0 and statistics.mean(one.behind) > FAR
      if one.far then
        list[#list + 1], any = one, any or one ~= group.first
      end
    end
    if any and not group.first.far then list[#list + 1] = group.first end
  end
  return list
end

local function batches_of(variant)
  return statistics.mean(tables.map(variant.records, function(record) return record.batches end))
end

-- Returns the variant of the same form at equal nodes, if it is not far behind there.
local function fine_at_equal_nodes(variant, variants)
  for _, one in ipairs(variants) do
    if one.dataset == variant.dataset and one.label == variant.label and one.equal == "nodes"
      and one ~= variant and #one.behind > 0 and not one.far then
      return one
    end
  end
end

-- Returns by how many points validation F1 still rose between the last two validations, on average,
-- and over how many batches; nil unless the last validation is the best of every run.
local function rise_of(variant)
  local rises, batches = {}, nil
  for i, record in ipairs(variant.records) do
    local last, before = record.curve[#record.curve], record.curve[#record.curve - 1]
    if not before or record.best_batch ~= last[1] then return nil end
    rises[i], batches = 100 * (last[3] - before[3]), last[1] - before[1]
  end
  return statistics.mean(rises), batches
end

-- Returns a number of times, as text.
local function times(value)
  return (value >= 100 and "%.0f" or "%.2g"):format(value)
end

-- Returns as texts the reasons, as far as measurements of a variant show them, why it is far
-- behind.
local function reasons_of(one, variants)
  local list, variant = {}, one.variant
  local fine, batches = fine_at_equal_nodes(variant, variants), batches_of(variant)
  if fine and batches < batches_of(fine) / 2 then
    list[1] = ("its seconds are over after %.0f batches; after %.0f, at equal nodes, it is within "
      .. "%g points"):format(batches, batches_of(fine), FAR)
  end
  if one.alone and one.alone > 0.5 then
    list[#list + 1] = ("%.0f %% of a layer's rows have no sampled neighbour but themselves"):format(
      100 * one.alone)
  end
  if one.scales then
    list[#list + 1] = ("the embedding comes out %s times as large, with one layer %s times"):format(
      times(one.scale), times(one.scales[1] or 1))
  end
  if #list == 0 then
    list[1] = ("the gradient of a mini-batch is off by %s times its size"):format(
      times(one.gradient))
  end
  local rise, over = rise_of(variant)
  if rise then
    list[#list + 1] = ("it still learns: %.1f points of validation F1 in the last %d batches")
      :format(rise, over)
  end
  return list
end

--- why.examine(study, variants, opts): marks the variants with `behind`, what full batch has more
-- seed by seed, and `far`; and returns the examinations of those that are far behind, and of the
-- first method beside them: an array of {variant =, batches =, reasons = texts, of those that are
-- far}, with what examination.new says, kept in the study.
function why.examine(study, variants, opts)
  local items = tables.map(far_behind(variants), function(variant)
    return {key = variant.key .. ", examined", variant = variant}
  end)
  local examine = examination.new(opts.laboratory)
  local records = measured(study, items, "examination", opts.quiet, function(item)
    return examine(item.variant)
  end)
  return tables.map(records, function(record, i)
    local one = tables.merged(record, {variant = items[i].variant})
    one.batches = batches_of(one.variant)
    one.reasons = one.variant.far and reasons_of(one, variants) or {}
    return one
  end)
end

return why
