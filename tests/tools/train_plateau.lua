--- A run on the toy data with a plateau schedule as a process of its own, for a test that kills it.
-- Arguments: folder, "resume" or "new", and the batch after which it kills itself (0: none).
local here = debug.getinfo(1, "S").source:match "^@(.*)/tools/" or ".."
package.path = here .. "/?.lua;" .. package.path

local ladies = require "ladies"
local toy_training = require "reference.toy_training"

local folder, resume, last = table.unpack(arg)
ladies.train(toy_training.options{
  max_batches = 40, out = folder, resume = resume == "resume", checkpoint_every = 0,
  schedule = ladies.schedule.plateau{factor = 0.5, patience = 5, min_gain = 0.001},
  validation = function(_, number) return number * 1e-6 end,
  on_batch = function(at)
    if at.batch == math.tointeger(last) then os.execute "kill -KILL $PPID" end
  end,
})
