--- Tests the predictions of tasks that read neither features nor graph, beside values by hand.
local lu = require "luaunit"
local ladies = require "ladies"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local tests = {}

local FIELDS = {edges = {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}},
  features = ladies.ones(7, 1), train = {1, 2, 3}, val = {4}, test = {5, 6, 7}}

local function dataset(fields) return ladies.data.from_arrays(tables.merged(FIELDS, fields)) end

--- The class of most training nodes, though most test nodes have another; of two, the lower one.
function tests.test_classes()
  local task = ladies.task.of(dataset{labels = {2, 3, 2, 1, 1, 1, 2}})
  local blind = task:blind_values(task.units.test)
  lu.assertEquals(blind.is, "the class of most training nodes, for all")
  lu.assertAlmostEquals(blind.test["micro-F1"], 1 / 3, 1e-12)
  -- Class 2 has precision 1/3 and recall 1, F1 1/2; class 1 has 0; class 3 occurs in neither.
  lu.assertAlmostEquals(blind.test["macro-F1"], (1 / 2) / 2, 1e-12)
  task = ladies.task.of(dataset{labels = {3, 1, 2, 1, 1, 1, 2}})
  blind = task:blind_values(task.units.test)
  lu.assertEquals(blind.is, "the first of 3 classes of most training nodes, for all")
  lu.assertAlmostEquals(blind.test["micro-F1"], 2 / 3, 1e-12)
  local several = dataset{labels = ladies.tensor{{1, 0}, {0, 1}, {1, 1}, {1, 0}, {0, 1}, {1, 1},
    {1, 0}}}
  task = ladies.task.of(several)
  -- In training classes 1 and 2 occur twice each: both for all are right 4 times of 6, F1 4/5; one
  -- alone 2/3. In the test both are right 4 times of 6, and all that is there is found.
  blind = task:blind_values(task.units.test)
  lu.assertEquals(blind.is, "the 2 most frequent classes of training nodes, for all")
  lu.assertAlmostEquals(blind.test["micro-F1"], 2 * 4 / (6 + 4), 1e-12)
end

--- The median of the training nodes' targets, those that are known, for each column.
function tests.test_medians()
  local none = 0 / 0
  local task = ladies.task.of(dataset{targets = ladies.tensor{{1, 4}, {2, none}, {6, 8}, {0, 0},
    {3, 7}, {5, none}, {1, 6}}, train = {1, 2, 3, 4}, val = {}})
  local blind = task:blind_values(task.units.test)
  lu.assertEquals(blind.is, "the median of the targets of training nodes, for all")
  -- Medians of 1, 2, 6, 0 and of 4, 8, 0: 1.5 and 4, off by 1.5, 3.5, 0.5 and by 3, 2.
  -- A metric is the mean over the columns of the means over what is known.
  lu.assertAlmostEquals(blind.test.MAE, (5.5 / 3 + 5 / 2) / 2, 1e-6)
  lu.assertAlmostEquals(blind.test.RMSE, math.sqrt((14.75 / 3 + 13 / 2) / 2), 1e-6)
end

--- Types and numbers of edges: by the edges for training.
function tests.test_edges()
  local n, from, types = 40, {}, {}
  for i = 1, n do from[i], types[i] = {i, i + 1}, i % 4 == 0 and 2 or 1 end
  local data = ladies.data.from_arrays{edges = from, features = ladies.ones(n + 1, 1),
    directed = "keep", edge_types = ladies.index(types),
    edge_features = ladies.range(1, n):to_tensor():reshape(n, 1)}
  local task = ladies.task.edge_classification(data)
  local count = 0
  for _, unit in ipairs(task.units.test:to_table()) do
    if task.targets(ladies.index{unit})[1] == 1 then count = count + 1 end
  end
  local blind = task:blind_values(task.units.test)
  lu.assertEquals(blind.is, "the class of most training edges, for all")
  lu.assertAlmostEquals(blind.test["micro-F1"], count / #task.units.test, 1e-12)
  task = ladies.task.edge_regression(data)
  local off, train = 0, task.targets(task.units.train):to_table()
  local test = task.targets(task.units.test)
  table.sort(train)
  lu.assertEquals(#train % 2, 0)
  local middle = (train[#train // 2] + train[#train // 2 + 1]) / 2
  for _, x in ipairs(test:to_table()) do off = off + math.abs(x - middle) end
  lu.assertAlmostEquals(task:blind_values(task.units.test).test.MAE, off / #test, 1e-4)
end

--- Ranks among candidates: the mean of 1/rank over all ranks is H(k + 1) / (k + 1). What a decoder
-- comes to whose scores are random agrees with it.
function tests.test_ranks()
  local data, k = toy.new(), 15
  local task = ladies.task.link_prediction(data, {candidates = k, edge_split = "40/10/50"})
  local blind, mrr = task:blind_values(task.units.test), 0
  for rank = 1, k + 1 do mrr = mrr + 1 / rank / (k + 1) end
  lu.assertEquals(blind.is, "any rank among 15 candidates, by chance")
  lu.assertAlmostEquals(blind.test.MRR, mrr, 1e-6)
  lu.assertAlmostEquals(blind.test["Hits@3"], 3 / 16, 1e-9)
  local rng, drawn = ladies.rng(7), {decoder = {}}
  function drawn.decoder.candidates(_, h, others, _, _, columns)
    return ladies.zeros(h.n_rows, columns or others.n_rows):normal_(1, rng)
  end
  local ranks = task.score(ladies.zeros(toy.NODES, 2), task.units.test, drawn)
  lu.assertAlmostEquals(task.metrics[1].of(ranks), mrr,
    5 * math.sqrt(0.06 / #ranks))            -- a rank's reciprocal has a variance below 0.06
  -- Among all nodes those of known edges are left out, more of them at nodes with more edges.
  task = ladies.task.link_prediction(data, {candidates = "all", edge_split = "40/10/50"})
  blind = task:blind_values(task.units.test)
  lu.assertEquals(blind.is, "any rank among all candidates, by chance")
  lu.assertAlmostEquals(task.metrics[1].of(task.score(ladies.zeros(toy.NODES, 2), task.units.test,
    drawn)), blind.test.MRR, 5 * math.sqrt(0.06 / #ranks))
  local last = {decoder = {}}
  function last.decoder.candidates(_, h, others)
    return ladies.zeros(h.n_rows, others.n_rows)
  end
  local sum = 0
  local tied = task.score(ladies.zeros(toy.NODES, 2), task.units.test, last):to_table()
  for _, middle in ipairs(tied) do           -- of as many ties as there are candidates
    local h, n = 0, 2 * (middle - 1) + 1
    for rank = 1, n do h = h + 1 / rank end
    sum = sum + h / n
  end
  lu.assertAlmostEquals(blind.test.MRR, sum / #tied, 1e-6)
  lu.assertErrorMsgContains("candidates = 200, and an end can be one of 180 nodes; \"all\" tests",
    ladies.task.link_prediction, data, {candidates = 200})
  task = ladies.task.link_prediction(data)
  lu.assertNil(task:blind_values(task.units.test))
end

--- The scores of the blind prediction stand in the summary of a run; a task of one's own may have
-- such a prediction.
function tests.test_summary()
  local data = toy.new()
  local result = ladies.train{data = data, quiet = true, max_batches = 2, eval_every = 2,
    layers = 2, hidden = 4, batch_size = 30}
  lu.assertStrContains(tostring(result),
    "  blind        micro-F1 0.3333 on the test part: the first of 3 classes of most "
    .. "training nodes, for all\n")
  lu.assertAlmostEquals(result.blind.test["micro-F1"], 1 / 3, 1e-12)
  local own = ladies.task.new{name = "own", data = data, units = {train = data.train,
    test = data.test}, outputs = 1, targets = function(units) return data.labels[units] end,
    loss = function(out) return out:square():mean() end,
    metrics = {{name = "none", of = function() return 1 end},
      {name = "nan", of = function() return 0 / 0 end},
      {name = "scores", scores = true, of = function() return 2 end}},
    blind = function(units) return units, "what I think" end}
  lu.assertEquals(own:blind_values(own.units.test), {is = "what I think", test = {none = 1}})
  -- Errors in it are reported before anything is trained.
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 1, layers = 2}
  local sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 2})
  local batches = 0
  for text, given in pairs{
    ["own: blind: what it returns must be"] = {},
    ["what it returns second, which says what it is, must be"] = {data.train},
  } do
    own.blind = function() return table.unpack(given) end
    lu.assertErrorMsgContains(text, ladies.train, {data = data, task = own, model = model,
      sampler = sampler, quiet = true, max_batches = 1,
      on_batch = function() batches = batches + 1 end})
  end
  lu.assertEquals(batches, 0)
end

return tests
