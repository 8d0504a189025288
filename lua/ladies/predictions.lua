--- What a model predicts, for people and other programs. Ids and classes count from 0 in files.

local core = require "ladies_core"

local predictions = {}

-- A field of CSV, in quotes where it must be.
local function field(text)
  if not text:find '[",\n\r]' then return text end
  return '"' .. text:gsub('"', '""') .. '"'
end

--- CSV with a head and a line for each of `nodes`: node, name (where nodes have names), predicted,
-- class (where classes have names), probability, label (-1: none). logits: #nodes x classes.
function predictions.csv(data, nodes, logits)
  local predicted, probabilities = logits:argmax(), logits:log_softmax():exp()
  local labels, names, classes = data.labels[nodes], data.node_names, data.class_names
  local head = {"node", "predicted", "probability", "label"}
  if names then table.insert(head, 2, "name") end
  if classes then table.insert(head, #head - 1, "class") end
  local lines = {table.concat(head, ",")}
  for i = 1, #nodes do
    local class = predicted[i]
    local cells = {nodes[i] - 1}
    if names then cells[#cells + 1] = field(names[nodes[i]]) end
    cells[#cells + 1] = class - 1
    if classes then cells[#cells + 1] = field(classes[class]) end
    cells[#cells + 1] = ("%.6f"):format(probabilities:get(i, class))
    cells[#cells + 1] = labels[i] - 1
    lines[i + 1] = table.concat(cells, ",")
  end
  lines[#lines + 1] = ""
  return table.concat(lines, "\n")
end

--- Writes nodes, predicted, labels (-1: none) and probabilities (#nodes x classes) to an .npz file.
function predictions.write_npz(path, data, nodes, logits)
  core.npz.write(path, {
    nodes = nodes, predicted = logits:argmax(), labels = data.labels[nodes],
    probabilities = logits:log_softmax():exp(),
  })
end

return predictions
