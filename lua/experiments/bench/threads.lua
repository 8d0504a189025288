--- Estimates how much faster a training step would be with more threads: it measures the parallel
-- loops of a step one by one, and the step with as many threads as the machine has. A step cannot
-- become faster than its serial parts, nor a loop faster than its longest chunk.

local core = require "ladies_core"
local ladies = require "ladies"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local medians = require "ladies.statistics.medians"

local threads = {}

--- threads.WIDTHS: the numbers of threads that the model is asked for.
threads.WIDTHS = {2, 8, 16, 32, 64}

local WARM_UP = 10

--- threads.WORKS: the steps that are measured, by name: title and settings of the experiment.
threads.WORKS = {
  {name = "wordnet", title = "LADIES (512), WordNet",
    settings = {dataset = "wordnet", method = "ladies", model = "gcn"}},
  {name = "pubmed", title = "LADIES (64), PubMed",
    settings = {dataset = "pubmed", preset = "code", method = "ladies", samples = 64}},
  {name = "full", title = "full batch, PubMed",
    settings = {dataset = "pubmed", method = "full", model = "gcn"}},
}

--- threads.step(settings) -> {sample =, train =}: the two halves of a training step, which are
-- called in turn: sample() draws a mini-batch, train() makes a step of it.
function threads.step(settings)
  local config = experiment.configure(settings)
  local data = experiment.load(config)
  local model = experiment.model(config, data)
  local next_batch = ladies.batches(data.train, {batch_size = experiment.batch_size(config, data),
    sampler = experiment.sampler(config, data, model), epochs = 1 << 30})
  local adam = ladies.optim.adam(model:parameters(), {lr = config.lr})
  local batch
  return {
    sample = function() batch = next_batch() end,
    train = function()
      local _ <close> = ladies.step()
      local logits, weight = model:forward(data.features, batch), rawget(batch, "loss_weight")
      ladies.loss.cross_entropy(logits, data.labels[batch.output], weight):backward()
      adam:step()
      if batch.after_step then batch:after_step(model) end
    end,
  }
end

-- ---------------------------------------------------------------- the model

-- Adds what the loops of a run of f cost to a part, {serial =, loops = {[name] =}}: the processor
-- seconds that were no loop, and for each loop its calls, chunks, seconds, and seconds with so many
-- threads.
local function watch(part, f)
  core.watch_loops(true)
  local began = os.clock()
  local ok, message = errors.try(f)
  local whole, seen = os.clock() - began, core.watch_loops(false)
  if not ok then error(message, 0) end
  part.serial = part.serial + math.max(0, whole - seen.watching)
  for _, one in ipairs(seen) do
    local loop = part.loops[one.name]
    if not loop then
      part.loops[one.name] = one
    else
      for _, key in ipairs{"calls", "chunks", "seconds"} do loop[key] = loop[key] + one[key] end
      for p, seconds in pairs(one.within) do loop.within[p] = loop.within[p] + seconds end
    end
  end
end

--- threads.model(step, steps) -> sampling, training: the two parts of so many steps, in processor
-- seconds: {serial = of what is no loop, loops = {[name] = {name =, calls =, chunks =, seconds =,
-- within = {[p] = with p threads}}}}.
function threads.model(step, steps)
  for _ = 1, WARM_UP do
    step.sample()
    step.train()
  end
  local sampling, training = {serial = 0, loops = {}}, {serial = 0, loops = {}}
  for _ = 1, steps do
    watch(sampling, step.sample)
    watch(training, step.train)
  end
  return sampling, training
end

--- threads.seconds(part, p) -> number: what a part takes with p threads; without p, with one.
function threads.seconds(part, p)
  local sum = part.serial
  for _, loop in pairs(part.loops) do sum = sum + (p and loop.within[p] or loop.seconds) end
  return sum
end

-- ---------------------------------------------------------------- measured

--- threads.measured(step, n, rounds, steps) -> spread: how many times as fast n threads are as one,
-- by the clock on the wall, in turns of so many steps: see ladies.statistics.medians.
function threads.measured(step, n, rounds, steps)
  local before, ratios = core.threads(), {}
  local function time_with(count)
    core.threads(count)
    step.sample()
    step.train()
    local began = core.clock()
    for _ = 1, steps do
      step.sample()
      step.train()
    end
    return core.clock() - began
  end
  for round = 1, rounds do
    local first, second = time_with(round % 2 == 0 and 1 or n), time_with(round % 2 == 0 and n or 1)
    ratios[round] = round % 2 == 0 and first / second or second / first
  end
  core.threads(before)
  return medians.spread(ratios)
end

return threads
