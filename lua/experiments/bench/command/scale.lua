-- ladies bench scale: measures the time and memory in which a graph of Reddit's size is made,
-- saved, loaded and trained on. Training must not take more and more memory: after 1,000 batches
-- the process may have hardly more for itself than after 100. Each stage is a process of its own.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local notes = require "ladies.data.notes"
local own_process = require "experiments.bench.own_process"
local papers = require "experiments.bench.papers"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

local counted, MIB = units.counted, units.MIB

local THREADS = 2
local BATCHES = 1000        -- over which memory is to be flat
local GROWTH = 16 * MIB     -- bytes that it may grow by after a tenth of them

local spec = {
  name = "ladies bench scale",
  about = "Makes, saves, loads and trains on a random graph of the size of Reddit.",
  {"nodes", "N", "positive integer", default = 232965, help = "of the graph"},
  {"entries", "N", "positive integer", default = 114615892, help = "of the graph"},
  {"features", "N", "positive integer", default = 602, help = "of each node"},
  {"classes", "N", "positive integer", default = 41, help = "of the nodes"},
  {"folder", "PATH", "string", default = "/tmp", help = "where 1.1 GB of files may lie"},
  {"stage", "NAME", "make|load|train|flat", help = "one stage alone; its file is --file"},
  {"file", "PATH", "string", help = "the data set of a stage"},
}

-- ---------------------------------------------------------------- the stages

-- The stages by name; each returns pairs of a name and the seconds that it took.
local stages = {}

local function timed(list, name, f, ...)
  local began = core.clock()
  local result = f(...)
  table.insert(list, {name, core.clock() - began})
  return result
end

function stages.make(opts)
  local times = {}
  local data = timed(times, "make", ladies.generate.power_law, {nodes = opts.nodes,
    entries = opts.entries, classes = opts.classes, features = opts.features, train = 0.66,
    val = 0.1})
  timed(times, "save", ladies.data.save, data, opts.file, {compress = false})
  return times
end

function stages.load(opts)
  local times = {}
  timed(times, "load", ladies.data.load, opts.file)
  return times
end

function stages.train(opts)
  local times = {}
  local data = timed(times, "load", ladies.data.load, opts.file)
  local config = ladies.experiment.configure{model = "gcn", epochs = 1, patience = 0}
  config.eval_every = 1 << 30                      -- one validation, at the end
  local result = timed(times, "train", function()
    return (ladies.experiment.run(config, data, {quiet = true}))
  end)
  times[2] = {("one epoch, %d batches"):format(result.batches), result.seconds}
  times[3] = {"validation, exact", result.validation_seconds}
  return times
end

-- Trains without a validation, of which no note is told, and fails if the process has more memory
-- for itself at the last batch than early on.
function stages.flat(opts)
  local data, own = ladies.data.load(opts.file), {}
  local config = ladies.experiment.configure{model = "gcn", patience = 0, max_batches = BATCHES,
    epochs = BATCHES}
  data.val, data.test = nil, nil
  local result = notes.silently(ladies.experiment.run, config, data, {quiet = true,
    on_batch = function(now) own[now.batch] = papers.anonymous() end})
  local grown = (own[BATCHES] or 0) - (own[BATCHES // 10] or 0)
  if grown > GROWTH then
    error(("memory is not flat: %.0f MiB more after %d batches than after %d"):format(grown / MIB,
      BATCHES, BATCHES // 10), 0)
  end
  return {{("%d batches, %+.0f MiB"):format(BATCHES, grown / MIB), result.seconds}}
end

-- ---------------------------------------------------------------- the table

local function run_stage(opts)
  for _, time in ipairs(stages[opts.stage](opts)) do
    local memory = core.memory()
    print(("%-28s %8.2f s  %9.0f MiB  %9.0f MiB"):format(time[1], time[2], memory.peak / MIB,
      memory.resident_peak / MIB))
  end
end

cli.main(spec, arg, function(opts)
  ladies.threads(THREADS)
  if opts.stage then return run_stage(opts) end
  local path = ("%s/ladies-scale-%d.npz"):format(opts.folder, math.random(1 << 40))
  local _ <close> = setmetatable({}, {__close = function() os.remove(path) end})
  print(("ladies %s, %s; %d nodes, %d entries, %d features"):format(ladies.version,
    counted(THREADS, "thread"), opts.nodes, opts.entries, opts.features))
  print(("%-28s %10s  %13s  %13s"):format("stage", "time", "held at most", "resident"))
  for _, stage in ipairs{"make", "load", "train", "flat"} do
    local words = {"bench", "scale", "--stage", stage, "--file", path}
    for _, name in ipairs{"nodes", "entries", "features", "classes"} do
      tables.append(words, {"--" .. name, tostring(opts[name])})
    end
    io.write(own_process(words))
    io.stdout:flush()
  end
end)
