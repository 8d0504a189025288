--- Measures how much depth and the graph improve a network: its F1 with few and with more layers,
-- compared with an MLP on the features alone and with a shallow GCN, on several data sets; and how
-- much each part of the default network contributes when it is deep.

local carry_out = require "ladies.study.carry_out"
local counted = require("ladies.base.units").counted
local errors = require "ladies.base.errors"
local generated_graphs = require "ladies.study.generated_graphs"
local methods = require "ladies.experiment.methods"
local run_folder = require "ladies.training.record.run_folder"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local WHERE = "ladies.depth"

-- The settings, as on the command line, that remove one part of the default network each.
local PARTS = {
  {"the default", {}},
  {"`--alpha 0.1`: a share of the first representation that is not learned, the paper's",
    {alpha = 0.1}},
  {"`--norm true`: with layer normalisation", {norm = true}},
  {"`--alpha 0`: nothing of the first representation", {alpha = 0}},
  {"`--model gcn`: a plain GCN", {model = "gcn"}},
}

-- Makes a variant for ladies.study.repeated: the network with this number of layers; `which` are
-- settings that make it another one than the default.
local function of_layers(own, name, layers, which)
  return {key = ("%s, %s%s"):format(name, counted(layers, "layer"), which and ", " .. which or ""),
    settings = tables.merged(own, {layers = layers})}
end

-- The settings of a plain GCN, which is trained with few layers for comparison if the network is
-- another one.
local GCN = {model = "gcn"}

-- Lists the networks that are trained on a data set: without a graph, by depth, and the plain GCN.
local function variants_of(opts, name, own)
  local alone = tables.merged(methods.pick("none", own), {method = "none", model = "mlp"})
  local list = {{key = name .. ", features alone", settings = alone}}
  for _, layers in ipairs(opts.layers) do list[#list + 1] = of_layers(own, name, layers) end
  if opts.settings.model ~= GCN.model then
    list[#list + 1] = of_layers(tables.merged(own, GCN), name, opts.layers[1], settings_text(GCN))
  end
  return list
end

-- Lists the networks that are trained on a data set to tell what each part of the default one is
-- worth.
local function parts_of(opts, name, own)
  return tables.map(PARTS, function(part)
    local changes = settings_text(part[2])
    return of_layers(tables.merged(own, part[2]), name, opts.layers[#opts.layers],
      changes ~= "" and changes or nil)
  end)
end

-- Returns the table of the parts' contributions, with a row for each part and a column for each
-- data set.
local function table_of_parts(rows)
  local results = Table.new(tables.append({"network"}, tables.map(rows, function(row)
    return {row.name, csv = {row.name, row.name .. "_half_width"}}
  end)))
  for i, part in ipairs(PARTS) do
    results:add(tables.append({part[1]}, tables.map(rows, function(row)
      local f1 = statistics.column(row.variants[i].records, "val_f1", 100)
      return Table.interval(statistics.present(f1), "%.1f")
    end)))
  end
  return results
end

-- Returns the head of a column of numbers with intervals, for readers and for the CSV file.
local function head(text, name) return {text, csv = {name, name .. "_half_width"}} end

-- Returns the table of the F1s with a row for each data set, and by how much the deepest network is
-- above the others.
local function table_of_depth(rows, opts)
  local layers = opts.layers
  local first, last, deepest = layers[1], layers[#layers], 1 + #layers
  local heads = {"data set", head("features alone", "alone")}
  for _, n in ipairs(layers) do
    heads[#heads + 1] = head(counted(n, "layer"), ("layers_%d"):format(n))
  end
  local others = {{2, head(("%d over %d"):format(last, first), "over_fewer")}}
  if rows[1].variants[deepest + 1] then
    heads[#heads + 1] = head("GCN, " .. counted(first, "layer"), "gcn")
    others[2] = {deepest + 1, head(("%d over GCN"):format(last), "over_gcn")}
  end
  others[#others + 1] = {1, head(("%d over features"):format(last), "over_alone")}
  tables.append(heads, tables.map(others, function(other) return other[2] end))
  local results = Table.new(heads)
  for _, row in ipairs(rows) do
    local variants = row.variants
    local cells = tables.append({row.name}, tables.map(variants, test_f1.cell))
    results:add(tables.append(cells, tables.map(others, function(other)
      return test_f1.difference_cell(variants[deepest], variants[other[1]])
    end)))
  end
  return results
end

-- Returns a text that explains the numbers of the table.
local function description(opts)
  local own = settings_text(opts.settings, "dataset", "seed")
  local seeds = opts.runs == 1 and "of one seed"
    or ("mean over %d seeds with its 95 %% interval by Student's t"):format(opts.runs)
  if opts.ablate then
    return ("Validation micro-F1 in percent with %d layers, %s. %s."):format(
      opts.layers[#opts.layers], seeds, own ~= "" and "All with " .. own
        or "All other settings as they are by default")
  end
  return ([[Test micro-F1 in percent, %s;
differences are seed by seed. %s; "features alone" is --model mlp, which reads no graph%s.]])
    :format(seeds, own ~= "" and "With " .. own or "All settings as they are by default",
      opts.settings.model ~= GCN.model and ', "GCN" --model gcn' or "")
end

local DEPTH = {
  where = WHERE, folder = "runs/depth", identity = {"depth", "settings"}, seeded = true,
  sets = {dataset = "datasets", layers = "layers"}, strict = true, of_classes = true,
  made = generated_graphs,
  name = function(opts) return opts.ablate and "depth-ablation" or "depth" end,
  title = function(opts)
    return opts.ablate and "What each part is worth" or "What depth is worth"
  end,
  options = {
    datasets = {"array of strings", {"cora", "citeseer", "pubmed", "wordnet", "low-homophily",
      "high-degree"}},
    layers = {"array of positive integers", {2, 5}}, runs = {"positive integer", 5},
    ablate = {"boolean", false},
  },
}

function DEPTH.check(opts)
  for i = 1, math.max(2, #opts.layers) do
    if not opts.layers[i] or opts.layers[i] <= (opts.layers[i - 1] or 0) then
      errors.fail(WHERE .. ": layers must be two numbers or more, ascending")
    end
  end
  if opts.ablate and opts.settings.model then
    errors.fail(WHERE .. ": ablate is of the default network, without a model in settings")
  end
end

-- Lists all variants to train, and the rows of the table: {name = of the data set, variants =}.
function DEPTH.cases(opts, names, place)
  local all = {}
  local rows = tables.map(names, function(name)
    local row = {name = run_folder.plain(name)}
    row.variants = (opts.ablate and parts_of or variants_of)(opts, row.name,
      tables.merged(opts.settings, {dataset = place(name)}))
    tables.append(all, row.variants)
    return row
  end)
  return all, rows
end

function DEPTH.show(report, _, opts, rows)
  report:results((opts.ablate and table_of_parts or table_of_depth)(rows, opts))
  report:note(description(opts))
end

--- ladies.depth{datasets = {"cora", "low-homophily"}, layers = {2, 5}, runs = 5} -> table: trains a
-- network with each number of layers, --model mlp, which reads no graph, and, where the network is
-- another one, --model gcn with the fewest of these layers, on each data set, and returns a report
-- (see ladies.report): where depth pays, and where the graph does.
-- datasets   names or paths (cora, citeseer, pubmed, wordnet, and two random graphs that are made
--            by these names: low-homophily, of which one edge in ten stays within its class on
--            purpose, and high-degree, of 200 neighbours a node)
-- layers     numbers of layers, at least two of them, ascending ({2, 5})
-- ablate     true: instead validation F1 with the most layers, of the default network and of that
--            without each of its parts
-- settings   of ladies.experiment, for all; with `seed` the runs begin with that one
-- runs       5, with following seeds
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/depth-1), which goes on where it was stopped; it may
--            have had fewer runs or data sets before
-- quiet      no progress
local function depth(given) return carry_out(DEPTH, given) end

return depth
