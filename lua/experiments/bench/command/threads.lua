-- ladies bench threads: what more threads would buy a training step
--
--   ladies bench threads [--work wordnet,pubmed,full] [--steps 40] [--threads 2]
--
-- Every parallel loop of a step runs in one thread, chunk by chunk; from the seconds of its chunks
-- its time with 2, 8, 16, 32 and 64 threads is computed. Beside it stands what is measured with the
-- processors that there are.

local core = require "ladies_core"
local cli = require "ladies.command.cli"
local collection = require "ladies.data.store.collection"
local tables = require "ladies.base.tables"
local threads = require "experiments.bench.threads"

local LEAST = 0.005 -- share of a step; loops that take less are shown together
local MODELLED = 16 -- threads that loops which go by their number are divided for

local function columns(f)
  return table.concat(tables.map(threads.WIDTHS, function(p) return ("%6.1f"):format(f(p)) end))
end

local function row(title, calls, chunks, share, f)
  return ("%-30s %6s %8s %6.1f %% %s"):format(title, calls, chunks, 100 * share, columns(f))
end

-- Returns the loops of a part that take long, the longest first, and the sum of all others.
local function divided(part, whole)
  local long, rest = {}, {name = "others", calls = 0, chunks = 0, seconds = 0, within = {}}
  for _, name in ipairs(tables.sorted_keys(part.loops)) do
    local loop = part.loops[name]
    if loop.seconds >= LEAST * whole then
      long[#long + 1] = loop
    else
      for _, key in ipairs{"calls", "chunks", "seconds"} do rest[key] = rest[key] + loop[key] end
      for p, seconds in pairs(loop.within) do
        rest.within[p] = (rest.within[p] or 0) + seconds
      end
    end
  end
  table.sort(long, function(a, b) return a.seconds > b.seconds end)
  if rest.calls > 0 then long[#long + 1] = rest end
  return long
end

local function show_part(title, part, whole, steps)
  print(row(title .. ": no loop", "", "", part.serial / whole, function() return 1 end))
  for _, loop in ipairs(divided(part, whole)) do
    print(row("  " .. loop.name, ("%.1f"):format(loop.calls / steps),
      ("%.1f"):format(loop.chunks / loop.calls), loop.seconds / whole,
      function(p) return loop.seconds / loop.within[p] end))
  end
end

local function show(work, opts)
  local step = threads.step(work.settings)
  core.threads(MODELLED)
  local sampling, training = threads.model(step, opts.steps)
  local of_training = threads.seconds(training)
  local whole = threads.seconds(sampling) + of_training
  print(("%s: %.2f ms of a processor, mean of %d steps"):format(work.title,
    1e3 * whole / opts.steps, opts.steps))
  print(("%-30s %6s %8s %8s times as fast with %s threads"):format("", "calls", "chunks", "share",
    table.concat(threads.WIDTHS, ", ")))
  show_part("sampling", sampling, whole, opts.steps)
  show_part("training", training, whole, opts.steps)
  print(row("the step", "", "", 1, function(p)
    return whole / (threads.seconds(sampling, p) + threads.seconds(training, p))
  end))
  print(row("sampled ahead (--workers)", "", "", of_training / whole, function(p)
    return whole / threads.seconds(training, p)
  end))
  for _, n in ipairs(opts.threads) do
    local found = threads.measured(step, n, opts.rounds, math.max(1, opts.steps // 4))
    print(("measured with %d threads: %.2f times as fast as one (quartiles %.2f to %.2f of %d)")
      :format(n, found.median, found.low, found.high, opts.rounds))
  end
  print()
end

cli.main({
  name = "ladies bench threads",
  about = [[Models what more threads would buy a training step, and measures those that there
    are.]],
  {"work", "NAMES", "array of strings", default = {"wordnet", "pubmed", "full"},
    help = "which steps: wordnet, pubmed, full"},
  {"steps", "N", "positive integer", default = 40, help = "that are watched"},
  {"threads", "LIST", "array of positive integers", default = {2}, help = "numbers to measure"},
  {"rounds", "N", "positive integer", default = 11,
    help = "turns of each number and of one thread"},
}, arg, function(opts)
  local machine = core.machine()
  for _, work in ipairs(threads.WORKS) do
    for _, name in ipairs(opts.work) do
      if name == work.name then
        if collection.find(work.settings.dataset) then
          show(work, opts)
        else
          print(("%s: there is no data set %s here"):format(work.title, work.settings.dataset))
        end
      end
    end
  end
  print(("Each loop runs in one thread; its time with more is computed from that of its chunks, "
    .. "without what\nthreads lose by sharing memory and by being woken. %d processors, %s, "
    .. "%s."):format(machine.processors, core.vector_units(), core.blas()))
end)
