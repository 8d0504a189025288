--- Declares the figures of the paper and further ones of their kind. A figure has
--
--   title, about         its heading, and what is drawn
--   spread               of the points: "deviation" or "interval" (see SPREADS in init.lua)
--   datasets             of which it is drawn by default
--   cases(dataset)       what must be trained for it (see experiments.paper.figures.cases)
--   pictures(cases)      plots for ladies.plot, without a title; `name` tells those of one data set
--                        apart. Their points are those of experiments.paper.figures.points.

local cases = require "experiments.paper.figures.cases"
local methods = require "ladies.experiment.methods"
local points = require "experiments.paper.figures.points"
local tables = require "ladies.base.tables"

local drawn = {}

local CITATIONS = {"cora", "citeseer", "pubmed"}

-- Test F1 over batches, by the number of samples.
drawn.sample_curves = {
  title = "Test F1 over batches, by number of samples",
  about = ("Test F1 of LADIES with so many samples a layer, %s."):format(cases.WHOLE),
  spread = "deviation",
  datasets = {"pubmed"},
}

function drawn.sample_curves.cases()
  return cases.with_samples("ladies", {1, 2, 8, 16, 32, 128, 512}, {whole = true})
end

function drawn.sample_curves.pictures(all)
  return {{x = "batch", y = "test F1 %", series = points.curves(all, "test", "batch")}}
end

-- F1 per epoch without early stopping, full batch against LADIES. PubMed's 60 training nodes are
-- one batch, so there an epoch is a batch.
drawn.epochs = {
  title = "F1 per epoch, full batch against LADIES",
  about = ("F1 on the training, validation and test nodes, %s; on PubMed a batch is an epoch.")
    :format(cases.WHOLE),
  spread = "deviation",
  datasets = {"pubmed"},
}

function drawn.epochs.cases()
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

function drawn.epochs.pictures(all)
  return tables.map(PARTS, function(part)
    return {name = part[1], x = "batch", y = part[2], y_range = part.y_range,
      series = points.curves(all, part[1], "batch")}
  end)
end

-- Test F1 by method, over batches and over seconds of training.
drawn.convergence = {
  title = "Convergence by method",
  about = ("Test F1, %s, over batches and over the seconds of training, validation not included.")
    :format(cases.WHOLE),
  spread = "deviation",
  datasets = CITATIONS,
}

local METHODS = {{"full"}, {"graphsage", 5}, {"vrgcn", 2}, {"clustergcn"}, {"fastgcn", 512},
  {"ladies", 64}, {"ladies", 512}}

function drawn.convergence.cases()
  return tables.map(METHODS, function(method)
    return {method = method[1], samples = method[2], whole = true}
  end)
end

function drawn.convergence.pictures(all)
  local over_seconds = points.curves(all, "test", "seconds")
  return {
    {name = "batches", x = "batch", y = "test F1 %", series = points.curves(all, "test", "batch")},
    {name = "seconds", x = "seconds of training", y = "test F1 %", log = "x",
      x_range = points.x_range(over_seconds), series = over_seconds},
  }
end

-- Test F1 against the number of samples a layer, LADIES and FastGCN.
drawn.samples = {
  title = "Test F1 against the number of samples",
  about = "Test F1 of the model that early stopping keeps, against the samples of a layer.",
  spread = "interval",
  datasets = CITATIONS,
}

local SAMPLES = {1, 2, 8, 16, 32, 64, 128, 512}

function drawn.samples.cases()
  local list = cases.with_samples("ladies", SAMPLES)
  for _, case in ipairs(cases.with_samples("fastgcn", {32, 128, 512})) do
    list[#list + 1] = case
  end
  return list
end

function drawn.samples.pictures(all)
  local series = points.by_method(all, "samples", function(case)
    return methods.by_name[case.method].title
  end)
  return {{x = "samples of a layer", y = "test F1 %", log = "x", x_ticks = SAMPLES,
    x_range = {0.9, 570}, y_range = {0, 100}, series = series}}
end

-- Test F1 against the number of layers.
drawn.depth = {
  title = "Test F1 against depth",
  about = "Test F1 of the model that early stopping keeps, with 2 to 10 layers; full batch, which "
    .. "takes longest, with three depths, and not on PubMed.",
  spread = "interval",
  datasets = CITATIONS,
}

-- Full batch is there for comparison. On PubMed a batch of it takes as long as 40 of LADIES (64):
-- these runs would take as long as all the others.
function drawn.depth.cases(dataset)
  local list = {}
  for _, layers in ipairs{2, 3, 4, 5, 6, 8, 10} do
    list[#list + 1] = {method = "ladies", samples = 64, layers = layers}
  end
  for _, layers in ipairs(dataset == "pubmed" and {} or {2, 5, 10}) do
    list[#list + 1] = {method = "full", layers = layers}
  end
  return list
end

function drawn.depth.pictures(all)
  return {{x = "layers", y = "test F1 %", x_range = {1.8, 10.2},
    series = points.by_method(all, "layers", function(case) return case.title end)}}
end

return drawn
