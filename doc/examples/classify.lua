-- ladies doc/examples/classify.lua [DATA] [BATCHES]
-- Classes of nodes by a GCN of five layers, trained with LADIES, and what it mistakes for what.

local ladies = require "ladies"
local data = ladies.data.load(arg[1] or "wordnet")

local model = ladies.nn.gcn{
  inputs = data.features.n_cols, outputs = data.classes, layers = 5, hidden = 128, dropout = 0.2,
}
local result = ladies.train{
  data = data, model = model, lr = 0.003, max_batches = tonumber(arg[2] or 600),
  sampler = ladies.samplers.ladies(data.graph:normalize "sym", {
    samples = {512, 512, 512, 512, 512}, self_nodes = "previous",
  }),
}
print(result)

-- Which classes are taken for which: the five most frequent mistakes among the test nodes.
local predicted = ladies.metrics.predictions(model, data)
local counts = ladies.metrics.confusion(predicted[data.test], data.labels[data.test], data.classes)
local mistakes = {}
for truth, row in ipairs(counts) do
  for guess, n in ipairs(row) do
    if truth ~= guess and n > 0 then
      mistakes[#mistakes + 1] = {n = n, truth = truth, guess = guess}
    end
  end
end
table.sort(mistakes, function(a, b) return a.n > b.n end)

local function name_of(class) return data.class_names and data.class_names[class] or class end
for i = 1, math.min(5, #mistakes) do
  local one = mistakes[i]
  print(("%5d of %s taken for %s"):format(one.n, name_of(one.truth), name_of(one.guess)))
end
