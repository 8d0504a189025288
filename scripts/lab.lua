-- ladies lab: examines samplers: bias, variance, gradient, connection, cost, and a verdict
--
--   ladies lab FILE.lua|NAME ... [--dataset cora] [--samples 64] [--layers 2]
--   ladies lab FILE.lua --against ladies,fastgcn:512 --out runs/lab
--   ladies lab FILE.lua --same-as ladies
--   ladies lab FILE.lua --task link_prediction
--   ladies lab search [--quick]            looks for a better layer-wise sampler
--
-- A number behind a method is its number of samples, as in ladies:64 or ./mine.lua:64. One sampler
-- alone is set beside LADIES and FastGCN, unless --against names others, or none. All numbers of
-- the first sampler, the comparison and, last, the verdicts are printed; the folder --out gets a
-- page of HTML with everything (lab.html), lab.json, lab.md, lab.csv and pictures. Every number has
-- its 95 % interval. doc/laboratory.md says what each of them means. The status is 1 where a
-- sampler that was named, but for those of --against, has a fault, and 0 otherwise. Several ranks,
-- which mpirun starts, divide the sets of seeds, so that there are more of them in the same
-- seconds.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"
local declared = require "ladies.lab.declared"
local experiment_options = require "ladies.command.experiment_options"
local experiments = require "ladies.command.experiments"
local kinds = require "ladies.experiment.kinds"
local methods = require "ladies.experiment.methods"
local own_folder = require "ladies.base.own_folder"
local splits = require "ladies.data.splits"
local study_options = require "ladies.command.study_options"
local tables = require "ladies.base.tables"

-- The settings of samplers, of their P, and of tasks, as a set of names, but for those whose names
-- are of options of the laboratory itself, such as `samples` and `steps`.
local function own_settings()
  local names = {normalize = true}
  for _, one in ipairs(kinds.settings()) do
    if one.place == "sampler" or one.place == "task" then names[one.name] = true end
  end
  for _, one in ipairs(declared.options) do names[one[1]:gsub("%-", "_")] = nil end
  return names
end

-- The options of the settings in the set `names`, with the task and the model. named: the methods
-- that the arguments name.
local function setting_options(args, named_methods)
  local named = experiment_options.load_own(args)
  named.method = named_methods
  return experiment_options.list(nil,
    tables.merged(own_settings(), {task = true, model = true}), named)
end

-- The words that may be files with samplers: those that are no options and no model or task, and
-- those behind --against, --same-as.
local function named(args)
  local words = {}
  for i, text in ipairs(args) do
    local option = (args[i - 1] or ""):match "^%-%-(%a+)$"
    text = text:gsub("^%-%-against=", ""):gsub("^%-%-same%-as=", "")
    if not text:find "^%-" and not kinds.by_name[option or ""] then
      tables.append(words, cli.words(text))
    end
  end
  return words
end

local function spec(args)
  local names = experiment_options.load_methods(named(args))
  return cli.join({
    name = "ladies lab",
    usage = "ladies lab FILE.lua|NAME ... [options]", rest = "samplers", ranks = true,
    about = [[Examines samplers, ours or those of a file: bias and variance of each layer, the
      embedding and the gradient of the loss, how mini-batches hang together, what they cost, how
      the error grows; and sets them beside each other. It ends with status 1 where it finds a
      fault in one that is not only among --against, and with 0 otherwise.]],
  }, declared.options, data_options.list(), setting_options(args, names))
end

-- The settings of samplers and tasks that were given.
local function given_settings(opts, given)
  local found = {}
  for name in pairs(own_settings()) do
    if given[name] then found[name] = opts[name] end
  end
  return found
end

-- The budget of training for ladies.lab, nil where none is given.
local function budget_of(opts)
  if not (opts.train_batches or opts.train_seconds) then return nil end
  return {batches = opts.train_batches, seconds = opts.train_seconds, seeds = opts.seeds}
end

-- The names of files, and how many pictures there are beside them.
local function files_text(files)
  local words, n = {}, 0
  for _, file in ipairs(files) do
    if file:find "%.svg$" or file:find "%.png$" then n = n + 1 else words[#words + 1] = file end
  end
  return table.concat(words, ", ") .. (n > 0 and (" and %d pictures"):format(n) or "")
end

-- Tells whether one of the first samplers has a fault, which is more than a warning.
local function has_fault(lab, first)
  for i = 1, first do
    for _, one in ipairs(lab.examinations[i].faults) do
      if one.kind == "fault" then return true end
    end
  end
  return false
end

if arg[1] == "search" then
  cli.main(experiments.spec "lab search", table.move(arg, 2, #arg + 1, 1), function(opts)
    study_options.show(experiments.load "search"(opts))
  end)
  return
end

cli.main(spec, arg, function(opts, given)
  if not opts.samplers[1] then
    error(("which sampler? ladies lab FILE.lua, or one of %s"):format(
      table.concat(tables.sorted_keys(methods.by_name), ", ")), 0)
  end
  if given.seeds and not (opts.train_batches or opts.train_seconds) then
    error("--seeds goes with --train-batches or --train-seconds", 0)
  end
  if opts.out and ladies.comm.rank == 0 then
    own_folder.at(opts.out):make "laboratory"                        -- sooner than all else
  end
  if opts.threads then ladies.threads(opts.threads) end
  local data = ladies.data.load(opts.dataset, data_options.take(opts))
  splits.complete("ladies lab", data)
  local own = {task = opts.task, model = opts.model, settings = given_settings(opts, given),
    train = budget_of(opts)}
  for name in pairs(declared.types) do own[name] = opts[name] end
  own.dataset, own.against = data, opts.against == "none" and {} or cli.words(opts.against)
  local lab = ladies.lab(opts.samplers, own)
  ladies.comm.finish()
  if ladies.comm.rank > 0 then return end
  print(lab)
  if opts.out then
    local report = lab:write(opts.out)
    print(("\nin %s: %s"):format(core.printable(report.folder), files_text(report.files)))
  end
  if has_fault(lab, #opts.samplers) then os.exit(1, true) end
end)
