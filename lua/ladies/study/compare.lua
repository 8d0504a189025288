--- Methods side by side: the same model, split and seeds, and the same sample numbers, the same
-- number of nodes a batch, or the same time of training. In what else a method is not as the others
-- by itself, its P above all, stands in the table.

local declared = require "ladies.training.declared"
local equal_nodes = require "ladies.study.equal_nodes"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local finished_run = require "ladies.study.finished_run"
local hashes_of = require "ladies.data.hashes"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local provenance = require "ladies.report.provenance"
local repeated = require "ladies.study.repeated"
local settings = require "ladies.experiment.settings"
local statistics = require "ladies.report.statistics"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

local WHERE = "ladies.compare"

-- Whether what is to be compared is the folder of a finished run.
local function is_run(one)
  return type(one) == "string" and own_code.is_file(one) and not one:find "%.lua$"
    and not one:find "%.lua:%w*$"
end

-- What is compared, an array: {run = folder} for a finished run; {settings =, config =} for a
-- method, with those of the common settings that it takes. And the methods alone.
local function contestants(given, common, same_p)
  local list, trained = {}, {}
  for i, one in ipairs(given) do
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

-- ---------------------------------------------------------------- what came out

-- The rows of a run's mini-batches, of the input and of all layers.
local function rows_of(record) return record.input_rows + record.hidden_rows end

-- How the columns come from a record.
local COLUMNS = {
  {name = "test F1 %", csv = "test_f1", of = function(r) return r.test_f1 and 100 * r.test_f1 end},
  {name = "val F1 %", csv = "val_f1", of = function(r) return r.val_f1 and 100 * r.val_f1 end},
  {name = "training s", csv = "seconds", of = function(r) return r.seconds end},
  {name = "batch ms", csv = "batch_ms", of = function(r) return r.batch_ms end},
  {name = "batches", csv = "batches", format = "%.0f", of = function(r) return r.batches end},
  {name = "memory MB", csv = "memory_MB",
    of = function(r) return r.memory_paper and r.memory_paper / units.MIB end},
  {name = "held MB", csv = "held_MB", of = function(r) return r.memory_batch / units.MIB end},
  {name = "rows a batch", csv = "rows", format = "%.0f", of = rows_of},
}

-- Of the records of two contestants, by how much the test F1 of the one is above that of the other,
-- seed by seed, in percent.
local function differences(one, other)
  local by_seed, list = {}, {}
  for _, record in ipairs(other.records) do by_seed[record.seed] = record.test_f1 end
  for _, record in ipairs(one.records) do
    local base = by_seed[record.seed]
    if record.test_f1 and base then list[#list + 1] = 100 * (record.test_f1 - base) end
  end
  return list
end

-- Settings that say which method it is, and which run.
local OF_METHOD = {method = true, seed = true, preset = true}

-- The value that a contestant has of a setting; of one that it leaves open, what that means.
local function value_of(one, name)
  local value = one.said[name]
  if value == nil and one.said.preset then return declared.default(name) end
  return value
end

-- Whether two contestants are the same in a setting, as far as both say: what a script trained says
-- less than an experiment.
local function is_same(one, other, name)
  local function is_silent(said) return said[name] == nil and not said.preset end
  return is_silent(one.said) or is_silent(other.said)
    or settings.show(value_of(one, name)) == settings.show(value_of(other, name))
end

-- The names of the settings, but for those of samplers and the data set, in which the contestants
-- are not the same.
local function unequal(list)
  local found, first = {}, list[1]
  local all = tables.merged(table.unpack(tables.map(list, function(one) return one.said end)))
  for _, name in ipairs(settings.names(all)) do
    local there = settings.common[name]
    for _, one in ipairs(list) do
      if there and there.place ~= "sampler" and there.place ~= "data" and not OF_METHOD[name]
        and not is_same(first, one, name) then
        table.insert(found, name)
        break
      end
    end
  end
  return found
end

-- How a table calls settings that the field has a shorter word for.
local WORDS = {normalize = "P"}

local function table_of(list)
  local differing, first = unequal(list), list[1]
  local heads = tables.map(COLUMNS, function(column)
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
    local cells = tables.map(COLUMNS, function(column)
      local values = {}
      for _, record in ipairs(one.records) do values[#values + 1] = column.of(record) end
      return Table.deviation(values, column.format or "%.2f")
    end)
    if #list > 1 then
      table.insert(cells, Table.interval(one ~= first and differences(one, first) or {}, "%+.2f",
        "%.2f"))
    end
    for _, name in ipairs(differing) do
      local value = value_of(one, name)
      table.insert(cells, value == nil and "-" or settings.show(value))
    end
    results:add(tables.append({one.title, #one.records}, cells))
  end
  return results, differing
end

-- What is behind ±.
local SPREAD = {
  "Behind ± is the standard deviation over the runs of a method, how far one may be from another.",
  "One run of each: nothing tells how far another one may be from it.",
}

-- What the numbers of the table are.
local function notes_of_numbers(list, differing)
  local notes, most, words = {}, 0, {}
  for _, one in ipairs(list) do most = math.max(most, #one.records) end
  notes[1] = SPREAD[most > 1 and 1 or 2]
  if #list > 1 then
    notes[2] = ('"difference" is by how much the test F1 is above that of %s, in points, over '
      .. "runs of the same seed%s."):format(list[1].title, most > 1 and ": the mean ± half of its "
        .. "95 % interval by Student's t; where that has 0 in it, these runs tell no difference"
        or "")
  end
  for i, name in ipairs(differing) do words[i] = WORDS[name] or name:gsub("_", " ") end
  if words[1] then
    notes[#notes + 1] = ("Not the same for all: %s. A method has its own by default, and what is "
      .. "set, as by --normalize sym, holds for all; --same-p gives all the P of the first.")
      :format(table.concat(words, ", "))
  end
  return notes
end

-- The mean validation F1 over the runs of a contestant, against batches (1) or seconds (2), as far
-- as all of its runs went.
local function mean_curve(records, x)
  local shortest = math.huge
  for _, record in ipairs(records) do shortest = math.min(shortest, #record.curve) end
  local points = {}
  for i = 1, shortest do
    local at, f1 = {}, {}
    for j, record in ipairs(records) do at[j], f1[j] = record.curve[i][x], record.curve[i][3] end
    points[i] = {statistics.mean(at), statistics.mean(f1)}
  end
  return points
end

-- Adds curves over batches and over seconds.
local function add_curves(report, list, dataset)
  for x, name in ipairs{"batches", "seconds"} do
    local series = {}
    for _, one in ipairs(list) do
      local points = #one.records > 0 and mean_curve(one.records, x) or {}
      if #points > 1 then series[#series + 1] = {name = one.title, points = points} end
    end
    report:picture(name, {title = dataset, series = series,
      x = x == 1 and "batch" or "seconds of training", y = "validation micro-F1, mean over runs"})
  end
end

-- A share by which rows may differ and are still called equal.
local FAR = 0.1

-- A line for every method whose batches have not as many rows as the first one's, though they were
-- to be equal: nothing is nearer, or it draws no samples.
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

-- What is to be said of the column "memory MB" where records lack it.
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
-- equal      "samples": each method has the samples that it was given; "nodes":
--            those with which its batches have as many rows as the first method's, or as near as
--            can be, which is told (full batches and Cluster-GCN, which draw no samples, stay as
--            they are); "seconds": as for "samples",
--            and all train for `seconds` of their own time, without early stopping
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
  if (opts.equal == "seconds") ~= (opts.seconds ~= nil) then
    errors.fail(WHERE .. ': seconds go with equal = "seconds", and it needs them')
  end
  local common = tables.merged(opts.settings)
  if opts.data then common.dataset = opts.data.name end
  if opts.seconds then common.max_seconds, common.patience = opts.seconds, 0 end
  local list, trained = contestants(opts.methods, common, opts.same_p)
  local config = trained[1] and trained[1].config or experiment.configure(common)
  local data = opts.data or experiment.load(config)
  for _, one in ipairs(list) do
    if one.run then
      one.records = {finished_run(WHERE, one.run, data)}
      one.said = one.records[1].config
      one.title = ("%s (%s)"):format(one.records[1].method, one.run)
    else
      experiment.resolve(one.config, data)
    end
  end
  if opts.equal == "nodes" then equal_nodes(list, data) end
  for _, one in ipairs(trained) do
    experiment.resolve(one.config, data)
    one.title, one.said = methods.title(one.config), one.config
    one.key = one.title
  end

  local study = Study.at(opts.out, "runs/compare-" .. data.name, json.encode{equal = opts.equal,
    same_p = opts.same_p or nil, methods = own_code.names(opts.methods), settings = common,
    data = hashes_of(data)})
  local notes, records = {}, {}
  local own = repeated(study, trained, tables.merged(opts, {first = config.seed,
    data = (opts.data or opts.jobs == 1) and data or nil}), notes)
  local report = study:report("compare", "Methods on " .. data.name)
  local results, differing = table_of(list)
  report:table(results)
  report:csv(results)
  add_curves(report, list, data.name)
  for _, one in ipairs(list) do tables.append(records, one.records) end
  if #own > 0 then report:note(provenance.runs(study, own)) end
  if #own < #records then report:note(provenance.numerics(records)) end
  if opts.equal == "nodes" then tables.append(notes, notes_of_unequal(list)) end
  tables.append(notes, notes_of_memory(records) or {})
  tables.append(notes, notes_of_numbers(list, differing))
  report:note(table.unpack(notes))
  report.rows = report.tables[1]
  return report:write()
end

return compare
