--- ladies new: every template works as it is, and no file is ever overwritten by one.

local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local message_of = require "tools.message_of"
local numbered_batches = require "ladies.training.batches.numbered"
local own_code = require "ladies.experiment.own_code"
local sampling = require "ladies.sampling"
local shell = require "tools.shell"
local templates = require "ladies.command.templates"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local root = os.getenv "LADIES_SOURCE"

local tests = {}

-- The files of a folder of its own, in which `ladies new ARGUMENTS` was run with success.
local function new(...)
  local folder = shell.folder()
  local out = shell.silent(shell.run_ladies({"new", ...}, {folder = folder.path}))
  return folder, out
end

-- Trains with the file in a folder for some mini-batches; returns what was printed.
local function train(folder, option, file, ...)
  return shell.silent(shell.run_ladies({"train", toy_study.dataset, option, file, "--layers",
    "2", "--hidden", "8", "--batch-size", "20", "--max-batches", "7", "--quiet", ...},
    {folder = folder.path}))
end

function tests.test_the_task_trains()
  local folder <close>, out = new("task", "mine")
  lu.assertStrContains(out, "--task mine.lua")
  lu.assertStrContains(train(folder, "--task", "mine.lua", "--samples", "9"), "test MAE ")
end

function tests.test_the_optimizer_trains()
  local folder <close>, out = new("optimizer", "mine")
  lu.assertStrContains(out, "mine.lua: an optimizer\n")
  lu.assertStrContains(out, "--optimizer mine.lua")
  lu.assertStrContains(train(folder, "--optimizer", "mine.lua", "--lr", "0.1", "--momentum", "0.8"),
    "test micro-F1 0.")
  -- It is what its text says: v <- 0.9 v + g, p <- p - lr (g + 0.9 v), with all gradients 1.
  local p = ladies.tensor{2}:requires_grad_()
  local optimizer = dofile(folder.path .. "/mine.lua").make({p},
    {lr = 0.5, weight_decay = 0, momentum = 0.9})
  for _, value in ipairs{2 - 0.5 * 1.9, 2 - 0.5 * (1.9 + 1 + 0.9 * 1.9)} do
    p:set_grad_(ladies.tensor{1})
    optimizer:step()
    lu.assertAlmostEquals(p:item(), value, 1e-6)
  end
end

function tests.test_every_sampler_trains()
  local all = templates.choices "sampler"
  lu.assertEquals(all, {"adaptive", "graphsage", "ladies", "subgraph"})
  for _, like in ipairs(all) do
    local folder <close>, out = new("sampler", "mine", "--like", like)
    lu.assertEquals(core.files(folder.path), {"mine.lua"})
    lu.assertStrContains(out, "ladies train wordnet --method mine.lua")     -- which is here
    lu.assertStrContains(out, "ladies lab mine.lua --dataset wordnet")
    lu.assertStrContains(train(folder, "--method", "mine.lua"), "test micro-F1 0.")
  end
end

function tests.test_the_model_trains()
  local folder <close>, out = new("model", "mine")
  lu.assertStrContains(out, "--model mine.lua")
  lu.assertStrContains(train(folder, "--model", "mine.lua", "--samples", "9"), "test micro-F1 0.")
  -- The model also trains with a sampler that learns from the layers of the model.
  ladies.file.write(folder.path .. "/eager.lua", templates.text("sampler", "adaptive", "eager"))
  train(folder, "--model", "mine.lua", "--method", "eager.lua", "--samples", "9")
end

-- Makes LADIES with six nodes a layer and two layers, by the scan of all rows.
local function ladies_by_scan(P)
  return function(seeds, rng)
    return ladies.sampling.mini_batch(seeds, 2, function(_, dst)
      local U, src, w = P:draw_cols(dst, 6, {way = "scan", rng = rng})
      return U:scale_cols(w):row_normalize(), src
    end)
  end
end

--- Without --like the template is a sampler that draws as LADIES does. For many nodes in a layer
-- the built-in one scans the rows as well.
function tests.test_the_default_is_ladies()
  local folder <close> = new("sampler", "mine")
  local data = toy.new()
  local P = data.graph:normalize "sym"
  local mine = dofile(folder.path .. "/mine.lua")
  local seeds = data.train:slice(1, 9)
  local short, wide = {samples = 6, layers = 2}, {samples = 18, layers = 1}
  for _, pair in ipairs{
    {mine(P, short), ladies_by_scan(P)}, {mine(P, wide), ladies.samplers.ladies(P, wide)},
  } do
    for seed = 1, 5 do
      local one, other = pair[1](seeds, ladies.rng(seed)), pair[2](seeds, ladies.rng(seed))
      lu.assertEquals(#one.blocks, #other.blocks)
      for l, block in ipairs(one.blocks) do
        lu.assertEquals(block.src, other.blocks[l].src)
        lu.assertTrue(block.adj:is_close(other.blocks[l].adj))
      end
    end
  end
end

-- Samplers and settings of the files to begin with, loaded under names of their own.
local function each_sampler(f)
  local data = toy.new()
  for _, like in ipairs(templates.choices "sampler") do
    local path = temporary.path("new_" .. like .. ".lua")
    ladies.file.write(path, templates.text("sampler", like, "new_" .. like))
    local name = own_code.load("method", path)
    local config = ladies.experiment.configure{method = name, layers = 2, hidden = 8, samples = 5,
      batch_size = 20, dataset = "toy", normalize = "sym"}
    local entry = require("ladies.experiment.methods").by_name[name]
    f(like, entry.make(data.graph:normalize "sym", config, data), data)
  end
end

--- The contract of samplers: mini-batches that are right, and the same for the same seeds and rng.
function tests.test_contract()
  each_sampler(function(like, sampler, data)
    local root_rng = ladies.rng(3)
    for i = 1, numbered_batches.own_batches(sampler) or 3 do
      local function draw()
        return sampler(data.train:slice(1, 20), root_rng:fork(i),
          {epoch = 1, index = i, rng = root_rng:fork(0)})
      end
      local batch = sampling.check(draw(), like, {nodes = toy.NODES})
      lu.assertEquals(sampling.hash(draw()), sampling.hash(batch), like)
    end
  end)
end

--- An epoch of the sampler with its own seeds has every training node once in the loss.
function tests.test_epoch_of_the_subgraphs()
  each_sampler(function(like, sampler, data)
    if like ~= "subgraph" then return end
    lu.assertEquals(sampler.batches_per_epoch, 3)
    local seen = ladies.index{}
    for batch in ladies.batches(data.train, {batch_size = 20, sampler = sampler, epochs = 1}) do
      seen = seen .. batch.output[batch.loss_nodes]
    end
    lu.assertEquals(seen:sort(), data.train:sort())
  end)
end

--- The adaptive sampler learns the norms of the rows that its layers had, and of no others.
function tests.test_the_adaptive_one_learns()
  each_sampler(function(like, sampler, data)
    if like ~= "adaptive" then return end
    local norms = sampler.state[1].tensor
    lu.assertEquals({#sampler.state, sampler.state[1].name}, {1, "norms.2"})
    local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 2}
    local batch = sampler(data.train:slice(1, 20), ladies.rng(1))
    local first = batch.blocks[1]
    local step <close> = ladies.step()
    model:forward(data.features, batch, false)
    batch.after_step(batch, model)
    local h = ladies.no_grad(function()
      return model:layer(1, data.features:rows(first.src), first)
    end)
    local expected = ladies.ones(toy.NODES)
    expected:copy_rows_(first.dst, h:square():row_sums() + 1e-6)
    lu.assertTrue(norms == expected)
    lu.assertFalse(norms == ladies.ones(toy.NODES))
    step:close()
  end)
end

function tests.test_nothing_is_written_over()
  local folder <close> = new("sampler", "mine")
  ladies.file.write(folder.path .. "/mine.lua", "return 1")
  os.execute(("ln -s nowhere %s/linked.lua"):format(shell.quote(folder.path)))
  for name, kind in pairs{mine = "sampler", linked = "model"} do
    local _, err, status = shell.run_ladies({"new", kind, name}, {folder = folder.path})
    lu.assertEquals({err, status}, {("ladies new: %s.lua is there already\n"):format(name), 1})
  end
  lu.assertEquals(ladies.file.read(folder.path .. "/mine.lua"), "return 1")
  lu.assertEquals(core.files(folder.path), {"linked.lua", "mine.lua"})
end

function tests.test_what_is_refused()
  for text, given in pairs{
    ['what to make must be one of model, optimizer, sampler, task, got "samler"; did you mean'] =
      {"samler", "ladies", "x"},
    ['--like must be one of adaptive, graphsage, ladies, subgraph, got "sage"']
      = {"sampler", "sage", "x"},
    ["a model is not like another; --like is of samplers"] = {"model", "ladies", "x"},
    ["the program has a method vrgcn already; choose another name"] = {"sampler", "ladies",
      "vrgcn"},
    ["the program has a model gcn already; choose another name"] = {"model", nil, "gcn"},
    ['a name has letters, digits and _, no digit first, got "a-b"'] = {"sampler", "ladies", "a-b"},
    ['a name has letters, digits and _, no digit first, got "../x"'] = {"model", nil, "../x"},
  } do
    lu.assertStrContains(message_of(templates.write, given[1], given[2], given[3]), text)
  end
  for _, words in ipairs{{"new"}, {"new", "sampler"}} do
    local _, err, status = shell.run_ladies(words)
    lu.assertStrContains(err, "ladies new sampler NAME")
    lu.assertEquals(status, 1)
  end
end

--- Luacheck has no complaint about a file, whatever its name.
function tests.test_luacheck()
  if not os.execute "command -v luacheck >/dev/null" then lu.skip "there is no luacheck" end
  local folder <close> = shell.folder()
  for _, like in ipairs(templates.choices "sampler") do
    ladies.file.write(("%s/%s.lua"):format(folder.path, like),
      templates.text("sampler", like, "a_name_longer_than_most_others"))
  end
  ladies.file.write(folder.path .. "/model.lua", templates.text("model", nil, "short"))
  local out, _, status = shell.run{"luacheck", "--config", root .. "/.luacheckrc", folder.path}
  lu.assertEquals(status, 0, out)
end

return tests
