--- Tests checkpoints: a run that was stopped, killed or extended ends with the bits of one that was
-- not; files that are damaged or of another model are refused.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local checkpoint = require "ladies.training.checkpoint"
local files = require "tools.files"
local message_of = require "tools.message_of"
local shell = require "tools.shell"
local stderr_of = require "tools.stderr_of"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}

local function new_model(own)
  return ladies.nn.gcn(tables.merged({inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2,
    dropout = 0.2}, own))
end

-- Trains up to a number of batches; returns the options.
local function train(folder, max_batches, own)
  local opts = toy_training.options(tables.merged({eval_every = 7, max_batches = max_batches,
    out = temporary.path(folder)}, own))
  ladies.train(opts)
  return opts
end

local function same_file(a, b, name)
  lu.assertTrue(files.read(a .. "/" .. name) == files.read(b .. "/" .. name), name)
end

-- The numbers of the batches of lines of a log.
local function numbers(lines)
  return tables.map(lines, function(line) return line.batch end)
end

local function count_to(n, step)
  local list = {}
  for i = step or 1, n, step or 1 do list[#list + 1] = i end
  return list
end

-- ---------------------------------------------------------------- the same bits

--- Training 4 batches is training 2, saving, loading, and training 2 more, also across epochs and
-- between validations.
function tests.test_resumed_run_is_the_same()
  for _, case in ipairs{{2, 4}, {3, 4}, {5, 30}, {21, 50}} do
    local half, all = case[1], case[2]
    local split, whole = "split" .. half, "whole" .. half
    local first = train(split, half)
    local second = train(split, all, {resume = true})
    lu.assertFalse(rawequal(first.model, second.model))
    train(whole, all)
    same_file(temporary.path(split), temporary.path(whole), "model.npz")
    same_file(temporary.path(split), temporary.path(whole), "predictions.npz")
  end
end

--- The optimizer's moments, the schedule and the clipping go on as well.
function tests.test_resumed_with_other_optimizers()
  for i, kind in ipairs{"sgd", "adamw"} do
    local function own(resume)
      local model = new_model()
      local options = kind == "sgd" and {lr = 0.1, momentum = 0.9} or {lr = 0.02}
      return {
        model = model, optimizer = ladies.optim[kind](model:parameters(), options), clip = 0.5,
        schedule = ladies.schedule.cosine{batches = 20}, resume = resume,
      }
    end
    train("parts" .. i, 9, own(false))
    train("parts" .. i, 20, own(true))
    train("one" .. i, 20, own(false))
    same_file(temporary.path("parts" .. i), temporary.path("one" .. i), "model.npz")
  end
end

--- Resuming a run that has ended trains no more and gives the same files.
function tests.test_resuming_a_finished_run()
  local stopping = {patience = 14, min_gain = 0.5, max_batches = 1000}
  train("ended", 1000, stopping)
  local before = files.read(temporary.path "ended/model.npz")
  stopping.resume = true
  train("ended", 1000, stopping)
  lu.assertTrue(files.read(temporary.path "ended/model.npz") == before)
  lu.assertEquals(numbers(toy_training.log(temporary.path "ended")), count_to(21))
end

--- Resuming with a bound that has been passed trains nothing and leaves the model as it is.
function tests.test_resuming_beyond_the_bound()
  train("beyond", 9)
  local before = files.read(temporary.path "beyond/model.npz")
  lu.assertStrContains(stderr_of(function() train("beyond", 5, {resume = true}) end),
    "/checkpoint.npz has 9 batches already, and max_batches is 5: nothing more is trained")
  lu.assertTrue(files.read(temporary.path "beyond/model.npz") == before)
end

function tests.test_log_is_cut_back()
  train("log", 10)
  local file = io.open(temporary.path "log/log.jsonl", "a")
  file:write('{"batch":11,"loss":1}\n{"batch":12,"lo')     -- what a killed run may leave
  file:close()
  train("log", 20, {resume = true})
  lu.assertEquals(numbers(toy_training.log(temporary.path "log")), count_to(20))
end

--- A run that is killed at five moments by SIGKILL ends with the same bits.
function tests.test_killed()
  local BATCHES = 300
  -- Trains; a run that has so many lines in its log is killed. Returns the status.
  local function run(folder, every, resume, lines)
    local path = temporary.path(folder)
    local command = ("%s %s/tools/train_toy.lua %s %d %g %s 2>/dev/null"):format(
      shell.quote(shell.ladies), here, path, BATCHES, every, resume and "resume" or "")
    return select(3, shell.run{"bash", "-c", not lines and command or ([[
      %s & run=$!
      while kill -0 $run 2>/dev/null && [ "$(cat %s/log.jsonl 2>/dev/null | wc -l)" -lt %d ]; do
        sleep 0.01
      done
      kill -KILL $run; wait $run]]):format(command, path, lines)})
  end
  lu.assertEquals(run("quiet_life", 30), 0)
  local killed = 0
  for i, lines in ipairs{20, 60, 110, 170, 240} do
    if run("killed", 0, i > 1, lines) == 137 then killed = killed + 1 end
  end
  lu.assertTrue(killed >= 3, killed .. " runs were killed in time")
  lu.assertEquals(run("killed", 0, true), 0)
  same_file(temporary.path "killed", temporary.path "quiet_life", "model.npz")
  same_file(temporary.path "killed", temporary.path "quiet_life", "predictions.npz")
  local batches, validations = toy_training.log(temporary.path "killed")
  lu.assertEquals(numbers(batches), count_to(BATCHES))
  lu.assertEquals(table.move(numbers(validations), 1, BATCHES // 7, 1, {}), count_to(BATCHES, 7))
end

-- ---------------------------------------------------------------- what is in it, what is refused

function tests.test_contents()
  train("contents", 8)
  local kinds = {}
  for _, name in ipairs(ladies.npz.open(temporary.path "contents/checkpoint.npz"):names()) do
    kinds[name:match "^%l+"] = true
  end
  lu.assertEquals(kinds, {parameter = true, best = true, optimizer = true, counter = true,
    run = true, state = true, hash = true})
end

local function refused(folder, own)
  own.resume = true
  return message_of(train, folder, 20, own)
end

--- A model of the user's own making is known by the names and shapes of its parameters.
function tests.test_of_another_model()
  local function own_model(own)
    local model = new_model(own)
    model.config = nil
    return model
  end
  train("other", 8, {model = own_model()})
  lu.assertStrContains(refused("other", {model = own_model{hidden = 8}}),
    "parameter.layers.1.conv.bias is 16, the model's is 8")
  lu.assertStrContains(refused("other", {model = own_model{layers = 3}}), "it is of another model")
  lu.assertStrContains(refused("other", {model = own_model{layers = 1}}), "of another model")
end

--- A file without the counters, or of another format, is not a checkpoint.
function tests.test_not_a_checkpoint()
  train("strange", 8)
  local path = temporary.path "strange/checkpoint.npz"
  ladies.npz.write(path, {x = ladies.ones(3)})
  lu.assertStrContains(refused("strange", {}), "is not a checkpoint")
  ladies.npz.write(path, {["counter.format"] = 99})
  lu.assertStrContains(refused("strange", {}), "is not a checkpoint")
end

--- Nothing is left of a checkpoint that could not be written.
function tests.test_no_partial_file()
  local model = new_model()
  local optimizer = ladies.optim.adam(model:parameters())
  local state = {parameters = model:named_parameters(), optimizer = optimizer, counters = {}}
  lu.assertFalse((pcall(checkpoint.save, temporary.path "no/such/folder.npz", state)))
  checkpoint.save(temporary.path "fine.npz", state)
  lu.assertEquals(core.exists(temporary.path "fine.npz"), "file")
end

--- Loading a model whose architecture text has been tampered with runs nothing and says what it is.
function tests.test_tampered_model()
  local path = temporary.path "tampered.npz"
  for text, expected in pairs{
    ["os.exit()"] = "not valid JSON", ["3"] = "unknown kind",
    ['{"kind": "os"}'] = "of an unknown kind",
    ['{"kind": "gcn", "options": {"inputs": 1e9, "outputs": -1}}'] = "outputs must be",
  } do
    ladies.npz.write(path, {architecture = text})
    lu.assertErrorMsgContains(expected, ladies.load_model, path)
  end
end

return tests
