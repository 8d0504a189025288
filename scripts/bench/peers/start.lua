-- Runs from the start of the process to the end of the first step, with the settings of the
-- authors' program: start.lua FILE.npz. `ladies bench peers` measures it for its last row.

local ladies = require "ladies"

local config = ladies.experiment.configure{method = "ladies", samples = 64, preset = "code"}
local data = ladies.data.load(arg[1])
local model = ladies.experiment.model(config, data)
local sampler = ladies.experiment.sampler(config, data, model)
local adam = ladies.optim.adam(model:parameters(), {lr = config.lr})
local batch = ladies.batches(data.train, {batch_size = config.batch_size, sampler = sampler})()
local _ <close> = ladies.step()
local loss = ladies.loss.cross_entropy(model:forward(data.features, batch),
  data.labels[batch.output])
loss:backward()
adam:clip_norm(config.clip)
adam:step()
