--- The work that a training step is measured with: LADIES with 5 x 512 samples, batches of 512 and
-- 256 hidden columns, on the WordNet graph.

local ladies = require "ladies"

local main_job = {}

--- main_job.sampler(P): makes the sampler of this work.
function main_job.sampler(P)
  return ladies.samplers.ladies(P, {samples = {512, 512, 512, 512, 512}, self_nodes = "previous"})
end

--- main_job.trainer(data, step): a function that draws the next mini-batch, computes its gradients
-- and calls finish(batch); and the optimizer. step: mini-batches of a step, or nil.
function main_job.trainer(data, step)
  local sampler = main_job.sampler(data.graph:normalize "sym")
  local model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, dropout = 0.3}
  local adam = ladies.optim.adam(model:parameters())
  local next_batch = ladies.batches(data.train, {batch_size = 512, sampler = sampler,
    epochs = 1000000,
    step = step})
  return function(finish)
    local batch = next_batch()
    local _ <close> = ladies.step()
    local logits = model:forward(data.features, batch)
    ladies.loss.cross_entropy(logits, data.labels[batch.output]):backward()
    finish(batch)
  end, adam
end

return main_job
