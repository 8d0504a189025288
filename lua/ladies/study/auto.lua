--- Chooses a network and its training for data that nobody has tuned anything for, by validation
-- alone: some networks are trained for a few batches, then variants of the best of them that differ
-- in one setting; the better part of all is trained for more batches, and the best of these for
-- still more, with several seeds (successive halving). Choices are compared after equally many
-- batches: time decides how many are tried, and never which of two is better.

local core = require "ladies_core"
local choices = require "ladies.study.auto_choices"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local hashes = require "ladies.data.hashes"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local metric_text = require "ladies.task.metric_text"
local options = require "ladies.base.options"
local progress = require "ladies.base.progress"
local provenance = require "ladies.report.provenance"
local run_folder = require "ladies.training.record.run_folder"
local settings = require "ladies.experiment.settings"
local shell_word = require "ladies.base.shell_word"
local statistics = require "ladies.statistics"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

local WHERE = "ladies.auto"
local settings_text = settings.text

-- The rungs of successive halving: for each, the number of batches and seeds, which part of all
-- that was tried goes on to it (at least `least`), and which share of the time may have passed at
-- its end.
local RUNGS = {
  {batches = 100, seeds = 1, part = 1, least = 2, share = 0.45},
  {batches = 200, seeds = 1, part = 1 / 4, least = 3, share = 0.65},
  {batches = 400, seeds = 1, part = 0, least = 3, share = 0.8},
  {batches = 400, seeds = 3, part = 0, least = 3, share = 1},
}

-- The share of the time in which the choices to begin with are trained; and, for each round of
-- changes after that, around the best of how many networks, and the share that may have passed at
-- its end.
local BASES = 0.25
local ROUNDS = {{networks = 3, share = 0.35}, {networks = 2, share = RUNGS[1].share}}

local Search = {}
Search.__index = Search

-- Makes a search; the settings that the user gave are fixed in it.
local function new_search(opts)
  return setmetatable({
    opts = opts, own = opts.settings, tried = {}, known = {}, waiting = {}, failures = {},
    records = {}, spent = 0,
  }, Search)
end

-- Adds a choice to the user's settings and returns these; nil where the network does not take the
-- settings. A network that reads no graph is no choice where the user has set a method.
function Search:settings_of(choice)
  local own = self.own
  if choice.model == "mlp" and not own.model then
    if own.method then return nil end
    own = tables.merged(methods.pick("none", own), {method = "none"})
  end
  local all = tables.merged(own, choice)
  return errors.try(experiment.configure, all) and all or nil
end

-- Adds an entry for a choice to a list, unless the list has it or the settings rule it out; without
-- a way of `features` that the data set does not allow. like:
-- the entry that it is a change of, from which is known how long it may take.
function Search:add(list, choice, like)
  if choice.features and not self.ways[choice.features] then
    choice = tables.merged(choice)
    choice.features = nil
  end
  local best = self:settings_of(choice)
  if not best then return end
  local same = json.encode(experiment.configure(best))
  if self.known[same] then return end
  self.known[same] = true
  list[#list + 1] = {same = same, key = choices.text(choice), choice = choice, best = best,
    like = like, rung = 0, values = {}, records = {}}
end

-- Returns the values of the setting `features` that a data set allows, as keys: rows are divided by
-- their sums where nothing is negative, as words and their counts are; dense columns can be
-- standardized; features that stay in a file are as given.
local function ways_of(features)
  local class, ways = options.class_of(features), {as_given = true}
  if class ~= "Tensor" and class ~= "Matrix" then return ways end
  local values = class == "Matrix" and features:entry_values() or features
  ways.row_normalized, ways.standardized = values:min() >= 0, class == "Tensor"
  return ways
end

-- Sets the data set, and which of the ways of `features` are tried.
function Search:set_data(data, config)
  self.data, self.given = data, config.features
  self.ways = self.own.features and {} or ways_of(data.features)
  self.changed = {[self.given] = data}
end

-- Returns the data set with features as a configuration has them.
function Search:data_of(config)
  local how = config.features
  self.changed[how] = self.changed[how] or experiment.with_features(config, self.data)
  return self.changed[how]
end

-- Returns the number of batches of a rung.
function Search:batches_of(rung)
  return math.min(rung.batches, self.own.max_batches or math.huge)
end

-- Trains an entry with the i-th seed for the batches of a rung, within the time that is left;
-- returns the record, nil where it failed.
function Search:train(entry, rung, i)
  local seed, batches = (self.own.seed or 1) + i - 1, self:batches_of(rung)
  local key = ("%s, %d batches, seed %d"):format(entry.key, batches, seed)
  if self.records[key] then return self.records[key] end
  local config = experiment.configure(tables.merged(entry.best, {seed = seed, patience = 0,
    max_batches = batches, max_seconds = math.max(self.opts.seconds - self.spent, 1e-3)}))
  self.study:run({{key = key, config = config}}, {threads = self.opts.threads, quiet = true,
    data = self:data_of(config), failed = function(_, message)
      table.insert(self.failures, ("%s failed: %s"):format(key, message))
    end})
  local record = self.study:record(key)
  self.records[key] = record
  self.spent = self.spent + (record and record.seconds or 0)
  return record
end

-- Trains an entry with all seeds of a rung. It has completed the rung if no run failed or was cut
-- off by the time limit.
function Search:climb(entry, place)
  local rung, records = RUNGS[place], {}
  for i = 1, rung.seeds do
    local record = self:train(entry, rung, i)
    if not record then return end
    if record.stopped == "max_seconds" then
      entry.cut = {batches = record.batches, of = self:batches_of(rung)}
      if entry.rung > 0 then return end
    end
    records[i] = record
    if entry.cut then break end
  end
  if not entry.cut then entry.rung = place end
  entry.records, entry.batches = records, records[1].batches
  entry.values = statistics.present(metric_text.validations(records, self.shown))
  entry.mean = statistics.mean(entry.values) or -math.huge * self.sign
end

-- Returns how much there is to compute in a choice, beside others that are alike.
local function size_of(entry)
  local config = experiment.configure(entry.best)
  return (config.layers or 1) * (config.hidden or 1)
end

-- Forecasts how many seconds the runs of an entry on a rung may take, from its earlier runs or
-- those of the entry that it is like, else from all; 0 where there are none.
function Search:forecast(entry, rung)
  local seconds, batches, like = 0, 0, entry.like
  local known, factor = self.tried, 1
  if entry.records[1] then
    known = {entry}
  elseif like and like.records[1] then
    known, factor = {like}, size_of(entry) / size_of(like)
  end
  for _, one in ipairs(known) do
    for _, record in ipairs(one.records) do
      seconds, batches = seconds + record.seconds, batches + record.batches
    end
  end
  local seeds = rung.seeds - (entry.batches == self:batches_of(rung) and #entry.records or 0)
  return batches > 0 and seeds * self:batches_of(rung) * factor * seconds / batches or 0
end

-- Returns a progress bar for n runs, which shows the time that is left for all rungs, and a <close>
-- variable that removes it and, after an error, says where the runs are kept.
function Search:progress(place, n)
  local bar = progress.new{total = n, unit = ("run of %d batches"):format(
    self:batches_of(RUNGS[place])), quiet = self.opts.quiet}
  bar:expect(core.clock() + self.opts.seconds - self.spent)
  return bar, setmetatable({}, {__close = function(_, reason)
    bar:clear()
    if reason and not self.opts.quiet then
      tell(("the runs so far are kept in %s; the same command goes on there"):format(
        self.study.folder))
    end
  end})
end

-- Tells whether there is too little time left for the i-th entry on a rung, by whose end a share of
-- the time may have passed. Of all that is tried first some are trained in any case, to find out
-- how long others take.
function Search:is_late(entry, place, share, i)
  local rung, budget = RUNGS[place], self.opts.seconds
  if self.spent >= budget then return true end
  local is_first = place == 1 and #self.tried < rung.least and i <= rung.least
  return self.spent + self:forecast(entry, rung) > share * budget and not is_first
end

-- Trains entries on a rung, one after the other, while there is time. On the first one those are
-- left out, and returned, for which there is none. On the others there is an end: time decides how
-- many are compared, so none may climb past a better one that takes longer.
function Search:send(entries, place, share)
  local left = {}
  if #entries == 0 then return left end
  local bar, closing = self:progress(place, #entries)
  local _ <close> = closing
  for i, entry in ipairs(entries) do
    if not self:is_late(entry, place, share, i) then
      self:climb(entry, place)
    elseif place > 1 then
      break
    else
      left[#left + 1] = entry
    end
    if entry.mean and not entry.is_tried then
      entry.is_tried = true
      table.insert(self.tried, entry)
    end
    bar:update(i, core.clock())
  end
  return left
end

-- Returns the entries that were tried, best first. Entries that completed a higher rung come before
-- the others, since an F1 after fewer batches, or of a run that was cut off, cannot be compared
-- with theirs.
function Search:ranked()
  local list = table.move(self.tried, 1, #self.tried, 1, {})
  table.sort(list, function(a, b)
    if a.rung ~= b.rung then return a.rung > b.rung end
    if a.mean ~= b.mean then return self.sign * a.mean > self.sign * b.mean end
    return a.key < b.key
  end)
  return list
end

-- Trains entries on the first rung. Those for which there is no time now may come again later.
function Search:begin(entries, share)
  for _, entry in ipairs(entries) do self.waiting[entry.same] = nil end
  for _, entry in ipairs(self:send(entries, 1, share)) do
    self.waiting[entry.same], self.known[entry.same] = true, nil
  end
end

-- Returns the entries to begin with.
function Search:bases()
  local entries = {}
  for _, choice in ipairs(choices.bases(self.own)) do self:add(entries, choice) end
  return entries
end

-- Returns the entries around the best of each of the n best networks.
function Search:around(n)
  local entries, models = {}, {}
  for _, entry in ipairs(self:ranked()) do
    local model = entry.choice.model
    if n > 0 and entry.rung > 0 and not models[model] then
      models[model], n = true, n - 1
      local config = experiment.configure(entry.best)
      for _, choice in ipairs(choices.around(entry.choice, config, self.own)) do
        self:add(entries, choice, entry)
      end
    end
  end
  return entries
end

-- Carries out all rungs, and returns the entries that were tried, best first.
function Search:rungs()
  self:begin(self:bases(), BASES)
  for _, round in ipairs(ROUNDS) do self:begin(self:around(round.networks), round.share) end
  for place = 2, #RUNGS do
    local rung, climbers = RUNGS[place], {}
    for _, entry in ipairs(self:ranked()) do
      if entry.rung == place - 1 then climbers[#climbers + 1] = entry end
    end
    local n = math.max(rung.least, math.ceil(rung.part * #self.tried))
    self:send(table.move(climbers, 1, math.min(n, #climbers), 1, {}), place, rung.share)
  end
  return self:ranked()
end

-- ---------------------------------------------------------------- what came out

-- The columns of the table between the network and its result: what is varied.
local VARIED = {"layers", "hidden", "dropout", "lr", "weight_decay", "method"}
local OTHERS = {"features", "input_dropout", "norm", "residual", "normalize"}

-- Returns what else is changed in a choice, as text.
local function others_of(choice)
  local found = {}
  for _, name in ipairs(OTHERS) do found[name] = choice[name] end
  return settings_text(found)
end

local function shown_value(x) return type(x) == "number" and ("%g"):format(x) or x or "-" end

local function table_of(ranked, shown)
  local csv = "val_" .. shown.csv
  local heads = tables.map(VARIED, function(name) return (name:gsub("_", " ")) end)
  local results = Table.new(tables.append(tables.append({"network"}, heads), {"other changes",
    {("validation %s%s"):format(shown.short, shown.head), csv = {csv, csv .. "_half_width"}},
    "batches", "runs", {"training s", csv = {"seconds"}},
    {"cut off", csv = {"cut_after", "cut_of"}}}))
  for _, one in ipairs(ranked) do
    local config, cut = experiment.configure(one.best), one.cut
    local row = {config.model or "gcn"}
    for _, name in ipairs(VARIED) do row[#row + 1] = shown_value(config[name]) end
    results:add(tables.append(row, {others_of(one.choice),
      Table.interval(one.values, shown.format, shown.format), one.batches, #one.values,
      Table.number(statistics.mean(statistics.column(one.records, "seconds")), "%.1f"),
      {text = cut and ("after %d of %d batches"):format(cut.batches, cut.of) or "",
        cut and cut.batches or "", cut and cut.of or ""}}))
  end
  return results
end

-- Returns the command that trains with some settings; dataset: what stands for the data set where
-- they do not name it.
local function command_line(found, dataset)
  local function word(text) return text:find "[^%w_.,:/+-]" and shell_word(text) or text end
  local words = {"ladies train", word(found.dataset or dataset)}
  for _, name in ipairs(tables.sorted_keys(found)) do
    if name ~= "dataset" then
      words[#words + 1] = ("--%s %s"):format((name:gsub("_", "-")),
        word(settings.show(found[name])))
    end
  end
  return table.concat(words, " ")
end

-- Returns a line that says for what the given time was too short; nil where it sufficed.
local function late(search, best)
  local left_no_time = "The %s left no time for %s; with more (seconds; --auto-seconds) the choice "
    .. "is better founded."
  if best.rung == 0 then
    return ("No run came to the end of its %d batches in %g s: the choice says little. Give "
      .. "more time (seconds; --auto-seconds)."):format(search:batches_of(RUNGS[1]),
      search.opts.seconds)
  elseif next(search.waiting) then
    return left_no_time:format(("%.0f %% of the %g s in which choices are tried first"):format(
      100 * RUNGS[1].share, search.opts.seconds), #tables.sorted_keys(search.waiting) .. " more")
  elseif best.rung < #RUNGS then
    return left_no_time:format(("%g s"):format(search.opts.seconds), "the last rung")
  end
end

local function description(search, best)
  local batches = tables.map(RUNGS, function(rung) return search:batches_of(rung) end)
  local own = settings_text(search.own, "dataset", "max_batches", "max_seconds", "patience")
  return ([[Chosen: %s. %s on the validation %ss, of the model that is kept. %d choices in %.3g of
%g s of training: all are trained for %d batches, first networks and then what differs in one
setting from the best, the best quarter of them, at least three, for %d, and the best three for %d
with %d seeds, in this order and while there was time; with %s. What was trained further stands
before the others; a run that the clock cut off counts for nothing beside those that came to their
end. Where there are several seeds it is their mean with its 95 %% interval by Student's t; the best
of these is chosen.]]):format(
    choices.text(best.choice), (search.shown.name:gsub("^%l", string.upper)), search.unit,
    #search.tried, search.spent, search.opts.seconds, batches[1], batches[2], batches[3],
    RUNGS[#RUNGS].seeds, own ~= "" and own or "all other settings as they are by default")
end

--- ladies.auto{settings = {dataset = "cora"}} -> table: finds a network and its training by
-- validation, by successive halving: the networks gcnii, gcn and sage, and an mlp, which reads no
-- graph, where `settings` name no method, with 2 and 5 layers, as they are by default, with the
-- settings of published results on small graphs (full batches, width 64, learning rate 0.01,
-- dropout 0.5 of features too, weight decay 5e-4, features row-normalised), and with those of tuned
-- networks on larger ones (full batches, width 64, learning rate 0.01, dropout 0.5, layer
-- normalisation); then whatever differs from the best of these in weight decay, dropout, learning
-- rate, width, depth, the sampler or full batches, features and their dropout, layer normalisation,
-- residual connections or P's normalisation. All are trained for 100 batches each, the best quarter
-- of them, at least three, for 200, and the best three for 400 with three seeds, the best first and
-- while there is time: none is trained for more batches than a better one that takes longer.
-- What is compared has been trained for equally many batches. Returns a report (see ladies.report),
-- the table of all that was tried, with `best`: the settings of ladies.experiment to train with,
-- those given among them, and `command`, the command line that does.
-- settings   of ladies.experiment, which are not searched
-- data       a data set of one's own instead of settings.dataset
-- seconds    of training for all runs together, about (300): they decide how many are tried, and
--            which rungs there are, so on another machine what is found may differ. A run is cut
--            off when they are gone: it is marked, and never chosen over one that came to its end
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
  search:set_data(opts.data or experiment.load(config), config)
  local task = experiment.task(config, search.data)
  search.shown = metric_text.of(task:metric(config.monitor, WHERE))
  search.sign, search.unit = search.shown.mode == "min" and -1 or 1, task.unit
  if not task.units.val then
    errors.fail(("%s: %s has no validation %ss to choose by"):format(WHERE, search.data.name,
      task.unit))
  end
  local identity = json.encode{auto = opts.settings, seconds = opts.seconds,
    data = hashes.of(search.data)}
  search.study = Study.at(opts.out, "runs/auto-" .. run_folder.plain(search.data.name), identity)
  if not opts.quiet then
    tell("short runs find a network and its training for %s: about %s of training in all "
      .. "(seconds; --auto-seconds)", search.data.name, progress.duration(opts.seconds))
  end
  local ranked = search:rungs()
  if not ranked[1] then
    errors.fail(("%s: %s"):format(WHERE, table.concat(search.failures, "; ")))
  end
  search.study.failed = #search.failures
  local report = search.study:report("auto", "Network and training for " .. search.data.name)
  report:results(table_of(ranked, search.shown))
  report.best = ranked[1].best
  report.command = command_line(report.best, opts.data and "DATASET" or config.dataset)
  report:note(description(search, ranked[1]))
  report:note(late(search, ranked[1]))
  report:note("The same again: " .. report.command)
  report:note(table.unpack(search.failures))
  report:note(provenance.runs(search.study, tables.map(tables.sorted_keys(search.records),
    function(key) return search.records[key] end)))
  return report:write()
end

return auto
