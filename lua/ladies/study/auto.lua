--- Chooses a network and its training for data that nobody has tuned anything for, by validation
-- alone: some networks are trained for a few batches, then variants of the best of them that differ
-- in one setting; the best of each network are trained for more batches, and the best of these for
-- still more, with several seeds (successive halving). Choices are compared after equally many
-- batches: time decides how many are tried, and never which of two is better.

-- The search itself is auto_search.lua, and its time auto_budget.lua; this file has its options and
-- its report.

local Budget = require "ladies.study.auto_budget"
local choices = require "ladies.study.auto_choices"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local hashes = require "ladies.data.hashes"
local json = require "ladies.base.json"
local metric_text = require "ladies.task.metric_text"
local options = require "ladies.base.options"
local progress = require "ladies.base.progress"
local provenance = require "ladies.report.provenance"
local run_folder = require "ladies.training.record.run_folder"
local Search = require "ladies.study.auto_search"
local settings = require "ladies.experiment.settings"
local shell_word = require "ladies.base.shell_word"
local statistics = require "ladies.statistics"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

local WHERE = "ladies.auto"
local RUNGS = Search.RUNGS
local settings_text = settings.text

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
    local config, cut = one.config, one.cut
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
  local seconds = search.budget.seconds
  local with_more = "; with more (seconds; --auto-seconds) the choice is better founded."
  local waiting = #tables.sorted_keys(search.waiting)
  if best.rung == 0 then
    return ("No run came to the end of its %d batches in %g s: the choice says little. Give "
      .. "more time (seconds; --auto-seconds)."):format(search:batches_of(1), seconds)
  elseif waiting > 0 then
    return ("Of %g s a run of %d batches may take %g %%, and all of these together %g %%: that "
      .. "left no time for %d more%s"):format(seconds, search:batches_of(1),
      100 * Budget.LONGEST, 100 * RUNGS[1].share, waiting, with_more)
  elseif search.ended_early then
    return ("The %g s left no time for training all of the best further%s"):format(seconds,
      with_more)
  end
end

local function description(search, best, unit)
  local own = settings_text(search.own, "dataset", "epochs", "max_batches", "max_seconds",
    "patience")
  return ([[Chosen: %s. %s on the validation %ss, of the model that is kept. %d choices in %.0f of
%g s: all are trained for %d batches, first networks and then what differs in one setting from the
best, the best four of each network for %d, and the best three of these for %d with %d seeds, in
this order and while there was time; with %s. What was trained further stands before the others; a
run that the clock cut off counts for nothing beside those that came to their end. Where there are
several seeds it is their mean with its 95 %% interval by Student's t; the best of these is
chosen.]]):format(
    choices.text(best.choice), (search.shown.name:gsub("^%l", string.upper)), unit, #search.tried,
    search.budget:passed(), search.budget.seconds, search:batches_of(1), search:batches_of(2),
    search:batches_of(3), RUNGS[#RUNGS].seeds,
    own ~= "" and own or "all other settings as they are by default")
end

--- ladies.auto{settings = {dataset = "cora"}} -> table: finds a network and its training by
-- validation, by successive halving: the networks gcnii, gcn and sage with 2 and 5 layers, and an
-- mlp with 2, which reads no graph, where `settings` name no method, as they are by default, with
-- the settings of published results on small graphs (full batches, width 64, learning rate 0.01,
-- dropout 0.5 of features too, weight decay 5e-4, features row-normalised), and with those of tuned
-- networks on larger ones (full batches, width 64, learning rate 0.01, dropout 0.5, layer
-- normalisation); then whatever differs from the best of these in weight decay, dropout, learning
-- rate, width, depth, the sampler or full batches, features and their dropout, layer normalisation,
-- residual connections or P's normalisation. All are trained for 100 batches each, the best four of
-- each network for 200, and the best three of these for 400 with three seeds, the best first and
-- while there is time: none is trained for more batches than a better one that takes longer.
-- What is compared has been trained for equally many batches. Returns a report (see ladies.report),
-- the table of all that was tried, with `best`: the settings of ladies.experiment to train with,
-- those given among them, and `command`, the command line that does.
-- settings   of ladies.experiment, which are not searched; `epochs` is of the training to come, and
--            ends no run of the search
-- data       a data set of one's own instead of settings.dataset
-- seconds    of all runs together, about (300), with their validations and tests: they decide how
--            many are tried, and which rungs there are, so on another machine what is found may
--            differ. A run of 100 batches is cut off after a tenth of them (but the first), every
--            run when they are gone: it is marked, and never chosen over one that came to its end
-- out        the folder of the study (runs/auto-DATASET-N), which goes on where it was stopped
-- threads    of each run (as many as there are); the runs go one after the other
-- quiet      no progress
local function auto(given)
  local opts = options.check(WHERE, given, {
    settings = {"table", {}}, data = "any or nil", seconds = {"positive number", 300},
    out = "string or nil", threads = "positive integer or nil", quiet = {"boolean", false},
  })
  local config = experiment.configure(opts.settings, WHERE)
  local data = opts.data or experiment.load(config)
  local task = experiment.task(config, data)
  local shown = metric_text.of(task:metric(config.monitor, WHERE))
  if not task.units.val then
    errors.fail(("%s: %s has no validation %ss to choose by"):format(WHERE, data.name, task.unit))
  end
  local identity = json.encode{auto = opts.settings, seconds = opts.seconds,
    data = hashes.of(data)}
  local study = Study.at(opts.out, "runs/auto-" .. run_folder.plain(data.name), identity)
  if not opts.quiet then
    tell("short runs find a network and its training for %s: about %s in all (seconds; "
      .. "--auto-seconds)", data.name, progress.duration(opts.seconds))
  end
  local search = Search.new{settings = opts.settings, features = config.features, data = data,
    shown = shown, study = study, seconds = opts.seconds, threads = opts.threads,
    quiet = opts.quiet}
  local ranked = search:rungs()
  if not ranked[1] then
    errors.fail(("%s: %s"):format(WHERE, table.concat(search.failures, "; ")))
  end
  study.failed = #search.failures
  local report = study:report("auto", "Network and training for " .. data.name)
  report:results(table_of(ranked, shown))
  report.best = ranked[1].best
  report.command = command_line(report.best, opts.data and "DATASET" or config.dataset)
  report:note(description(search, ranked[1], task.unit))
  report:note(late(search, ranked[1]))
  report:note("The same again: " .. report.command)
  report:note(table.unpack(search.failures))
  report:note(provenance.runs(study, tables.map(tables.sorted_keys(search.records),
    function(key) return search.records[key] end)))
  return report:write()
end

return auto
