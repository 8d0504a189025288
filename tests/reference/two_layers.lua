--- Estimates through two sampled layers, whose mean is exact if the sampler is unbiased.
local lu = require "luaunit"
local statistics = require "reference.statistics"

local M = {}

--- Returns how far the mean of so many estimates of P[seeds,:] P h lies from it at the worst seed,
-- in standard errors; 0 where all estimates are exact. Fails where one is no number, which math.max
-- would pass over. Draw i is sampler(seeds, rng:fork(i)); h is a Tensor of one column.
function M.deviation(sampler, P, seeds, h, rng, draws)
  local exact, runs, worst = P:matmul(P:matmul(h))[seeds], {}, 0
  for v = 1, #seeds do runs[v] = statistics.running() end
  for i = 1, draws do
    local batch = sampler(seeds, rng:fork(i))
    local estimate = batch.blocks[2].adj:matmul(batch.blocks[1].adj:matmul(h[batch.input]))
    for v, run in ipairs(runs) do run.add(estimate:get(v, 1)) end
  end
  for v, run in ipairs(runs) do
    local apart = math.abs(run.mean() - exact:get(v, 1))
    local deviation = apart == 0 and 0 or apart / run.standard_error()
    lu.assertNotNaN(deviation)
    worst = math.max(worst, deviation)
  end
  return worst
end

return M
