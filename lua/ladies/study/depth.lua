--- What depth and the graph are worth to a network: its F1 with few layers and with more, beside
-- that of the features alone, on each of some data sets.

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

-- What is trained on a data set, for ladies.study.repeated: without a graph, then by depth.
local function variants_of(opts, name, dataset)
  local own = tables.merged(opts.settings, {dataset = dataset})
  local alone = tables.merged(methods.pick("none", own), {method = "none", model = "mlp"})
  local list = {{key = name .. ", features alone", settings = alone}}
  for _, layers in ipairs(opts.layers) do
    list[#list + 1] = {key = ("%s, %d layers"):format(name, layers),
      settings = tables.merged(own, {layers = layers})}
  end
  return list
end

local function table_of(rows, layers)
  local heads = {"data set", {"features alone", csv = {"alone", "alone_half_width"}}}
  for _, n in ipairs(layers) do
    heads[#heads + 1] = {("%d layers"):format(n),
      csv = {("layers_%d"):format(n), ("layers_%d_half_width"):format(n)}}
  end
  local first, last = layers[1], layers[#layers]
  tables.append(heads, {
    {("%d over %d"):format(last, first), csv = {"over_fewer", "over_fewer_half_width"}},
    {("%d over features"):format(last), csv = {"over_alone", "over_alone_half_width"}},
  })
  local results = Table.new(heads)
  for _, row in ipairs(rows) do
    local variants = row.variants
    local deepest = variants[#variants]
    results:add(tables.append({row.name}, tables.append(tables.map(variants, test_f1.cell), {
      test_f1.difference_cell(deepest, variants[2]), test_f1.difference_cell(deepest, variants[1]),
    })))
  end
  return results
end

-- What the numbers of the table are.
local function description(opts)
  local own = settings_text(opts.settings, "dataset", "seed")
  local seeds = opts.runs == 1 and "of one seed"
    or ("mean over %d seeds with its 95 %% interval by Student's t"):format(opts.runs)
  return ([[Test micro-F1 in percent, %s;
differences are seed by seed. %s; "features alone" is --model mlp, which reads no graph.]]):format(
    seeds, own ~= "" and "With " .. own or "All settings as they are by default")
end

--- ladies.depth{datasets = {"cora", "low-homophily"}, layers = {2, 5}, runs = 5}: trains a network
-- with each number of layers, and --model mlp, which reads no graph, on each data set, and returns
-- a report (see ladies.report): where depth pays, and where the graph does.
-- datasets   names or paths (cora, citeseer, pubmed, wordnet, and two random graphs that are made
--            by these names: low-homophily, of which one edge in ten stays within its class on
--            purpose, and high-degree, of 200 neighbours a node)
-- layers     numbers of layers, at least two of them, ascending ({2, 5})
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
  })
  for i = 1, math.max(2, #opts.layers) do
    if not opts.layers[i] or opts.layers[i] <= (opts.layers[i - 1] or 0) then
      errors.fail(WHERE .. ": layers must be two numbers or more, ascending")
    end
  end
  usable(opts.datasets)
  local study = Study.at(opts.out, "runs/depth", "depth " .. json.encode{settings = opts.settings})
  local rows, all, failures = {}, {}, {}
  for i, name in ipairs(opts.datasets) do
    rows[i] = {name = run_folder.plain(name)}
    rows[i].variants = variants_of(opts, rows[i].name, place_of(name, study.folder))
    tables.append(all, rows[i].variants)
  end
  local records = repeated(study, all, tables.merged(opts, {first = opts.settings.seed}), failures)
  local report, results = study:report("depth", "What depth is worth"), table_of(rows, opts.layers)
  report:table(results)
  report:csv(results)
  report:note(description(opts), provenance.runs(study, records), table.unpack(failures))
  return report:write()
end

return depth
