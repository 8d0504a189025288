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
  local series = {}
  for i, case in ipairs(list) do
    series[i] = {name = case.title, points = points.of_traces(case.records, "test", "batch")}
  end
  return {{x = "batch", y = "test F1 %", series = series}}
end

return figure
