--- `ladies evaluate` and `ladies predict`: a finished run's model, taken up again.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local own_folder = require "ladies.base.own_folder"
local predictions = require "ladies.evaluation.predictions"
local compare = require "reference.compare"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

local data_file, run_path

-- A run of `ladies train` on the toy graph, made once.
local function trained()
  if not run_path then
    local data = toy.new(true)
    data.class_names = {"a", 'b "quoted", with a comma', "c"}
    data_file, run_path = temporary.path "toy.npz", temporary.path "run"
    ladies.data.save(data, data_file)
    local config = ladies.experiment.configure{dataset = data_file, samples = 20, layers = 2,
      hidden = 16, batch_size = 20, lr = 0.02, max_batches = 40,
      row_normalize = false}
    ladies.experiment.run(config, ladies.experiment.load(config), {out = run_path, quiet = true})
    ladies.file.write(run_path .. "/config.json", require "ladies.base.json".encode(config))
  end
  return run_path
end

-- Runs `ladies WORDS`, which must succeed; returns what it prints.
local function succeeded(...) return (shell.succeeded(shell.run_ladies{...})) end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

--- The scores after Correct and Smooth are the same on the command line as by its function.
function tests.test_smoothed()
  local run = ladies.saved_run(trained())
  local smoothed = ladies.smoothing.correct_and_smooth(run.data,
    ladies.inference.exact(run.model, run.data))
  local test = run.data.test
  lu.assertEquals(run:logits(test, {smooth = true}):hash(), smoothed[test]:hash())
  local out = succeeded("evaluate", run_path, "--smooth")
  lu.assertStrContains(out, "exact inference and Correct and Smooth in")
  lu.assertStrContains(out, ("test micro-F1 %.4f"):format(
    ladies.metrics.micro_f1(smoothed:argmax(), run.data.labels, test)))
  out = succeeded("predict", run_path, "--smooth", "--inference", "sampled")
  lu.assertEquals(#lines_of(out), toy.NODES + 1)
end

--- A run is used from any folder: config.json has the paths of the data set and of its split from
-- the root.
function tests.test_from_another_folder()
  local here <close> = shell.folder()
  local there <close> = shell.folder()
  ladies.data.save(toy.new(true), here.path .. "/toy.npz")
  for name, nodes in pairs{train = "0\n1\n2\n5\n", val = "3\n4\n", test = "6\n7\n"} do
    ladies.file.write(here.path .. "/" .. name, nodes)
  end
  local function run(folder, ...)
    return (shell.succeeded(shell.run_ladies({...}, {folder = folder.path})))
  end
  run(here, "train", "./toy.npz", "--split", "./train,val,test", "--layers", "1", "--max-batches",
    "2", "--quiet", "--out", "run")
  local config = json.decode(ladies.file.read(here.path .. "/run/config.json"))
  lu.assertEquals({config.dataset, config.split}, {here.path .. "/toy.npz",
    ("%s/train,%s/val,%s/test"):format(here.path, here.path, here.path)})
  local path = here.path .. "/run"
  lu.assertStrContains(run(there, "evaluate", path), "run on toy, test: 2 nodes")
  run(there, "train", "--resume", path, "--max-batches", "3", "--quiet")
  run(here, "train", "--resume", "run", "--max-batches", "4", "--quiet")
end

-- ---------------------------------------------------------------- evaluate

--- Options may stand before the run.
function tests.test_options_before_positionals()
  local run = trained()
  local before = succeeded("evaluate", "--split", "val", run)
  local after = succeeded("evaluate", run, "--split", "val")
  local function scores(text) return text:match "\n(.*)" end      -- without the time
  lu.assertEquals(scores(before), scores(after))
  lu.assertEquals(succeeded("predict", "--split=val", run),
    succeeded("predict", run, "--split=val"))
  succeeded("info", "--split-seed", "2", data_file)
  succeeded("train", "--quiet", "--out", temporary.path "before", "--layers", "1", "--max-batches",
    "1", "--", data_file)
end

--- Exact scores are those that the run ended with, on every part of the split.
function tests.test_evaluate()
  local run = trained()
  local summary = require "ladies.base.json".decode(ladies.file.read(run .. "/summary.json"))
  local out = succeeded("evaluate", run)
  lu.assertStrContains(out, ("test micro-F1 %.4f\n"):format(summary.test_f1))
  -- A third of the nodes has each class: precision 1/3 and recall 1 of one, an F1 of 1/2.
  lu.assertStrContains(out, "\nblind micro-F1 0.3333, macro-F1 0.1667: the first of 3 classes of "
    .. "most training nodes, for all\n")
  out = succeeded("evaluate", run, "--split", "val")
  lu.assertStrContains(out, ("val micro-F1 %.4f\n"):format(summary.val_f1))
  lu.assertStrContains(out, "val macro-F1")
  lu.assertStrContains(succeeded("evaluate", run, "--split=labelled"), "180 nodes")
end

--- The logits of sampled inference come near the exact ones with samples and draws, and the seed
-- decides them.
function tests.test_sampled_inference()
  local run = ladies.saved_run(trained())
  local nodes = run:units "test"
  local exact = run:logits(nodes, {})
  local function distance(opts)
    opts.how = "sampled"
    return (run:logits(nodes, opts) - exact):norm() / exact:norm()
  end
  lu.assertTrue(distance{samples = 180} < 1e-5)
  local few, many = distance{samples = 20}, distance{samples = 20, draws = 30}
  lu.assertTrue(many < few / 2, few .. ", " .. many)
  lu.assertEquals(distance{samples = 20, seed = 7}, distance{samples = 20, seed = 7})
  lu.assertNotEquals(distance{samples = 20, seed = 7}, few)
end

--- A line says so where a method draws nothing, or its estimate is exact.
function tests.test_sampled_inference_of_methods()
  local run = ladies.saved_run(trained())
  local nodes = run:units "test"
  for text, opts in pairs{
    ["full has no sampled inference: it does not sample"] = {"full"},
    ["vrgcn has no sampled inference: with the histories of the finished model"] = {"vrgcn"},
    ["clustergcn takes no number of samples"] = {"clustergcn", 20},
  } do
    run.config = ladies.experiment.configure{method = opts[1]}
    lu.assertErrorMsgContains(text, run.logits, run, nodes, {how = "sampled", samples = opts[2]})
  end
end

-- ---------------------------------------------------------------- predict

function tests.test_predictions_as_csv()
  local run = trained()
  local lines = lines_of(succeeded("predict", run, "--split", "test"))
  lu.assertEquals(lines[1], "node,predicted,class,probability,label,label_class,split")
  local saved = ladies.saved_run(run)
  local nodes, logits = saved:units "test", saved:logits(saved:units "test", {})
  lu.assertEquals(#lines, 1 + #nodes)
  local names = {[0] = "a", '"b ""quoted"", with a comma"', "c"}
  for i = 1, #nodes do
    local node, class, rest = lines[i + 1]:match "^(%d+),(%d+),(.*)$"
    lu.assertEquals(tonumber(node), nodes[i] - 1)
    lu.assertEquals(tonumber(class), logits:argmax()[i] - 1)
    local name = names[tonumber(class)]
    lu.assertEquals(rest:sub(1, #name + 1), name .. ",")
    local p, label, word, part = rest:sub(#name + 2):match "^([%d.]+),(%d+),(.+),(%a*)$"
    lu.assertAlmostEquals(tonumber(p), logits:log_softmax():exp():get(i, class + 1), 1e-6)
    lu.assertEquals(tonumber(label), saved.data.labels[nodes[i]] - 1)
    lu.assertEquals({word, part}, {names[tonumber(label)], "test"})
  end
end

--- The files of predictions hold the same numbers, and all nodes unless told otherwise.
function tests.test_predictions_in_files()
  local run, csv, npz = trained(), temporary.path "p.csv", temporary.path "p.npz"
  lu.assertEquals(succeeded("predict", run, "--out", csv), csv .. ": 180 nodes, a line each: node, "
    .. "predicted, class, probability, label, label_class, split\n")
  local out = succeeded("predict", run)
  lu.assertEquals(ladies.file.read(csv), out)
  lu.assertEquals(#lines_of(out), 181)
  lu.assertEquals(succeeded("predict", run, "--out", npz), npz .. ": class_names, labels, nodes, "
    .. "predicted, probabilities, split, split_names of 180 nodes\n")
  local file, saved = ladies.npz.open(npz), ladies.saved_run(run)
  local logits = saved:logits(saved:units "all", {})
  compare.assert_close(file:tensor "probabilities", logits:log_softmax():exp(), 1e-6, "softmax")
  lu.assertTrue(file:index "predicted" == logits:argmax())
  lu.assertTrue(file:index "labels" == saved.data.labels)
  lu.assertEquals(file:strings "class_names", saved.data.class_names)
  local sizes = file:index "split":counts(3)
  lu.assertEquals(sizes, {#saved.data.train, #saved.data.val, #saved.data.test})
  lu.assertEquals(file:strings "split_names", {"train", "val", "test"})
  local one = ladies.npz.open(run .. "/predictions.npz")
  for _, name in ipairs{"class_names", "split_names"} do
    lu.assertEquals(one:strings(name), file:strings(name))
  end
  lu.assertTrue(one:index "split" == file:index "split")
  -- Each part has its own nodes, and nothing stands behind the comma for a node in none.
  local parts = {train = 0, val = 0, test = 0, [""] = 0}
  for i, line in ipairs(lines_of(out)) do
    local part = line:match ",(%a*)$"
    if i > 1 then parts[part] = parts[part] + 1 end
  end
  lu.assertEquals({parts.train, parts.val, parts.test}, sizes)
end

--- The classes of a node stand side by side in predictions of several classes.
function tests.test_predictions_of_several_classes()
  local data = toy.new()
  data.multilabel, data.labels = true, ladies.tensor{{1, 0, 1}, {0, 0, 0}, {0 / 0, 0 / 0, 0 / 0}}
  data.train, data.val, data.test = ladies.index{1}, ladies.index{3}, nil
  local task = ladies.task.node_classification(data)
  local nodes, logits = ladies.index{1, 2, 3}, ladies.tensor{{1, 2, -1}, {-1, -1, -1}, {-1, -1, 3}}
  local pieces = {}
  lu.assertEquals(predictions.write_csv(task, nodes, logits, function(text)
    pieces[#pieces + 1] = text
  end), "node,predicted,labels,split")
  lu.assertEquals(table.concat(pieces),
    "node,predicted,labels,split\n0,0 1,0 2,train\n1,,,\n2,2,-1,val\n")
  local path = temporary.path "several.npz"
  ladies.npz.write(path, predictions.arrays(task, nodes, logits, true))
  local file = ladies.npz.open(path)
  lu.assertEquals(file:numbers "predicted", {{1, 1, 0}, {0, 0, 0}, {0, 0, 1}})
  lu.assertEquals(file:numbers "labels", {{1, 0, 1}, {0, 0, 0}, {-1, -1, -1}})
  compare.assert_close(file:tensor "probabilities", logits:sigmoid(), 1e-6, "sigmoid")
end

-- ---------------------------------------------------------------- what is refused

local function refused(text, ...)
  shell.refuses(text, shell.run_ladies{...})
end

function tests.test_refusals()
  local run = trained()
  refused("which run?", "evaluate")
  refused("the path of a folder is empty", "evaluate", "")
  refused("there is no run in /nowhere", "evaluate", "/nowhere")
  local study = temporary.path "study"
  own_folder.at(study):make "study"
  refused(study .. " holds a study, not a run", "evaluate", study)
  refused("--out must end in .csv or .npz", "predict", run, "--out", "x.txt")
  local unfinished = temporary.path "unfinished"
  ladies.folder.make(unfinished)
  ladies.file.write(unfinished .. "/config.json", '{"preset": "default"}')
  refused("is not finished; go on with", "evaluate", unfinished)
  ladies.file.write(unfinished .. "/summary.json", '{"trouble": "batch 2: the loss is nan"}')
  refused("has no model: batch 2: the loss is nan", "evaluate", unfinished)
  local data, path = toy.new(true), temporary.path "no_val.npz"
  data.val, data.features = nil, data.features:scale_rows(ladies.full(toy.NODES, 2))
  ladies.data.save(data, path)
  refused("no_val has no val nodes", "evaluate", run, "--split=val", "--dataset", path)
end

--- Options of sampled inference say nothing about exact inference.
function tests.test_options_without_effect()
  for _, command in ipairs{"evaluate", "predict"} do
    for option, value in pairs{samples = "3", draws = "7", seed = "4"} do
      refused(("ladies %s: --%s is of sampled inference; add --inference sampled"):format(command,
        option), command, trained(), "--" .. option, value)
    end
  end
  local run = ladies.saved_run(trained())
  local nodes = run:units "test"
  for given, text in pairs{
    [{hwo = "sampled"}] = 'run:logits: unknown option "hwo"; did you mean "how"?',
    [{draws = 3}] = 'run:logits: draws is of sampled inference, and how is "exact"',
    [{how = "sampled", memory = "1G"}] = 'memory is of exact inference, and how is "sampled"',
  } do
    lu.assertErrorMsgContains(text, run.logits, run, nodes, given)
  end
  lu.assertErrorMsgContains("run:scores: draws is of", run.scores, run, nodes, {draws = 3})
  lu.assertErrorMsgContains("run:top: draws is of", run.top, run, 3, {draws = 3})
end

--- Neither the files of the run nor the data set are written over by predictions.
function tests.test_predictions_spare_the_run()
  local run = trained()
  local model, data = ladies.file.read(run .. "/model.npz"), ladies.file.read(data_file)
  refused("is model.npz of the run", "predict", run, "--out", run .. "/./model.npz")
  refused("is predictions.npz of the run", "predict", run, "--out", run .. "/predictions.npz")
  refused("is of the data set toy", "predict", run, "--out", data_file)
  lu.assertEquals(ladies.file.read(run .. "/model.npz"), model)
  lu.assertEquals(ladies.file.read(data_file), data)
  for _ = 1, 2 do succeeded("predict", run, "--out", run .. "/mine.csv") end
end

--- A data set that is not what it was when the run began has to be named.
function tests.test_changed_data()
  local run, before = trained(), ladies.file.read(data_file)
  local data = ladies.data.load(data_file)
  data.features = data.features:scale_rows(ladies.full(toy.NODES, 2))
  ladies.data.save(data, data_file)
  local function restore() ladies.file.write(data_file, before) end
  local _ <close> = setmetatable({}, {__close = restore})
  for _, command in ipairs{"evaluate", "predict"} do
    refused("toy has changed since the run (features); to use the model on it all the same",
      command, run)
    succeeded(command, run, "--dataset", data_file)
  end
end

--- A data set that the model does not fit is refused.
function tests.test_another_data_set()
  lu.assertErrorMsgContains("is for 12 features and has 3 outputs, wordnet has", ladies.saved_run,
    trained(), {dataset = "wordnet"})
end

--- Names of features or targets that are not the run's in the run's order, and of classes that are
-- not the run's, are refused; of none, nothing is known.
function tests.test_names_that_are_not_the_runs()
  local here <close> = shell.folder()
  local function saved(name, features, classes)
    local data, path = toy.new(true), ("%s/%s.npz"):format(here.path, name)
    data.features, data.class_names = data.features:to_dense():slice_cols(1, 3), classes
    data.feature_names = features
    ladies.data.save(data, path)
    return path
  end
  local classes, run = {"x", "y", "z"}, here.path .. "/run"
  local own = saved("own", {"age", "income", "height"}, classes)
  shell.succeeded(shell.run_ladies{"train", own, "--layers", "1", "--max-batches", "2", "--quiet",
    "--out", run})
  for text, path in pairs{
    ['evaluate: RUN: the feature_names of permuted must be those of the run, in the same order: '
      .. '"income" stands where the run has "age"'] =
      saved("permuted", {"income", "age", "height"}, classes),
    ['the class_names of others must be those of the run, in any order: "w" stands where the run '
      .. 'has "y"'] = saved("others", nil, {"x", "w", "y"}),
  } do
    refused(text:gsub("RUN", run), "evaluate", run, "--dataset", path)
    lu.assertErrorMsgContains("must be those of the run", ladies.saved_run, run,
      {data = ladies.data.load(path)})
  end
  for _, path in ipairs{own, saved("nameless")} do succeeded("evaluate", run, "--dataset", path) end
end

--- A model whose logits are no numbers is neither scored nor shown.
function tests.test_logits_that_are_no_numbers()
  local copy = temporary.path "nan"
  os.execute(("cp -r %s %s"):format(shell.quote(trained()), shell.quote(copy)))
  local model = ladies.load_model(copy)
  model:named_parameters()[1].tensor:fill_(0 / 0)
  ladies.save_model(model, copy .. "/model.npz")
  for _, words in ipairs{{"evaluate"}, {"evaluate", "--smooth"}, {"predict"}, {"view"},
      {"evaluate", "--inference", "sampled"}} do
    table.insert(words, 2, copy)
    lu.assertStrMatches(shell.refused(shell.run_ladies(words)), "[^\n]*the model's logits are not "
      .. "finite: those of node %d+ %(from 0%) have nan\n")
  end
end

return tests
