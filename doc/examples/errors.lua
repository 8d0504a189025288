-- ladies doc/examples/errors.lua [DATA]
-- How far one layer of sampling is from P H, by the number of samples, for three samplers: the
-- mean squared error over some draws, in units of the mean square of what is estimated.

local ladies = require "ladies"
local data = ladies.data.load(arg[1] or "wordnet")
local P = data.graph:normalize "sym"
local n = data.graph.n_nodes
local H = ladies.zeros(n, 16):normal_(1, ladies.rng(1))
local seeds = data.train:slice(1, math.min(512, #data.train))
local exact = P:matmul(H)[seeds]
local scale = exact:square():sum():item()

local DRAWS = 20
local samplers = {
  {"LADIES", function(s) return ladies.samplers.ladies(P, {samples = {s}}) end},
  {"LADIES, rows as drawn", function(s)
    return ladies.samplers.ladies(P, {samples = {s}, draw = "poisson", row_normalize = false})
  end},
  {"FastGCN", function(s) return ladies.samplers.fastgcn(P, {samples = {s}}) end},
}

print "samples  sampler                   error    bias^2"
for _, samples in ipairs{64, 256, 1024} do
  for _, one in ipairs(samplers) do
    local sampler = one[2](samples)
    local error_sum, sum = 0, ladies.zeros(#seeds, 16)
    for i = 1, DRAWS do
      local block = sampler(seeds, ladies.rng(1):fork(i)).blocks[1]
      local off = block.adj:matmul(H[block.src]) - exact
      error_sum = error_sum + off:square():sum():item()
      sum = sum + off
    end
    -- The square of the mean holds the variance of a mean over so many draws, which is taken off.
    local error = error_sum / DRAWS / scale
    local of_mean = (sum / DRAWS):square():sum():item() / scale
    local bias = (of_mean - error / DRAWS) / (1 - 1 / DRAWS)
    print(("%7d  %-22s %8.3f  %8.3f"):format(samples, one[1], error, bias))
  end
end
