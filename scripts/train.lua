-- ladies train: trains a deep GCN with sampled mini-batches
--
--   ladies train [NAME|PATH] [--method ladies] [--samples 512] [--layers 5] ...
--   ladies train [NAME|PATH] --method FILE.lua --model FILE.lua ...
--   ladies train [NAME|PATH] --auto ...
--   ladies train --config FILE.json ...
--   ladies train --resume DIR
--   ladies train [NAME|PATH] ... --out DIR --resume
--
-- `ladies train --help` lists the options; with --method FILE.lua those of the method of one's own
-- in that file too (doc/extending.md). --task says what is learned (doc/tasks.md). --out DIR
-- --resume begins a run, or goes on with it where it has begun: a job that is put into its queue
-- again needs no other command (doc/clusters.md). With --auto network and training are those of a
-- search before (ladies.auto), whose table is shown. The run's folder gets config.json, log.jsonl,
-- checkpoint.npz, model.npz, predictions.npz and summary.json; the last line printed is
-- `test micro-F1 0.xxxx`, or the task's own metric.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local counted = require("ladies.base.units").counted
local comm = require "ladies.ranks.comm"
local declared = require "ladies.training.declared"
local experiment_options = require "ladies.command.experiment_options"
local json = require "ladies.base.json"
local live_plot = require "ladies.training.record.live_plot"
local metric_text = require "ladies.task.metric_text"
local own_code = require "ladies.experiment.own_code"
local Profile = require "ladies.training.cost.profile"
local ranks_cost = require "ladies.training.ranks.cost"
local remarks = require "ladies.experiment.remarks"
local settings = require "ladies.experiment.settings"
local show = require "ladies.show"
local run_folder = require "ladies.training.record.run_folder"
local tables = require "ladies.base.tables"
local unheard = require "ladies.experiment.unheard"
local wrap_paragraphs = require "ladies.base.wrap_paragraphs"

local function spec(args)
  local named = experiment_options.load_own(args)
  return cli.join({
    name = "ladies train",
    usage = "ladies train [NAME|PATH] [options]", words = {"dataset"}, ranks = true,
    about = [[Trains a deep GCN with layer-dependent importance sampling (LADIES, NeurIPS 2019) or
      another method, with exact validation, and tests the best model by exact inference. Options
      that are not given have the values of the method and the preset.]],
  }, experiment_options.list(nil, nil, named), {
    {"threads", "N", "integer in [1, 256]",
      help = "of the parallel loops; results do not depend on it"},
    {"config", "FILE.json", "string", help = "begins with the settings of this file, such as the "
      .. "config.json of a run; options that are given replace them"},
    {"resume", "[DIR]", "string", help = "go on with the run of this folder, as it was configured; "
      .. "without DIR, with that of --out, or begin it where there is none yet"},
    {"auto", help = "first finds a network and its training, as far as they are not set, by "
      .. "validation in short runs, kept in runs/auto-DATASET-N (with --out, in DIR-auto)"},
    {"auto-seconds", "S", "positive number", default = 300,
      help = "of all short runs together, about"},
  }, experiment_options.running())
end

-- Options that --resume DIR cannot have.
local NEW = {out = true, auto = true, auto_seconds = true, config = true}

-- Prints all settings as one paragraph: a line for each would push what comes after them, the
-- result, out of sight.
local function print_configuration(config, folder)
  print(wrap_paragraphs(core.printable("configuration  " .. settings.text(config)), show.width()))
  print("folder         " .. core.printable(folder))
end

-- The configuration of a new run with what --auto finds in place of what the user has left open.
local function searched(opts, own, config, data)
  local report = ladies.auto{settings = tables.merged({dataset = config.dataset}, own),
    data = data, seconds = opts.auto_seconds, threads = opts.threads,
    out = opts.out and opts.out .. "-auto", quiet = opts.quiet}
  print(report)
  for _, note in ipairs(report.notes) do print("\n" .. core.printable(note, true)) end
  print()
  local found = own_code.with_files(ladies.experiment.configure(tables.merged(report.best, {
    dataset = config.dataset, split = config.split, split_seed = config.split_seed})))
  ladies.experiment.resolve(found, data)
  return found
end

-- The path of the folder of a new run, and what run_folder.next gives; rank 0 makes it for all.
local function new_folder(config)
  local path, made
  if comm.rank == 0 then path, made = run_folder.next(config.dataset, config.method) end
  return comm.broadcast(path), made
end

-- The settings that the user gave: those of the file in opts.config, and in place of them those of
-- the command line.
local function settings_of(opts, given)
  local own = experiment_options.settings(opts, given)
  if not opts.config then return own end
  local stored = comm.broadcast(comm.rank == 0 and json.read_object(opts.config))
  own_code.forget(stored, given)
  return tables.merged(stored, own)
end

-- The settings of a new run, its data set, the path of its folder, and what run_folder.next gives.
-- own: the settings that were given.
local function new_run(opts, own)
  if opts.auto and comm.size > 1 then
    error("--auto runs in one process; what it finds can then be trained by several", 0)
  end
  if opts.out and comm.rank == 0 then run_folder.at(opts.out) end   -- sooner than the data set
  local config = own_code.with_files(ladies.experiment.configure(own, opts.config))
  local data = ladies.experiment.load(config)
  if opts.auto then
    local features = config.features
    config = searched(opts, own, config, data)
    if config.features ~= features then data = ladies.experiment.load(config) end
  end
  if opts.out then return config, data, opts.out end
  return config, data, new_folder(config)
end

-- The path of the folder whose run is to go on, nil for a new run. With --resume alone it is that
-- of --out, in which a run may not have begun; rank 0 looks, for all.
local function begun_folder(opts)
  if opts.resume ~= true then return opts.resume end
  if not opts.out then
    error("--resume without a folder needs --out DIR, the folder of the run", 0)
  end
  local has_begun = comm.broadcast(comm.rank == 0 and run_folder.has_begun(opts.out))
  return has_begun and opts.out or nil
end

-- The configuration of the run in a folder.
local function stored_config(path)
  if core.exists(path .. "/config.json") ~= "file" then
    error((core.exists(path .. "/checkpoint.npz")
      and "the run in %s is a script's, which goes on with it (resume = true)"
      or "there is no run in %s"):format(path), 0)
  end
  return run_folder.at(path, true):read_json "config.json"
end

-- Tells whether a setting that is given is that of the configuration; or, where it was left open,
-- the one value that this means.
local function is_as_it_was(key, value, config)
  if config[key] ~= nil then return value == config[key] end
  local one = settings.common[key]
  return one ~= nil and tostring(value) == one.follows
end

-- Fails for an option that has no meaning for a run which has begun. Those that begin it may stand
-- beside --resume alone, which is said before there is a run and afterwards.
local function check_new(opts, given)
  for _, name in ipairs(tables.sorted_keys(given)) do
    if NEW[name] and opts.resume ~= true then
      error(("--%s cannot change when a run is resumed"):format((name:gsub("_", "-"))), 0)
    end
  end
end

-- Takes up the run in a folder, with new bounds where they are given. own: the settings that were
-- given. What is given as it was changes nothing, and code of one's own is to be given.
local function old_run(path, own, opts, given)
  local config, settings_known = comm.broadcast(comm.rank == 0 and stored_config(path)), {}
  check_new(opts, given)
  for _, one in ipairs(experiment_options.list()) do
    settings_known[one[1]:gsub("-", "_")] = true
  end
  local free = declared.free "resumed"
  for _, key in ipairs(tables.sorted_keys(own)) do
    if settings_known[key] and free[key] then
      config[key] = own[key]
    elseif settings_known[key] and not is_as_it_was(key, own[key], config) then
      error(("--%s cannot change when a run is resumed"):format((key:gsub("_", "-"))), 0)
    end
  end
  config = own_code.with_files(ladies.experiment.stored(config, path .. "/config.json"))
  return config, ladies.experiment.load(config), path
end

-- The curve of a run as text, or why there is none.
local function plot_of(result, config, task)
  local text = live_plot.text(result.history, result.monitor)
  if text then return text end
  if not task.units.val then return ("no curve: there are no validation %ss"):format(task.unit) end
  return ("no curve: the run had %s%s"):format(counted(#result.history, "validation"),
    config.eval_every > 1 and "; with a smaller --eval-every it has more" or "")
end

cli.main(spec, arg, function(opts, given)
  local begun = begun_folder(opts)
  if given.auto_seconds and not (opts.auto or begun) then
    error("--auto-seconds goes with --auto", 0)
  end
  local own = settings_of(opts, given)
  local config, data, folder, made
  if begun then
    config, data, folder = old_run(begun, own, opts, given)
  else
    config, data, folder, made = new_run(opts, own)
  end
  if opts.threads then ladies.threads(opts.threads) end
  local _ <close> = made
  local how = {resume = begun ~= nil}
  for _, one in ipairs(declared.groups.running) do how[one[1]] = opts[one[1]] end
  how.out = folder
  local run = ladies.experiment.options(config, data, how)        -- sooner than anything is told
  if not opts.auto then unheard.tell(config, own, run) end
  if not (opts.auto or begun) then remarks.tell(config, run.data, run.task) end
  print(tostring(data))
  if config.task then print("task: " .. core.printable(run.task.name)) end
  print_configuration(config, folder)
  local result = ladies.train(run)
  if result.stopped == "interrupted" then
    local again = ("ladies train --resume %s%s"):format(folder, own_code.arguments(config))
    print(("stopped after batch %d; go on with: %s"):format(result.batches, core.printable(again)))
    comm.finish()
    os.exit(cli.INTERRUPTED, true)
  end
  print()
  print(tostring(result))
  print()
  if opts.plot then print(plot_of(result, config, run.task) .. "\n") end
  if opts.profile then print(Profile.text(result.profile) .. "\n") end
  if opts.profile and result.ranks then print(ranks_cost.text(result.ranks) .. "\n") end
  print(("in %s: model.npz, log.jsonl, %s%ssummary.json"):format(core.printable(folder),
    result.curve and result.curve .. ", " or "",
    core.exists(folder .. "/predictions.npz") and "predictions.npz, " or ""))
  local shown = metric_text.of_record(result).name
  local value = metric_text.tests(result)[shown]
  if value then print(("test %s %.4f"):format(core.printable(shown), value)) end
end)
