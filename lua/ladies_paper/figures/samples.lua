--- Test F1 against the number of samples a layer, LADIES and FastGCN.

local cases = require "ladies_paper.figures.cases"
local methods = require "ladies.experiment.methods"
local points = require "ladies_paper.figures.points"

local figure = {
  title = "Test F1 against the number of samples",
  about = "Test F1 of the model that early stopping keeps, against the samples of a layer.",
  spread = "interval",
  datasets = {"cora", "citeseer", "pubmed"},
}

local SAMPLES = {1, 2, 8, 16, 32, 64, 128, 512}

function figure.cases()
  local list = cases.with_samples("ladies", SAMPLES)
  for _, case in ipairs(cases.with_samples("fastgcn", {32, 128, 512})) do
    list[#list + 1] = case
  end
  return list
end

function figure.pictures(list)
  local series = points.by_method(list, "samples", function(case)
    return methods.by_name[case.method].title
  end)
  return {{x = "samples of a layer", y = "test F1 %", log = "x", x_ticks = SAMPLES,
    x_range = {0.9, 570}, y_range = {0, 100}, series = series}}
end

return figure
