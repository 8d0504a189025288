-- ladies bench step: what a training step costs besides the work that it is for, on the WordNet
-- graph with the main job's settings (5 x 512 samples, batch 512, hidden 256):
--   * the share of Lua: time outside of C primitives
--   * calls of malloc in the steady state (outside of Lua's own allocator), and resident memory
--   * the sampler's time when isolated nodes multiply the nodes of the graph by 100
--   * the time from process start to the first trained batch
-- Each measurement runs in a process of its own.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local main_job = require "experiments.bench.main_job"
local medians = require "ladies.statistics.medians"
local own_process = require "experiments.bench.own_process"
local units = require "ladies.base.units"

local WARM_UP, SHORT = 200, 300

-- ---------------------------------------------------------------- the work that is measured

-- Returns a function that makes one training step.
local function trainer(data)
  local one, adam = main_job.trainer(data)
  local function finish() adam:step() end
  return function() one(finish) end
end

-- MiB of resident memory: the second number of statm counts pages.
local function resident()
  local file = assert(io.open "/proc/self/statm")
  local _, pages = file:read("n", "n")
  file:close()
  return pages * 4096 / units.MIB
end

local function spread(list)
  return ("%.3f ms (%.3f to %.3f)"):format(medians.of(list), math.min(table.unpack(list)),
    math.max(table.unpack(list)))
end

-- ---------------------------------------------------------------- the share of Lua

-- Replaces every function of a table by one that adds up the time spent in it. What the clock costs
-- counts as Lua's, so the share that comes out is an upper bound.
local inside = 0

local function timed(f)
  local clock = core.clock
  local function stop(began, ...)
    inside = inside + (clock() - began)
    return ...
  end
  return function(...) return stop(clock(), f(...)) end
end

local function time_all(t)
  for key, value in pairs(t) do
    if type(value) == "function" and debug.getinfo(value, "S").what == "C" and key ~= "clock" and
       key ~= "__gc" and key ~= "__index" then
      t[key] = timed(value)
    end
  end
end

local function lua_share()
  for _, object in ipairs{core.zeros(1), core.index{1}, core.rng(1), core.sparse(core.ones(1, 1)),
                          core.sgd{core.zeros(1)}, core.step()} do
    local class = getmetatable(object)
    time_all(class)
    time_all(class.__methods)
  end
  collectgarbage()
  time_all(core)
  time_all(core.sampling)
  time_all(ladies.optim)
  time_all(ladies)
  local step = trainer(ladies.data.load "wordnet")
  for _ = 1, WARM_UP do step() end
  local times, outside = {}, {}
  for i = 1, SHORT do
    inside = 0
    local began = core.clock()
    step()
    local all = core.clock() - began
    times[i], outside[i] = 1e3 * all, 1e3 * (all - inside)
  end
  print("step                       " .. spread(times))
  print("outside of C primitives    " .. spread(outside))
  print(("share of Lua               %.2f %% (an upper bound: the clock's own cost is in it)")
    :format(100 * medians.of(outside) / medians.of(times)))
end

-- ---------------------------------------------------------------- malloc and resident memory

local function memory(batches)
  local path = os.getenv "LADIES_MALLOC_COUNT"
  local file = path and assert(io.open(path, "rb"))
  if file then file:setvbuf "no" end
  local function count()
    if not file then return 0 end
    file:seek "set"
    return (string.unpack("<i8", file:read(8)))
  end
  local step = trainer(ladies.data.load "wordnet")
  for _ = 1, WARM_UP do step() end
  local held = resident()
  count()
  local own = count()
  own = count() - own                      -- what reading the counter adds to it
  local calls = count()
  for _ = 1, batches do step() end
  calls = count() - calls - own
  print(("resident memory            %.1f MiB after %d batches, %.1f MiB after %d more")
    :format(held, WARM_UP, resident(), batches))
  print(file and ("malloc                     %d calls in %d batches after %d"):format(calls,
    batches, WARM_UP) or "malloc                     not counted: there is no malloc_count.so")
end

-- ---------------------------------------------------------------- the sampler and the graph's size

local function sampling()
  local data = ladies.data.load "wordnet"
  local A = data.graph.adjacency
  local n, times = A.n_rows, {}
  for i, factor in ipairs{1, 100} do
    local big = core.matrix{n_rows = factor * n, n_cols = factor * n, rows = A:row_of(),
                            cols = A:col_of()}
    local sampler = main_job.sampler(big:normalize "sym")
    local next_batch = ladies.batches(data.train, {batch_size = 512, sampler = sampler,
      epochs = 1000000})
    for _ = 1, WARM_UP do next_batch() end
    times[i] = {}
    for j = 1, SHORT do
      local began = core.clock()
      next_batch()
      times[i][j] = 1e3 * (core.clock() - began)
    end
    print(("sampling, %9d nodes  %s"):format(factor * n, spread(times[i])))
  end
  print(("ratio                      %.2f"):format(medians.of(times[2]) / medians.of(times[1])))
end

-- ---------------------------------------------------------------- start

local function start()
  trainer(ladies.data.load "wordnet")()
  print(core.clock())
end

-- ---------------------------------------------------------------- the whole

local spec = {
  name = "ladies bench step",
  about = "Measures what a training step on the WordNet graph costs besides its work.",
  {"batches", "N", "positive integer", default = 1000, help = "batches of the memory measurement"},
  {"part", "NAME", "lua|memory|sampling|start", help = "this measurement alone, in this process"},
}

-- Returns the output of one part in a process of its own.
local function child(part, batches, environment)
  return own_process({"bench", "step", "--part", part, "--batches", tostring(batches)}, environment)
end

local parts = {lua = lua_share, sampling = sampling, start = start}

cli.main(spec, arg, function(opts)
  if opts.part == "memory" then return memory(opts.batches) end
  if opts.part then return parts[opts.part]() end
  print(("ladies %s, %s"):format(ladies.version, units.counted(ladies.threads(), "thread")))
  local starts = {}
  for i = 1, 5 do
    local began = core.clock()
    starts[i] = 1e3 * (tonumber(child("start", 1)) - began)
  end
  print("start to first batch       " .. spread(starts))
  io.write(child("lua", 1))
  local counter = ladies.home() .. "/../../lib/ladies/malloc_count.so"
  local path = os.tmpname()
  core.file.write(path, ("\0"):rep(8))
  io.write(child("memory", opts.batches, core.exists(counter)
    and {LADIES_MALLOC_COUNT = path, LD_PRELOAD = counter} or nil))
  os.remove(path)
  io.write(child("sampling", 1))
end)
