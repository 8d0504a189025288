--- The optimizer of a run by its name or by a file of one's own (--optimizer): what it computes,
-- that a run with it goes on to the same bits, and what is refused.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local optimizers = require "ladies.experiment.optimizers"
local ranks = require "tools.ranks"
local file = require "tools.own_file"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local fails = lu.assertErrorMsgContains
local tests = {}

-- Momentum as ladies.optim.sgd has it, with settings of its own.
local MOMENTUM = [[
local ladies = require "ladies"
return {
  settings = {"weight_decay", {"friction", "number in [0, 1)", default = 0.5, help = "of a step"}},
  defaults = {lr = 0.05},
  make = function(parameters, settings, model)
    assert(model.forward and #parameters > 0)
    return ladies.optim.own(parameters, {
      name = "Friction", lr = settings.lr, weight_decay = settings.weight_decay, state = {"v"},
      update = function(p, g, state, at)
        state.v = state.v * settings.friction + g + p * at.weight_decay
        return p - state.v * at.lr
      end,
    })
  end,
}
]]

local SMALL = {"--layers", "2", "--hidden", "4", "--batch-size", "20", "--eval-every", "4",
  "--quiet"}

local function command(...)
  local words = table.pack(...)
  return shell.run_ladies(table.move(SMALL, 1, #SMALL, #words + 1, words))
end

local function train(folder, ...)
  return shell.silent(command("train", toy_study.dataset, "--out", temporary.path(folder), ...))
end

local function model_of(folder) return ladies.file.read(temporary.path(folder) .. "/model.npz") end

local function config_of(folder)
  return json.decode(ladies.file.read(temporary.path(folder) .. "/config.json"))
end

local function refused(text, ...)
  local _, err, status = shell.run_ladies{...}
  shell.refuses(text, "", err, status == 2 and 1 or status)  -- 2: of the command line itself
end

-- ---------------------------------------------------------------- what it computes

-- The configuration of a run whose steps are all alike: full batches without dropout.
local function plain(own)
  return ladies.experiment.configure(tables.merged({method = "full", model = "gcn", layers = 1,
    dropout = 0, max_batches = 5, dataset = "toy"}, own))
end

-- The numbers of all parameters, parameter by parameter.
local function numbers(parameters)
  local list = {}
  for i, p in ipairs(parameters) do list[i] = p:reshape(p.n_rows * p.n_cols):to_table() end
  return list
end

-- Gives a parameter the values in a list.
local function set(parameter, values)
  local all = ladies.tensor(values)
  if parameter.ndim > 1 then all = all:reshape(parameter.n_rows, parameter.n_cols) end
  ladies.no_grad(parameter.copy_, parameter, all)
end

-- The parameters at each step of a run.
local function steps_of(config, data)
  local list = {}
  ladies.experiment.run(config, data, {quiet = true, on_batch = function(at)
    list[#list + 1] = numbers(at.model:parameters())
  end})
  return list
end

--- Five steps of --optimizer sgd are v <- momentum v + g + weight_decay p, p <- p - lr v, in plain
-- numbers of double precision, with the gradients of a loop by hand.
function tests.test_momentum_in_plain_numbers()
  local data = toy.new()
  local config = plain{optimizer = "sgd", momentum = 0.9, weight_decay = 0.1, lr = 0.5}
  local found = steps_of(config, data)
  local model = ladies.experiment.model(config, data)
  local parameters = model:parameters()
  local batch = ladies.experiment.sampler(config, data, model)(data.train, ladies.rng(1))
  local p = numbers(parameters)
  local v = tables.map(p, function(list) return tables.map(list, function() return 0 end) end)
  for number = 1, 5 do
    do
      local _ <close> = ladies.step()
      local logits = model:forward(data.features, batch)
      ladies.loss.cross_entropy(logits, data.labels[batch.output]):backward()
    end
    for i, parameter in ipairs(parameters) do
      local g = numbers{parameter.grad}[1]
      for j in ipairs(g) do
        v[i][j] = 0.9 * v[i][j] + g[j] + 0.1 * p[i][j]
        p[i][j] = p[i][j] - 0.5 * v[i][j]
        lu.assertAlmostEquals(found[number][i][j], p[i][j], 1e-5)
      end
      parameter:set_grad_(parameter.grad * 0)
      set(parameter, p[i])
    end
  end
  lu.assertEquals(#found, 5)
end

--- A name stands for the optimizer of ladies.optim with these settings, groups and bound among
-- them; adam is the default, and adamw what --decoupled-decay alone means.
function tests.test_names()
  local data = toy.new()
  local function last(own) return steps_of(plain(own), data)[5] end
  lu.assertEquals(last{optimizer = "adam"}, last{})
  local grouped = {weight_decay = 0.1, groups = "*.bias:lr=0.1", clip = 0.2}
  lu.assertEquals(last(tables.merged(grouped, {optimizer = "adam"})), last(grouped))
  lu.assertEquals(last{optimizer = "adamw"}, last{decoupled_decay = 0.01})
  lu.assertNotEquals(last{optimizer = "adamw"}, last{})
  local function by_hand()
    local opts = ladies.experiment.options(plain{clip = 0.3}, data, {quiet = true})
    opts.lr, opts.weight_decay, opts.settings = nil, nil, nil
    opts.optimizer = ladies.optim.sgd(opts.model:parameters(),
      {lr = 0.2, momentum = 0.8, weight_decay = 0.05})
    local bias = ladies.nn.named_parameters(opts.model)[1]
    lu.assertStrContains(bias.name, "bias")
    opts.optimizer:group({bias.tensor}, {lr = 0.02})
    ladies.train(opts)
    return numbers(opts.model:parameters())
  end
  local config = plain{optimizer = "sgd", lr = 0.2, momentum = 0.8, weight_decay = 0.05, clip = 0.3,
    groups = "*.bias:lr=0.02"}
  local _, model = ladies.experiment.run(config, data, {quiet = true})
  lu.assertEquals(numbers(model:parameters()), by_hand())
end

--- Options that are not given have the defaults of the constructors in ladies.optim; a run without
-- a name of an optimizer stores none.
function tests.test_defaults()
  local sgd, adamw = plain{optimizer = "sgd"}, plain{optimizer = "adamw"}
  lu.assertEquals({sgd.lr, sgd.momentum, sgd.weight_decay, sgd.decoupled_decay}, {0.01, 0, 0, nil})
  lu.assertEquals({adamw.lr, adamw.decoupled_decay, adamw.weight_decay}, {1e-3, 0.01, nil})
  lu.assertEquals(plain{optimizer = "sgd", preset = "code"}.clip, 0.2)
  lu.assertNil(plain{}.optimizer)
  lu.assertEquals(plain{}.weight_decay, 0)
end

--- A sampler with parameters has them trained by it, too.
function tests.test_parameters_of_the_sampler()
  local data = toy.new()
  local config = ladies.experiment.configure{method = "asgcn", samples = 9, layers = 2, hidden = 4,
    max_batches = 3, dataset = "toy", optimizer = "sgd", lr = 0.5, model = "gcn"}
  local opts = ladies.experiment.options(config, data, {quiet = true})
  local own = ladies.nn.named_parameters(opts.sampler.parameters)
  local before = own[1].tensor:hash()
  ladies.train(opts)
  lu.assertNotEquals(own[1].tensor:hash(), before)
end

-- ---------------------------------------------------------------- a file of one's own

--- A file computes what ladies.optim.sgd does, with settings of its own, with workers and in Lua
-- alike.
function tests.test_a_file()
  local path = file("friction", MOMENTUM)
  local words = {"--max-batches", "12", "--weight-decay", "0.01"}
  train("own", "--optimizer", path, "--friction", "0.8", table.unpack(words))
  train("workers", "--optimizer", path, "--friction", "0.8", "--workers", "2", table.unpack(words))
  lu.assertTrue(model_of "own" == model_of "workers")
  train("theirs", "--optimizer", "sgd", "--momentum", "0.8", "--lr", "0.05", table.unpack(words))
  local theirs = ladies.load_model(temporary.path "theirs"):parameters()
  for i, p in ipairs(ladies.load_model(temporary.path "own"):parameters()) do
    lu.assertTrue((p - theirs[i]):abs():max() < 1e-5)
  end
  local config = config_of "own"
  lu.assertEquals({config.optimizer, config.optimizer_file, #config.optimizer_code, config.lr},
    {"friction", path, 16, 0.05})
  local help = shell.run_ladies{"train", "--help", "--optimizer", path}
  lu.assertStrContains(help:gsub("%s+", " "), "--friction X of a step (default 0.5)")
  local summary = ladies.train{data = toy_study.dataset, optimizer = path, friction = 0.8,
    weight_decay = 0.01, max_batches = 12, layers = 2, hidden = 4, batch_size = 20, eval_every = 4,
    quiet = true}
  local stored = json.decode(ladies.file.read(temporary.path "own" .. "/summary.json"))
  lu.assertEquals(summary.test_f1, stored.test_f1)
end

--- A function is one, too, in this process.
function tests.test_a_function()
  local seen
  local function make(parameters, model)
    seen = model.forward ~= nil
    return ladies.optim.sgd(parameters, {lr = 0.5})
  end
  local own = ladies.experiment.own{optimizer = {name = "by_hand", optimizer = make}}
  lu.assertEquals({own.optimizer, #own.optimizer_code}, {"by_hand", 16})
  local data = toy.new()
  lu.assertEquals(steps_of(plain(own), data), steps_of(plain{optimizer = "sgd", lr = 0.5}, data))
  lu.assertTrue(seen)
  optimizers.by_name.by_hand = nil
end

--- A run that goes on has the bits of one that was not stopped, with the same code alone.
function tests.test_resume()
  local path, folder = file("friction", MOMENTUM), temporary.path "halves"
  for _, words in ipairs{{"--optimizer", path}, {"--optimizer", "sgd", "--momentum", "0.9"}} do
    local which = words[2] == path and "halves" or "sgd halves"
    train(which, "--max-batches", "7", table.unpack(words))
    train(which .. " whole", "--max-batches", "20", table.unpack(words))
    shell.silent(shell.run_ladies{"train", "--resume", temporary.path(which), "--max-batches", "20",
      "--quiet", words[2] == path and "--optimizer" or nil, words[2] == path and path or nil})
    lu.assertTrue(model_of(which) == model_of(which .. " whole"), which)
  end
  refused(("the optimizer friction, of %s, is code of one's own, which is to be named again: "
    .. "--optimizer FILE.lua"):format(path), "train", "--resume", folder)
  refused("the code of the optimizer friction, of " .. path .. ", has changed", "train", "--resume",
    folder, "--optimizer", file("friction", (MOMENTUM:gsub("%+ g %+", "+ 2 * g +"))))
  refused("--optimizer cannot change when a run is resumed", "train", "--resume", folder,
    "--optimizer", "sgd")
  refused("--momentum cannot change when a run is resumed", "train", "--resume",
    temporary.path "sgd halves", "--momentum", "0.5")
  -- Commands that use the model need no optimizer.
  shell.silent(shell.run_ladies{"evaluate", folder, "--inference", "sampled"})
end

--- Studies take names and files, also in processes of their own; an own setting is among those that
-- are varied.
function tests.test_studies()
  local path = file("friction", MOMENTUM)
  local words = {"--datasets", toy_study.dataset, "--methods", "full", "--runs", "1",
    "--max-batches", "6"}
  local out = shell.silent(command("sweep", "--vary", "friction=0.1,0.9", "--optimizer", path,
    "--jobs", "2", "--out", temporary.path "varied", table.unpack(words)))
  lu.assertStrContains(out, "| friction 0.1 ")
  local records, n = toy_study.records_of(temporary.path "varied")
  lu.assertEquals(n, 2)
  for _, record in pairs(records) do lu.assertEquals(record.config.optimizer, "friction") end
  out = shell.silent(command("sweep", "--vary", "optimizer=adam,sgd", "--out",
    temporary.path "names", table.unpack(words)))
  lu.assertStrContains(out, "| optimizer sgd ")
end

--- Several ranks have the bits of one process.
function tests.test_ranks()
  if not ranks.available() then return lu.skip "without MPI" end
  local path = file("friction", MOMENTUM)
  for i, name in ipairs{path, "sgd"} do
    local words = {"--optimizer", name, "--accumulate", "2", "--max-batches", "8"}
    train("alone " .. i, table.unpack(words))
    local all = tables.append({"train", toy_study.dataset, "--out", temporary.path("ranks " .. i)},
      tables.append(words, SMALL))
    shell.succeeded(ranks.run(2, all))
    lu.assertTrue(model_of("alone " .. i) == model_of("ranks " .. i))
  end
end

-- ---------------------------------------------------------------- what is wrong

function tests.test_refused()
  local function wrong(text, ...)
    refused(text, "train", toy_study.dataset, "--quiet", "--out", temporary.path "never", ...)
  end
  wrong('--optimizer must be one of adam, adamw, ', "--optimizer", "sdg")
  wrong('did you mean "sgd"?', "--optimizer", "sdg")
  wrong("momentum is a setting of the optimizer ", "--momentum", "0.9")
  wrong("name the optimizer, too (--optimizer, in Lua optimizer)", "--momentum", "0.9")
  wrong("the optimizer sgd has no decoupled_decay, a setting of adamw; its own settings are: "
    .. "weight_decay, momentum", "--optimizer", "sgd", "--decoupled-decay", "0.1")
  wrong("the optimizer adamw has no weight_decay, a setting of adam, ", "--optimizer", "adamw",
    "--weight-decay", "0.1")
  wrong("--momentum must be a number in [0, 1), got 1", "--optimizer", "sgd", "--momentum", "1")
  wrong("weight_decay is Adam's and decoupled_decay AdamW's; give one of them",
    "--weight-decay", "0.1", "--decoupled-decay", "0.1")
  wrong("no/mine.lua: cannot be opened", "--optimizer", "no/mine.lua")
  wrong("there is an optimizer sgd already; choose another name", "--optimizer",
    file("sgd", MOMENTUM))
end

--- Any fault of a file is one line that names the file and, where a line is wrong, the line.
function tests.test_wrong_files()
  for code, text in pairs{
    ["return function() end"] = "%s: what it makes must be an Optimizer, got nil",
    ["return function() return {} end"] = "%s: what it makes must be an Optimizer, got a table",
    ["return 7"] = "%s: what the file returns must be a function or a table, got 7",
    ["return {make = print, settings = {'lr'}}"] =
      "%s: settings[1]: lr is no setting of an optimizer; every experiment has it",
    ["return function(_, s)\n  return s.frictoin\nend"] = "%s:2: ",
    ["return function(p) return require('ladies').optim.sgd{p[1]} end"] =
      "the optimizer lacks the model's parameter ",
    ["return function(p) return p.x.y end"] = "%s:1: attempt to index a nil value",
  } do
    local path = file("mine", code)
    refused(text:gsub("%%s", (path:gsub("%%", "%%%%"))), "train", toy_study.dataset, "--optimizer",
      path, "--layers", "1", "--quiet", "--out", temporary.path "faulty")
  end
end

--- An optimizer that was built is for parts that were.
function tests.test_one_that_was_built()
  local sgd = ladies.optim.sgd{ladies.ones(1):requires_grad_()}
  fails("optimizer follows from the settings; with one of your own, build the model", ladies.train,
    {data = toy.new(), optimizer = sgd})
  fails('optimizer must be an Optimizer, got "sgd"', ladies.train, {data = toy.new(), model = {},
    optimizer = "sgd"})
  fails("ladies.experiment.own: optimizer must be one of adam, adamw, ", ladies.train,
    {data = toy.new(), optimizer = "sg"})
end

return tests
