-- ladies doc/examples/distil.lua [DATA] [BATCHES]
-- A network that reads no graph learns from one that does: an MLP is trained on what a GCN says of
-- all nodes (Zhang et al., Graph-less Neural Networks, ICLR 2022). It answers for a node from its
-- own features alone.

local ladies = require "ladies"
local data = ladies.data.load(arg[1] or "wordnet")
local batches = tonumber(arg[2] or 400)
local n, inputs = data.graph.n_nodes, data.features.n_cols

local teacher = ladies.nn.gcn{inputs = inputs, outputs = data.classes, layers = 2, hidden = 128}
ladies.train{
  data = data, model = teacher, lr = 0.003, max_batches = batches, quiet = true,
  sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {512, 512}}),
}
local taught = ladies.inference.exact(teacher, data):softmax()

-- An MLP: one trained on labels, as the teacher was, and one on the teacher's shares of classes.
local function student()
  return ladies.nn.mlp{inputs = inputs, outputs = data.classes, hidden = 128}
end

local alone, distilled = student(), student()
ladies.train{data = data, model = alone, lr = 0.003, max_batches = batches, quiet = true}

local adam = ladies.optim.adam(distilled:parameters(), {lr = 0.003})
local everyone, count = ladies.range(1, n), 0
for batch in ladies.batches(everyone, {batch_size = 512, epochs = 1000}) do
  local step <close> = ladies.step()
  local logits = distilled:forward(data.features, batch)
  local loss = -(taught[batch.output] * logits:log_softmax()):row_sums():mean()
  loss:backward()
  adam:step()
  count = count + 1
  if count == 5 * batches then break end
end

for _, one in ipairs{{"teacher", teacher}, {"MLP alone", alone}, {"MLP taught", distilled}} do
  print(("%-10s  test micro-F1 %.4f"):format(one[1], ladies.metrics.f1(one[2], data, data.test)))
end
