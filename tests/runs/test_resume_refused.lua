--- Tests that a run goes on only with the data, settings and sampler that it began with, and with
-- files that are whole. Anything else is one line, and changes nothing.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}

-- Trains up to a number of batches on the data set.
local function train(folder, max_batches, data, own)
  return ladies.train(toy_training.options(tables.merged({data = data, eval_every = 7,
    max_batches = max_batches, out = temporary.path(folder)}, own)))
end

-- The files of a folder by name.
local function content(folder)
  local files = {}
  for _, name in ipairs(core.files(folder)) do
    files[name] = ladies.file.read(folder .. "/" .. name)
  end
  return files
end

local function check_same(folder, before)
  local after = content(folder)
  for name in pairs(after) do lu.assertNotNil(before[name], name) end
  for name, text in pairs(before) do lu.assertTrue(after[name] == text, name) end
end

-- The complaint of resuming the run, which leaves the folder as it is.
local function refused(folder, data, own)
  local path = temporary.path(folder)
  local before = content(path)
  own = own or {}
  own.resume = true
  local ok, message = pcall(train, folder, 20, data, own)
  lu.assertFalse(ok)
  lu.assertNil(message:find("\n", 1, true), message)
  lu.assertStrContains(message, path .. ": this is not the run that began there: ")
  check_same(path, before)
  return message:match "began there: (.*)"
end

-- The toy data with some of its fields changed.
local function changed(change)
  local data = toy.new()
  local fields = {name = "toy", graph = data.graph.adjacency, features = data.features,
    labels = data.labels, train = data.train, val = data.val, test = data.test}
  change(fields)
  return ladies.data.from_arrays(fields)
end

function tests.test_other_data()
  train("data", 8, toy.new())
  for expected, change in pairs{
    ["its data set has other labels"] = function(fields)
      fields.labels = ladies.data.shuffled(toy.new(), {what = "labels"}).labels
    end,
    ["its data set has other edges"] = function(fields)
      fields.graph = ladies.data.shuffled(toy.new(), {what = "edges"}).graph.adjacency
    end,
    ["its data set has other features"] = function(fields)
      fields.features = fields.features * 2
    end,
    ["its data set has other test, train"] = function(fields)
      fields.train, fields.test = fields.test, fields.train
    end,
  } do
    lu.assertEquals(refused("data", changed(change)), expected)
  end
  train("data", 10, changed(function() end), {resume = true})
end

function tests.test_other_settings()
  local data = toy.new()
  train("settings", 8, data)
  lu.assertEquals(refused("settings", data, {seed = 5, batch_size = 30}),
    "batch_size was 20 and is 30; seed was 1 and is 5")
  lu.assertEquals(refused("settings", data, {clip = 0.5}), "clip was 0 and is 0.5")
  lu.assertEquals(refused("settings", data, {lr = 0.5}), "lr was 0.02 and is 0.5")
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2}
  lu.assertStrContains(refused("settings", data, {model = model,
    optimizer = ladies.optim.sgd(model:parameters(), {lr = 0.02})}), "optimizer was not set and is")
  lu.assertEquals(refused("settings", data, {model = ladies.nn.gcn{inputs = toy.FEATURES,
    hidden = 8, outputs = 3, layers = 2, dropout = 0.2}}), "model.hidden was 16 and is 8")
  train("settings", 12, data, {resume = true, patience = 500, workers = 1, checkpoint_every = 0,
    max_seconds = 100, epochs = 500})
end

--- Code is compared, but neither its lines nor the values that it has captured.
function tests.test_other_code()
  local data = toy.new()
  local function made(lines, body, captured)
    return load(("%slocal x = ... return function(...) local f = function(...) %s end "
      .. "local _ = x return f(...) end"):format(("\n"):rep(lines), body))(captured)
  end
  for name, body in pairs{
    loss = "return require('ladies').loss.cross_entropy(...)", schedule = "return 1.5",
    validation = "local t = {1234567890123, 0.3, '', ('x'):rep(3), nil, true} return t[2]",
  } do
    local function with(...) return {[name] = made(...)} end
    train(name, 8, data, with(0, body))
    lu.assertStrMatches(refused(name, data), ('%s was "code %%x+" and is %s; the script that '
      .. "began it goes on with it %%(resume = true%%)"):format(name,
      name == "validation" and '"exact"' or "not set"))
    lu.assertStrMatches(refused(name, data, with(0, "local _ = 7 " .. body)),
      ('%s was "code %%x+" and is "code %%x+"'):format(name))
    local again = with(300, body, 5)
    again.resume, again.on_validation = true, function() end
    train(name, 10, data, again)
  end
  train("no code", 8, data)
  lu.assertStrMatches(refused("no code", data, {schedule = ladies.schedule.constant()}),
    'schedule was not set and is "code %x+"')
end

--- A sampler is known by what it draws.
function tests.test_other_sampler()
  local data = toy.new()
  local P = data.graph:normalize "sym"
  local function sampler(size) return ladies.samplers.ladies(P, {samples = {size, size}}) end
  train("sampler", 8, data, {sampler = sampler(30)})
  lu.assertStrContains(refused("sampler", data, {sampler = sampler(29)}),
    "its sampler draws another mini-batch 8")
  lu.assertStrContains(refused("sampler", data,
    {sampler = toy.neighbourhoods(data.graph:normalize "row", 2)}), "another mini-batch 8")
  train("sampler", 5, data, {sampler = sampler(30), resume = true, epochs = 1})
end

-- ---------------------------------------------------------------- the command

local dataset = temporary.path "toy.npz"
ladies.data.save(toy.new(true), dataset)

local function command(folder, ...)
  shell.silent(shell.run_ladies{"train", "--dataset", dataset, "--layers=2", "--hidden=8",
    "--batch-size=20", "--max-batches=8", "--eval-every=4", "--quiet", "--out", folder, ...})
end

local function resume(folder, ...)
  return shell.run_ladies{"train", "--resume", folder, "--quiet", ...}
end

-- The same for a process that cannot write files of more than 20 KB.
local function resume_in_little_room(folder, ...)
  return shell.run{"bash", "-c", 'ulimit -f 20; exec "$0" train --resume "$@"', shell.ladies,
    folder, "--quiet", ...}
end

-- Refuses to go on, with a line that has `text` in it.
local function check_refusal(folder, text)
  local before = content(folder)
  shell.refuses({"ladies train: ", text}, "", select(2, resume(folder)))
  check_same(folder, before)
end

function tests.test_edited_configuration()
  local folder = temporary.path "edited"
  command(folder)
  local path = folder .. "/config.json"
  local own = ladies.file.read(path)
  ladies.file.write(path, (own:gsub('"lr": [%d.]+', '"lr": 0.5')))
  check_refusal(folder, "lr was 0.001 and is 0.5")
  ladies.file.write(path, own)
  local other = temporary.path "of_graphsage"
  command(other, "--method=graphsage")
  ladies.file.write(folder .. "/checkpoint.npz", "")
  os.execute(("cp '%s/checkpoint.npz' '%s'"):format(other, folder))
  check_refusal(folder, 'method was "graphsage" and is "ladies"')
end

--- The data set's file is replaced by another one, or lies elsewhere.
function tests.test_another_file()
  local folder, place = temporary.path "file", temporary.path "moving.npz"
  ladies.data.save(toy.new(true), place)
  command(folder, "--dataset", place)
  ladies.data.save(ladies.data.shuffled(toy.new(true), {what = "labels"}), place)
  check_refusal(folder, "its data set has other labels")
  shell.silent(resume(folder, "--max-batches=12", "--dataset", dataset))
end

--- Seeds that a double cannot hold are kept exactly: a run with one goes on to the same bits.
function tests.test_large_seeds()
  local seed = (1 << 53) + 1
  local parts, whole = temporary.path "large", temporary.path "large_whole"
  command(parts, "--seed=" .. seed)
  shell.succeeded(resume(parts, "--max-batches=16"))
  command(whole, "--seed=" .. seed, "--max-batches=16")
  for _, name in ipairs{"model.npz", "predictions.npz"} do
    lu.assertTrue(content(parts)[name] == content(whole)[name], name)
  end
  lu.assertEquals(json.decode(content(parts)["summary.json"]).seed, seed)
  for _, value in ipairs{seed, -seed, math.maxinteger, math.mininteger, 1 << 53, 0.1, 1e300,
    "9007199254740993", '\\" 9007199254740993, ', "\1"} do
    local back = json.decode(json.encode{[tostring(value)] = {value}})
    lu.assertEquals(back, {[tostring(value)] = {value}})
    lu.assertEquals(math.type(back[tostring(value)][1]), math.type(value))
  end
end

--- OpenBLAS is made to take the kernels of other processors: the run goes on and says so, and names
-- them all in the end; a comparison of runs from both says so too.
function tests.test_other_kernels()
  local folder, compared = temporary.path "kernels", temporary.path "compared"
  local function with(kernels, ...)
    return shell.run_ladies({...}, {env = {"OPENBLAS_CORETYPE=" .. kernels}})
  end
  local function numerics(kernels)
    return (with(kernels, "-e", "io.write(require 'ladies.base.machine'.numerics())"))
  end
  local one, two = numerics "Prescott", numerics "Nehalem"
  if one == two then lu.skip "this BLAS has one kind of kernels" end
  lu.assertStrContains(one, ("ladies %s, %s, "):format(core.version, core.vector_units()))
  local words = {"train", "--dataset", dataset, "--layers=2", "--hidden=8", "--batch-size=20",
    "--max-batches=4", "--eval-every=2", "--quiet", "--out", folder}
  local out, err = with("Prescott", table.unpack(words))
  lu.assertEquals(err, "")
  lu.assertStrContains(out, "\n  computed by  " .. one .. "\n")
  out, err = with("Nehalem", "train", "--resume", folder, "--quiet", "--max-batches=8")
  lu.assertEquals(err, ("ladies.train: so far the run was computed by %s; it goes on by %s, and "
    .. "its bits may be others than there\n"):format(one, two))
  lu.assertStrContains(out, ("\n  computed by  %s, then %s\n"):format(one, two))
  for runs, kernels in ipairs{"Prescott", "Nehalem"} do
    out = with(kernels, "compare", "--dataset", dataset, "--methods=full", "--layers=2",
      "--hidden=8", "--max-batches=4", "--eval-every=2", "--quiet", "--out", compared,
      "--runs=" .. runs)
    lu.assertEquals(out:find(("Computed by %s and by %s: "):format(one, two), 1, true) ~= nil,
      runs == 2)
  end
end

-- ---------------------------------------------------------------- files that are not whole

--- A log that somebody has cut goes on with the lines that it has, and without a byte of anything
-- else; the model is the same.
function tests.test_shorter_log()
  local data = toy.new()
  train("uncut", 20, data)
  for i, keep in ipairs{-120, 100, 0, false} do
    local folder = "cut" .. i
    local path = temporary.path(folder) .. "/log.jsonl"
    train(folder, 10, data)
    local text = ladies.file.read(path)
    if keep then ladies.file.write(path, text:sub(1, keep < 0 and #text + keep or keep))
    else os.remove(path) end
    train(folder, 20, data, {resume = true})
    local batches = {}
    for line in io.lines(path) do batches[#batches + 1] = json.decode(line).batch end
    lu.assertEquals(batches[#batches], 20)
    lu.assertTrue(#batches >= 12 and #batches < 23)
    lu.assertTrue(content(temporary.path(folder))["model.npz"]
      == content(temporary.path "uncut")["model.npz"])
  end
end

--- A run without room for a checkpoint ends with one line; the checkpoint before is whole, and the
-- run goes on from it.
function tests.test_no_room()
  local folder, whole = temporary.path "no_room", temporary.path "room"
  command(folder, "--hidden=256")
  command(whole, "--hidden=256", "--max-batches=16")
  local before = content(folder)
  local _, err, status = resume_in_little_room(folder, "--max-batches=16")
  lu.assertEquals(status, 1)
  lu.assertStrMatches(err,
    "ladies train: npz: [^\n]*/checkpoint.npz: cannot be written: File too large\n")
  local after = content(folder)
  lu.assertTrue(#after["checkpoint.npz"] > 20 * 1024)
  lu.assertTrue(after["checkpoint.npz"] == before["checkpoint.npz"])
  for name in pairs(after) do lu.assertNotNil(before[name], name) end
  shell.succeeded(resume(folder, "--max-batches=16"))
  lu.assertTrue(content(folder)["model.npz"] == content(whole)["model.npz"])
end

--- A run without room for the log ends with one line.
function tests.test_no_room_for_the_log()
  local folder = temporary.path "no_log"
  command(folder)
  local _, err, status = resume_in_little_room(folder, "--max-batches=10000", "--patience=0")
  lu.assertEquals(status, 1)
  lu.assertStrMatches(err,
    "ladies train: log: [^\n]*log.jsonl: cannot be written: File too large\n")
  shell.succeeded(resume(folder, "--max-batches=12"))
end

return tests
