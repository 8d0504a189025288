--- Methods and models of one's own at the commands: --method FILE.lua and --model FILE.lua in
-- train, compare and sweep, samplers as functions, resumed runs, and what is wrong in such code.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local file = require "tools.own_file"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

-- LADIES by hand: with the options of `same` it draws what --method ladies draws.
local SAMPLER = [[
local ladies = require "ladies"
return function(P, settings)
  return ladies.samplers.ladies(P, {samples = settings.samples, layers = settings.layers,
    self_nodes = "previous"})
end
]]

-- The method as an entry, with a setting of its own.
local ENTRY = [[
local ladies = require "ladies"
return {
  title = "Mine",
  settings = {"samples", {"first", "positive integer", default = 3, help = "samples of layer 1"}},
  defaults = {samples = 5},
  make = function(P, settings, data, model)
    assert(data.features.n_cols == 12 and model.layer)
    local samples = {settings.first}
    for layer = 2, settings.layers do samples[layer] = settings.samples end
    return ladies.samplers.ladies(P, {samples = samples})
  end,
}
]]

local MODEL = [[
local ladies = require "ladies"
return {
  settings = {"dropout", {"gain", "number", default = 1, help = "of the logits"}},
  make = function(settings, data)
    local model = {normalize = settings.normalize, n_layers = settings.layers, layers = {}}
    for i = 1, settings.layers do
      model.layers[i] = ladies.nn.gcn_conv{
        inputs = i == 1 and data.features.n_cols or settings.hidden,
        outputs = i == settings.layers and data.classes or settings.hidden,
        rng = ladies.rng(settings.seed):fork(i),
      }
    end
    function model:layer(i, h, block)
      h = self.layers[i]:forward(h, block.adj)
      return i < self.n_layers and h:relu() or h * settings.gain
    end
    function model:forward(features, batch)
      local h = features:rows(batch.input)
      for i, block in ipairs(batch.blocks) do h = self:layer(i, h, block) end
      return h
    end
    return model
  end,
}
]]

local SMALL = {"--layers", "2", "--hidden", "8", "--batch-size", "20", "--max-batches", "12",
  "--eval-every", "4", "--quiet"}

-- Runs `ladies COMMAND ...` with small settings; returns its output.
local function run(command, ...)
  local words = table.pack(command, ...)
  return shell.silent(shell.run_ladies(table.move(SMALL, 1, #SMALL, #words + 1, words)))
end

local function train(folder, ...)
  return run("train", toy_study.dataset, "--out", temporary.path(folder), ...)
end

local function refused(expected_status, text, ...)
  local _, err, status = shell.run_ladies{...}
  lu.assertEquals(status, expected_status, err)
  lu.assertStrContains(err, text)
  lu.assertEquals(select(2, err:gsub("\n", "")), 1, err)
end

local function run_evaluate(folder, ...)
  return shell.silent(shell.run_ladies{"evaluate", folder, ...})
end

local function config_of(folder)
  return json.decode(ladies.file.read(temporary.path(folder) .. "/config.json"))
end

-- ---------------------------------------------------------------- train

--- A function in a file draws as the method that it copies, so the models are equal bit for bit.
function tests.test_train()
  local path = file("mine", SAMPLER)
  train("own", "--method", path, "--samples", "10")
  train("theirs", "--method", "ladies", "--samples", "10", "--self-nodes", "previous")
  lu.assertTrue(ladies.file.read(temporary.path "own" .. "/model.npz")
    == ladies.file.read(temporary.path "theirs" .. "/model.npz"))
  local config = config_of "own"
  lu.assertEquals({config.method, config.method_file, #config.method_code}, {"mine", path, 16})
end

--- An entry has settings of its own: in the help, on the command line, in config.json, in titles.
function tests.test_settings_of_ones_own()
  local path = file("mine", ENTRY)
  local help = shell.run_ladies{"train", "--help", "--method", path}
  lu.assertStrContains(help:gsub("%s+", " "), "--first N samples of layer 1 (default 3)")
  lu.assertNil(shell.run_ladies{"train", "--help"}:find("--first", 1, true))
  local out = train("entry", "--first", "7", "--method=" .. path)
  lu.assertStrContains(out, "Mine (5)")
  lu.assertStrMatches(out, ".*first%s+7[,\n].*")
  lu.assertEquals(config_of "entry".first, 7)
  refused(1, "the method mine has no draw, a setting of ", "train",
    toy_study.dataset, "--method", path, "--draw", "wr")
  refused(2, "--first must be a positive integer, got 0", "train", "--method", path, "--first", "0")
end

--- The settings of a run with a method of one's own serve --config once its file is named, also
-- after a change, but not where another method is named in its place.
function tests.test_settings_of_a_run()
  local path = file("again", ENTRY)
  train("again", "--method", path, "--first", "7")
  local stored = temporary.path "again" .. "/config.json"
  ladies.file.write(path, ENTRY .. "-- changed\n")
  run("train", "--config", stored, "--method", path, "--out", temporary.path "again-2")
  lu.assertEquals(config_of "again-2", config_of "again")
  ladies.file.write(path, (ENTRY:gsub("== 12", "> 11")))
  run("train", "--config", stored, "--method", path, "--out", temporary.path "again-3")
  lu.assertNotEquals(config_of "again-3".method_code, config_of "again".method_code)
  refused(1, 'config.json: there is no setting "first"', "train", "--config", stored,
    "--method", "full")
  refused(1, "which is to be named again: --method FILE.lua", "train", "--config", stored)
end

--- A model of one's own; its run is evaluated with the same file, and not with another.
function tests.test_model()
  local path = file("net", MODEL)
  local out = train("modelled", "--model", path, "--gain", "0.5", "--samples", "10")
  local f1 = out:match "test micro%-F1 (%S+)"
  local folder = temporary.path "modelled"
  lu.assertStrContains(run_evaluate(folder, "--model", path), "test micro-F1 " .. f1)
  refused(1, "is code of one's own, which is to be named again: --model FILE.lua", "evaluate",
    folder)
  ladies.file.write(path, (MODEL:gsub("relu", "elu")))
  refused(1, "the code of the model net, of " .. path .. ", has changed", "evaluate", folder,
    "--model", path)
  refused(1, "the model net has no head, a setting of gat, gatv2, gcn, gin, gine, jk, pna, rgcn, "
    .. "sage, transformer; its own",
    "train", toy_study.dataset, "--model", path, "--head", "linear")
end

--- Of features of edges it is told for a model of the library alone that it does not read them: one
-- of one's own may.
function tests.test_a_model_that_reads_edges()
  local path = temporary.path "edges.npz"
  local arrays = toy.with_edges(toy.new())
  arrays.directed = "keep"
  ladies.data.save(ladies.data.from_arrays(arrays), path)
  local function told(model)
    local _, err = shell.succeeded(shell.run_ladies{"train", path, "--model", model, "--layers",
      "1", "--max-batches", "2", "--out", temporary.path("edges " .. model:match "[^/]*$")})
    return err
  end
  local reads = file("reads", [[
local ladies = require "ladies"
return function(settings, data)
  return ladies.nn.gine{inputs = data.features.n_cols, outputs = data.classes, hidden = 8,
    layers = settings.layers, edge_inputs = data.edges.features.n_cols}
end
]])
  lu.assertNotStrContains(told(reads), "features, which")
  lu.assertStrContains(told "sage", "its edges have features, which the network sage does not "
    .. "read; these do: gatv2, gine, pna, transformer\n")
end

--- A run goes on with its code alone, wherever the file lies: data loads none.
function tests.test_resume()
  local path, folder = file("mine", SAMPLER), temporary.path "resumed"
  train("resumed", "--method", path)
  refused(1, ("the method mine, of %s, is code of one's own, which is to be named again: --method "
    .. "FILE.lua"):format(path), "train", "--resume", folder)
  local moved = file("mine", "-- Moved.\n\n" .. SAMPLER)
  shell.silent(shell.run_ladies{"train", "--resume", folder, "--method", moved,
    "--max-batches", "20", "--quiet"})
  lu.assertEquals(config_of "resumed".method_file, moved)
  local changed = file("mine", (SAMPLER:gsub("previous", "none")))
  refused(1, "the code of the method mine, of " .. moved .. ", has changed", "train", "--resume",
    folder, "--method", changed)
  refused(1, "--method cannot change when a run is resumed", "train", "--resume", folder,
    "--method", "ladies")
end

--- Sampled inference of a run with a method of one's own takes its file again.
function tests.test_evaluate()
  local path, folder = file("mine", SAMPLER), temporary.path "evaluated"
  local f1 = train("evaluated", "--method", path):match "test micro%-F1 (%S+)"
  lu.assertStrContains(run_evaluate(folder), "test micro-F1 " .. f1)
  refused(1, "is code of one's own, which is to be named again: --method FILE.lua", "evaluate",
    folder, "--inference", "sampled")
  run_evaluate(folder, "--inference", "sampled", "--method", path, "--samples", "9")
  train("plain", "--method", "ladies")
  refused(1, "the run was not trained with a method of one's own", "evaluate",
    temporary.path "plain", "--method", path)
end

-- ---------------------------------------------------------------- studies

function tests.test_compare()
  local path = file("mine", SAMPLER)
  local out = run("compare", "--methods", "ladies:10," .. path .. ":10", "--self-nodes", "previous",
    "--dataset", toy_study.dataset, "--runs", "2", "--out", temporary.path "compared")
  local function f1(title) return out:match("\n| " .. title .. " +| +([^|]*)|") end
  lu.assertNotNil(f1 "mine %(10%)")
  lu.assertEquals(f1 "mine %(10%)", f1 "LADIES %(10%)")
end

--- The processes of a sweep load the file too, with its own settings; one that was edited since is
-- told. The configuration of a record is that of a run which comes to the same.
function tests.test_sweep()
  local path, folder = file("mine", ENTRY), temporary.path "swept"
  local words = {"sweep", "--vary", "first=2,30", "--methods", path, "--datasets",
    toy_study.dataset, "--runs", "2", "--jobs", "2", "--out", folder}
  local out = run(table.unpack(words))
  lu.assertStrContains(out, "| first 2 ")
  lu.assertStrContains(out, "toy, Mine")
  local records, n = toy_study.records_of(folder)
  lu.assertEquals(n, 4)
  local rows = {}
  for _, record in pairs(records) do rows[record.config.first] = record.input_rows end
  lu.assertTrue(rows[2] < rows[30])
  local one, of_one = select(2, next(records)), temporary.path "of one.json"
  ladies.file.write(of_one, json.encode(one.config))
  local alone = temporary.path "alone"
  run("train", "--config", of_one, "--method", path, "--out", alone)
  local summary = json.decode(ladies.file.read(alone .. "/summary.json"))
  lu.assertEquals({summary.test_f1, summary.best_batch}, {one.test_f1, one.best_batch})
  run(table.unpack(words))                                  -- nothing anew
  lu.assertEquals(select(2, toy_study.records_of(folder)), 4)
  ladies.file.write(path, (ENTRY:gsub("settings.samples", "settings.samples + 1")))
  run(table.unpack(words))                                  -- all anew
  lu.assertEquals(select(2, ladies.file.read(folder .. "/results.jsonl"):gsub("\n", "")), 8)
end

--- A method of one's own is measured by `ladies variance` beside those of the paper, with its own
-- settings.
function tests.test_variance()
  local out = shell.silent(shell.run_ladies{"variance", "--methods",
    "ladies," .. file("mine", ENTRY), "--first", "9", "--datasets", toy_study.dataset, "--samples",
    "8", "--batches", "2", "--draws", "4", "--quick", "--quiet", "--out",
    temporary.path "measured"})
  lu.assertStrMatches(out, ".*\n| Mine +|.*")
  local found
  for key in pairs((toy_study.records_of(temporary.path "measured"))) do
    found = found or key:find("mine, 8 samples, 2 layers", 1, true)
  end
  lu.assertNotNil(found)
end

--- Samplers may be functions, in this process alone.
function tests.test_functions()
  local function sampler(P, data, model)
    lu.assertEquals({data.name, model.n_layers}, {"toy", 2})
    return ladies.samplers.ladies(P, {samples = {10, 10}, self_nodes = "previous"})
  end
  local settings = {dataset = toy_study.dataset, layers = 2, hidden = 8, batch_size = 20,
    max_batches = 6}
  local own = {name = "by_hand", sampler = sampler}
  local result = ladies.compare{methods = {"ladies:10", own}, runs = 1, quiet = true,
    settings = settings, out = temporary.path "functions"}
  lu.assertEquals(result.rows[3][1], "by_hand")
  settings.dataset, settings.max_batches = nil, 2
  local swept = ladies.sweep{methods = {own}, vary = {{"lr", 0.01, 0.1}}, runs = 1, jobs = 2,
    datasets = {toy_study.dataset}, settings = settings, quiet = true,
    out = temporary.path "functions_swept"}
  lu.assertEquals(swept.failed, 0)
  lu.assertStrContains(swept.notes[3], "by_hand is a function, which does not cross into other "
    .. "processes: the runs went one after the other")
  methods.by_name.by_hand = nil
end

-- ---------------------------------------------------------------- what is wrong

--- A fault in the file is reported with the file and its line, one line for each.
function tests.test_faults()
  for code, text in pairs{
    ["return function(P) return P:no_such() end"] = "%s:1: ",
    ["\nreturn function(P) return x.y end"] = "%s:2: attempt to index a nil value",
    ["return function(P, s)\n  return ladies.samplers.ladies(P, {samples = {0}})\nend"] = "%s:2: ",
    ["local ladies = require 'ladies'\nreturn function(P)\n"
      .. "return ladies.samplers.ladies(P, {samples = {0}}) end"] =
      "%s: ladies.samplers.ladies: samples[1] must be a positive integer, got 0",
    ["return function() return function() error 'no' end end"] = "epoch 1, batch 1: no",
    ["return function() return function()\nerror {} end end"] = "%s:2: (error object is a table",
    ["\nerror {}"] = "%s:2: (error object is a table value)",
    ["return function() end"] = "%s: what it makes must be a callable, got nil",
    ["return {make = print, settings = {'dropout'}}"] =
      "%s: settings[1]: dropout is no setting of a sampler",
    ["return {settings = {'samples'}}"] = "%s: make must be a callable, got nil",
    ["return {make = print, setings = {}}"] = 'unknown option "setings"; did you mean "settings"?',
    ["\nrequire 'no_such'"] = "%s:2: module 'no_such' not found; it may lie where LUA_PATH or, ",
    ["return 7"] = "%s: what the file returns must be a function or a table, got 7",
  } do
    local path = file("mine", code)
    local _, err, status = shell.run_ladies{"train", toy_study.dataset, "--method", path,
      "--layers", "1", "--quiet", "--out", temporary.path "faulty"}
    shell.refuses((text:gsub("%%s", (path:gsub("%%", "%%%%")))), "", err,
      status == 2 and 1 or status)                       -- 2: of the command line itself
  end
  refused(2, "no/mine.lua: cannot be opened", "train", "--method", "no/mine.lua")
  refused(2, "there is a method ladies already; choose another name", "train", "--method",
    file("ladies", SAMPLER))
  refused(2, "must be of letters, digits and _", "train", "--method", file("my-own", SAMPLER))
  refused(2, 'did you mean "ladies"?', "train", "--method", "lades")
end

--- An error that is an object is reported with its line, also where a worker raises it, whatever
-- its text does.
function tests.test_objects_as_errors()
  local runs = 0
  for object, text in pairs{
    ["{}"] = "(error object is a table value)",
    ["setmetatable({}, {__tostring = function() return 'mine!' end})"] = "mine!",
    ["setmetatable({}, {__tostring = error})"] = "(error object is a table value)",
  } do
    local path = file("mine", SAMPLER:gsub("return ladies.samplers.ladies(%b())",
      "local sampler = ladies.samplers.ladies%1\n"
      .. "return function(seeds, rng, at)\nif at.index > 3 then error(%%s) end\n"
      .. "return sampler(seeds, rng) end"):format(object))
    for _, workers in ipairs{"0", "2"} do
      runs = runs + 1
      refused(1, ("ladies train: %s:6: %s\n"):format(path, text), "train", toy_study.dataset,
        "--method", path, "--layers", "1", "--samples", "10", "--batch-size", "10", "--workers",
        workers, "--quiet", "--out", temporary.path("objects" .. runs))
    end
  end
end

--- A misspelt setting is refused, also in a draw that another thread makes; one that a run may
-- have, and this one has not, is nil.
function tests.test_a_misspelt_setting()
  local wrong = 'settings: there is no setting "sampels"; did you mean "samples"?'
  local at_once = file("mine", "return function(P, settings)\n  return settings.sampels\nend")
  refused(1, ("%s:2: %s"):format(at_once, wrong), "train", toy_study.dataset, "--method", at_once,
    "--quiet", "--out", temporary.path "misspelt")
  local model = file("net", "return function(settings)\n  return {n = settings.sampels}\nend")
  refused(1, ("%s:2: %s"):format(model, wrong), "train", toy_study.dataset, "--model", model,
    "--quiet", "--out", temporary.path "misspelt")
  for _, workers in ipairs{"0", "2"} do
    local later = file("mine", "return function(P, settings)\nreturn function()\n"
      .. "local n = settings.sampels end end")
    refused(1, ("%s:3: sampler of %s:2, epoch 1, batch 1: %s"):format(later, later, wrong), "train",
      toy_study.dataset, "--method", later, "--workers", workers, "--quiet", "--out",
      temporary.path "misspelt")
  end
  train("all-settings", "--method", file("mine", [[
local ladies = require "ladies"
return function(P, settings)
  local names = {}
  for name in pairs(settings) do names[name] = true end
  assert(names.samples and names.layers and names.method)
  assert(settings.max_seconds == nil and settings.attention == nil and settings[1] == nil)
  return ladies.samplers.ladies(P, {samples = settings.samples, layers = settings.layers})
end
]]))
end

--- A process that names hundreds of methods, as a search does, holds what each one takes, and no
-- list of all for each.
function tests.test_hundreds_of_methods()
  local function heap_after(first, last)
    for i = first, last do
      ladies.experiment.configure(ladies.experiment.own{method = {
        name = ("a_method_that_has_a_name_of_some_length_%d"):format(i),
        sampler = function(P) return ladies.samplers.full(P, {layers = 2}) end}})
    end
    collectgarbage()
    collectgarbage()
    return collectgarbage "count"
  end
  local before = heap_after(1, 50)
  local each = (heap_after(51, 250) - before) / 200
  for name in pairs(methods.by_name) do
    if name:find "^a_method_that" then methods.by_name[name] = nil end
  end
  lu.assertTrue(each < 10, each)                   -- KB
end

--- A module of one's own is found where LUA_PATH names its folder from the root.
function tests.test_modules_of_a_file()
  local folder <close> = shell.folder()
  ladies.file.write(folder.path .. "/mine.lua", "require 'no_such'\n" .. SAMPLER)
  ladies.file.write(folder.path .. "/no_such.lua", "return 1")
  local arguments = {"train", toy_study.dataset, "--method", "mine.lua", "--max-batches", "1",
    "--layers", "1", "--quiet"}
  for path, wanted in pairs{["?.lua;;"] = 2, [folder.path .. "/?.lua;;"] = 0} do
    local _, err, status = shell.run_ladies(arguments, {folder = folder.path,
      env = {"LUA_PATH=" .. path}})
    lu.assertEquals(status, wanted, err)
  end
end

--- An error on the name of a file here without its ending says what it lacks, wherever a method is
-- named.
function tests.test_a_file_without_its_ending()
  local folder <close> = shell.folder()
  ladies.file.write(folder.path .. "/own.lua", SAMPLER)
  local function refused_here(text, ...)
    local _, err, status = shell.run_ladies({...}, {folder = folder.path})
    lu.assertTrue(status > 0)
    lu.assertStrMatches(err, "[^\n]*\n")
    lu.assertStrContains(err, text .. ' is called "own"; for the file in this folder write own.lua')
  end
  refused_here("--method: no method", "train", "--method", "own")
  refused_here("--model: no model", "train", "--model", "own")
  refused_here("ladies lab: no method", "lab", "own:64", "--dataset", toy_study.dataset)
  refused_here("ladies compare: no method", "compare", "--methods", "full,own:3")
  lu.assertErrorMsgContains('must be one of asgcn', ladies.experiment.own, {method = "own"})
end

return tests
