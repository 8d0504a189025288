--- Every method, those of the paper and those that followed it, with one network: at as many nodes
-- of a mini-batch as LADIES has, and at as many CPU seconds of training.

local batch_cost = require "experiments.followers.methods.batch_cost"
local carry_out = require "ladies.study.carry_out"
local equal_nodes = require "ladies.study.equal_nodes"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local experiment_methods = require "ladies.experiment.methods"
local forms = require "experiments.followers.methods.forms"
local json = require "ladies.base.json"
local measured = require "ladies.study.measured"
local protocol = require "experiments.followers.protocol"
local report = require "experiments.followers.methods.report"
local run_folder = require "ladies.training.record.run_folder"
local tables = require "ladies.base.tables"

local WHERE = "experiments.followers.methods"

-- CPU seconds of training on each data set, and on others.
local SECONDS, OTHER = {cora = 1, pubmed = 2, wordnet = 4}, 1

-- ---------------------------------------------------------------- what is run

-- Returns the variant (see ladies.study.repeated) of a form on a data set: with its dataset,
-- method, label and title, without and with samples, and `equal`, "nodes" or "seconds".
local function variant_of(name, equal, form, settings)
  local dataset, config = run_folder.plain(name), experiment.configure(settings)
  local title = forms.title(config, form.words)
  return {dataset = dataset, method = config.method, equal = equal, title = title,
    label = experiment_methods.by_name[config.method].title .. form.words,
    settings = settings, config = config,
    key = ("%s, equal %s, %s"):format(dataset, equal, title)}
end

-- Returns the forms on a data set, {settings =, words =}, without the settings that make them
-- equal. All train gcn, which each of them can.
local function forms_on(name, opts)
  local parsed, words = {}, {}
  for i, text in ipairs(opts.methods) do parsed[i], words[i] = forms.parse(WHERE, text) end
  local plain = tables.map(parsed, function(one) return one.method end)
  local shared = experiment_methods.share(WHERE, plain, opts.settings)
  return tables.map(shared, function(common, i)
    return {words = words[i], settings = tables.merged({model = "gcn"}, protocol.network(), common,
      parsed[i], {dataset = name})}
  end)
end

-- Makes a contestant of settings, as equal_nodes.give takes it.
local function contestant(settings, data)
  local config = experiment.configure(settings)
  experiment.resolve(config, data)
  return {settings = tables.merged(settings), config = config}
end

-- Returns the variants of all forms with batches of as many nodes as those of the first. The
-- numbers of samples that make it so are kept in the study.
local function at_equal_nodes(name, all, study, opts)
  local first, data
  local items = tables.map(all, function(form)
    local own = tables.merged(protocol.length(name), form.settings)
    first = first or own
    return {form = form, settings = own,
      key = "samples at equal nodes: " .. json.encode{first, own}}
  end)
  local records = measured(study, items, "method", opts.quiet, function(item)
    data = data or experiment.load(experiment.configure(first))
    local pair = {contestant(first, data), contestant(item.settings, data)}
    if item.settings ~= first then equal_nodes.give(pair, data) end
    return {samples = pair[2].settings.samples}
  end)
  return tables.map(items, function(item, i)
    return variant_of(name, "nodes", item.form,
      tables.merged(item.settings, {samples = records[i].samples}))
  end)
end

-- Returns the variants of all forms trained for equally many seconds, with their own samples: each
-- for so many batches as fit.
local function at_equal_seconds(name, all, study, opts)
  local seconds = opts.seconds or SECONDS[name] or OTHER
  local costs = batch_cost.of(tables.map(all, function(form) return form.settings end), study,
    opts)
  return tables.map(all, function(form, i)
    local variant = variant_of(name, "seconds", form, tables.merged(form.settings,
      batch_cost.length(name, seconds, costs[i])))
    variant.cost, variant.seconds = costs[i], seconds
    return variant
  end)
end

-- ---------------------------------------------------------------- the whole

local METHODS = {
  where = WHERE, name = "methods", title = "Every method",
  folder = "runs/methods", identity = "every method at equal nodes and seconds",
  options = {
    equal = {"array of nodes|seconds", {"nodes", "seconds"}},
    seconds = {"positive number or nil", quick = 0.2}, laboratory = {"positive number", 3},
    methods = {"array of strings", forms.ALL, quick = {"ladies:64", "full", "fastgcn", "labor"}},
    datasets = {"array of strings", {"cora", "pubmed", "wordnet"}, quick = {"cora"}},
    runs = {"positive integer", 5, quick = 2}, quick = {"boolean", false},
    kept = {"boolean", false},
  },
  show = report.show, notes = report.notes,
}

function METHODS.check(opts)
  local first = forms.parse(WHERE, opts.methods[1] or "full")
  if not experiment_methods.takes(first.method, "samples") then
    errors.fail(("%s: methods must begin with one that draws samples, got %s"):format(WHERE,
      opts.methods[1] or "none"))
  end
end

-- Returns all variants, and an empty table for the laboratory's examinations, which `show` fills.
function METHODS.cases(opts, names, _, opened)
  local list, study = {}, opened()
  for _, name in ipairs(names) do
    local all = forms_on(name, opts)
    for _, equal in ipairs(opts.equal) do
      local make = equal == "nodes" and at_equal_nodes or at_equal_seconds
      tables.append(list, make(name, all, study, opts))
    end
  end
  return list, {}
end

--- experiments.followers.methods{runs = 5} -> table: trains every method `runs` times with the
-- seeds 1, 2, ..., and lets the laboratory examine those that come out more than 3 points below
-- full batch. Returns a report (see ladies.report) with `cases`.
-- equal      "nodes": samples with which batches have as many nodes, over all layers, as those of
--            the first method; "seconds": all train for as long, with their own samples (both)
-- seconds    of one core, for "seconds" (1 on Cora, 2 on PubMed, 4 on WordNet, else 1)
-- laboratory CPU seconds of each examination, more or less (3)
-- methods    names of methods and of forms of them (see methods/forms.lua), each with its own
--            samples behind a colon where they are given (all), the first one that draws samples
-- datasets   names or paths (cora, pubmed and wordnet)
-- runs       5; with quick 2
-- quick      four methods on Cora, a fifth of a second each
-- settings   of ladies.experiment, over those of experiments.followers.protocol, for all methods
--            that take them
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/methods-1), which goes on where it was stopped
-- kept       trains nothing: the tables are of the runs that there are
-- quiet      no progress
local function methods(given) return carry_out(METHODS, given) end

return methods
