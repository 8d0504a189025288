--- Test F1 against the number of layers.

local points = require "ladies.figures.points"

local figure = {
  title = "Test F1 against depth",
  about = "Test F1 of the model that early stopping keeps, with 2 to 10 layers. On PubMed, where a "
    .. "full batch takes as long as 40 of LADIES (64), that is left out.",
  spread = "interval",
  datasets = {"cora", "citeseer", "pubmed"},
}

local LAYERS = {2, 3, 4, 5, 6, 8, 10}

function figure.cases(dataset)
  local list = {}
  for _, layers in ipairs(LAYERS) do
    list[#list + 1] = {method = "ladies", samples = 64, layers = layers}
    if dataset ~= "pubmed" then list[#list + 1] = {method = "full", layers = layers} end
  end
  return list
end

function figure.pictures(list)
  return {{x = "layers", y = "test F1 %", series = points.by_method(list, "layers",
    function(case) return case.title end)}}
end

return figure
