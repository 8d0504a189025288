--- The commands of a storm: how each is begun and taken up again, and what it must come to whatever
-- happened meanwhile. A case:
--
--   title                          one line
--   words(folder, rng, n) -> argv, ranks     the n-th attempt (1, 2, ...) in that folder; ranks: by
--                                  so many processes of mpirun; 0 is the program alone
--   kept(folder) -> texts          name -> what only grows: after a blow it begins as before
--   outcome(folder) -> text        of a finished one, without times
--   env(folder) -> array           NAME=VALUE, further ones

local core = require "ladies_core"
local fake_sources = require "tools.fake_sources"
local files = require "tools.files"
local json = require "ladies.base.json"
local ladies = require "ladies"
local method_names = require "reference.method_names"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local toy_data = require "reference.toy_data"

local cases = {}

-- The methods, and those that several ranks cannot train, since each mini-batch needs the step on
-- the one before.
local METHODS = method_names()
local ADAPTIVE = {vrgcn = true, mvs = true, asgcn = true, bandit = true, bliss = true, pass = true,
  grapes = true}
-- The methods that can be trained for link prediction, too.
local OF_LINKS = {ladies = true, pladies = true, fastgcn = true, graphsage = true, labor = true,
  shadow = true}
local SMALL = {"--hidden", "8", "--batch-size", "20", "--patience", "0", "--quiet"}

local function words_of(...)
  local list = {}
  for _, part in ipairs{...} do
    for _, word in ipairs(type(part) == "table" and part or {part}) do list[#list + 1] = word end
  end
  return list
end

local function read(path) return core.exists(path) == "file" and files.read(path) or "" end

local function hash_of(path)
  return core.exists(path) == "file" and core.zip.sha256(path) or "not there"
end

local function one_of(list, rng) return list[rng:below(#list)] end

-- ---------------------------------------------------------------- train

-- Batches, losses and validations of a log, whose lines have times besides.
local function log_of(path)
  local lines = {}
  for line in read(path):gmatch "[^\n]+" do
    local record = json.decode(line, path)
    lines[#lines + 1] = ("%d %s %s"):format(record.batch, record.loss or "-",
      record.validation and json.encode(record.validation) or "-")
  end
  return table.concat(lines, "\n")
end

local function run_of(folder)
  local summary = json.decode(files.read(folder .. "/summary.json"))
  return table.concat({"model " .. hash_of(folder .. "/model.npz"),
    "predictions " .. hash_of(folder .. "/predictions.npz"),
    ("%s %s %s %s %s"):format(summary.test_f1, summary.best_value, summary.best_batch,
      summary.batches, summary.stopped), log_of(folder .. "/log.jsonl")}, "\n")
end

-- Begins a run, or takes up the one that there is, with other threads, workers and ranks.
local function attempt(folder, begin, rng, at_most)
  local words = core.exists(folder .. "/config.json") == "file"
    and {"train", "--resume", folder, "--quiet"} or begin
  return words_of(words, "--threads", tostring(rng:below(3)), "--workers",
    tostring(rng:below(3) - 1), "--checkpoint-every", one_of({"0", "0.05", "0.3"}, rng)),
    ranks.available() and rng:below(at_most) - 1 or 0
end

function cases.train(data, rng)
  local method = one_of(METHODS, rng)
  local layers, steps = rng:below(3), one_of({1, 4}, rng)
  local task = one_of({"node_classification", OF_LINKS[method] and "link_prediction"
    or "node_classification"}, rng)
  local words = words_of("train", data, "--task", task, "--method", method, "--layers",
    tostring(layers), SMALL, "--accumulate", tostring(steps), "--max-batches",
    ADAPTIVE[method] and "480" or "1600", "--eval-every", "40", "--seed",
    tostring(rng:below(1000)), method == "ladies" and {"--samples", "16"} or {})
  return {
    title = table.concat(words, " "),
    words = function(folder, own)
      return attempt(folder, words_of(words, "--out", folder), own,
        (ADAPTIVE[method] or steps == 1) and 1 or 4)
    end,
    kept = function() return {} end, outcome = run_of,
  }
end

-- Trains by several ranks, with features and graph in shards, whose activations may be in temporary
-- files.
function cases.ranks(_, rng, world)
  local words = words_of("train", world.shards, "--method", one_of({"ladies", "pladies",
    "graphsage", "labor", "full"}, rng), "--model", one_of({"gcn", "sage", "gin", "gcnii"}, rng),
    "--layers", "2", SMALL, "--accumulate", "4", "--eval-every", "40", "--seed",
    tostring(rng:below(1000)), "--max-batches", "400",
    one_of({{}, "--shard-optimizer"}, rng), one_of({{}, {"--feature-cache", "4K"}}, rng),
    one_of({{}, {"--memory", "20K"}}, rng))
  return {
    title = table.concat(words, " "),
    words = function(folder, own)
      return words_of(core.exists(folder .. "/config.json") == "file"
        and {"train", "--resume", folder, "--quiet"} or words_of(words, "--out", folder),
        "--threads", "1", "--checkpoint-every", one_of({"0", "0.05", "0.3"}, own)), own:below(3) + 1
    end,
    kept = function() return {} end, outcome = run_of,
  }
end

-- Predicts by several ranks with the model of a run on a larger graph in shards, whose activations
-- may be in temporary files.
function cases.predict(_, rng, world)
  local words = words_of("predict", world:run(), one_of({{}, {"--memory", "100K"}}, rng))
  return {
    title = table.concat(words, " "),
    words = function(folder, own)
      core.folder.make(folder)
      -- One that was killed leaves a part of its file: folders that are not ours are not tidied up.
      for _, name in ipairs(core.files(folder)) do
        if name:find "%.tmp" then os.remove(folder .. "/" .. name) end
      end
      return words_of(words, "--out", folder .. "/logits.npz"), own:below(3) + 1
    end,
    kept = function() return {} end,
    outcome = function(folder) return hash_of(folder .. "/logits.npz") end,
  }
end

-- ---------------------------------------------------------------- studies

-- Returns the fields of a study's records that are no time.
local function study_of(folder)
  local list = {}
  for line in read(folder .. "/results.jsonl"):gmatch "[^\n]+" do
    local record, curve = json.decode(line), {}
    for i, at in ipairs(record.curve) do curve[i] = ("%d %s"):format(at[1], at[3]) end
    list[#list + 1] = ("%s: %s %s %s %s; %s"):format(record.key, record.test_f1, record.val_f1,
      record.best_batch, record.batches, table.concat(curve, ", "))
  end
  table.sort(list)
  return table.concat(list, "\n")
end

local function results_of(folder)
  return {["results.jsonl"] = read(folder .. "/results.jsonl")}
end

local function of_study(words, jobs)
  return {
    title = table.concat(words, " "),
    words = function(folder, rng)
      return words_of(words, "--out", folder, jobs and {"--jobs", tostring(rng:below(2)),
        "--threads", tostring(rng:below(2))} or {}), 0
    end,
    kept = results_of, outcome = study_of,
  }
end

function cases.compare(data, rng)
  return of_study(words_of("compare", "--dataset", data, "--methods", ("ladies:%d,%s"):format(
    rng:below(30) + 4, one_of({"full", "vrgcn", "bandit:3", "graphsage:2"}, rng)), "--runs", "2",
    "--layers", "2", "--max-batches", "600", "--eval-every", "40", SMALL))
end

function cases.sweep(data, rng)
  return of_study(words_of("sweep", "--datasets", data, "--methods", "ladies:16", "--vary",
    ("lr=0.01,0.02 layers=%d"):format(rng:below(3)), "--runs", "2", "--max-batches", "600",
    "--eval-every", "40", SMALL), true)
end

function cases.table3(data, rng)
  return of_study({"table3", "--datasets", data, "--methods",
    one_of({"full", "ladies:64", "fastgcn:64"}, rng), "--runs", "2", "--quiet"}, true)
end

function cases.auto(data, rng)
  local words = words_of("train", data, "--auto", "--auto-seconds", "600", "--max-batches", "40",
    "--eval-every", "10", "--samples", "8", "--seed", tostring(rng:below(1000)), SMALL)
  return {
    title = table.concat(words, " "),
    words = function(folder, own)
      return attempt(folder, words_of(words, "--out", folder), own, 1)
    end,
    kept = function(folder) return results_of(folder .. "-auto") end,
    outcome = function(folder) return study_of(folder .. "-auto") .. "\n" .. run_of(folder) end,
  }
end

-- ---------------------------------------------------------------- the laboratory

function cases.lab(data, rng)
  local words = {"lab", one_of({"ladies", "graphsage", "labor", "pladies"}, rng), "--dataset",
    data, "--batch-size", "20", "--samples", "8", "--hidden", "8", "--layers",
    tostring(rng:below(2)), "--precision", "0.5",
    "--seconds", "600", "--against", "none", "--quiet", "--seed", tostring(rng:below(1000))}
  return {
    title = table.concat(words, " "),
    words = function(folder, own)
      return words_of(words, "--threads", tostring(own:below(3)), "--out", folder), 0
    end,
    kept = function() return {} end,
    outcome = function(folder)
      local rows = {}
      for line in files.read(folder .. "/lab.csv"):gmatch "[^\n]+" do
        if not (line:find(",cost,", 1, true) or line:find "second" or line:find " ms ") then
          rows[#rows + 1] = line
        end
      end
      return table.concat(rows, "\n")
    end,
  }
end

-- ---------------------------------------------------------------- data sets

-- Returns the contents of the cache without the dates of its files.
local function cache_of(folder)
  local list = {}
  for _, name in ipairs(core.exists(folder) == "folder" and core.files(folder) or {}) do
    list[#list + 1] = ("%s %s"):format(name, name:find "%.npz$" and hash_of(folder .. "/" .. name)
      or read(folder .. "/" .. name):gsub('"date"[^\n]*', ""))
  end
  return table.concat(list, "\n")
end

local function of_cache(words, env)
  return {
    title = table.concat(words, " "),
    words = function(folder)
      -- A file that has come whole is not written over unless that is asked for.
      local is_there = words[1] == "import" and core.exists(folder .. "/mine.npz") == "file"
      return words_of(words, is_there and "--replace" or {}), 0
    end,
    kept = function() return {} end,
    outcome = function(folder) return cache_of(folder) end,
    env = function(folder)
      local list = env()
      list[#list + 1] = "LADIES_CACHE=" .. folder
      return list
    end,
  }
end

--- Fetches from a program that stands in for curl, which is slow, or for pip.
function cases.fetch(_, rng, world)
  return of_cache({"fetch", one_of({"toy", "toy-wheel"}, rng), "--quiet"}, function()
    return world:env{"FAKE=slow"}
  end)
end

function cases.import(_, rng, world)
  local path = rng:below(2) == 1 and world.archive or world.large
  return of_cache({"import", path, "--name", "mine"}, function() return {"LADIES_OFFLINE=1"} end)
end

-- Divides a data set; what came whole is not written over unless its folder goes.
function cases.shards(_, rng, world)
  local words = words_of("import", world.large, "--shards", "4", one_of({{}, "--shard-graph"}, rng),
    one_of({{}, {"--parts", "4"}, {"--parts", "8", "--by", "ldg"}}, rng))
  return {
    title = table.concat(words, " "),
    words = function(folder) return words_of(words, "--out", folder), 0 end,
    kept = function() return {} end,
    outcome = function(folder)
      local list = {}
      for i, name in ipairs(core.files(folder)) do
        list[i] = name .. " " .. hash_of(folder .. "/" .. name)
      end
      return table.concat(list, "\n")
    end,
  }
end

--- The names of the commands, sorted.
cases.NAMES = {"auto", "compare", "fetch", "import", "lab", "predict", "ranks", "shards", "sweep",
  "table3", "train"}

--- The world in which data sets come, with one that takes a while to read; closed at the end.
function cases.world()
  local world = fake_sources.world()
  world.data, world.large = world.path .. "/toy.npz", world.path .. "/large.npz"
  ladies.data.save(toy_data.new(true), world.data)
  ladies.data.save(ladies.generate.block_model{nodes = 20000, classes = 4, p_inside = 0.001,
    p_outside = 0.0001, features = 32}, world.large)
  world.shards = world.path .. "/shards"
  ladies.data.to_shards(ladies.generate.power_law{nodes = 1000, entries = 8000, features = 12,
    classes = 3, train = 0.3, val = 0.2, seed = 1}, world.shards, {shards = 4, shard_graph = true})
  -- Returns the folder of a run on the larger data set in shards, which is made when it is wanted.
  function world:run()
    local folder, shards = self.path .. "/run", self.path .. "/large-shards"
    if not core.exists(folder) then
      ladies.data.to_shards(ladies.data.load(self.large), shards, {shards = 4, shard_graph = true})
      assert(core.process.start({shell.ladies, "train", shards, "--model", "gcn", "--layers", "3",
        "--hidden", "64", "--max-batches", "4", "--quiet", "--out", folder},
        {log = self.path .. "/printed"}):wait() == 0)
    end
    return folder
  end
  return world
end

return cases
