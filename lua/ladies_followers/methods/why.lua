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

local function measure(variant, opts)
  local config = variant.config
  local found = lab(variant.method, {
    dataset = config.dataset, layers = config.layers, batch_size = config.batch_size,
    hidden = math.min(why.HIDDEN, config.hidden), seconds = opts.laboratory, against = {},
    settings = own_settings(variant), quiet = true,
  }).examinations[1]
  return {
    verdict = found.verdict,
    causes = tables.map(found.faults, function(fault)
      return ("%s: %s (%s)"):format(fault.kind, fault.text, fault.proof or "")
    end),
    empty = over_layers(found.by_key, "connection.empty.%d", config.layers),
    alone = over_layers(found.by_key, "connection.alone.%d", config.layers),
    embedding = size(found.by_key["embedding.error"]),
    gradient = size(found.by_key["gradient.error"]),
    layer_scale = over_layers(found.by_key, "layers.%d.scale", config.layers),
    scale = found.by_key["embedding.scale"] and found.by_key["embedding.scale"].mean,
  }
end

--- why.examine(study, variants, opts): marks the variants with `behind`, what full batch has more
-- seed by seed, and `far`; and returns the examinations of those that are far behind, and of the
-- first method beside them: an array of {variant =, verdict =, causes =, empty =, alone =,
-- embedding =, gradient =, layer_scale =, scale =}, kept in the study. empty: the share of a
-- layer's rows without any sampled neighbour; alone: with none but themselves; embedding, gradient:
-- sizes of the errors as shares of the exact values; layer_scale, scale: how many times as large as
-- the exact one the estimate is on average, that of a layer whose input is exact, and that of all
-- layers.
function why.examine(study, variants, opts)
  local items = tables.map(far_behind(variants), function(variant)
    return {key = variant.key .. ", laboratory", variant = variant}
  end)
  local records = measured(study, items, "examination", opts.quiet, function(item)
    return measure(item.variant, opts)
  end)
  return tables.map(records, function(record, i)
    return tables.merged(record, {variant = items[i].variant})
  end)
end

return why
