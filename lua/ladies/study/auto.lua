--- Network, depth and dropout for data that nobody has tuned anything for, by validation F1 alone:
-- a search in four small rounds, of which each goes on from the best of those before.

local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local hashes_of = require "ladies.data.hashes"
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

local WHERE = "ladies.auto"

-- What is tried: networks, with some depths each; then what lies beside the best of them.
local NETWORKS = {"gcnii", "gcn", "sage", "mlp"}
local DEPTHS = {gcnii = {2, 5}, gcn = {2, 5}, sage = {2, 5}, mlp = {2}}
local NEXT_DEPTHS = {[2] = {1, 3}, [5] = {3, 8}}
local DROPOUTS = {0, 0.5}

-- The best are tried with further seeds.
local FINALISTS, SEEDS = 3, 3

-- How long one is trained: so many batches at most, with less patience than a run that is meant.
local SHORT = {max_batches = 400, patience = 200}

-- About how many runs there are, which share the time that the user gives.
local RUNS = 17

local Search = {}
Search.__index = Search

-- A search with the settings of the user, which are not searched, each run within `seconds`.
local function new_search(opts)
  local own = opts.settings
  local short = {
    max_batches = math.min(SHORT.max_batches, own.max_batches or math.huge),
    patience = SHORT.patience, max_seconds = opts.seconds / RUNS,
  }
  local layers = own.layers or type(own.samples) == "table" and #own.samples or nil
  return setmetatable({
    opts = opts, own = own, short = short, tried = {}, by_key = {}, failures = {},
    fixed = {model = own.model, layers = layers, dropout = own.dropout},
  }, Search)
end

-- The user's settings with a choice, {model =, layers =, dropout =}; nil where the network does not
-- take them. One without a graph has no method, and is none of the choices where there is one.
function Search:settings_of(choice)
  local own = self.own
  if choice.model == "mlp" and not self.fixed.model then
    if own.method then return nil end
    own = tables.merged(methods.pick("none", own), {method = "none"})
  end
  local all = tables.merged(own, choice)
  return errors.try(experiment.configure, all) and all or nil
end

-- The choice as one of those that are tried, or nil.
function Search:entry(choice)
  local key, settings = settings_text(choice), self:settings_of(choice)
  if settings and not self.by_key[key] then
    self.by_key[key] = {key = key, choice = choice, best = settings,
      settings = tables.merged(settings, self.short)}
    table.insert(self.tried, self.by_key[key])
  end
  return settings and self.by_key[key]
end

-- Trains the choices with `runs` seeds, as far as they are not trained yet.
function Search:try(choices, runs)
  local list = statistics.present(tables.map(choices, function(choice)
    return self:entry(choice) or false
  end))
  if #list == 0 then return end
  repeated(self.study, list, tables.merged(self.opts, {runs = runs, first = self.own.seed,
    data = self.data}), self.failures)
  for _, one in ipairs(list) do
    one.f1 = statistics.present(statistics.column(one.records, "val_f1", 100))
    one.mean = statistics.mean(one.f1) or -1
  end
end

-- What was tried, best first: those with more seeds before the others.
function Search:ranked()
  local list = table.move(self.tried, 1, #self.tried, 1, {})
  table.sort(list, function(a, b)
    if #a.f1 ~= #b.f1 then return #a.f1 > #b.f1 end
    if a.mean ~= b.mean then return a.mean > b.mean end
    return a.key < b.key
  end)
  return list
end

-- Every network with the depths to begin with.
function Search:networks()
  local list, fixed = {}, self.fixed
  for _, model in ipairs(fixed.model and {fixed.model} or NETWORKS) do
    for _, layers in ipairs(fixed.layers and {fixed.layers} or DEPTHS[model] or DEPTHS.gcn) do
      list[#list + 1] = {model = model, layers = layers}
    end
  end
  return list
end

-- Tries the best choice so far with other values of a setting, unless the user has set that.
function Search:vary(name, values)
  if self.fixed[name] then return end
  local best = self:ranked()[1].choice
  self:try(tables.map(values, function(value) return tables.merged(best, {[name] = value}) end), 1)
end

-- All rounds; returns what was tried, best first.
function Search:rounds()
  self:try(self:networks(), 1)
  self:vary("layers", NEXT_DEPTHS[self:ranked()[1].choice.layers] or {})
  self:vary("dropout", DROPOUTS)
  local best = self:ranked()
  self:try(tables.map(table.move(best, 1, math.min(FINALISTS, #best), 1, {}), function(one)
    return one.choice
  end), SEEDS)
  return self:ranked()
end

-- ---------------------------------------------------------------- what came out

local function table_of(ranked)
  local results = Table.new{"network", "layers", "dropout",
    {"validation F1 %", csv = {"val_f1", "val_f1_half_width"}}, "runs",
    {"training s", csv = {"seconds"}}}
  for _, one in ipairs(ranked) do
    local config = experiment.configure(one.settings)
    results:add{config.model or "gcn", config.layers,
      config.dropout and ("%g"):format(config.dropout) or "-", Table.interval(one.f1, "%.2f"),
      #one.f1, Table.number(statistics.mean(statistics.column(one.records, "seconds")), "%.1f")}
  end
  return results
end

local function description(search, best)
  local short = search.short
  local own = settings_text(search.own, "dataset", "max_batches", "max_seconds", "patience")
  return ([[Chosen: %s. Micro-F1 on the validation nodes, of the model that is kept; runs of at
most %d batches and %.0f s, with %s.
Where there are several seeds an F1 is their mean with its 95 %% interval by Student's t; the best
of these is chosen.]]):format(settings_text(best.choice),
    short.max_batches, short.max_seconds,
    own ~= "" and own or "all other settings as they are by default")
end

--- ladies.auto{settings = {dataset = "cora"}} -> table: finds network, depth and dropout by
-- validation F1 in some 17 short runs. First each of the networks gcnii, gcn and sage is trained
-- with 2 and with 5 layers, and an mlp, which reads no graph, where `settings` name no method; then
-- the best with the depths beside its own, and then with other dropout; at last the three best with
-- two further seeds. Returns a report (see ladies.report), the table of all that was tried, with
-- `best`: the settings of ladies.experiment to train with, those given among them.
-- settings   of ladies.experiment; a model, layers or dropout among them are not searched
-- data       a data set of one's own instead of settings.dataset
-- seconds    of training for all runs together, about (300): on large graphs they end by it, and
--            with another machine's speed what is found may differ
-- out        the folder of the study (runs/auto-DATASET-N), which goes on where it was stopped
-- threads    of each run (as many as there are); the runs go one after the other
-- quiet      no progress
local function auto(given)
  local opts = options.check(WHERE, given, {
    settings = {"table", {}}, data = "any or nil", seconds = {"positive number", 300},
    out = "string or nil", threads = "positive integer or nil", quiet = {"boolean", false},
  })
  local search = new_search(opts)
  local config = experiment.configure(opts.settings, WHERE)
  search.data = opts.data or experiment.load(config)
  if not search.data.val then
    errors.fail(("%s: %s has no validation nodes to choose by"):format(WHERE, search.data.name))
  end
  local identity = json.encode{auto = opts.settings, seconds = opts.seconds,
    data = hashes_of(search.data)}
  search.study = Study.at(opts.out, "runs/auto-" .. run_folder.plain(search.data.name), identity)
  local ranked = search:rounds()
  local report, results = search.study:report("auto", "Network and depth for " .. search.data.name),
    table_of(ranked)
  report:table(results)
  report:csv(results)
  report.best = ranked[1].best
  report:note(description(search, ranked[1]), table.unpack(search.failures))
  local records = {}
  for _, one in ipairs(ranked) do tables.append(records, one.records) end
  report:note(provenance.runs(search.study, records))
  return report:write()
end

return auto
