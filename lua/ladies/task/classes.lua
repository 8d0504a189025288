--- Makes what tasks of classes have in common, be they classes of nodes or of graphs: the loss,
-- the predictions, and the content of files of predictions. What differs between one class and
-- several classes for each node or graph is in ladies.data.labels.

local blind = require "ladies.task.blind"
local csv = require "ladies.report.csv"
local label_kinds = require "ladies.data.labels"
local losses = require "ladies.nn.loss"

-- Returns the CSV cell with the name of a class, with the comma before it; an empty text where
-- classes have no names.
local function named(names, class)
  return names and "," .. csv.field(names[class] or "") or ""
end

-- Returns the head and the cells of predictions for units (nodes or graphs) with one class each.
local function single_columns(data, logits, units)
  local predicted, probabilities = logits:argmax(), logits:log_softmax():exp()
  local labels, names = data.labels[units], data.class_names
  local head = names and "predicted,class,probability,label,label_class"
    or "predicted,probability,label"
  return head, function(i)
    local class, label = predicted[i], labels[i]
    return ("%d%s,%.6f,%d%s"):format(class - 1, named(names, class), probabilities:get(i, class),
      label - 1, named(names, label))
  end
end

-- Returns the class numbers of a row of 0 and 1, with blanks between; "-1" for a row of NaN.
local function classes_of(row)
  local classes = {}
  for class, x in ipairs(row) do
    if x ~= x then return "-1" end
    if x == 1 then classes[#classes + 1] = class - 1 end
  end
  return table.concat(classes, " ")
end

-- Returns the head and the cells of predictions for units with any number of classes each.
local function multi_columns(data, logits, units)
  local predicted, labels = logits:above(0), data.labels[units]
  return "predicted,labels", function(i)
    return classes_of(predicted[i]:to_table()) .. "," .. classes_of(labels[i]:to_table())
  end
end

-- Returns the arrays for a file of predictions. With `whole` there are the probabilities of units
-- with one class each, which the files of runs leave out.
local function arrays_of(data, kind, logits, units, whole)
  local arrays = kind.predictions(logits)
  if whole then
    arrays.probabilities = kind.multilabel and logits:sigmoid() or logits:log_softmax():exp()
  end
  arrays.labels = kind.array(data.labels[units])
  arrays.class_names = data.class_names
  return arrays
end

--- classes(data) -> table: the fields of a task (see ladies.task.new) of the labels of a data set:
-- all but its name, its units, its metrics, and how units become seeds.
return function(data)
  local labels = data.labels
  local kind = label_kinds.kind_of(labels)
  return {
    outputs = data.classes, outputs_are = "classes", by_rows = true,
    targets = function(units) return labels[units] end,
    loss = losses.of(labels),
    predict = kind.predict,
    blind = data.train and blind[kind.multilabel and "classes" or "class"](labels, data.train,
      data.n_graphs and "graph" or "node") or nil,
    known = function() return kind.labelled(labels) end,
    arrays = function(logits, units, whole)
      return arrays_of(data, kind, logits, units, whole)
    end,
    columns = function(logits, units)
      return (kind.multilabel and multi_columns or single_columns)(data, logits, units)
    end,
  }
end
