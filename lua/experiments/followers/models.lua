--- Trains every architecture with full batches, LADIES and GraphSAGE's sampling.

local carry_out = require "ladies.study.carry_out"
local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local network_models = require "ladies.experiment.models"
local options = require "ladies.base.options"
local protocol = require "experiments.followers.protocol"
local run_folder = require "ladies.training.record.run_folder"
local words = require "experiments.followers.words"
local smoothed = require "experiments.followers.smoothed"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local WHERE = "experiments.followers.models"

-- The settings of GCNII and APPNP in their papers, which hold whatever the defaults are.
local OWN = {gcnii = {alpha = 0.1, self_nodes = "previous"}, appnp = {alpha = 0.1}}

-- Returns a model with a method on a data set, as a variant; a model that reads no graph stands in
-- the first column alone.
local function variant_of(name, model, text, opts)
  local parsed = methods.parse(WHERE, text)
  if network_models.by_name[model].no_graph then
    if text ~= opts.methods[1] then return nil end
    parsed = {method = "none"}
  end
  local dataset = run_folder.plain(name)
  local common = tables.merged(protocol.network(), protocol.length(name), OWN[model],
    opts.settings)
  local settings = tables.merged(protocol.pick(common, parsed.method, model), parsed,
    {dataset = name, model = model})
  local config = experiment.configure(settings)
  return {dataset = dataset, model = model, column = text, settings = settings,
    layers = config.layers, title = methods.title(config),
    key = ("%s, %s, %s"):format(dataset, model, methods.title(config))}
end

local function title_of(text)
  return methods.title(experiment.configure(methods.parse(WHERE, text)))
end

-- Makes the table with a row for each model and a column for each data set and method, then the
-- rows `more`, {label =, cells by data set and method}.
local function table_of(variants, names, more, opts)
  local head, by_key = {"model", "layers"}, {}
  for _, name in ipairs(names) do
    for _, text in ipairs(opts.methods) do
      head[#head + 1] = ("%s, %s"):format(run_folder.plain(name), title_of(text))
    end
  end
  for _, one in ipairs(variants) do by_key[one.dataset .. one.model .. one.column] = one end
  local results = Table.new(head)
  local function add(label, layers, cell_of)
    local row = {label, layers}
    for _, name in ipairs(names) do
      for _, text in ipairs(opts.methods) do
        row[#row + 1] = cell_of(run_folder.plain(name), text) or "-"
      end
    end
    results:add(row)
  end
  for _, model in ipairs(opts.models) do
    local layers
    for _, one in ipairs(variants) do layers = one.model == model and one.layers or layers end
    add(model, layers, function(dataset, text)
      local one = by_key[dataset .. model .. text]
      return one and test_f1.cell(one)
    end)
  end
  for _, one in ipairs(more) do
    add(one.label, "", function(dataset, text) return one.cells[dataset .. text] end)
  end
  return results
end

local function numbers_of(variants)
  return Table.of({"dataset", "model", "method", "layers", "runs", {csv = {"f1", "f1_half_width"}}},
    variants, function(one)
      return {one.dataset, one.model, one.title, one.layers, #one.records, test_f1.cell(one)}
    end)
end

local ABOUT = [[
Test micro-F1 in percent with 95 %% intervals by Student's t over %s, seeds 1, 2, ...; each
architecture as `ladies train --model NAME` has it, which nobody tuned for a data set, with %s,
early stopping and a patience of %d batches. The MLP reads no graph and has one column; so has label
propagation, which is not trained and has no spread. It and Correct and Smooth, a last step after
the same trainings, have the labels of the training nodes and their default settings.]]

-- The models whose predictions are also smoothed over the graph after training: one that reads the
-- graph, and one that does not.
local SMOOTHED = {"gcn", "mlp"}

-- Makes the rows below those of the models: label propagation, and the models with smoothed
-- predictions.
local function smoothed_rows(study, names, variants, opts)
  local rows = {}
  for _, model in ipairs(SMOOTHED) do
    local row = {label = model .. ", Correct and Smooth", cells = {}}
    for _, one in ipairs(variants) do
      if one.model == model then
        row.cells[one.dataset .. one.column] = smoothed.correct_and_smooth(study, one, opts)
      end
    end
    if next(row.cells) then rows[#rows + 1] = row end
  end
  local cells, plain = {}, smoothed.label_propagation(study, names, opts)
  for name, cell in pairs(plain) do cells[name .. opts.methods[1]] = cell end
  rows[#rows + 1] = {label = "label propagation", cells = cells}
  return rows
end

local MODELS = {
  where = WHERE, name = "models", title = "Every architecture",
  folder = "runs/models", identity = "every architecture",
  options = {
    models = {"array of strings", {"gcn", "jk", "gcnii", "sage", "gin", "gat", "appnp", "sgc",
      "mlp"}, quick = {"gcn", "gcnii", "mlp"}},
    methods = {"array of strings", {"full", "ladies:512", "graphsage:5"}},
    datasets = {"array of strings", {"cora", "pubmed"}, quick = {"cora"}},
    runs = {"positive integer", 5, quick = 2}, quick = {"boolean", false},
    kept = {"boolean", false},
  },
}

function MODELS.check(opts)
  for _, model in ipairs(opts.models) do
    options.value(WHERE, "a model", model, network_models.names())
  end
  if opts.quick then opts.settings = tables.merged({max_batches = 20}, opts.settings) end
end

function MODELS.cases(opts, names)
  local list = {}
  for _, name in ipairs(names) do
    for _, model in ipairs(opts.models) do
      for _, text in ipairs(opts.methods) do
        list[#list + 1] = variant_of(name, model, text, opts)
      end
    end
  end
  return list, names
end

function MODELS.show(report, variants, opts, names, study)
  report:table(table_of(variants, names, smoothed_rows(study, names, variants, opts), opts))
  report:csv(numbers_of(variants))
end

function MODELS.notes(variants)
  return {ABOUT:format(words.runs(variants), protocol.NETWORK_TEXT, protocol.PATIENCE)}
end

--- experiments.followers.models{runs = 5} -> table: trains every architecture with each of some
-- methods, `runs` times with the seeds 1, 2, ... Returns a report (see ladies.report) with
-- `variants`.
-- models     names of ladies.experiment.models (gcn, jk, gcnii, sage, gin, gat, appnp, sgc and mlp)
-- methods    names, with samples behind a colon (full, ladies:512 and graphsage:5)
-- datasets   names or paths (cora and pubmed)
-- runs       5; with quick 2
-- quick      three architectures on Cora, 20 batches each
-- settings   of ladies.experiment, for all that take them
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/models-1), which goes on where it was stopped
-- kept       trains nothing: the tables are of the runs that there are
-- quiet      no progress
local function models(given) return carry_out(MODELS, given) end

return models
