--- A run on the toy data as a process of its own, for tests that kill it.
-- Arguments: folder, batches, seconds between two checkpoints, and "resume" or nothing.
local here = debug.getinfo(1, "S").source:match "^@(.*)/tools/" or ".."
package.path = here .. "/?.lua;" .. package.path

local ladies = require "ladies"
local toy = require "reference.toy_data"

local folder, batches, every, resume = table.unpack(arg)
local data = toy.new()
ladies.train{
  data = data, sampler = toy.neighbourhoods(data.graph:normalize "sym", 2),
  model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2, dropout = 0.2},
  batch_size = 20, lr = 0.02, eval_every = 7, patience = 0, quiet = true,
  max_batches = math.tointeger(batches), checkpoint_every = tonumber(every),
  out = folder, resume = resume == "resume",
}
