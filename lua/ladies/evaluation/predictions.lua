--- What a model predicts, for people and other programs. Ids and classes count from 0 in files.

local core = require "ladies_core"
local csv = require "ladies.report.csv"
local label_kinds = require "ladies.data.labels"

local predictions = {}

local SPLIT = {"train", "val", "test"}

-- The part of the split that each of some nodes is in, an Index of positions in SPLIT; 0 is none.
local function parts_of(data, nodes)
  local part_of, parts = {}, nodes:to_table()
  for i, name in ipairs(SPLIT) do
    for _, node in ipairs(data[name] and data[name]:to_table() or {}) do part_of[node] = i end
  end
  for i, node in ipairs(parts) do parts[i] = part_of[node] or 0 end
  return core.index(parts)
end

-- The name of a class as a cell that follows another one; nothing where classes have no names.
local function named(names, class)
  return names and "," .. csv.field(names[class] or "") or ""
end

-- The head of the columns between the node's and its part, and a function that gives them for node
-- i of nodes.
local function single_columns(data, nodes, logits)
  local predicted, probabilities = logits:argmax(), logits:log_softmax():exp()
  local labels, names = data.labels[nodes], data.class_names
  local head = names and "predicted,class,probability,label,label_class"
    or "predicted,probability,label"
  return head, function(i)
    local class, label = predicted[i], labels[i]
    return ("%d%s,%.6f,%d%s"):format(class - 1, named(names, class), probabilities:get(i, class),
      label - 1, named(names, label))
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
-- name, where nodes have names; and where a node has one class: predicted; class, its name, where
-- classes have names; probability; label (-1: none); label_class, its name. Where it may have
-- several: predicted and labels, class numbers with blanks between (labels -1: none known). At last
-- split: train, val, test, or nothing for a node in none of them.
function predictions.csv(data, nodes, logits)
  local columns = data.multilabel and multi_columns or single_columns
  local head, rest = columns(data, nodes, logits)
  local names, parts = data.node_names, parts_of(data, nodes)
  local lines = {("node,%s%s,split"):format(names and "name," or "", head)}
  for i = 1, #nodes do
    local name = names and csv.field(names[nodes[i]]) .. "," or ""
    lines[i + 1] = ("%d,%s%s,%s"):format(nodes[i] - 1, name, rest(i), SPLIT[parts[i]] or "")
  end
  lines[#lines + 1] = ""
  return table.concat(lines, "\n")
end

--- The arrays of a file with predictions: `arrays`, of these nodes of the data set, with their
-- labels; split, positions in split_names, -1 for none; and class_names, where classes have names.
-- predicted and labels are of the form that a data set's file has: everything counts from 0.
function predictions.with_truth(arrays, data, nodes)
  arrays.labels = label_kinds.kind_of(data.labels).array(data.labels[nodes])
  arrays.split, arrays.split_names = parts_of(data, nodes), SPLIT
  arrays.class_names = data.class_names
  return arrays
end

--- Writes nodes, predicted, probabilities (#nodes x classes) and what with_truth has to an .npz
-- file.
function predictions.write_npz(path, data, nodes, logits)
  core.npz.write(path, predictions.with_truth({
    nodes = nodes, predicted = label_kinds.kind_of(data.labels).predictions(logits).predicted,
    probabilities = data.multilabel and logits:sigmoid() or logits:log_softmax():exp(),
  }, data, nodes))
end

return predictions
