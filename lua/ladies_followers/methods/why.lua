--- What the laboratory finds of the methods that come out below full batch, and of the first one,
-- beside which they are set.

local lab = require "ladies.lab"
local measured = require "ladies.study.measured"
local methods = require "ladies.experiment.methods"
local statistics = require "ladies.report.statistics"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

-- Points of test F1 that a method may be below full batch.
local FAR = 3

-- How many times too large or too small an embedding may be before its depths are looked at.
local OFF = 2

local why = {}

--- The width of the network that is examined, at most; a wider one changes little.
why.HIDDEN = 64

-- Of the variants, by data set and what is equal: the first, the one of full batch, and all.
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

-- Gives each variant `behind`, what full batch has more, seed by seed, and `far`, whether its mean
-- is more than FAR; returns those that are far, and the first of their groups.
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

-- The mean over the layers of an examination's finding, whose key is this format with the layer;
-- nil where it has none.
local function over_layers(by_key, key, layers)
  local list = {}
  for l = 1, layers do
    local found = by_key[key:format(l)]
    list[#list + 1] = found and found.mean
  end
  return statistics.mean(list)
end

-- The settings of a variant that its sampler takes.
local function own_settings(variant)
  local own = {}
  for key, value in pairs(variant.settings) do
    if methods.takes(variant.method, key) then own[key] = value end
  end
  own.samples = variant.config.samples
  return own
end

local function size(finding) return finding and math.sqrt(finding.mean) end

-- The laboratory's findings in so many seconds, by their keys, of a variant with so many layers.
local function found_of(variant, layers, seconds)
  local config = variant.config
  return lab(variant.method, {
    dataset = config.dataset, layers = layers, batch_size = config.batch_size,
    hidden = math.min(why.HIDDEN, config.hidden), seconds = seconds, against = {},
    settings = own_settings(variant), quiet = true,
  }).examinations[1].by_key
end

local function scale_of(by_key)
  local found = by_key["embedding.scale"]
  return found and found.mean
end

-- Whether something is far too large or too small.
local function is_off(scale) return scale ~= nil and (scale > OFF or scale < 1 / OFF) end

local function measure(variant, opts)
  local layers = variant.config.layers
  local by_key = found_of(variant, layers, opts.laboratory)
  local record = {
    empty = over_layers(by_key, "connection.empty.%d", layers),
    alone = over_layers(by_key, "connection.alone.%d", layers),
    embedding = size(by_key["embedding.error"]), gradient = size(by_key["gradient.error"]),
    layer_scale = over_layers(by_key, "layers.%d.scale", layers), scale = scale_of(by_key),
  }
  if is_off(record.scale) then
    record.scales = {}
    for l = 1, layers - 1 do
      record.scales[l] = scale_of(found_of(variant, l, opts.laboratory / 3)) or false
    end
    record.scales[layers] = record.scale
  end
  return record
end

local function batches_of(variant)
  return statistics.mean(tables.map(variant.records, function(record) return record.batches end))
end

-- The variant of this form that is at equal nodes, when it is not far behind there.
local function fine_at_equal_nodes(variant, variants)
  for _, one in ipairs(variants) do
    if one.dataset == variant.dataset and one.label == variant.label and one.equal == "nodes"
      and one ~= variant and #one.behind > 0 and not one.far then
      return one
    end
  end
end

-- A number of times, as text.
local function times(value)
  return (value >= 100 and "%.0f" or "%.2g"):format(value)
end

-- Why a variant is far behind, by what was measured of it, as texts.
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
  return list
end

--- why.examine(study, variants, opts): marks the variants with `behind`, what full batch has more
-- seed by seed, and `far`; and returns the examinations of those that are far behind, and of the
-- first method beside them: an array of {variant =, batches =, reasons =, empty =, alone =,
-- embedding =, gradient =, layer_scale =, scale =, scales =}, kept in the study. reasons: texts, of
-- those that are far. empty: the share of a layer's rows without any sampled neighbour; alone: with
-- none but themselves; embedding, gradient: sizes of the errors as shares of the exact values;
-- layer_scale, scale: how many times as large as the exact one the estimate is on average, that of
-- a layer whose input is exact, and that of all layers; scales: where that is far from 1, the same
-- with 1, 2, ... layers.
function why.examine(study, variants, opts)
  local items = tables.map(far_behind(variants), function(variant)
    return {key = variant.key .. ", why", variant = variant}
  end)
  local records = measured(study, items, "examination", opts.quiet, function(item)
    return measure(item.variant, opts)
  end)
  return tables.map(records, function(record, i)
    local one = tables.merged(record, {variant = items[i].variant})
    one.batches = batches_of(one.variant)
    one.reasons = one.variant.far and reasons_of(one, variants) or {}
    return one
  end)
end

return why
