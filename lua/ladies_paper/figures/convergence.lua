--- Test F1 by method, over batches and over seconds of training.

local cases = require "ladies_paper.figures.cases"
local points = require "ladies_paper.figures.points"

local figure = {
  title = "Convergence by method",
  about = ("Test F1, %s, over batches and over the seconds of training, validation not included.")
    :format(cases.WHOLE),
  spread = "deviation",
  datasets = {"cora", "citeseer", "pubmed"},
}

local METHODS = {{"full"}, {"graphsage", 5}, {"vrgcn", 2}, {"clustergcn"}, {"fastgcn", 512},
  {"ladies", 64}, {"ladies", 512}}

function figure.cases()
  local list = {}
  for i, method in ipairs(METHODS) do
    list[i] = {method = method[1], samples = method[2], whole = true}
  end
  return list
end

function figure.pictures(list)
  local over_seconds = points.curves(list, "test", "seconds")
  return {
    {name = "batches", x = "batch", y = "test F1 %", series = points.curves(list, "test", "batch")},
    {name = "seconds", x = "seconds of training", y = "test F1 %", log = "x",
      x_range = points.x_range(over_seconds), series = over_seconds},
  }
end

return figure
