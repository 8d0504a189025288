--- The variants that the ablation trains: LADIES with one choice of a preset changed at a time, and
-- every combination of the draw's probabilities with the nodes that are united into its layers.

local experiment = require "ladies.experiment"
local protocol = require "experiments.paper.protocol"
local run_folder = require "ladies.training.record.run_folder"
local tables = require "ladies.base.tables"

local variants = {}

-- The settings that are changed one at a time, with their values.
local CHANGES = {
  {"draw", "wor", "wr"}, {"normalize", "sym", "row"}, {"row_normalize", true, false},
  {"self_nodes", "none", "previous", "batch"}, {"head", "none", "linear"},
  {"activation", "relu", "elu"}, {"dropout", 0, 0.2, 0.5},
}

--- The sets from which nodes are drawn, and the probabilities: those of LADIES, then the others.
variants.PROBABILITIES = {
  {title = "LADIES", method = "ladies"},
  {title = "FastGCN", method = "fastgcn"},
  {title = "uniform, neighbourhood", method = "ladies", probability = "uniform"},
  {title = "uniform, all nodes", method = "fastgcn", probability = "uniform"},
}
local OWN = variants.PROBABILITIES[1]

--- The nodes that are united into a layer, as values of the setting self_nodes.
variants.UNIONS = {"none", "previous", "batch"}

--- The label of the preset without any change.
variants.BASE = "as it is"

-- Makes the variant of a preset with changes {key, value}, and with the probabilities of `from`.
-- Equal settings have equal labels, so that a run that both parts need is one. `base`: the preset's
-- settings with the user's over them.
local function variant(preset, base, from, changes)
  local words, settings = {}, {preset = preset, method = from.method,
    probability = from.probability}
  if from ~= OWN then words[1] = from.title end
  for _, key in ipairs{"draw", "row_normalize", "self_nodes", "union"} do
    settings[key] = base[key]     -- where FastGCN has its own
  end
  for _, change in ipairs(changes) do
    local key, value = change[1], change[2]
    if value ~= base[key] then
      settings[key] = value
      words[#words + 1] = ("%s %s"):format(key:gsub("_", " "), value)
    end
    if key == "draw" and value == "wr" then settings.union = "pre" end  -- "post" is for wor
    if key == "dropout" and value == 0 then settings.head_dropout = 0 end
  end
  return {label = #words > 0 and table.concat(words, ", ") or variants.BASE, settings = settings}
end

local PARTS = {}

-- Lists the preset itself and then its variants with one change each.
function PARTS.changes(preset, base)
  local list = {variant(preset, base, OWN, {})}
  for _, change in ipairs(CHANGES) do
    for i = 2, #change do
      if change[i] ~= base[change[1]] then
        list[#list + 1] = variant(preset, base, OWN, {{change[1], change[i]}})
      end
    end
  end
  return list
end

-- Lists the variants with every combination, each with its place in the table: `from`, a title, and
-- `union`.
function PARTS.cross(preset, base)
  local list = {}
  for _, from in ipairs(variants.PROBABILITIES) do
    for _, union in ipairs(variants.UNIONS) do
      local one = variant(preset, base, from, {{"self_nodes", union}})
      one.from, one.union = from.title, union
      list[#list + 1] = one
    end
  end
  return list
end

--- Returns the variants of a part of a preset on a data set, for ladies.study.repeated. Of each
-- besides:
-- preset, dataset   the names in tables
-- label             its changes in words
-- from, union       of the part "cross", whose probabilities, and which nodes
function variants.of(preset, part, dataset, opts)
  local list = PARTS[part](preset,
    experiment.configure(tables.merged({model = protocol.settings(dataset).model}, opts.settings,
      {preset = preset})))
  for _, one in ipairs(list) do
    one.preset, one.dataset = preset, run_folder.plain(dataset)
    one.key = ("%s, %s: %s"):format(one.dataset, preset, one.label)
    one.settings = tables.merged({dataset = dataset, samples = opts.samples},
      protocol.settings(dataset), opts.settings, one.settings)
  end
  return list
end

return variants
