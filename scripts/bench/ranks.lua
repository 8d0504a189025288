-- ladies bench ranks: what it costs several processes to train together
--
--   ladies bench ranks [--ranks 1,2,4] [--step S] [--rounds N]
--
-- For every number of ranks it starts so many processes by mpirun, with a thread each, on the
-- WordNet graph with the main job's settings (5 x 512 samples, batch 512, hidden 256):
--   * mini-batches a second, in steps of S that all share, and of as many processes that train on
--     their own and send nothing, which is what the machine can do; in turns
--   * an exchange of a step's gradients, and MPI_Allreduce of the same size, which adds in an order
--     of its own; in turns
--   * the bytes that were sent, and those that are computed

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local gradients = require "ladies.ranks.gradients"
local link = require "ladies.ranks.link"
local units = require "ladies.base.units"

local comm = ladies.comm
local spec = {
  name = "ladies bench ranks", ranks = true,
  about = "Measures what several processes that train together cost, beside the same alone.",
  {"ranks", "LIST", "array of integers", help = "how many processes, one after the other "
    .. "(default 1,2,4)"},
  {"step", "S", "positive integer", default = 8, help = "mini-batches of a step"},
  {"rounds", "N", "positive integer", default = 5, help = "of each, in turns"},
  {"steps", "N", "positive integer", default = 10, help = "of a round"},
  {"exchanges", "N", "positive integer", default = 101, help = "of either kind"},
}

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- Seconds of f(...), from when all ranks begin to when all have ended.
local function seconds_of(f, ...)
  comm.barrier()
  local began = core.clock()
  f(...)
  comm.barrier()
  return core.clock() - began
end

-- ---------------------------------------------------------------- training

-- A function train(n, finish), which trains on the next n mini-batches of this rank and calls
-- finish(batch) after the gradients of each; and the optimizer.
local function trainer(step)
  local data = ladies.data.load "wordnet"
  local sampler = ladies.samplers.ladies(data.graph:normalize "sym",
    {samples = {512, 512, 512, 512, 512}, self_nodes = "previous"})
  local model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, dropout = 0.3}
  local adam = ladies.optim.adam(model:parameters())
  local next_batch = ladies.batches(data.train, {size = 512, sampler = sampler, epochs = 1000000,
    step = step})
  return function(n, finish)
    for _ = 1, n do
      local batch = next_batch()
      local _ <close> = ladies.step()
      local logits = model:forward(data.features, batch)
      ladies.loss.cross_entropy(logits, data.labels[batch.output]):backward()
      finish(batch)
    end
  end, adam
end

-- Mini-batches a second, of all ranks: together, and each on its own.
local function rates(opts, train, adam)
  local step, own = opts.step, opts.steps * opts.step // comm.size
  local function together(batch)
    if comm.accumulate(adam, step, batch.place) then adam:step() end
  end
  local function alone() adam:step() end
  train(own, together)                                 -- warms up
  local shared, single, ratios = {}, {}, {}
  for i = 1, opts.rounds do
    shared[i] = own * comm.size / seconds_of(train, own, together)
    single[i] = own * comm.size / seconds_of(train, own, alone)
    ratios[i] = shared[i] / single[i]
  end
  return median(shared), median(single), median(ratios)
end

-- ---------------------------------------------------------------- the exchange

-- Milliseconds of an exchange of as many leaves as ranks, and of MPI's own sum.
local function exchanges(adam, count)
  local _, has, n = adam:sums()
  local own, sum, ours, theirs, ratios = ladies.ones(n), ladies.zeros(n), {}, {}, {}
  for i = 1, count do
    adam:accumulate(comm.size, comm.rank + 1)
    ours[i] = 1e3 * seconds_of(gradients.share, adam, comm.size, has)
    theirs[i] = 1e3 * seconds_of(link.sum, "bench", sum, own)
    ratios[i] = ours[i] / theirs[i]
    adam:clear()
  end
  return median(ours), median(theirs), median(ratios)
end

-- What one of several processes does; rank 0 prints the line.
local function measure(opts)
  ladies.threads(1)
  if opts.step % comm.size ~= 0 then
    error(("--step must be a multiple of the ranks, %d"):format(comm.size), 0)
  end
  local train, adam = trainer(opts.step)
  local _, _, n = adam:sums()
  local rate, limit, share = rates(opts, train, adam)
  local sent = (link.traffic.gradients or {bytes = 0}).bytes / ((1 + opts.rounds) * opts.steps)
  local all = 0
  for _, bytes in ipairs(comm.gather(sent)) do all = all + bytes end
  local _, computed = gradients.cost(n, comm.size, opts.step)
  local line = ("%5d  %8.1f  %8.1f  %6.2f"):format(comm.size, rate, limit, share)
  if comm.size > 1 then
    line = ("%s  %8.2f  %8.2f"):format(line, all / units.MIB, computed / units.MIB)
    line = ("%s  %8.2f  %9.2f  %6.2f"):format(line, exchanges(adam, opts.exchanges))
  end
  print(line)
end

-- ---------------------------------------------------------------- the processes

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

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
  print(("ladies %s, a thread each; mini-batches a second in steps of %d, median of %d rounds of "
    .. "%d steps;\nMB of gradients a step; ms of an exchange of a gradient from each rank, median "
    .. "of %d"):format(ladies.version, opts.step, opts.rounds, opts.steps,
      opts.exchanges))
  print "ranks  together  on their own  share   MB sent  computed  exchange  Allreduce   ratio"
  io.stdout:flush()
  for _, n in ipairs(opts.ranks or {1, 2, 4}) do
    if n == 1 then measure(opts) else start(n, opts) end
    io.stdout:flush()
  end
end)
