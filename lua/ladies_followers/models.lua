--- Every architecture with full batches, LADIES and GraphSAGE's sampling.

local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local network_models = require "ladies.experiment.models"
local options = require "ladies.base.options"
local protocol = require "ladies_followers.protocol"
local provenance = require "ladies.report.provenance"
local repeated = require "ladies.study.repeated"
local run_folder = require "ladies.training.run_folder"
local runs_text = require "ladies_followers.runs_text"
local smoothed = require "ladies_followers.smoothed"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"
local usable_data = require "ladies.study.usable_data"

local WHERE = "ladies_followers.models"

local ALL = {"gcn", "jk", "gcnii", "sage", "gin", "gat", "appnp", "sgc", "mlp"}
local QUICK = {"gcn", "gcnii", "mlp"}
local METHODS = {"full", "ladies:512", "graphsage:5"}

-- What is named, whatever the defaults of the models' names are: GCNII and APPNP of their papers.
local OWN = {gcnii = {alpha = 0.1, self_nodes = "previous"}, appnp = {alpha = 0.1}}

-- A model with a method on a data set, as a variant; a model that reads no graph stands in the
-- first column alone.
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

local function variants_of(names, opts)
  local list = {}
  for _, name in ipairs(names) do
    for _, model in ipairs(opts.models) do
      for _, text in ipairs(opts.methods) do
        list[#list + 1] = variant_of(name, model, text, opts)
      end
    end
  end
  return list
end

local function title_of(text)
  return methods.title(experiment.configure(methods.parse(WHERE, text)))
end

-- A row for each model, a column for each data set and method; then those of `more`, {label =,
-- cells by data set and method}.
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
  local results = Table.new{"dataset", "model", "method", "layers", "runs",
    {csv = {"f1", "f1_half_width"}}}
  for _, one in ipairs(variants) do
    results:add{one.dataset, one.model, one.title, one.layers, #one.records, test_f1.cell(one)}
  end
  return results
end

local ABOUT = [[
Test micro-F1 in percent with 95 %% intervals by Student's t over %s, seeds 1, 2, ...; each
architecture as `ladies train --model NAME` has it, which nobody tuned for a data set, with %s,
early stopping and a patience of %d batches. The MLP reads no graph and has one column; so has label
propagation, which is not trained and has no spread. It and Correct and Smooth, a last step after
the same trainings, have the labels of the training nodes and their default settings.]]

-- What is smoothed besides: a model that reads the graph, and one that does not.
local SMOOTHED = {"gcn", "mlp"}

-- The rows below those of the models, of labels that are spread over the graph.
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

--- ladies_followers.models{runs = 5} -> table: trains every architecture with each of some methods,
-- `runs` times with the seeds 1, 2, ... Returns a report (see ladies.report) with `variants`.
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
local function models(given)
  local opts = options.check(WHERE, given or {}, Study.options{
    models = "array of strings or nil", methods = {"array of strings", METHODS},
    datasets = "array of strings or nil", runs = "positive integer or nil",
    quick = {"boolean", false}, kept = {"boolean", false},
  })
  opts.models = opts.models or opts.quick and QUICK or ALL
  for _, model in ipairs(opts.models) do
    options.value(WHERE, "a model", model, network_models.names())
  end
  opts.datasets = opts.datasets or opts.quick and {"cora"} or {"cora", "pubmed"}
  opts.runs = opts.runs or opts.quick and 2 or 5
  if opts.quick then opts.settings = tables.merged({max_batches = 20}, opts.settings) end
  local names, notes = usable_data(WHERE, opts.datasets)
  local study = Study.at(opts.out, "runs/models", "every architecture")
  local variants = variants_of(names, opts)
  local records = repeated(study, variants, opts, notes)
  local more = smoothed_rows(study, names, variants, opts)
  local report = study:report("models", "Every architecture")
  report:table(table_of(variants, names, more, opts))
  report:csv(numbers_of(variants))
  report:note(provenance.runs(study, records), ABOUT:format(runs_text(variants),
    protocol.NETWORK_TEXT, protocol.PATIENCE), table.unpack(notes))
  report.variants = variants
  return report:write()
end

return models
