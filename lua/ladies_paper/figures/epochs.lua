--- F1 per epoch without early stopping, full batch against LADIES. PubMed's 60 training nodes are
-- one batch, so there an epoch is a batch.

local cases = require "ladies_paper.figures.cases"
local points = require "ladies_paper.figures.points"
local tables = require "ladies.base.tables"

local figure = {
  title = "F1 per epoch, full batch against LADIES",
  about = ("F1 on the training, validation and test nodes, %s; on PubMed a batch is an epoch.")
    :format(cases.WHOLE),
  spread = "deviation",
  datasets = {"pubmed"},
}

function figure.cases()
  return {
    {method = "full", whole = true},
    {method = "ladies", samples = 64, whole = true},
    {method = "ladies", samples = 512, whole = true},
  }
end

-- Training F1 comes to 100 %, which must not lie on the frame.
local PARTS = {
  {"train", "training F1 %", y_range = {false, 102}}, {"val", "validation F1 %"},
  {"test", "test F1 %"},
}

function figure.pictures(list)
  return tables.map(PARTS, function(part)
    return {name = part[1], x = "batch", y = part[2], y_range = part.y_range,
      series = points.curves(list, part[1], "batch")}
  end)
end

return figure
