--- The table of settings: it is complete, it is what the command line, its help and config.json
-- have, errors name a setting's owners, and a method of one's own brings settings of its own.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local options = require "ladies.base.options"
local experiment_options = require "ladies.command.experiment_options"
local json = require "ladies.base.json"
local kinds = require "ladies.experiment.kinds"
local methods = require "ladies.experiment.methods"
local settings = require "ladies.experiment.settings"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local experiment, fails = ladies.experiment, lu.assertErrorMsgContains

local tests = {}

-- All settings by name.
local function all()
  local by_name = {}
  for _, one in ipairs(kinds.settings()) do
    by_name[one.name] = one
  end
  return by_name
end

local PLACES = {experiment = true, data = true, sampler = true, model = true, task = true,
  optimizer = true, training = true, validation = true}

function tests.test_every_setting_is_whole()
  local count, seen = 0, {}
  for _, one in ipairs(kinds.settings()) do
    lu.assertNil(seen[one.name], one.name)
    lu.assertTrue(PLACES[one.place], one.name)
    lu.assertStrMatches(one.help, "[^\n]+", nil, nil, one.name)
    options.value("test", one.name, one.default, one.type)
    seen[one.name], count = true, count + 1
  end
  lu.assertTrue(count > 40)
  for _, kind in ipairs(kinds) do
    for _, entry in pairs(kind.entries) do settings.check_entry("test", entry, kind.place) end
  end
end

--- Every setting has an effect somewhere: an entry of its kind takes it.
function tests.test_named_settings_are_taken()
  for name, one in pairs(all()) do
    local kind = kinds.of(one)
    if kind then lu.assertTrue(#settings.owners(kind.entries, name) > 0, name) end
  end
end

--- Every setting that a run stores is in the table of settings, whatever its method and preset.
function tests.test_every_key_of_config_json()
  local known, data = all(), toy.new()
  for method, entry in pairs(methods.by_name) do
    for preset in pairs(entry.in_time and {} or ladies.presets) do       -- of nodes
      local config = experiment.configure{method = method, preset = preset, dataset = "toy",
        model = methods.by_name[method].no_graph and "mlp" or nil,
        layers = 2, hidden = 4, max_batches = 1, patience = 0,
        partition = method == "clustergcn" and "random" or nil}
      local folder = temporary.path(method .. preset)
      experiment.run(config, data, {out = folder, quiet = true})
      local stored = json.decode(ladies.file.read(folder .. "/config.json"))
      for key in pairs(stored) do lu.assertNotNil(known[key], key) end
      lu.assertEquals(experiment.configure(stored), stored)
    end
  end
end

-- Options that say how to run: those that ladies.train has too, and those of the command alone.
local RUNNING = {threads = true, resume = true, help = true, auto = true, ["auto-seconds"] = true,
  config = true}
for _, one in ipairs(experiment_options.running()) do RUNNING[one[1]] = true end

--- `ladies train --help` has the settings of the table, with their words, and no others.
function tests.test_help()
  local text = shell.silent(shell.run_ladies{"train", "--help"})
  local found, words = {}, text:gsub("%s+", " ")
  for name in text:gmatch "\n  %-%-([%l-]+)" do
    if not RUNNING[name] then found[name:gsub("-", "_")] = true end
  end
  for name, one in pairs(all()) do
    lu.assertTrue(found[name], name)
    found[name] = nil
    lu.assertStrContains(words, kinds.describe(one))
  end
  lu.assertEquals(found, {})
end

--- The description of a setting says who has it and what its defaults are, from the entries and the
-- presets themselves.
function tests.test_description()
  local function described(name)
    return kinds.describe(all()[name])
  end
  lu.assertStrMatches(described "samples", "[%l, ]*graphsage, [%l, ]*vrgcn: .* "
    .. "%(default 512; method [%l%d, ]*graphsage 5, [%l%d, ]*vrgcn 2%)")
  lu.assertStrMatches(described "dropout", ".* %(default 0.3; preset code 0.2, paper 0%)")
  lu.assertStrMatches(described "partition", "clustergcn: .* %(metis, ldg, random; default metis%)")
  lu.assertStrMatches(described "eval_every",
    ".* %(default 10, on a large graph 100; preset code 10, paper 10%)")
  lu.assertStrContains(described "method", "clustergcn, fastgcn, full")
  -- Two methods have a setting of this name, each another one.
  lu.assertStrMatches(described "parts", "clustergcn: how many .- %(default one for 250 .-%); "
    .. "rns: batches .- %(default one for 5000 .-%)")
  lu.assertStrMatches(kinds.describe(all().parts, {method = {"rns"}}), "batches [^:;]*")
end

function tests.test_configuration_in_words()
  lu.assertEquals(settings.text({lr = 0.5, own = true, layers = 2, seed = 3, row_normalize = false},
    "seed"), "layers 2, row normalize false, lr 0.5, own true")
  lu.assertEquals(settings.text{}, "")
end

--- The samples may be a number for each layer, with commas on the command line.
function tests.test_samples_of_each_layer()
  local data, folder = temporary.path "samples.npz", temporary.path "samples"
  ladies.data.save(toy.new(true), data)
  shell.silent(shell.run_ladies{"train", data, "--samples", "9,5", "--layers", "2",
    "--hidden", "4", "--max-batches", "2", "--preset", "code", "--out", folder, "--quiet"})
  local config = json.decode(ladies.file.read(folder .. "/config.json"))
  lu.assertEquals(config.samples, {9, 5})
  lu.assertEquals(methods.title(config), "LADIES (9,5)")
  fails("samples has 2 numbers for 5 layers", experiment.sampler,
    experiment.configure{samples = {9, 5}}, toy.new())
  local rows = methods.by_name.fastgcn.nominal_rows
  lu.assertEquals({rows(toy.new(), {samples = {9, 5}, layers = 2, batch_size = 3})}, {9, 5 + 3})
  rows = methods.by_name.ladies.nominal_rows
  lu.assertEquals({rows(toy.new(), {samples = {4, 5}, layers = 2, batch_size = 30,
    normalize = "sym"})}, {4, 5 + 30})
end

--- Configurations that were stored before there was a table of settings mean what they meant:
-- settings that have come since then have their defaults.
function tests.test_stored_configurations()
  local by_name, count = all(), 0
  for line in io.lines(here .. "/fixtures/configurations.jsonl") do
    local stored = json.decode(line)
    local wanted = tables.merged(stored)
    local found = experiment.stored(stored)
    for name in pairs(found) do
      if wanted[name] == nil then wanted[name] = by_name[name].default end
    end
    lu.assertEquals(found, wanted)
    count = count + 1
  end
  lu.assertEquals(count, 6)
end

--- A stored configuration with a setting that there is not is refused in a line that names its
-- file.
function tests.test_strange_configuration()
  local folder = temporary.path "strange"
  experiment.run(experiment.configure{layers = 1, hidden = 2, max_batches = 1}, toy.new(),
    {out = folder, quiet = true})
  local path = folder .. "/config.json"
  local config = json.decode(ladies.file.read(path))
  config.dropuot = 0.5
  ladies.file.write(path, json.encode(config))
  for _, words in ipairs{{"evaluate", folder}, {"train", "--resume", folder}} do
    local _, err, status = shell.run_ladies(words)
    lu.assertEquals({err, status}, {('ladies %s: %s: there is no setting "dropuot"; did you mean '
      .. '"dropout"?\n'):format(words[1], path), 1})
  end
end

-- ---------------------------------------------------------------- settings in a file

-- Runs `ladies train` quietly; returns its config.json, and its model.npz as it is.
local function train(name, ...)
  local folder = temporary.path(name)
  shell.silent(shell.run_ladies{"train", "--out", folder, "--quiet", ...})
  return json.decode(ladies.file.read(folder .. "/config.json")),
    ladies.file.read(folder .. "/model.npz")
end

--- The config.json of a run, as --config, is that run again, by bits; options that are given stand
-- in place of its settings, whether before or behind it.
function tests.test_settings_of_a_file()
  local data = temporary.path "config.npz"
  ladies.data.save(toy.new(true), data)
  local config, model = train("config-a", data, "--layers", "2", "--hidden", "4", "--samples", "9",
    "--max-batches", "3", "--seed", "7", "--self-nodes", "previous")
  local path = temporary.path "config-a" .. "/config.json"
  local again, same_model = train("config-b", "--config", path)
  lu.assertEquals(again, config)
  lu.assertTrue(same_model == model)
  local other, other_model = train("config-c", "--seed", "8", "--config", path, "--lr", "0.5")
  lu.assertEquals(other, tables.merged(config, {seed = 8, lr = 0.5}))
  lu.assertFalse(other_model == model)
  local _, err, status = shell.run_ladies{"train", "--resume", temporary.path "config-a",
    "--config", path}
  lu.assertEquals({err, status},
    {"ladies train: --config cannot change when a run is resumed\n", 1})
  local own = temporary.path "own.json"
  ladies.file.write(own, json.encode{dataset = data, layers = 1, hidden = 4, max_batches = 1})
  lu.assertEquals((train("config-d", "--config", own)), (train("config-e", data, "--layers", "1",
    "--hidden", "4", "--max-batches", "1")))
end

--- Any fault of such a file is one line that names it, and no run begins.
function tests.test_wrong_settings_of_a_file()
  local path = temporary.path "wrong.json"
  local function refused(text, content)
    ladies.file.write(path, content)
    local _, err, status = shell.run_ladies{"train", "--config", path, "--out",
      temporary.path "never"}
    lu.assertEquals({err, status}, {("ladies train: %s%s\n"):format(path, text), 1})
    lu.assertFalse(core.exists(temporary.path "never"))
  end
  refused(': there is no setting "dropuot"; did you mean "dropout"?', '{"dropuot": 0.5}')
  refused(": layers must be a positive integer, got 0", '{"layers": 0}')
  refused(" must hold a JSON object, got [1]", "[1]")
  refused(": the method mine, of /x/mine.lua, is code of one's own, which is to be named "
    .. "again: --method FILE.lua (in Lua ladies.experiment.own)",
    '{"method": "mine", "method_file": "/x/mine.lua", "method_code": "0123456789abcdef"}')
  os.remove(path)
  shell.refuses(path, shell.run_ladies{"train", "--config", path})
end

-- ---------------------------------------------------------------- errors

--- A method has the settings that it takes, and refuses those of others by their owners' names.
function tests.test_settings_of_other_methods()
  for name, method in pairs(methods.by_name) do
    local model = method.no_graph and "mlp" or nil
    local config = experiment.configure{method = name, model = model}
    for key, one in pairs(all()) do
      if one.place == "sampler" and not settings.takes(method, key) then
        lu.assertNil(config[key])
        fails(("the method %s has no %s, a setting of %s; its sampler's settings are: %s"):format(
          name, key, table.concat(settings.owners(methods.by_name, key), ", "),
          #method.settings > 0 and table.concat(settings.names_of(method), ", ") or "none"),
          experiment.configure, {method = name, model = model, [key] = 1})
      end
    end
  end
end

function tests.test_wrong_settings()
  for text, given in pairs{
    ['there is no setting "part"; did you mean "parts"? (of clustergcn, rns)'] =
      {method = "clustergcn", part = 3},
    ['there is no setting "fom"; did you mean "form"? (of graphsage'] = {fom = "mean"},
    ['there is no setting "dropuot"; did you mean "dropout"?'] = {dropuot = 0},
    ['there is no setting "xyzxyz"'] = {xyzxyz = 0},
    ['there is no setting "1"'] = {7},
    ["dropout must be a number in [0, 1), got 2"] = {dropout = 2},
    ['form must be one of mean, unbiased, got "men"; did you mean "mean"?'] =
      {method = "graphsage", form = "men"},
    ['activation must be one of none, relu, elu, leaky_relu, sigmoid, tanh, got "rely"'] =
      {activation = "rely"},
    ["the method vrgcn has no sampled validation"] = {method = "vrgcn", validation = "sampled"},
    ["the method clustergcn has no sampled validation"] =
      {method = "clustergcn", validation = "sampled"},
    [("method must be one of %s"):format(table.concat(tables.sorted_keys(methods.by_name), ", "))] =
      {method = "x"},
  } do
    fails(text, experiment.configure, given)
  end
end

-- ---------------------------------------------------------------- a method of one's own

-- Runs f while there is a method `mine` besides the others.
local function with_mine(entry, f)
  methods.by_name.mine = entry
  local ok, reason = pcall(f)
  methods.by_name.mine = nil
  lu.assertTrue(ok, reason)
end

local MINE = {
  title = "Mine",
  settings = {"samples", {"temperature", "positive number", default = 2, help = "of the softmax"}},
  defaults = {samples = 7, dropout = 0.1},
  make = function(P, config)
    assert(config.temperature == 2.5)
    return ladies.samplers.full(P, {layers = config.layers})
  end,
}

--- An entry that is added later is a method like the others, with its settings.
function tests.test_a_method_of_ones_own()
  with_mine(MINE, function()
    settings.check_entry("x", MINE, "sampler")
    local config = experiment.configure{method = "mine", preset = "paper", max_batches = 1}
    lu.assertEquals({config.samples, config.dropout, config.temperature, config.draw},
      {7, 0.1, 2, nil})
    fails("temperature must be a positive number, got 0", experiment.configure,
      {method = "mine", temperature = 0})
    fails('did you mean "temperature"? (of mine)', experiment.configure, {temperatur = 1})
    fails("the method ladies has no temperature, a setting of mine", experiment.configure,
      {temperature = 1})
    local option
    for _, one in ipairs(experiment_options.list()) do
      if one[1] == "temperature" then option = one end
      if one[1] == "method" then lu.assertStrContains(one[3], "mine") end
    end
    lu.assertEquals(option, {"temperature", "X", "positive number",
      group = "the method", help = "mine: of the softmax (default 2)"})
    config = experiment.configure{method = "mine", temperature = 2.5, max_batches = 1, layers = 2,
      hidden = 4}
    lu.assertEquals(experiment.run(config, toy.new(), {quiet = true}).method, "Mine (7)")
  end)
  lu.assertNil(all().temperature)
  fails('there is no setting "temperature"', experiment.configure, {temperature = 1})
end

function tests.test_wrong_entries()
  local function wrong(text, entry_settings, defaults)
    fails("x: " .. text, settings.check_entry, "x", {settings = entry_settings,
      defaults = defaults}, "sampler")
  end
  wrong "settings must be a table"
  wrong('settings[1]: sampels is no setting of a sampler; did you mean "samples"?', {"sampels"})
  wrong("settings[2]: lr is no setting of a sampler; every experiment has it", {"samples", "lr"})
  wrong('settings[1]: a setting is a name, or {"name", "type"', {{"size", "integer"}})
  wrong('settings[1]: the name "Size" must be small letters', {{"Size", "integer", help = "x"}})
  wrong("settings[1]: lr is a setting already", {{"lr", "number", help = "x"}})
  wrong('the default of kind: "big, small" is no type; types are as', {{"kind", "big, small",
    default = "big", help = "x"}})
  wrong("the default of size must be a positive integer, got 0",
    {{"size", "positive integer", default = 0, help = "x"}})
  wrong('defaults: no setting "sampels"; did you mean "samples"?', {}, {sampels = 3})
  wrong("the default of samples must be a positive integer or an array of", {}, {samples = 0})
end

--- A data set without a split gets one for tasks of nodes alone: a task of edges splits these, and
-- measures features over all nodes.
function tests.test_edges_need_no_split_of_nodes()
  local data, path = toy.new(), temporary.path "without a split.npz"
  ladies.data.save(ladies.data.from_arrays{graph = data.graph.adjacency, features = data.features,
    labels = data.labels}, path)
  for _, task in ipairs{"node_classification", "link_prediction"} do
    local config = experiment.configure{dataset = path, task = task, features = "standardized"}
    local read, of_nodes = experiment.read(config), task == "node_classification"
    lu.assertEquals({read.train ~= nil, config.split ~= nil}, {of_nodes, of_nodes})
    lu.assertEquals(read.features:mean(1):abs():max() < 1e-6, not of_nodes)
  end
end

return tests
