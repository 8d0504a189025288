--- Commands that several ranks carry out together: what rank 0 prints and writes is what one
-- process alone does, to the byte.
local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local ladies = require "ladies"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"

local tests = {}

-- Runs a command by n ranks, or by one process where n is 0; it must succeed. Returns what it
-- printed, and what it printed to stderr.
local function run(n, folder, text)
  local opts = {folder = folder}
  if n == 0 then return shell.succeeded(shell.run_ladies(shell.words(text), opts)) end
  return shell.succeeded(ranks.run(n, shell.words(text), opts))
end

-- A folder with a data set as a file, whole.npz, and in shards with its graph, parts.
local function data_folder()
  local folder = shell.folder()
  local data = ladies.generate.power_law{nodes = 3100, entries = 20000, features = 12, classes = 3,
    train = 0.4, val = 0.2, seed = 1}
  ladies.data.save(data, folder.path .. "/whole.npz")
  ladies.data.to_shards(data, folder.path .. "/parts", {shards = 3, shard_graph = true})
  return folder
end

local TRAINED = " --layers 2 --batch-size 64 --max-batches 4 --eval-every 4 --threads 1 --quiet "

-- The numbers that ladies evaluate has printed, without its seconds.
local function numbers(out) return (out:gsub("in [%d.]+ s", "")) end

-- A command prints by n ranks what it prints by one process alone.
local function assert_same(n, path, text)
  lu.assertEquals(numbers(run(n, path, text)), numbers(run(0, path, text)), text)
end

-- So it is with the file that ladies predict writes.
local function assert_same_file(n, path, text, kind)
  run(0, path, ("%s --out alone.%s"):format(text, kind))
  run(n, path, ("%s --out together.%s"):format(text, kind))
  lu.assertTrue(files.read(path .. "/together." .. kind) == files.read(path .. "/alone." .. kind),
    text)
end

--- The logits of exact inference and of sampled batches do not depend on who computes them, whether
-- the layers of the model can be computed by rows or not.
function tests.test_evaluate_and_predict()
  local folder <close> = data_folder()
  local path = folder.path
  run(0, path, "train ./whole.npz --model gcn --out gcn" .. TRAINED)
  run(0, path, "train ./whole.npz --model gat --out gat" .. TRAINED)
  assert_same_file(3, path, "predict gcn --split all", "npz")
  assert_same_file(2, path, "predict gcn --inference sampled --draws 2", "npz")
  assert_same_file(2, path, "predict gat --smooth", "csv")
  assert_same(2, path, "evaluate gcn")
  assert_same(2, path, "evaluate gat --inference sampled")
end

--- Each rank has its own rows of the graph and of the features alone.
function tests.test_graph_in_shards()
  local folder <close> = data_folder()
  local path = folder.path
  run(0, path, "train ./parts --out run --model gcn" .. TRAINED)
  assert_same_file(3, path, "predict run", "csv")
  assert_same(2, path, "evaluate run --inference sampled")
end

-- The results of a study in a folder, by key: what does not depend on the clock.
local function results(folder)
  local found = {}
  for line in io.lines(folder .. "/results.jsonl") do
    local record = json.decode(line)
    found[record.key] = {record.config, record.test_f1, record.best_value, record.batches}
  end
  return found
end

--- The runs of a study are divided, and rank 0 alone writes. A study that one process has finished
-- has nothing left to do for three.
function tests.test_sweep()
  local folder <close> = data_folder()
  local path = folder.path
  local text = "sweep --vary lr=0.01,0.03 --datasets ./whole.npz --methods ladies:64,graphsage "
    .. "--runs 2 --jobs 1 --layers 2 --max-batches 4 --eval-every 2 --quiet --out "
  run(0, path, text .. "alone")
  run(3, path, text .. "together")
  lu.assertEquals(results(path .. "/together"), results(path .. "/alone"))
  lu.assertTrue(files.read(path .. "/together/sweep.csv") == files.read(path .. "/alone/sweep.csv"))
  run(3, path, text .. "alone")
  lu.assertEquals(#files.lines(path .. "/alone/results.jsonl"), 8)
end

--- A file of one's own is loaded by the processes of each rank.
function tests.test_compare()
  local folder <close> = data_folder()
  local path = folder.path
  files.write(path .. "/mine.lua", [[
    return function(P, settings)
      return require("ladies").samplers.ladies(P, {samples = {8, settings.samples}})
    end]])
  local text = "compare --dataset ./whole.npz --methods ./mine.lua:9,full --runs 2 --layers 2 "
    .. "--max-batches 4 --eval-every 2 --quiet --threads 1 --out "
  run(0, path, text .. "alone")
  run(2, path, text .. "together")
  lu.assertEquals(results(path .. "/together"), results(path .. "/alone"))
end

-- The intervals of errors in the lab.json of a folder, by the sampler's place and their key; not
-- those of times, and of what is looked for as long as time allows.
local function errors_of(folder)
  local found = {}
  local lab = json.decode(files.read(folder .. "/lab.json"))
  for i, one in ipairs(lab.examinations) do
    for _, finding in ipairs(one.findings) do
      local is_of_errors = finding.key:find "embedding" or finding.key:find "gradient"
        or finding.key:find "^layers"
      if is_of_errors and not finding.key:find "^ranking" then
        found[i .. " " .. finding.key] = {finding.mean, finding.low, finding.high}
      end
    end
  end
  return found
end

--- The sets of seeds of a laboratory are divided; errors are the same. A sampler that fails does so
-- in one line, whoever has its group.
function tests.test_lab()
  local folder <close> = data_folder()
  local path = folder.path
  local text = "lab ladies --against none --dataset ./whole.npz --samples 64 --batch-size 32 "
    .. "--precision 10 --hidden 4 --draws 2 --seconds 0.2 --threads 1 --quiet --out "
  run(0, path, text .. "alone")
  run(3, path, text .. "together")
  local expected = errors_of(path .. "/alone")
  lu.assertTrue(#tables.sorted_keys(expected) > 10)
  lu.assertEquals(errors_of(path .. "/together"), expected)
  files.write(path .. "/fails.lua", [[
    local calls = 0
    return function(P)
      local ladies = require "ladies"
      local sampler = ladies.samplers.ladies(P, {samples = {8, 8}})
      return function(seeds, rng)
        calls = calls + 1
        if calls > 60 and ladies.comm.rank > 0 then error "no more" end
        return sampler(seeds, rng)
      end
    end]])
  local out, err, status = ranks.run(2, shell.words((text:gsub("ladies %-%-against", "./fails.lua "
    .. "--against") .. "failed")), {folder = path})
  lu.assertEquals(status, 1, out .. err)
  lu.assertEquals(select(2, err:gsub("no more", "")), 1, err)
  local training = shell.words "lab ladies --dataset ./whole.npz --train-batches 3"
  out, err, status = ranks.run(2, training, {folder = path})
  lu.assertEquals(status, 1, out .. err)
  lu.assertStrContains(err, "ladies lab: train runs in one process, and 2 were started")
end

return tests
