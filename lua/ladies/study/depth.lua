--- What depth and the graph are worth to a network: its F1 with few layers and with more, beside
-- that of the features alone and that of a shallow GCN, on each of some data sets; and what the
-- parts of the default network are worth, with the most of these layers.

local core = require "ladies_core"
local data_sets = require "ladies.data"
local errors = require "ladies.base.errors"
local generate = require "ladies.data.generate"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local provenance = require "ladies.report.provenance"
local repeated = require "ladies.study.repeated"
local run_folder = require "ladies.training.run_folder"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.report.statistics"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"
local usable_data = require "ladies.study.usable_data"

local WHERE = "ladies.depth"

-- Graphs that are made: one whose edges say next to nothing of classes, and one of high degree
-- whose edges say little each.
local GENERATED = {
  ["low-homophily"] = {nodes = 5000, entries = 50000, classes = 5, inside = 0.1, signal = 0.3},
  ["high-degree"] = {nodes = 5000, entries = 1000000, classes = 5, inside = 0.3, signal = 0.15},
}

-- What the default network is without each of its parts: settings, as the command line has them.
local PARTS = {
  {"the default", {}},
  {"`--alpha 0.1`: a share of the first representation that is not learned, the paper's",
    {alpha = 0.1}},
  {"`--norm true`: with layer normalisation", {norm = true}},
  {"`--alpha 0`: nothing of the first representation", {alpha = 0}},
  {"`--model gcn`: a plain GCN", {model = "gcn"}},
}

-- The names of data sets that can be used; those that are made are always there.
local function usable(names)
  local others = {}
  for _, name in ipairs(names) do
    if not GENERATED[name] then others[#others + 1] = name end
  end
  local _, missing = usable_data(WHERE, #others > 0 and others or {"wordnet"})
  if missing[1] then errors.fail(("%s: %s"):format(WHERE, table.concat(missing, "; "))) end
end

-- The name or path by which a run loads a data set; one that is made is a file of the study.
local function place_of(name, folder)
  if not GENERATED[name] then return name end
  local path = folder:file(name .. ".npz")
  if core.exists(path) ~= "file" then
    data_sets.save(generate.power_law(GENERATED[name]), path)
  end
  return path
end

-- Trainings with a number of layers, for ladies.study.repeated; which: where it is not the default.
local function of_layers(own, name, layers, which)
  return {key = ("%s, %d layers%s"):format(name, layers, which and ", " .. which or ""),
    settings = tables.merged(own, {layers = layers})}
end

-- What most would train: few layers of it stand beside the network, where that is another one.
local GCN = {model = "gcn"}

-- What is trained on a data set: without a graph, by depth, and the plain GCN.
local function variants_of(opts, name, own)
  local alone = tables.merged(methods.pick("none", own), {method = "none", model = "mlp"})
  local list = {{key = name .. ", features alone", settings = alone}}
  for _, layers in ipairs(opts.layers) do list[#list + 1] = of_layers(own, name, layers) end
  if opts.settings.model ~= GCN.model then
    list[#list + 1] = of_layers(tables.merged(own, GCN), name, opts.layers[1], settings_text(GCN))
  end
  return list
end

-- The same of the parts.
local function parts_of(opts, name, own)
  return tables.map(PARTS, function(part)
    local changes = settings_text(part[2])
    return of_layers(tables.merged(own, part[2]), name, opts.layers[#opts.layers],
      changes ~= "" and changes or nil)
  end)
end

-- A row for each part, a column for each data set.
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

-- A column's head, for readers and in the file.
local function head(text, name) return {text, csv = {name, name .. "_half_width"}} end

-- A row for each data set: F1 of each of its variants, and how far the deepest is above others.
local function table_of_depth(rows, opts)
  local layers = opts.layers
  local first, last, deepest = layers[1], layers[#layers], 1 + #layers
  local heads = {"data set", head("features alone", "alone")}
  for _, n in ipairs(layers) do
    heads[#heads + 1] = head(("%d layers"):format(n), ("layers_%d"):format(n))
  end
  local others = {{2, head(("%d over %d"):format(last, first), "over_fewer")}}
  if rows[1].variants[deepest + 1] then
    heads[#heads + 1] = head(("GCN, %d layers"):format(first), "gcn")
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

-- What the numbers of the table are.
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
local function depth(given)
  local opts = options.check(WHERE, given or {}, Study.options{
    datasets = {"array of strings", {"cora", "citeseer", "pubmed", "wordnet", "low-homophily",
      "high-degree"}},
    layers = {"array of positive integers", {2, 5}}, runs = {"positive integer", 5},
    ablate = {"boolean", false},
  })
  for i = 1, math.max(2, #opts.layers) do
    if not opts.layers[i] or opts.layers[i] <= (opts.layers[i - 1] or 0) then
      errors.fail(WHERE .. ": layers must be two numbers or more, ascending")
    end
  end
  if opts.ablate and opts.settings.model then
    errors.fail(WHERE .. ": ablate is of the default network, without a model in settings")
  end
  usable(opts.datasets)
  local study = Study.at(opts.out, "runs/depth", "depth " .. json.encode{settings = opts.settings})
  local rows, all, failures = {}, {}, {}
  for i, name in ipairs(opts.datasets) do
    rows[i] = {name = run_folder.plain(name)}
    rows[i].variants = (opts.ablate and parts_of or variants_of)(opts, rows[i].name,
      tables.merged(opts.settings, {dataset = place_of(name, study.folder)}))
    tables.append(all, rows[i].variants)
  end
  local records = repeated(study, all, tables.merged(opts, {first = opts.settings.seed}), failures)
  local report = opts.ablate and study:report("depth-ablation", "What each part is worth")
    or study:report("depth", "What depth is worth")
  local results = (opts.ablate and table_of_parts or table_of_depth)(rows, opts)
  report:table(results)
  report:csv(results)
  report:note(description(opts), provenance.runs(study, records), table.unpack(failures))
  return report:write()
end

return depth
