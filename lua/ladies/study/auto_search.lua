--- The search of ladies.auto: which choices are trained, and for how many batches. What is compared
-- has been trained for equally many: time (auto_budget.lua) decides how many are tried, and never
-- which of two is better.

local core = require "ladies_core"
local Budget = require "ladies.study.auto_budget"
local choices = require "ladies.study.auto_choices"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local metric_text = require "ladies.task.metric_text"
local progress = require "ladies.base.progress"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

-- The rungs of successive halving: for each, the number of batches and seeds; how many entries go
-- there from the rung before, the best `most` in all or the best `of_each` network, or variants of
-- one would take all places; and which share of the time may have passed at its end.
local RUNGS = {
  {batches = 100, seeds = 1, share = 0.45},
  {batches = 200, seeds = 1, of_each = 4, share = 0.65},
  {batches = 400, seeds = 1, most = 3, share = 0.8},
  {batches = 400, seeds = 3, most = 3, share = 1},
}

-- The share of the time in which the choices to begin with are trained; and, for each round of
-- changes after that, around the best of how many networks, and the share that may have passed at
-- its end.
local BASES = 0.25
local ROUNDS = {{networks = 3, share = 0.35}, {networks = 2, share = RUNGS[1].share}}

local Search = {}
Search.__index = Search
Search.RUNGS = RUNGS

--- Search.new(opts): a search. The settings that the user gave are fixed in it. opts:
-- settings   of ladies.experiment, from the user
-- features   how they are given: the setting of this name
-- data       the data set
-- shown      the metric that choices are compared by (see ladies.task.metric_text)
-- study      where the runs are kept
-- seconds, threads, quiet   those of ladies.auto
-- search.tried, search.records and search.failures are what came of it, search.budget its time;
-- search.waiting holds, as keys, what there was no time to try, and search.ended_early is true
-- where a later rung was ended.
function Search.new(opts)
  local tried = {}
  return setmetatable({
    own = opts.settings, study = opts.study, shown = opts.shown,
    threads = opts.threads, quiet = opts.quiet,
    sign = opts.shown.mode == "min" and -1 or 1,
    ways = choices.ways(opts.data.features),
    data = opts.data, changed = {[opts.features] = opts.data},
    budget = Budget.new(opts.seconds, tried), tried = tried, known = {}, waiting = {},
    failures = {}, records = {},
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

-- Adds an entry for a choice to a list, unless it is known or the settings rule it out. like: the
-- entry that it is a change of.
function Search:add(list, choice, like)
  local best = self:settings_of(choice)
  if not best then return end
  local config = experiment.configure(best)
  local same = json.encode(config)
  if self.known[same] then return end
  self.known[same] = true
  list[#list + 1] = {same = same, key = choices.text(choice), choice = choice, best = best,
    config = config, like = like, rung = 0, values = {}, records = {}}
end

-- Returns the data set with features as a configuration has them.
function Search:data_of(config)
  local how = config.features
  self.changed[how] = self.changed[how] or experiment.with_features(config, self.data)
  return self.changed[how]
end

--- search:batches_of(place): the number of batches of a rung, by its place.
function Search:batches_of(place)
  return math.min(RUNGS[place].batches, self.own.max_batches or math.huge)
end

-- Returns the key of an entry's run with the i-th seed on a rung, and that seed.
function Search:key_of(entry, place, i)
  local seed = (self.own.seed or 1) + i - 1
  return ("%s, %d batches, seed %d"):format(entry.key, self:batches_of(place), seed), seed
end

-- Returns how many batches the runs of an entry have together that a rung lacks.
function Search:lacking(entry, place)
  local batches = 0
  for i = 1, RUNGS[place].seeds do
    if not self.records[self:key_of(entry, place, i)] then
      batches = batches + self:batches_of(place)
    end
  end
  return batches
end

-- Trains an entry with the i-th seed for the batches of a rung, within the time that is left;
-- returns the record, nil where it failed.
function Search:train(entry, place, i)
  local key, seed = self:key_of(entry, place, i)
  if self.records[key] then return self.records[key] end
  local batches = self:batches_of(place)
  -- An epoch of one choice may be many batches of another, so epochs end no run of the search.
  local epochs = self.own.epochs and math.max(self.own.epochs, batches)
  local config = experiment.configure(tables.merged(entry.best, {seed = seed, patience = 0,
    epochs = epochs, max_batches = batches, max_seconds = self.budget:limit(entry, place)}))
  local data, began = self:data_of(config), core.clock()
  self.study:run({{key = key, config = config}}, {threads = self.threads, quiet = true,
    data = data, failed = function(_, message)
      table.insert(self.failures, ("%s failed: %s"):format(key, message))
    end})
  local record = self.study:record(key)
  self.records[key] = record
  if record then self.budget:took(record.wall) else self.budget:lose(core.clock() - began) end
  return record
end

-- Trains an entry with all seeds of a rung. It has completed the rung if no run failed or was cut
-- off by the time limit.
function Search:climb(entry, place)
  local records = {}
  for i = 1, RUNGS[place].seeds do
    local record = self:train(entry, place, i)
    if not record then return end
    if record.stopped == "max_seconds" then
      entry.cut = {batches = record.batches, of = self:batches_of(place)}
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

-- Returns a progress bar for n runs, which shows the time that is left for all rungs, and a <close>
-- variable that removes it and, after an error, says where the runs are kept.
function Search:progress(place, n)
  local bar = progress.new{total = n, unit = ("run of %d batches"):format(
    self:batches_of(place)), quiet = self.quiet}
  bar:expect(core.clock() + self.budget:left())
  return bar, setmetatable({}, {__close = function(_, reason)
    bar:clear()
    if reason and not self.quiet then
      tell(("the runs so far are kept in %s; the same command goes on there"):format(
        self.study.folder))
    end
  end})
end

-- Trains entries on a rung, one after the other, while there is time. On the first one those are
-- left out, and returned, for which there is none. On the others that is the end: time decides how
-- many are compared, so none may climb past a better one that takes longer.
function Search:send(entries, place, share)
  local left = {}
  if #entries == 0 then return left end
  local bar, closing = self:progress(place, #entries)
  local _ <close> = closing
  for i, entry in ipairs(entries) do
    local is_late = self.budget:is_late(entry, place, self:lacking(entry, place), share)
    if not is_late then self:climb(entry, place) end
    if place > 1 and (is_late or entry.cut) then
      self.ended_early = true
      break
    end
    if is_late then left[#left + 1] = entry end
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
  for _, choice in ipairs(choices.bases(self.own, self.ways)) do self:add(entries, choice) end
  return entries
end

-- Returns the entries around the best of each of the n best networks.
function Search:around(n)
  local entries, models = {}, {}
  for _, entry in ipairs(self:ranked()) do
    local model = entry.choice.model
    if n > 0 and entry.rung > 0 and not models[model] then
      models[model], n = true, n - 1
      for _, choice in ipairs(choices.around(entry.choice, entry.config, self.own, self.ways)) do
        self:add(entries, choice, entry)
      end
    end
  end
  return entries
end

-- Returns the entries that go to a rung from the one before, best first.
function Search:climbers(place)
  local rung, list, of_model = RUNGS[place], {}, {}
  for _, entry in ipairs(self:ranked()) do
    local model = entry.choice.model
    local n = of_model[model] or 0
    if entry.rung == place - 1 and #list < (rung.most or math.huge)
      and n < (rung.of_each or math.huge) then
      list[#list + 1], of_model[model] = entry, n + 1
    end
  end
  return list
end

--- search:rungs(): carries out all rungs, and returns the entries that were tried, best first.
function Search:rungs()
  self:begin(self:bases(), BASES)
  for _, round in ipairs(ROUNDS) do self:begin(self:around(round.networks), round.share) end
  for place = 2, #RUNGS do self:send(self:climbers(place), place, RUNGS[place].share) end
  return self:ranked()
end

return Search
