-- ladies doc/examples/multilabel.lua [BATCHES]
-- Nodes that may have several classes: labels are rows of zeros and ones, the loss is binary
-- cross-entropy, and F1 is counted over nodes and classes. All of that follows from the data set.

local ladies = require "ladies"
local data = ladies.generate.power_law{
  nodes = 5000, entries = 60000, classes = 8, features = 32, signal = 0.5, overlap = 0.3,
}
print(data:describe())

local model = ladies.nn.gcn{inputs = 32, outputs = data.classes, layers = 2, hidden = 64}
ladies.train{
  data = data, model = model, lr = 0.01, max_batches = tonumber(arg[1] or 300), quiet = true,
  sampler = ladies.samplers.graphsage(data.graph:normalize "sym",
    {samples = {5, 5}, form = "unbiased"}),
}

local predicted = ladies.metrics.predictions(model, data)
print(("test micro-F1 %.4f, macro-F1 %.4f"):format(
  ladies.metrics.micro_f1(predicted, data.labels, data.test),
  ladies.metrics.macro_f1(predicted, data.labels, data.test)))
print "one node's classes, and what is predicted for it"
print(data.labels:rows(data.test:slice(1, 1)))
print(predicted:rows(data.test:slice(1, 1)))
