--- Compares methods with the same model, split and seeds, and with either the same sample numbers,
-- the same number of nodes in a batch, or the same training time. The table also shows every other
-- setting in which the methods differ by default, above all their P.

local core = require "ladies_core"
local by_ranks = require "ladies.study.by_ranks"
local comparison = require "ladies.study.comparison"
local equal_nodes = require "ladies.study.equal_nodes"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local finished_run = require "ladies.study.finished_run"
local hashes = require "ladies.data.hashes"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local metric_text = require "ladies.task.metric_text"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local provenance = require "ladies.report.provenance"
local repeated = require "ladies.study.repeated"
local Study = require "ladies.study"
local tables = require "ladies.base.tables"

local WHERE = "ladies.compare"

-- Tells whether a contestant is given as the folder of a finished run.
local function is_run(one)
  return type(one) == "string" and own_code.is_file(one) and not one:find "%.lua$"
    and not one:find "%.lua:%w*$"
end

-- Returns the method of a contestant that is none in a folder; fails for a name that no method has
-- where there is a run in a folder of that name.
local function method_of(one)
  if type(one) == "string" and not methods.by_name[one:match "^[^:]*"]
    and core.exists(one .. "/summary.json") == "file" then
    errors.fail(('%s: no method is called "%s"; for the run in this folder write ./%s'):format(
      WHERE, one, one))
  end
  return own_code.method(WHERE, one)
end

-- Returns an array of the contestants (what is compared): {run = folder} for a finished run, and
-- {settings =, config =} for a method, with those of the common settings that it takes; and an
-- array of the methods alone.
local function contestants(given, common, same_p)
  local list, trained = {}, {}
  for i, one in ipairs(given) do
    list[i] = is_run(one) and {run = one} or {parsed = method_of(one)}
    if not list[i].run then trained[#trained + 1] = list[i] end
  end
  if #trained == 0 then return list, trained end
  local names = tables.map(trained, function(one) return one.parsed.method end)
  common.model = common.model or experiment.same_model(names, common)
  local first_p
  for i, shared in ipairs(methods.share(WHERE, names, common)) do
    local one = trained[i]
    one.settings = tables.merged(shared, one.parsed)
    if same_p then one.settings.normalize = first_p end
    one.config = experiment.configure(one.settings)
    first_p = first_p or one.config.normalize
    one.settings.samples = one.config.samples
  end
  return list, trained
end

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
      one.records = {finished_run.record(WHERE, one.run, task.data, shown.name, config)}
      one.said = comparison.said(one.records[1].config, task)
      one.title = ("%s (%s)"):format(one.records[1].method, one.run)
    else
      experiment.resolve(one.config, data)
    end
  end
  if opts.equal == "nodes" then equal_nodes.give(list, data) end
  for _, one in ipairs(trained) do
    experiment.resolve(one.config, data)
    one.title, one.said = methods.title(one.config), comparison.said(one.config, task)
    one.key = one.title
  end

  local study = Study.at(opts.out, "runs/compare-" .. data.name, json.encode{equal = opts.equal,
    same_p = opts.same_p or nil, methods = own_code.names(opts.methods), settings = common,
    data = hashes.of(data)})
  local notes, records = {}, {}
  local own = repeated(study, trained, tables.merged(opts, {first = config.seed,
    data = (opts.data or opts.jobs == 1 and not by_ranks.others()) and data or nil}), notes)
  local report = study:report("compare", "Methods on " .. data.name)
  local differing = comparison.add_table(report, list, shown)
  comparison.add_curves(report, list, data.name, shown)
  for _, one in ipairs(list) do tables.append(records, one.records) end
  if #own > 0 then report:note(provenance.runs(study, own)) end
  if #own < #records then report:note(provenance.numerics(records)) end
  report:note(table.unpack(tables.append(notes, comparison.notes(list, differing, shown, opts))))
  report.rows = report.tables[1]
  return report:write()
end

return compare
