--- Test F1 against the number of layers.

local points = require "ladies_paper.figures.points"

local figure = {
  title = "Test F1 against depth",
  about = "Test F1 of the model that early stopping keeps, with 2 to 10 layers; full batch, which "
    .. "takes longest, with three depths, and not on PubMed.",
  spread = "interval",
  datasets = {"cora", "citeseer", "pubmed"},
}

-- Full batch is there for comparison. On PubMed a batch of it takes as long as 40 of LADIES (64):
-- these runs would take as long as all the others.
function figure.cases(dataset)
  local list = {}
  for _, layers in ipairs{2, 3, 4, 5, 6, 8, 10} do
    list[#list + 1] = {method = "ladies", samples = 64, layers = layers}
  end
  for _, layers in ipairs(dataset == "pubmed" and {} or {2, 5, 10}) do
    list[#list + 1] = {method = "full", layers = layers}
  end
  return list
end

function figure.pictures(list)
  return {{x = "layers", y = "test F1 %", x_range = {1.8, 10.2},
    series = points.by_method(list, "layers", function(case) return case.title end)}}
end

return figure
