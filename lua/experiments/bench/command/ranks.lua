-- ladies bench ranks: what it costs several processes to train together
--
--   ladies bench ranks [--ranks 2,4] [--step S] [--rounds N]
--
-- For every number of ranks it starts so many processes by mpirun, with a thread each, on the
-- WordNet graph with the main job's settings (5 x 512 samples, batch 512, hidden 256), and
-- measures, in turns:
--   * mini-batches a second, in steps of S: of one rank while the others wait, of all that share
--     the steps, and of as many processes that train on their own and send nothing, which is what
--     the machine can do
--   * an exchange of a step's gradients, and MPI_Allreduce of the same size, which adds in an order
--     of its own
-- and the bytes that were sent, beside those that are computed.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local gradients = require "ladies.ranks.gradients"
local link = require "ladies.ranks.link"
local main_job = require "experiments.bench.main_job"
local medians = require "ladies.statistics.medians"
local quote = require "ladies.base.shell_word"
local units = require "ladies.base.units"

local comm = ladies.comm
local spec = {
  name = "ladies bench ranks", ranks = true,
  about = "Measures what several processes that train together cost, beside the same alone.",
  {"ranks", "LIST", "array of integers", help = "how many processes, one after the other "
    .. "(default 2,4)"},
  {"step", "S", "positive integer", default = 8, help = "mini-batches of a step"},
  {"rounds", "N", "positive integer", default = 5, help = "of each, in turns"},
  {"steps", "N", "positive integer", default = 10, help = "of a round"},
  {"exchanges", "N", "positive integer", default = 101, help = "of either kind"},
}

local function spread(list) return medians.text(medians.spread(list)) end
local function ratios(above, below) return medians.text(medians.ratio(above, below)) end

-- Returns the seconds of f(...), from when all ranks begin to when all have ended.
local function seconds_of(f, ...)
  comm.barrier()
  local began = core.clock()
  f(...)
  comm.barrier()
  return core.clock() - began
end

-- ---------------------------------------------------------------- training

-- Returns a function train(n, finish), which trains a model of its own on the next n mini-batches
-- of this rank and calls finish(batch) after the gradients of each; and the optimizer.
local function trainer(data, step)
  local one, adam = main_job.trainer(data, step)
  return function(n, finish)
    for _ = 1, n do one(finish) end
  end, adam
end

-- Mini-batches a second of one rank, of all together, and of each on its own, in rounds. Training
-- together and training alone have a model each: alone the ranks' models become different, and
-- comm.accumulate, which needs equal models, would refuse to go on with them.
local function rates(opts, data, train, adam)
  local step, own = opts.step, opts.steps * opts.step // comm.size
  local train_alone, adam_alone = trainer(data, step)
  local function together(batch)
    if comm.accumulate(adam, step, batch.place) then adam:step() end
  end
  local function alone()
    if adam_alone:accumulate(step // comm.size) then adam_alone:step() end
  end
  local function first() if comm.rank == 0 then train_alone(own, alone) end end
  train(own, together)                                 -- warms up
  train_alone(own, alone)
  local one, all, each = {}, {}, {}
  for i = 1, opts.rounds do
    one[i] = own / seconds_of(first)
    all[i] = own * comm.size / seconds_of(train, own, together)
    each[i] = own * comm.size / seconds_of(train_alone, own, alone)
  end
  return one, all, each
end

-- ---------------------------------------------------------------- the exchange

-- Measures the milliseconds of exchanges of a step's gradients, of one mini-batch for each rank,
-- and of MPI's own sum.
local function exchanges(adam, count)
  local _, has, slab = adam:sums()
  local own, sum, ours, theirs = ladies.ones(#slab), ladies.zeros(#slab), {}, {}
  for i = 1, count do
    adam:accumulate(comm.size, comm.rank + 1)
    ours[i] = 1e3 * seconds_of(gradients.share, adam, comm.size, has)
    theirs[i] = 1e3 * seconds_of(link.sum, "bench", sum, own)
    adam:clear()
  end
  return ours, theirs
end

-- Returns the megabytes of gradients that all ranks together have sent for one step, as the mean
-- over so many steps.
local function sent(steps)
  local all = 0
  for _, bytes in ipairs(comm.gather(link.traffic.gradients.bytes / steps)) do all = all + bytes end
  return all / units.MIB
end

-- Does the work of one of several processes; rank 0 prints.
local function measure(opts)
  ladies.threads(1)
  if opts.step % comm.size ~= 0 then
    error(("--step must be a multiple of the ranks, %d"):format(comm.size), 0)
  end
  local data = ladies.data.load "wordnet"
  local train, adam = trainer(data, opts.step)
  local one, all, each = rates(opts, data, train, adam)
  local megabytes = sent((1 + opts.rounds) * opts.steps)
  local _, _, slab = adam:sums()
  local _, computed = gradients.cost(#slab, comm.size, opts.step)
  local ours, theirs = exchanges(adam, opts.exchanges)
  local function line(name, text) print(("  %-34s%s"):format(name, text)) end
  print(("%d ranks"):format(comm.size))
  line("mini-batches a second: one rank", spread(one))
  line("  together", spread(all))
  line("  on their own", spread(each))
  line("together / one rank", ratios(all, one))
  line("on their own / one rank", ratios(each, one))
  line("together / on their own", ratios(all, each))
  line("MB of gradients a step: sent", ("%.2f"):format(megabytes))
  line("  computed", ("%.2f"):format(computed / units.MIB))
  line(("ms of an exchange of %.2f MB"):format(4 * #slab / units.MIB), spread(ours))
  line("  MPI_Allreduce", spread(theirs))
  line("exchange / MPI_Allreduce", ratios(ours, theirs))
end

-- ---------------------------------------------------------------- the processes

-- Starts n of this program by mpirun, where there may be more of them than processors.
local function start(n, opts)
  local words = {"OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    "OMPI_MCA_rmaps_base_oversubscribe=1 mpirun -n", n,
    quote(package.loaded.ladies_host.program), "bench ranks"}
  for _, name in ipairs{"step", "rounds", "steps", "exchanges"} do
    words[#words + 1] = ("--%s %d"):format(name, opts[name])
  end
  if not os.execute(table.concat(words, " ")) then error("mpirun has failed", 0) end
end

cli.main(spec, arg, function(opts)
  if comm.size > 1 then return measure(opts) end
  print(("ladies %s, a thread each, steps of %d mini-batches; median (quartiles) of %d rounds of "
    .. "%d steps,\nand of %d exchanges"):format(ladies.version, opts.step, opts.rounds, opts.steps,
      opts.exchanges))
  io.stdout:flush()
  for _, n in ipairs(opts.ranks or {2, 4}) do start(n, opts) end
end)
