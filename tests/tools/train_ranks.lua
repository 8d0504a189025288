--- A run on the toy data by several ranks, or by one: steps of 8 mini-batches. Argument: the text
-- of a Lua table, whose fields are options of ladies.train, and `threads`; `wide`, the name of a
-- model that is made so wide that ranks share its products in validations; and `settle`, a function
-- of the options and P that changes them. It may look at `ladies`, `toy` and `rank`.
local here = debug.getinfo(1, "S").source:match "^@(.*)/tools/" or ".."
package.path = here .. "/?.lua;" .. package.path

local ladies = require "ladies"
local toy = require "reference.toy_data"

local scope = setmetatable({ladies = ladies, toy = toy, rank = ladies.comm.rank}, {__index = _G})
local own = assert(load("return " .. arg[1], "options", "t", scope))()
local data = own.data or toy.new()
local P = data.graph:normalize "sym"
local opts = {
  data = data, sampler = ladies.samplers.ladies(P, {samples = {20, 20}}),
  model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2,
    dropout = 0.2},
  batch_size = 10, accumulate = 8, max_batches = 80, eval_every = 16, patience = 0, lr = 0.02,
  clip = 0.5, quiet = true, checkpoint_every = 1000,
}
if own.threads then ladies.threads(own.threads) end
if own.wide then
  opts.model = ladies.nn[own.wide]{inputs = toy.FEATURES, hidden = 128, outputs = 3, layers = 3,
    head = "linear"}
  opts.sampler = ladies.samplers.graphsage(P, {samples = {4, 4, 4}})
end
for key, value in pairs(own) do opts[key] = value end
opts.threads, opts.wide = nil, nil
if own.settle then own.settle(opts, P) end
opts.settle = nil
local result = ladies.train(opts)
print(("%s after %d: %.17g %.17g"):format(result.stopped, result.batches, result.test_f1 or 0,
  result.best_value or 0))
