--- What a model predicts, for people and other programs. Ids and classes count from 0 in files.

local core = require "ladies_core"
local csv = require "ladies.report.csv"
local label_kinds = require "ladies.data.labels"

local predictions = {}

-- The head of the columns behind the node's, and a function that gives them for node i of nodes.
local function single_columns(data, nodes, logits)
  local predicted, probabilities = logits:argmax(), logits:log_softmax():exp()
  local labels, names = data.labels[nodes], data.class_names
  local head = names and "predicted,class,probability,label" or "predicted,probability,label"
  return head, function(i)
    local class = predicted[i]
    return ("%d%s,%.6f,%d"):format(class - 1, names and "," .. csv.field(names[class]) or "",
      probabilities:get(i, class), labels[i] - 1)
  end
end

-- The classes of a row of 0 and 1, with blanks between; -1 for a row of NaN.
local function classes_of(row)
  local classes = {}
  for class, x in ipairs(row) do
    if x ~= x then return "-1" end
    if x == 1 then classes[#classes + 1] = class - 1 end
  end
  return table.concat(classes, " ")
end

local function multi_columns(data, nodes, logits)
  local predicted, labels = label_kinds.kind_of(data.labels).predict(logits), data.labels[nodes]
  return "predicted,labels", function(i)
    return classes_of(predicted[i]:to_table()) .. "," .. classes_of(labels[i]:to_table())
  end
end

--- CSV with a head and a line for each of `nodes`; logits: #nodes x classes. Its columns are node;
-- name, where nodes have names; and where a node has one class: predicted; class, where classes
-- have names; probability; label (-1: none). Where it may have several: predicted and labels, class
-- numbers with blanks between (labels -1: none known).
function predictions.csv(data, nodes, logits)
  local columns = data.multilabel and multi_columns or single_columns
  local head, rest = columns(data, nodes, logits)
  local names = data.node_names
  local lines = {"node," .. (names and "name," or "") .. head}
  for i = 1, #nodes do
    local name = names and csv.field(names[nodes[i]]) .. "," or ""
    lines[i + 1] = ("%d,%s%s"):format(nodes[i] - 1, name, rest(i))
  end
  lines[#lines + 1] = ""
  return table.concat(lines, "\n")
end

--- Writes nodes, predicted, labels and probabilities (#nodes x classes) to an .npz file; predicted
-- and labels are of the form that a data set's file has.
function predictions.write_npz(path, data, nodes, logits)
  local kind = label_kinds.kind_of(data.labels)
  core.npz.write(path, {
    nodes = nodes, predicted = kind.predictions(logits).predicted,
    labels = kind.array(data.labels[nodes]),
    probabilities = data.multilabel and logits:sigmoid() or logits:log_softmax():exp(),
  })
end

return predictions
