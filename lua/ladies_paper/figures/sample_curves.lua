--- Test F1 over batches, by the number of samples.

local cases = require "ladies_paper.figures.cases"
local points = require "ladies_paper.figures.points"

local figure = {
  title = "Test F1 over batches, by number of samples",
  about = ("Test F1 of LADIES with so many samples a layer, %s."):format(cases.WHOLE),
  spread = "deviation",
  datasets = {"pubmed"},
}

function figure.cases()
  return cases.with_samples("ladies", {1, 2, 8, 16, 32, 128, 512}, {whole = true})
end

function figure.pictures(list)
  return {{x = "batch", y = "test F1 %", series = points.curves(list, "test", "batch")}}
end

return figure
