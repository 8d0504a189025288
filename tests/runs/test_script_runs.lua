--- Runs that a script left by ladies.train{out = ...}, taken up again by `ladies evaluate` and
-- `ladies predict`: with the model, the data set and the split of the script.
local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

-- A script that trains on `data` and prints its F1. What %s stands for makes the model.
local SCRIPT = [[
local ladies = require "ladies"
local data = %s
data:split("50/20/30", {seed = 4})
local P = data.graph:normalize "sym"
local model = %s
local result = ladies.train{
  data = data, model = model, sampler = ladies.samplers.ladies(P, {samples = {20, 20}}),
  batch_size = 20, lr = 0.02, max_batches = 30, quiet = true, out = arg[1],
}
print(("%%.4f %%.4f"):format(result.test_f1, result.val_f1))
]]

local FROM_FILE = ("ladies.data.load %q"):format(toy_study.dataset)
local OURS = "ladies.nn.gcn{inputs = 12, hidden = 16, outputs = 3, layers = 2}"

-- A model of one's own: a table with two layers of ours, and a bias of its own.
local OWN_MODEL = [[
local ladies = require "ladies"
return function(settings, data)
  local layers = {
    ladies.nn.gcn_conv{inputs = data.features.n_cols, outputs = 16, rng = ladies.rng(1)},
    ladies.nn.gcn_conv{inputs = 16, outputs = data.classes, rng = ladies.rng(2)},
  }
  local model = {layers = layers, n_layers = 2, normalize = "sym"}
  function model:layer(i, h, block)
    h = self.layers[i]:forward(h, block.adj)
    return i == 1 and h:relu() or h
  end
  function model:forward(features, batch)
    local h = features:rows(batch.input)
    for i, block in ipairs(batch.blocks) do h = self:layer(i, h, block) end
    return h
  end
  return model
end
]]

-- Runs the script; returns the run's folder, and the F1s on test and validation that it printed.
local function left_by_script(data, model)
  local script <close> = shell.file(SCRIPT:format(data, model))
  local folder = temporary.path("run-" .. tostring(script):match "0x%x+")
  local out = shell.succeeded(shell.run_ladies{script.path, folder})
  local test, val = out:match "^(%S+) (%S+)\n$"
  return folder, test, val
end

local function scores(folder, part, ...)
  local out = shell.succeeded(shell.run_ladies{"evaluate", folder, "--split", part, ...})
  return out:match "micro%-F1 (%S+)"
end

local function refused(text, ...)
  shell.refuses(text, shell.run_ladies{...})
end

local ours      -- the folder of a run with our model, made once

local function run_of_ours()
  ours = ours or {left_by_script(FROM_FILE, OURS)}
  return table.unpack(ours)
end

--- The model is one of ours, the data set came from a file, and the script split its nodes.
function tests.test_evaluate_gives_the_f1_that_the_script_printed()
  local folder, test, val = run_of_ours()
  lu.assertEquals({scores(folder, "test"), scores(folder, "val")}, {test, val})
  local out = shell.run_ladies{"predict", folder, "--split", "test"}
  lu.assertEquals(select(2, out:gsub("\n", "")), 1 + 54)      -- a head, and 30 % of 180 nodes
end

--- The folder is found from anywhere, and so is its data set.
function tests.test_from_another_folder()
  local folder, test = run_of_ours()
  local out = shell.run_ladies({"evaluate", folder}, {folder = "/"})
  lu.assertStrContains(out, "test micro-F1 " .. test)
end

function tests.test_a_model_of_ones_own()
  local file <close> = shell.file(OWN_MODEL)
  local folder, test = left_by_script(FROM_FILE, ("dofile %q({}, data)"):format(file.path))
  refused("does not say how its model is built; give the model", "evaluate", folder)
  lu.assertEquals(scores(folder, "test", "--model", file.path), test)
  local run = ladies.saved_run(folder, {model = dofile(file.path)})
  local f1 = ladies.metrics.micro_f1(run:logits(run.data.test):argmax(),
    run.data.labels[run.data.test])
  lu.assertEquals(("%.4f"):format(f1), test)
end

--- Errors from a file of one's own name the file.
function tests.test_wrong_files_of_models()
  local folder = run_of_ours()
  for code, text in pairs{
    ["return 7"] = "what the file returns must be a function or a table, got 7",
    ["return function() return 7 end"] = "what it makes must be a table, got 7",
    ["return function() return nil + 1 end"] = ":1: attempt to perform arithmetic on a nil value",
    ["return function("] = ":1: <name> or '...' expected near <eof>",
  } do
    local file <close> = shell.file(code)
    refused(text, "evaluate", folder, "--model", file.path)
  end
end

--- Arrays of a script's own have no file; a file with the same content has the run's split.
function tests.test_a_data_set_of_ones_own()
  local folder, test = left_by_script(FROM_FILE .. " data.path = nil", OURS)
  refused("the run's data set was a script's own; name it with --dataset", "evaluate", folder)
  lu.assertEquals(scores(folder, "test", "--dataset", toy_study.dataset), test)
  local data = ladies.data.load(toy_study.dataset)
  local run = ladies.saved_run(folder, {data = data})
  lu.assertIs(run.data, data)
end

--- Another data set is refused unless it is named, and then has a split of its own.
function tests.test_a_data_set_that_has_changed()
  local path = temporary.path "changing.npz"
  ladies.data.save(toy.new(true), path)
  local folder = left_by_script(("ladies.data.load %q"):format(path), OURS)
  local data = ladies.data.load(path)
  data.features = data.features:scale_rows(ladies.full(toy.NODES, 2))
  ladies.data.save(data, path)
  refused("changing has changed since the run (features); to use the model on it all the same",
    "evaluate", folder)
  local run = ladies.saved_run(folder, {dataset = path})
  lu.assertTrue(run.data.test == data.test)
end

--- A finished run stands beside methods as it is, when it was trained on the same data and split.
function tests.test_compare()
  local folder, test = run_of_ours()
  local function compare(more, methods)
    local given = {methods = methods or {"ladies:5", folder}, runs = 1, quiet = true,
      out = temporary.path "compared", settings = {dataset = toy_study.dataset,
      split = "50/20/30", split_seed = 4, layers = 2, hidden = 4, batch_size = 20,
      max_batches = 10}}
    for key, value in pairs(more) do given[key] = value end
    return ladies.compare(given)
  end
  local result = compare{}
  lu.assertEquals(result.rows[2][1], "LADIES (5)")
  lu.assertEquals({result.rows[3][1], result.rows[3][2]},
    {("custom (%s)"):format(folder), ("%.2f"):format(100 * test)})
  for _, picture in ipairs(result.pictures) do
    local drawn = picture.plot.series[1]          -- of ours; ladies:5 has been validated once
    lu.assertEquals({drawn.name, #drawn.points}, {("custom (%s)"):format(folder), 3}, picture.name)
  end
  local both = compare({out = temporary.path "equal", equal = "nodes"}, {folder, "ladies:3"})
  lu.assertTrue(math.abs(tonumber(both.rows[2][9]) - tonumber(both.rows[3][9])) <= 20)
  lu.assertEquals(#compare({out = temporary.path "alone"}, {folder}).rows, 2)
  lu.assertErrorMsgContains("another data set than toy, or another split of it (test, train, val)",
    compare, {settings = {dataset = toy_study.dataset}})
  lu.assertErrorMsgContains("there is no finished run in no/where: it has no summary.json",
    compare, {}, {"full", "no/where"})
end

--- A sampler is code: a script's is given again.
function tests.test_sampled_inference()
  local folder = run_of_ours()
  refused("was trained by a script's own sampler, which is no data", "evaluate", folder,
    "--inference", "sampled")
  local data = ladies.data.load(toy_study.dataset)
  local run = ladies.saved_run(folder, {
    sampler = toy.neighbourhoods(data.graph:normalize "sym", 2),
  })
  local nodes = run:units "test"
  local exact, sampled = run:logits(nodes), run:logits(nodes, {how = "sampled"})
  lu.assertTrue((sampled - exact):norm() < 1e-5 * exact:norm())
end

--- An unfinished run of a script is left to the script, and `ladies train` does not go on with it.
function tests.test_unfinished_runs()
  local folder = run_of_ours()
  refused("is a script's, which goes on with it (resume = true)", "train", "--resume", folder)
  local unfinished = temporary.path "unfinished"
  ladies.folder.make(unfinished)
  ladies.file.write(unfinished .. "/checkpoint.npz", ladies.file.read(folder .. "/checkpoint.npz"))
  refused("is not finished; the script that began it goes on with it", "evaluate", unfinished)
end

return tests
