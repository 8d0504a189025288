--- Measures what is made of many primitives: samplers, a training step, an epoch, exact inference,
-- loading, and the program's start. Cases are as in experiments.bench.kernels; one without `of` has
-- no limit, and what it takes is set against another measure of the machine, for `--check` alone.

local core = require "ladies_core"
local ladies = require "ladies"
local arithmetic = require "experiments.bench.arithmetic"
local paired = require "experiments.bench.paired"

local BATCH = 512

local whole = {}

-- ---------------------------------------------------------------- sampling

-- Returns the case of a sampler beside a loop over the rows of P from which its layers are drawn.
local function sampler_case(ctx, method, samples)
  local config = ladies.experiment.configure{method = method, model = "gcn", samples = samples}
  local sampler = ladies.experiment.sampler(config, ctx.data)
  local P = ctx.data.graph:normalize(config.normalize)
  local rng, batch, number = ctx.rng:fork(7), nil, 0
  local train = ctx.data.train
  return {
    name = ("%s (%d)"):format(method, samples), of = "rows read", batches = true,
    run = function()
      number = number + 1
      local draw = rng:fork(number)
      local seeds = train[ladies.sampling.uniform(#train, BATCH, {rng = draw})]
      local began = core.clock()
      batch = sampler(seeds, draw)
      return core.clock() - began
    end,
    limit = function()
      for _, block in ipairs(batch.blocks) do ctx.limits.visit(P, block.dst) end
    end,
  }
end

local function sampling(ctx)
  local cases = {}
  for _, one in ipairs{{"ladies", 64}, {"ladies", 512}, {"fastgcn", 512}, {"graphsage", 5},
                       {"labor", 5}} do
    cases[#cases + 1] = sampler_case(ctx, table.unpack(one))
  end
  return cases
end

-- ---------------------------------------------------------------- training and inference

-- Returns a function that trains on the next mini-batch and returns it.
local function trainer(ctx)
  local data, model = ctx.data, ladies.experiment.model(ctx.config, ctx.data)
  local sampler = ladies.experiment.sampler(ctx.config, data, model)
  local adam = ladies.optim.adam(model:parameters())
  local next_batch = ladies.batches(data.train, {batch_size = BATCH, sampler = sampler,
    epochs = 1 << 30})
  return function()
    local batch = next_batch()
    local _ <close> = core.step()
    local logits = model:forward(data.features, batch)
    local loss = ladies.loss.cross_entropy(logits, data.labels[batch.output], batch.loss_weight)
    loss:backward()
    adam:step()
    return batch
  end
end

local function training(ctx)
  local step, sum, count = trainer(ctx), 0, 8
  for _ = 1, count do sum = sum + arithmetic.of_step(ctx.model, ctx.data.features, step()) end
  local flops, per_epoch = sum / count, math.ceil(#ctx.data.train / BATCH)
  local cases = {
    ctx.by_blas{name = "step", flops = flops, run = function() step() end},
    ctx.by_blas{name = ("epoch of %d steps"):format(per_epoch), flops = per_epoch * flops,
      run = function()
        for _ = 1, per_epoch do step() end
      end},
  }
  if core.bfloat16_units() then
    cases[#cases + 1] = ctx.by_blas{name = "step, bfloat16", flops = flops,
      run = function() core.in_bfloat16(step) end}
  end
  return cases
end

-- Returns the case of exact inference, with two limits: BLAS for the dense products, and a loop
-- that adds rows for propagation.
local function inference(ctx)
  local model, data, P = ctx.model, ctx.data, ctx.P
  local products, columns = arithmetic.of_inference(model, data.features, P)
  local h, out = core.zeros(P.n_cols, 64), core.zeros(P.n_rows, 64)
  return {{
    name = "whole graph", flops = products + 2 * P.nnz * columns, of = "BLAS and rows added",
    run = function() ladies.inference.exact(model, data):release() end,
    limit = function()
      local began = paired.clock()
      ctx.limits.add_rows(P, h, out)
      local propagation = (paired.clock() - began) * columns / h.n_cols
      return propagation + products * ctx.blas_seconds()
    end,
  }}
end

-- ---------------------------------------------------------------- files and processes

local function loading(ctx)
  local path = os.tmpname()
  ctx.temporary[#ctx.temporary + 1] = path
  ladies.data.save(ctx.data, path, {compress = false})
  return {
    {name = "uncompressed .npz", of = "reading the file", bytes = #core.file.read(path),
      run = function() ladies.data.load(path) end,
      limit = function() core.file.read(path) end},
    {name = "WordNet as it ships", run = function() ladies.data.load "wordnet" end,
      limit = function() core.file.read(path) end},
  }
end

-- Returns a function that runs a process to its end and returns its seconds.
local function run_process(words)
  return function()
    local began = core.clock()
    local process <close> = core.process.start(words, {env = {OPENBLAS_NUM_THREADS = "1"}})
    assert(process:wait() == 0, "a process of the measurement failed")
    return core.clock() - began
  end
end

local function start(ctx)
  local nothing = run_process{"true"}
  return {
    {name = "to an empty script", run = run_process{ctx.program, "-e", ""}, limit = nothing},
    {name = "to the first batch", limit = nothing,
      run = run_process{ctx.program, "bench", "step", "--part", "start"}},
  }
end

--- The groups in the order of the table: {name, function(context) -> cases}.
whole.groups = {
  {"sampling", sampling}, {"training", training}, {"inference", inference}, {"loading", loading},
  {"start", start},
}

return whole
