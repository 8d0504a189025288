--- Compares methods with the same model, split and seeds, and with either the same sample numbers,
-- the same number of nodes in a batch, or the same training time. The table also shows every other
-- setting in which the methods differ by default, above all their P.

local core = require "ladies_core"
local by_ranks = require "ladies.study.by_ranks"
local declared = require "ladies.training.declared"
local curve = require "ladies.training.record.curve"
local own_folder = require "ladies.base.own_folder"
local run_identity = require "ladies.training.checkpoint.identity"
local summary = require "ladies.training.record.summary"
local equal_nodes = require "ladies.study.equal_nodes"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local hashes = require "ladies.data.hashes"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local metric_text = require "ladies.task.metric_text"
local options = require "ladies.base.options"
local optimizers = require "ladies.experiment.optimizers"
local own_code = require "ladies.experiment.own_code"
local provenance = require "ladies.report.provenance"
local repeated = require "ladies.study.repeated"
local settings = require "ladies.experiment.settings"
local statistics = require "ladies.statistics"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local tasks = require "ladies.experiment.tasks"
local units = require "ladies.base.units"

local WHERE = "ladies.compare"

-- Tells whether a contestant is given as the folder of a finished run.
local function is_run(one)
  return type(one) == "string" and own_code.is_file(one) and not one:find "%.lua$"
    and not one:find "%.lua:%w*$"
end

-- Fails for a name that no method has where there is a run in a folder of that name.
local function check_name(one)
  if type(one) == "string" and not methods.by_name[one:match "^[^:]*"]
    and core.exists(one .. "/summary.json") == "file" then
    errors.fail(('%s: no method is called "%s"; for the run in this folder write ./%s'):format(
      WHERE, one, one))
  end
end

-- Returns an array of the contestants (what is compared): {run = folder} for a finished run, and
-- {settings =, config =} for a method, with those of the common settings that it takes; and an
-- array of the methods alone.
local function contestants(given, common, same_p)
  local list, trained = {}, {}
  for i, one in ipairs(given) do
    if not is_run(one) then check_name(one) end
    list[i] = is_run(one) and {run = one} or {parsed = own_code.method(WHERE, one)}
    if not list[i].run then trained[#trained + 1] = list[i] end
  end
  if #trained == 0 then return list, trained end
  local names = tables.map(trained, function(one) return one.parsed.method end)
  common.model = common.model or experiment.same_model(names, common)
  for i, shared in ipairs(methods.share(WHERE, names, common)) do
    local one = trained[i]
    one.settings = tables.merged(shared, one.parsed)
    if same_p then one.settings.normalize = list.p end
    one.config = experiment.configure(one.settings)
    list.p = list.p or one.config.normalize
    one.settings.samples = one.config.samples
  end
  return list, trained
end

-- {batch, seconds of training, value} for every validation that found the metric of this name.
local function curve_of(log, name)
  local points = {}
  for _, row in ipairs(curve.read(log, name)) do
    if row.value then points[#points + 1] = {row.batch, row.seconds, row.value} end
  end
  return points
end

-- Fails if a finished run with the settings `said` was tested otherwise than one of `config` is.
local function check_tested(path, said, config)
  local name, value, here = tasks.tested_otherwise(said, config)
  if name then
    errors.fail(("%s: the run in %s was tested otherwise: its %s is %s, and %s here"):format(WHERE,
      path, name:gsub("_", " "), settings.show(value), settings.show(here)))
  end
end

-- Returns the record of the finished run in the folder `path`, of `ladies train` or of a script;
-- fails unless it is finished, and was trained on `data` and tested as one of `config` is.
local function finished_run(path, data, metric, config)
  local folder = own_folder.at(path)
  for _, name in ipairs{"summary.json", "checkpoint.npz", "log.jsonl"} do
    if not folder:has(name) then
      errors.fail(("%s: there is no finished run in %s: it has no %s"):format(WHERE, path, name))
    end
  end
  local before = run_identity.read(folder:file "checkpoint.npz")
  local content, split = run_identity.changed(before, data)
  if content or split then
    errors.fail(("%s: the run in %s was trained on another data set than %s, or another split of "
      .. "it (%s)"):format(WHERE, path, data.name, content or split))
  end
  check_tested(path, before.settings or {}, config)
  local record = summary.stored(folder)
  if not metric_text.tests(record)[metric] and record.monitor ~= metric then
    errors.fail(("%s: the run in %s has no %s, it went by %s; --monitor names another metric")
      :format(WHERE, path, metric, record.monitor or "nothing"))
  end
  record.key, record.curve = path, curve_of(folder:file "log.jsonl", metric)
  record.config = before.settings
  return record
end

-- ---------------------------------------------------------------- what came out

-- Returns the mean number of rows of a run's mini-batches, of the input and all layers together.
local function rows_of(record) return record.input_rows + record.hidden_rows end

-- How the columns come from a record; before them are those of the metric.
local COLUMNS = {
  {name = "training s", csv = "seconds", of = function(r) return r.seconds end},
  {name = "batch ms", csv = "batch_ms", of = function(r) return r.batch_ms end},
  {name = "batches", csv = "batches", format = "%.0f", of = function(r) return r.batches end},
  {name = "memory MB", csv = "memory_MB",
    of = function(r) return r.memory_paper and r.memory_paper / units.MIB end},
  {name = "held MB", csv = "held_MB", of = function(r) return r.memory_batch / units.MIB end},
  {name = "rows a batch", csv = "rows", format = "%.0f", of = rows_of},
}

-- Returns the columns of a metric, as metric_text.of gives it, and all others.
local function columns_of(shown)
  local format = shown.format
  local function scaled(value) return value and shown.scale * value end
  return tables.append({
    {name = ("test %s%s"):format(shown.short, shown.head), csv = "test_" .. shown.csv,
      format = format,
      of = function(r) return scaled(metric_text.tests(r)[shown.name]) end},
    {name = ("val %s%s"):format(shown.short, shown.head), csv = "val_" .. shown.csv,
      format = format,
      of = function(r) return scaled(metric_text.validation(r, shown.name)) end},
  }, COLUMNS)
end

-- Returns by how much the test metric of the one contestant is above that of the other, as it is
-- shown, for every seed that both have.
local function differences(one, other, shown)
  local by_seed, list = {}, {}
  for _, record in ipairs(other.records) do
    by_seed[record.seed] = metric_text.tests(record)[shown.name]
  end
  for _, record in ipairs(one.records) do
    local value, base = metric_text.tests(record)[shown.name], by_seed[record.seed]
    if value and base then list[#list + 1] = shown.scale * (value - base) end
  end
  return list
end

-- Settings in which contestants always differ, or that only number the runs, so that the table of
-- differences leaves them out.
local OF_METHOD = {method = true, seed = true, preset = true}

-- Returns a contestant's value of a setting; where it leaves the setting open, its default.
local function value_of(one, name)
  local value = one.said[name]
  if value == nil and one.said.preset then return declared.default(name) end
  return value
end

-- Tells whether two contestants agree in a setting. One that has not recorded it agrees with any,
-- since a run that a script trained records fewer settings than an experiment.
local function is_same(one, other, name)
  local function is_silent(said) return said[name] == nil and not said.preset end
  return is_silent(one.said) or is_silent(other.said)
    or settings.show(value_of(one, name)) == settings.show(value_of(other, name))
end

-- Tells whether contestants may differ in a setting without a word: in those of samplers, of models
-- alone and of the data set.
local function goes_unsaid(name)
  local there = settings.common[name]
  if not there then
    return not (settings.owners(tasks.by_name, name)[1]
      or settings.owners(optimizers.by_name, name)[1])
  end
  return there.place == "sampler" or there.place == "data" or OF_METHOD[name]
end

-- Returns the names of the settings in which the contestants differ, without those that go unsaid.
local function unequal(list)
  local found, first = {}, list[1]
  local all = tables.merged(table.unpack(tables.map(list, function(one) return one.said end)))
  for _, name in ipairs(settings.names(all)) do
    for _, one in ipairs(goes_unsaid(name) and {} or list) do
      if not is_same(first, one, name) then
        table.insert(found, name)
        break
      end
    end
  end
  return found
end

-- The heads in the table for settings that have a usual symbol.
local WORDS = {normalize = "P"}

local function table_of(list, shown)
  local differing, first = unequal(list), list[1]
  local columns = columns_of(shown)
  local heads = tables.map(columns, function(column)
    return {column.name, csv = {column.csv, column.csv .. "_sd"}}
  end)
  if #list > 1 then
    table.insert(heads, {"difference", csv = {"difference", "difference_half_width"}})
  end
  for _, name in ipairs(differing) do
    table.insert(heads, {WORDS[name] or name:gsub("_", " "), csv = {name}})
  end
  local results = Table.new(tables.append({"method", {csv = {"runs"}}}, heads))
  for _, one in ipairs(list) do
    local cells = tables.map(columns, function(column)
      local values = {}
      for _, record in ipairs(one.records) do values[#values + 1] = column.of(record) end
      return Table.deviation(values, column.format or "%.2f")
    end)
    if #list > 1 then
      table.insert(cells, Table.interval(one ~= first and differences(one, first, shown) or {},
        "%+" .. shown.format:sub(2), shown.format))
    end
    for _, name in ipairs(differing) do
      local value = value_of(one, name)
      table.insert(cells, value == nil and "-" or settings.show(value))
    end
    results:add(tables.append({one.title, #one.records}, cells))
  end
  return results, differing
end

-- Notes that explain the numbers after ±, for several runs of a method and for one.
local SPREAD = {
  "Behind ± is the standard deviation over the runs of a method, how far one may be from another.",
  "One run of each: nothing tells how far another one may be from it.",
}

-- Returns what can be done about settings that are not the same for all, or "" where all are
-- finished runs, in which nothing is set here.
local function remedy_of(list)
  local trained, same_p = {}, ""
  for _, one in ipairs(list) do trained[#trained + 1] = not one.run and one or nil end
  if #trained == 0 then return "" end
  local all = #trained < #list and "all that are trained here" or "all"
  for _, one in ipairs(trained) do
    if not is_same(trained[1], one, "normalize") then
      same_p = ("; --same-p gives %s the P of the first"):format(all == "all" and all or "these")
    end
  end
  return (" A method has its own by default, and what is set, as by --normalize sym, holds for "
    .. "%s%s."):format(all, same_p)
end

-- Returns the notes below the table that explain its numbers.
local function notes_of_numbers(list, differing, shown)
  local notes, most, words = {}, 0, {}
  for _, one in ipairs(list) do most = math.max(most, #one.records) end
  notes[1] = SPREAD[most > 1 and 1 or 2]
  if #list > 1 then
    notes[2] = ('"difference" is by how much the test %s is above that of %s%s, over '
      .. "runs of the same seed%s."):format(shown.short, list[1].title,
        shown.percent and ", in points" or shown.mode == "min" and " (less is better)" or "",
        most > 1 and ": the mean ± half of its "
        .. "95 % interval by Student's t; where that has 0 in it, these runs tell no difference"
        or "")
  end
  for i, name in ipairs(differing) do words[i] = WORDS[name] or name:gsub("_", " ") end
  if words[1] then
    notes[#notes + 1] = ("Not the same for all: %s.%s"):format(table.concat(words, ", "),
      remedy_of(list))
  end
  return notes
end

-- Returns the mean of what is validated over the runs of a contestant, against batches (1) or
-- seconds (2), as far as all of its runs went.
local function mean_curve(records, x)
  local shortest = math.huge
  for _, record in ipairs(records) do shortest = math.min(shortest, #record.curve) end
  local points = {}
  for i = 1, shortest do
    local at, values = {}, {}
    for j, record in ipairs(records) do
      at[j], values[j] = record.curve[i][x], record.curve[i][3]
    end
    points[i] = {statistics.mean(at), statistics.mean(values)}
  end
  return points
end

-- Adds curves over batches and over seconds.
local function add_curves(report, list, dataset, shown)
  for x, name in ipairs{"batches", "seconds"} do
    local series = {}
    for _, one in ipairs(list) do
      local points = #one.records > 0 and mean_curve(one.records, x) or {}
      if #points > 1 then series[#series + 1] = {name = one.title, points = points} end
    end
    report:picture(name, {title = dataset, series = series,
      x = x == 1 and "batch" or "seconds of training",
      y = ("validation %s, mean over runs"):format(shown.name)})
  end
end

-- The relative difference below which numbers of rows count as equal.
local FAR = 0.1

-- Returns a note for every method whose batches could not be given as many rows as those of the
-- first method, because no number of samples comes nearer or the method draws no samples.
local function notes_of_unequal(list)
  local notes, sizes = {}, tables.map(list, function(one)
    return #one.records > 0 and statistics.mean(tables.map(one.records, rows_of)) or false
  end)
  for i, size in ipairs(sizes) do
    local ratio = size and sizes[1] and size / sizes[1] or 1
    if math.abs(ratio - 1) > FAR then
      notes[#notes + 1] = ("Not equal: %s comes no nearer than %.2f times the rows a batch of %s.")
        :format(list[i].title, ratio, list[1].title)
    end
  end
  return notes
end

-- Returns a note for every method whose runs ended before they had trained for so long.
local function notes_of_seconds(list, seconds)
  local notes = {}
  for _, one in ipairs(list) do
    local trained = #one.records > 0
      and statistics.mean(tables.map(one.records, function(r) return r.seconds end))
    if trained and trained < (1 - FAR) * seconds then
      notes[#notes + 1] = ("Not equal: %s trained for %.2f of %g seconds, as its runs ended by "
        .. "other bounds (--epochs, --patience, --max-batches).")
        :format(one.title, trained, seconds)
    end
  end
  return notes
end

-- Explains the column "memory MB" where some records lack that number.
local function notes_of_memory(records)
  for _, record in ipairs(records) do
    if not record.memory_paper then
      return {'"memory MB" is the paper\'s count, of GCNs alone (--model gcn); "held MB" was '
        .. "measured."}
    end
  end
end

-- ---------------------------------------------------------------- the comparison

--- ladies.compare{methods = {"ladies:64", "graphsage:5", "full"}, runs = 3, equal = "samples",
-- settings = {dataset = "cora"}, out = DIR} -> table: trains every method `runs` times, with the
-- seeds seed, seed + 1, ... Returns a report (see ladies.report): means and standard deviations,
-- the difference of each to the first by seeds with its 95 % interval, and every setting but those
-- of samplers in which the methods are not the same.
-- methods    names of ladies.experiment.methods, each with its own samples behind a colon where
--            they are given; files of methods of one's own, "./mine.lua" or "./mine.lua:64";
--            {name =, sampler = function(P, data, model) -> sampler}; or the folder of a finished
--            run, written with a slash, of `ladies train` or of a script: it is shown as it is, and
--            must have had the same data set
-- equal      "samples": each method has the samples that it was given; "nodes": those with which
--            its batches have as many rows as the first method's, or as near as can be, which a
--            note says (full batches and Cluster-GCN, which draw no samples, stay as they are);
--            "seconds": as for "samples", and all train for `seconds` of their own time, without
--            early stopping
-- settings   of ladies.experiment, the same for all methods that take them
-- same_p     whether all have the P of the first method (false: each has its own by default, as
--            GraphSAGE the mean over neighbours); settings.normalize gives all the one it names
-- jobs       runs side by side (1: their times are compared), each with `threads` threads (as many
--            as there are)
-- out        a folder (runs/compare-DATASET-N): results.jsonl, compare.csv, compare.md, the curves.
--            A comparison that is there goes on where it stopped, run by run. With another content
--            of the data set, or of its split, it is another comparison.
-- data       a data set of one's own instead of settings.dataset; its runs are not side by side
-- quiet      no progress
local function compare(given)
  local opts = options.check(WHERE, given, Study.options{
    methods = "table", runs = {"positive integer", 3},
    equal = {"samples|nodes|seconds", "samples"}, seconds = "positive number or nil",
    same_p = {"boolean", false},
    data = "any or nil", jobs = {"positive integer", 1}, threads = "positive integer or nil",
  })
  if #opts.methods == 0 then errors.fail(WHERE .. ": name at least one method") end
  Study.check_settings(WHERE, opts.settings, {method = "methods", dataset = opts.data and "data",
    max_seconds = opts.seconds and "seconds", patience = opts.seconds and "seconds"})
  if opts.equal == "seconds" and not opts.seconds then
    errors.fail(WHERE .. ': equal = "seconds" needs seconds, for how long each trains')
  elseif opts.seconds and opts.equal ~= "seconds" then
    errors.fail(WHERE .. ': seconds need equal = "seconds"')
  end
  local common = tables.merged(opts.settings)
  if opts.data then common.dataset = opts.data.name end
  if opts.seconds then common.max_seconds, common.patience = opts.seconds, 0 end
  local list, trained = contestants(opts.methods, common, opts.same_p)
  local config = trained[1] and trained[1].config or experiment.configure(common)
  local data = opts.data or experiment.load(config)
  local task = experiment.task(config, data)
  local shown = metric_text.of(task:metric(config.monitor, WHERE))
  for _, one in ipairs(list) do
    if one.run then
      one.records = {finished_run(one.run, task.data, shown.name, config)}
      one.said = one.records[1].config
      one.title = ("%s (%s)"):format(one.records[1].method, one.run)
    else
      experiment.resolve(one.config, data)
    end
  end
  if opts.equal == "nodes" then equal_nodes.give(list, data) end
  for _, one in ipairs(trained) do
    experiment.resolve(one.config, data)
    one.title, one.said = methods.title(one.config), one.config
    one.key = one.title
  end

  local study = Study.at(opts.out, "runs/compare-" .. data.name, json.encode{equal = opts.equal,
    same_p = opts.same_p or nil, methods = own_code.names(opts.methods), settings = common,
    data = hashes.of(data)})
  local notes, records = {}, {}
  local own = repeated(study, trained, tables.merged(opts, {first = config.seed,
    data = (opts.data or opts.jobs == 1 and not by_ranks.others()) and data or nil}), notes)
  local report = study:report("compare", "Methods on " .. data.name)
  local results, differing = table_of(list, shown)
  report:results(results)
  add_curves(report, list, data.name, shown)
  for _, one in ipairs(list) do tables.append(records, one.records) end
  if #own > 0 then report:note(provenance.runs(study, own)) end
  if #own < #records then report:note(provenance.numerics(records)) end
  if opts.equal == "nodes" then tables.append(notes, notes_of_unequal(list)) end
  if opts.equal == "seconds" then tables.append(notes, notes_of_seconds(list, opts.seconds)) end
  tables.append(notes, notes_of_memory(records) or {})
  tables.append(notes, notes_of_numbers(list, differing, shown))
  report:note(table.unpack(notes))
  report.rows = report.tables[1]
  return report:write()
end

return compare
