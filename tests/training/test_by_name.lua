--- `ladies train` and ladies.train take their options and defaults from one table; that table also
-- says which of them must be equal when a run goes on.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local declared = require "ladies.training.declared"
local graphs = require "reference.graphs"
local methods = require "ladies.experiment.methods"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"
local toy_training = require "reference.toy_training"

local fails = lu.assertErrorMsgContains
local tests = {}

-- Settings that some methods cannot do without.
local OWN = {clustergcn = {partition = "random"}, none = {model = "mlp"},
  temporal = {task = "link_prediction"}}

local COMMON = {layers = 2, hidden = 8, max_batches = 12}

local function words_of(settings)
  local words = {}
  for _, name in ipairs(tables.sorted_keys(settings)) do
    words[#words + 1] = ("--%s=%s"):format(name:gsub("_", "-"), settings[name])
  end
  return words
end

local function sha256(folder) return core.zip.sha256(folder .. "/model.npz") end

-- The folder of a run of the command on the data set at `path` (the toy graph), with these settings
-- and nothing else said.
local function by_command(name, settings, path)
  local folder = temporary.path(name .. " by command")
  local words = tables.append({"train", path or toy_study.dataset, "--quiet", "--out", folder},
    words_of(settings))
  shell.silent(shell.run_ladies(words))
  return folder
end

-- Returns the folder of a run of the function ladies.train with these settings, and its results.
local function by_function(name, settings, path)
  local folder = temporary.path(name .. " by function")
  local summary, model = ladies.train(tables.merged(settings,
    {data = path or toy_study.dataset, quiet = true, out = folder}))
  return folder, summary, model
end

--- Settings for reading a data set are refused where a data set is given that was read already.
function tests.test_settings_of_what_was_read()
  local data = ladies.data.load(toy_study.dataset)
  for name, value in pairs{shuffle = "labels", features = "standardized", split = "10/10/80",
    directed = "keep", make_features = "degree"} do
    fails(("ladies.train: %s is for a data set that is read by its name or path"):format(name),
      ladies.train, {data = data, [name] = value, max_batches = 1})
  end
end

--- Command and function give the same bits for every method; those that go by times have a graph
-- whose edges have some.
function tests.test_every_method()
  local timed, count = temporary.path "timed.npz", 0
  ladies.data.save(graphs.in_time(20, 150, 25, 1), timed)
  for _, name in ipairs(tables.sorted_keys(methods.by_name)) do
    local settings = tables.merged(COMMON, OWN[name], {method = name})
    local path = methods.by_name[name].in_time and timed or nil
    local one, other = by_command(name, settings, path), by_function(name, settings, path)
    lu.assertEquals(sha256(other), sha256(one), name)
    lu.assertEquals(ladies.file.read(other .. "/config.json"),
      ladies.file.read(one .. "/config.json"), name)
    count = count + 1
  end
  lu.assertTrue(count >= 17)
end

--- Command and function give the same bits for every preset, for samples behind a name, for a
-- method in a file, and for nothing but the data.
function tests.test_names()
  for i, given in ipairs{{preset = "paper"}, {preset = "code"}, {method = "graphsage:3"},
    {model = "sage", dropout = 0.5, accumulate = 2}, {}} do
    local settings, command = tables.merged(COMMON, given), tables.merged(COMMON, given)
    if given.method then command.method, command.samples = "graphsage", 3 end
    local folder, summary, model = by_function("name" .. i, settings)
    lu.assertEquals(sha256(folder), sha256(by_command("name" .. i, command)))
    lu.assertEquals(summary.batches, 12)
    lu.assertTrue(#model:parameters() > 0)
  end
end

--- Command and function give the same bits for links, too.
function tests.test_links()
  local settings = tables.merged(COMMON, {task = "link_prediction", batch_size = 40, samples = 20})
  local one, other = by_command("links", settings), by_function("links", settings)
  for _, name in ipairs{"config.json", "predictions.npz", "model.npz"} do
    lu.assertTrue(ladies.file.read(one .. "/" .. name) == ladies.file.read(other .. "/" .. name),
      name)
  end
end

--- A run that the command began goes on by the function, and the other way round.
function tests.test_going_on()
  local settings = tables.merged(COMMON, {method = "labor"})
  local whole = sha256(by_command("whole", tables.merged(settings, {max_batches = 24})))
  local folder = by_command("first", settings)
  ladies.train(tables.merged(settings, {data = toy_study.dataset, max_batches = 24, quiet = true,
    out = folder, resume = true}))
  lu.assertEquals(sha256(folder), whole)
  folder = by_function("second", settings)
  lu.assertEquals(select(3, shell.run_ladies{"train", "--resume", folder, "--max-batches=24",
    "--quiet"}), 0)
  lu.assertEquals(sha256(folder), whole)
end

--- Parts that were built by hand as the settings say give the same bits again, with nothing else
-- said.
function tests.test_built_by_hand()
  local data = ladies.data.load(toy_study.dataset)
  local P = data.graph:normalize "sym"
  local config = ladies.experiment.configure(COMMON)
  ladies.experiment.resolve(config, data)
  local folder = temporary.path "by hand"
  local result = ladies.train{data = data, out = folder, quiet = true, max_batches = 12,
    sampler = ladies.samplers.ladies(P, {samples = config.samples, layers = 2,
      self_nodes = config.self_nodes}),
    model = ladies.nn.gcnii{inputs = data.features.n_cols, outputs = data.classes, hidden = 8,
      layers = 2, dropout = config.dropout}}
  lu.assertEquals(sha256(folder), sha256(by_command("of settings", COMMON)))
  lu.assertEquals(#result.history, 2)                -- every 10 batches, and at the end
end

--- The function takes a data set as it is, with a method by name; and callbacks, which settings do
-- not say.
function tests.test_data_as_it_is()
  local seen, data = 0, toy.new(true)
  local summary = ladies.train(tables.merged(COMMON, {data = data, method = "fastgcn",
    quiet = true, on_batch = function() seen = seen + 1 end}))
  lu.assertEquals({seen, summary.method}, {12, "FastGCN (512)"})
end

function tests.test_errors()
  local data = toy.new()
  local function wrong(text, given) fails(text, ladies.train, given) end
  wrong('ladies.train: there is no setting "sampels"; did you mean "samples"?',
    {data = data, sampels = 3})
  wrong("the method full has no parts, a setting of clustergcn, rns",
    {data = data, method = "full", parts = 3})
  wrong('method must be one of', {data = data, method = "lades"})
  wrong("ladies.train: quiet must be true or false, got 3", {data = data, quiet = 3})
  wrong("optimizer follows from the settings", {data = data,
    optimizer = ladies.optim.sgd({ladies.ones(1):requires_grad_()}, {lr = 1})})
  wrong("dataset is called data here", {data = data, dataset = "cora"})
  wrong('ladies.train: data = "cora" is a name; a model or a sampler that was built goes with a '
    .. "data set that was loaded", {data = "cora", model = ladies.nn.mlp{inputs = 2, outputs = 2}})
  for was, now in pairs{grad_accumulate = "accumulate", validate = "validation"} do
    wrong(("ladies.train: %s is called %s"):format(was, now), {data = data, [was] = 2})
  end
  fails("lr is a setting: it belongs to the configuration", ladies.experiment.run,
    ladies.experiment.configure(COMMON), data, {lr = 1})
end

-- ---------------------------------------------------------------- what a resume compares

-- Why a run in the folder does not go on with these options.
local function refused(folder, own)
  local ok, message = pcall(ladies.train, toy_training.options(tables.merged({out = folder,
    resume = true, max_batches = 8, quiet = true}, own)))
  if ok then return message end
  return (tostring(message):match "began there: (.*)" or tostring(message))
end

-- f with one more option of ladies.train than there are.
local function with_option(option, f)
  local list = declared.groups.script
  list[#list + 1] = option
  local ok, reason = pcall(f)
  list[#list] = nil
  lu.assertTrue(ok, reason)
end

--- An option that somebody adds is compared without any list that would have to name it too; one
-- that nobody knows how to compare is an error.
function tests.test_an_option_more()
  local folder = temporary.path "more"
  for type_text, values in pairs{["number"] = {2, 3}, ["callable"] = {function() return 2 end,
    function() return 3 end}} do
    folder = folder .. "s"
    with_option({"shiny", type_text}, function()
      ladies.train(toy_training.options{out = folder, max_batches = 4, shiny = values[1]})
      lu.assertStrMatches(refused(folder, {shiny = values[2]}), "shiny was .* and is .*")
      lu.assertStrMatches(refused(folder, {}), "shiny was .* and is not set.*")
      lu.assertEquals(refused(folder, {shiny = values[1]}).batches, 8)
    end)
  end
  with_option({"shape", "table"}, function()
    fails("how is shape compared?", ladies.train,
      toy_training.options{out = temporary.path "shape", max_batches = 4, shape = {}})
  end)
end

--- Code that a script adds to an experiment's settings is compared at a resumption, too.
function tests.test_code_beside_settings()
  local data, folder = toy.new(), temporary.path "beside"
  local function run(own)
    local config = ladies.experiment.configure(tables.merged(COMMON, {max_batches = 4}))
    return ladies.experiment.run(config, data, tables.merged({out = folder, quiet = true}, own))
  end
  run{schedule = function() return 0.5 end}
  fails("schedule was", run, {resume = true})
  fails("schedule was", run, {resume = true, schedule = function() return 0.25 end})
  run{resume = true, schedule = function() return 0.5 end, workers = 1}
end

--- Settings that a script writes into its folder do not hide its options.
function tests.test_settings_of_a_script()
  local folder = temporary.path "own settings"
  ladies.train(toy_training.options{out = folder, max_batches = 4, settings = {note = "first"}})
  lu.assertEquals(refused(folder, {settings = {note = "first"}, lr = 0.5}),
    "lr was 0.02 and is 0.5")
  lu.assertEquals(refused(folder, {settings = {note = "other"}}),
    'note was "first" and is "other"')
end

return tests
