--- Metrics beside scikit-learn's and those of OGB's evaluators, tests/fixtures/make_metrics.py, and
-- beside their definitions in NumPy, make_scores.py.
local lu = require "luaunit"
local ladies = require "ladies"
local fixture = require "reference.fixture"

local metrics, archive = ladies.metrics, fixture.open "metrics"
local tests = {}

local function given(name) return archive:tensor(name) end

-- The number of an array, in double.
local function number(name) return archive:numbers(name) end

local function holds(name, got, tolerance)
  lu.assertAlmostEquals(got, number(name), tolerance or 1e-12, name)
end

local defined = fixture.open "scores"

function tests.test_calibration()
  local logits, labels = defined:tensor "calibration.logits", defined:index "calibration.labels"
  for _, bins in ipairs{1, 2, 15, 64} do
    lu.assertAlmostEquals(metrics.calibration(logits, labels, {bins = bins}).error,
      defined:numbers("calibration:" .. bins), 1e-6, bins)
  end
end

--- Known edges among the candidates do not count; the positive itself is one of these.
function tests.test_filtered_ranks()
  local positive = defined:tensor "ranks.positive"
  local candidates = defined:tensor "ranks.candidates" + (1 - defined:tensor "ranks.known"):log()
  lu.assertEquals(candidates:min(), -math.huge)
  for _, ties in ipairs{"optimistic", "mean", "pessimistic"} do
    local how = {ties = ties}
    lu.assertEquals(metrics.ranks(positive, candidates, how):to_table(),
      defined:numbers("ranks:" .. ties))
    lu.assertAlmostEquals(metrics.mrr(positive, candidates, how),
      defined:numbers("ranks:mrr_" .. ties), 1e-7)
    for _, k in ipairs{1, 3, 10} do
      lu.assertAlmostEquals(metrics.hits(positive, candidates, k, how),
        defined:numbers(("ranks:hits@%d_%s"):format(k, ties)), 1e-12)
    end
  end
end

function tests.test_classes()
  local labels, predicted = archive:index "classes.labels", archive:index "classes.predicted"
  holds("classes:accuracy", metrics.accuracy(predicted, labels))
  holds("classes:micro_f1", metrics.micro_f1(predicted, labels))
  holds("classes:macro_f1", metrics.macro_f1(predicted, labels))
end

function tests.test_several_classes_a_node()
  local labels, predicted = given "several.labels", given "several.predicted"
  holds("several:accuracy", metrics.accuracy(predicted, labels))
  holds("several:micro_f1", metrics.micro_f1(predicted, labels))
  holds("several:macro_f1", metrics.macro_f1(predicted, labels))
end

function tests.test_precision_and_recall()
  for name, read in pairs{classes = archive.index, several = archive.tensor} do
    local labels = read(archive, name .. ".labels")
    local predicted = read(archive, name .. ".predicted")
    for _, metric in ipairs{"precision", "recall"} do
      local f, stem = metrics[metric], ("%s:%%s_%s"):format(name, metric)
      holds(stem:format "macro", f(predicted, labels))
      holds(stem:format "micro", f(predicted, labels, {average = "micro"}))
      for class, expected in ipairs(archive:numbers(stem:format "by_class")) do
        lu.assertAlmostEquals(f(predicted, labels, {class = class}), expected, 1e-12)
      end
    end
  end
end

function tests.test_areas_under_curves()
  for _, name in ipairs{"tied", "distinct", "constant"} do
    local scores, targets = given(name .. ".scores"), given(name .. ".targets")
    holds(name .. ":roc_auc", metrics.roc_auc(scores, targets))
    holds(name .. ":average_precision", metrics.average_precision(scores, targets))
  end
end

--- OGB leaves out the columns of targets of one kind, and targets that are not known.
function tests.test_columns_of_one_kind_do_not_count()
  local scores, targets = given "columns.scores", given "columns.targets"
  holds("columns:roc_auc", metrics.roc_auc(scores, targets))
  local kept = archive:index "columns.kept"
  local function columns(t) return t:transpose()[kept]:transpose() end
  holds("columns:average_precision", metrics.average_precision(columns(scores), columns(targets)))
  holds("proteins:roc_auc", metrics.roc_auc(given "proteins.scores", given "proteins.targets"))
end

function tests.test_ranks()
  local positive, own, shared = given "links.positive", given "links.own", given "links.shared"
  holds("links:mrr", metrics.mrr(positive, own), 1e-7)
  for _, k in ipairs{1, 3, 10} do
    holds("links:hits@" .. k, metrics.hits(positive, own, k), 1e-7)
  end
  for _, k in ipairs{1, 20, 50, 71} do
    holds("links:shared_hits@" .. k, metrics.hits(positive, shared, k, {ties = "pessimistic"}))
  end
end

function tests.test_regression()
  local predicted, targets = given "regression.predicted", given "regression.targets"
  local function column(t) return t:slice_cols(1, 1):reshape(t.n_rows) end
  for _, name in ipairs{"mse", "mae", "r2"} do
    holds("regression:" .. name, metrics[name](predicted, targets))
    holds(("regression:%s_of_first"):format(name),
      metrics[name](column(predicted), column(targets)))
    holds("unknown:" .. name, metrics[name](given "unknown.predicted", given "unknown.targets"))
  end
end

return tests
