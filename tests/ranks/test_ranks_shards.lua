--- Training by several ranks with features in shards: the bits of one process alone with all of the
-- features, whatever the number of ranks, shards, threads and workers, and however the run went on.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local core = require "ladies_core"
local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local ladies = require "ladies"
local rank_runs = require "tools.rank_runs"
local ranks = require "tools.ranks"
local row_cache = require "ladies.training.ranks.row_cache"
local rows_traffic = require "ladies.training.ranks.rows_traffic"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"

local tests = {}
local read, assert_same = rank_runs.read, rank_runs.assert_same

local SHARDS = 5

-- The folders of data sets by a seed: the whole one, as a file, and in shards.
local made = {}
local function folders(seed)
  if made[seed] then return table.unpack(made[seed]) end
  local whole = temporary.path("whole" .. seed .. ".safetensors")
  ladies.data.save(rank_runs.data(seed), whole, {dtype = "float16"})
  ladies.data.to_shards(whole, temporary.path("shards" .. seed), {shards = SHARDS,
    features_in = "file"})
  made[seed] = {whole, temporary.path("shards" .. seed)}
  return table.unpack(made[seed])
end

local runs = rank_runs.on_data "max_batches = 40, eval_every = 8, batch_size = 20"
local run, train = runs.run, runs.train

-- Models by what exact inference does with their features: the first layer maps them, or all of
-- them are brought to all ranks, or some at a time. The last two read no graph, and of a mini-batch
-- the features of its output alone, which a sampler that keeps no own nodes has not in its input.
local NARROW = [[model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 3, layers = 2}]]
local WIDE = [[model = ladies.nn.gcn{inputs = 12, hidden = 16, outputs = 3, layers = 2}]]
local GCNII = [[model = ladies.nn.gcnii{inputs = 12, hidden = 16, outputs = 3, layers = 2}]]
local SAMPLED_MLP = [[model = ladies.nn.mlp{inputs = 12, hidden = 8, outputs = 3}]]
local MLP = SAMPLED_MLP .. ", settle = function(opts) opts.sampler = nil end"

function tests.test_same_bits()
  local all, shards = folders(1)
  for _, case in ipairs{{0, NARROW, ""}, {1, NARROW, ""}, {2, NARROW, "threads = 2, workers = 1"},
      {3, WIDE, "threads = 1"}, {4, NARROW, "feature_cache = 2000"}, {2, GCNII, "workers = 1"},
      {7, NARROW, ""}, {2, MLP, "workers = 1"}, {3, MLP, "feature_cache = 2000"},
      {2, SAMPLED_MLP, ""}} do
    local n, model, options = table.unpack(case)
    runs.check(n, shards, all, model, ", " .. options)
  end
end

--- Steps of more mini-batches than a group has, unequal shares, and ranks without any give the bits
-- of one process, too.
function tests.test_groups()
  local all, shards = folders(1)
  for n, step in pairs{[3] = 26, [2] = 16, [4] = 2} do
    runs.check(n, shards, all, ("%s, accumulate = %d, epochs = 6"):format(NARROW, step))
  end
end

--- A run goes on with another number of ranks, and alone.
function tests.test_resumed()
  local all, shards = folders(1)
  local expected, other = runs.alone(all, NARROW)
  train(3, shards, "parts", NARROW .. ", max_batches = 16")
  train(2, shards, "parts", NARROW .. ", max_batches = 24, feature_cache = 1000")
  lu.assertEquals(train(0, shards, "parts", NARROW), expected)
  assert_same("parts", other)
end

-- A validation of one's own, which reads rows, infers, and lets another do so; and a penalty, which
-- the loop calls.
local OWN = [[settle = function(opts, P)
  local sampler, data = opts.sampler, opts.data
  function opts.validation(model, number)
    local batch = sampler(data.val, ladies.rng(number))
    local logits = ladies.no_grad(model.forward, model, data.features, batch, false)
    local predicted = ladies.metrics.predictions(model, data)
    local f1 = ladies.comm.together(ladies.metrics.f1, model, data, data.val)
    return {score = logits:sum():item() + data.features:rows(ladies.index{1000, 1}):sum():item(),
      f1 = f1}, predicted
  end
  function opts.sampler(seeds, rng)
    local batch = sampler(seeds, rng)
    function batch.penalty(_, model, loss)
      return model:parameters()[1]:square():sum() * 0.01 + loss * 0.5
    end
    return batch
  end
end]]

--- A validation of one's own is made by all ranks together, and sees all rows.
function tests.test_own_validation()
  local all, shards = folders(1)
  local options = NARROW .. ", " .. OWN
  for n = 2, 3 do runs.check(n, shards, all, options) end
  lu.assertEquals(train(2, all, "own whole", options), runs.alone(all, options))
end

-- `ladies train` with sampled validation of the data set at `path`: its scores.
local function train_sampled(n, path, folder, ...)
  local words = {"train", path, "--validation", "sampled", "--layers", "2", "--hidden", "8",
    "--samples", "20", "--batch-size", "20", "--accumulate", "4", "--max-batches", "40",
    "--eval-every", "8", "--quiet", "--out", temporary.path(folder), ...}
  shell.succeeded(ranks.run(n, words))
  return tables.map(files.lines(temporary.path(folder) .. "/log.jsonl"), function(line)
    return json.decode(line).validation or false
  end)
end

--- Sampled validation is the same in shards.
function tests.test_sampled_validation()
  local all, shards = folders(1)
  local expected = train_sampled(1, all, "sampled")
  lu.assertEquals(#expected, 45)
  for n = 2, 3 do
    lu.assertEquals(train_sampled(n, shards, "sampled" .. n, "--feature-cache", "1000"), expected)
    assert_same("sampled" .. n, "sampled")
  end
end

--- A cache holds what a rank has asked for most often. A row that is held stays where another one
-- was asked for once more only; of equal ones the first in order is taken.
function tests.test_cache_chosen()
  local order = core.index{5, 1, 6, 2}
  local function chosen(counts, held, size)
    local ids, lacking = row_cache.chosen(order, ladies.tensor(counts), core.index(held), size)
    return {ids:to_table(), lacking:to_table()}
  end
  lu.assertEquals(chosen({0, 0, 9, 9, 0, 0}, {}, 2), {{1, 5}, {1, 5}})
  lu.assertEquals(chosen({0, 1, 9, 9, 0, 1}, {1, 5}, 2), {{1, 5}, {}})
  lu.assertEquals(chosen({0, 2, 9, 9, 1, 1}, {1, 5}, 2), {{2, 5}, {2}})
  lu.assertEquals(chosen({0, 0, 0, 0, 0, 0}, {}, 0), {{}, {}})
  lu.assertEquals(chosen({3, 4, 0, 0, 1, 2}, {}, 4), {{1, 2, 5, 6}, {1, 2, 5, 6}})
end

--- The bytes that a run counts as sent for features are those that one process computes by drawing
-- the mini-batches.
function tests.test_bytes()
  local _, shards = folders(1)
  local data = ladies.data.load(shards)
  for n, cache in pairs{[2] = 1000, [4] = false} do
    local folder, cached = "bytes" .. n, cache and ", feature_cache = " .. cache or ""
    -- Epochs have 15 mini-batches, so a cache is chosen anew after each of the first two steps.
    train(n, shards, folder, NARROW .. ", max_batches = 80, accumulate = 20" .. cached)
    local found = json.decode(read(folder, "summary.json")).ranks.kinds.features
    local sum, caches = rows_traffic.of({data = data, batch_size = 20, seed = 1,
      model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 3, layers = 2},
      sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {20, 20}}),
      accumulate = 20, feature_cache = cache or nil}, n, 4)
    lu.assertEquals({found.messages, found.bytes},
      {sum.messages + caches.messages, sum.bytes + caches.bytes})
    lu.assertTrue(sum.bytes > 3000, sum.bytes)
  end
end

-- ---------------------------------------------------------------- failures

--- A rank that is interrupted ends the run with a checkpoint and the status of an interruption;
-- rows of features that came last may be there longer than MPI.
function tests.test_interrupted()
  local _, shards = folders(1)
  for _, signal in ipairs{"INT", "TERM"} do
    local folder = temporary.path("interrupted" .. signal)
    local words = {"train", shards, "--layers=2", "--hidden=8", "--batch-size=20",
      "--accumulate=6", "--max-batches=1000000", "--patience=1000000", "--quiet", "--out", folder}
    local out, err, status = ranks.run(3, words, {before = {"bash", here .. "/tools/signal_rank.sh",
      signal, folder .. "/log.jsonl"}})
    lu.assertEquals(status, 130, out .. err)
    lu.assertEquals(core.exists(folder .. "/checkpoint.npz"), "file")
  end
end

-- The one line of a run of two ranks that is refused.
local function refused(path, options)
  return rank_runs.refused(run(2, path, "refused", NARROW .. (options or "")))
end

--- A rank needs its own shards alone; one that is missing or of another data set is reported.
function tests.test_shards_of_a_rank()
  local _, shards = folders(1)
  local _, others = folders(2)
  local copy = temporary.path "copy"
  os.execute(("cp -r %s %s"):format(shell.quote(shards), shell.quote(copy)))
  local shard = ("%s/shard-4-of-5.safetensors"):format(copy)
  os.remove(shard)
  lu.assertStrContains(refused(copy), shard .. " is missing; rank 1 of 2 needs 4 to 5 of 5")
  files.write(shard, files.read(others .. "/shard-4-of-5.safetensors"))
  lu.assertStrContains(refused(copy), "is a shard of another data set than common.safetensors: its")
end

--- Training by several ranks refuses options that need all features in memory.
function tests.test_features_in_memory()
  local _, shards = folders(1)
  local text = refused(shards, (', data = ladies.data.load(%q, {features_in = "memory"})'):format(
    shards))
  lu.assertStrContains(text, shards .. '/common.safetensors: features_in = "memory" is for one '
    .. "process alone: here each rank has the features of its own shards; leave it out")
  local out, err = ranks.run(2, {"-e", ([[print(ladies.comm.together(function()
    return ladies.data.load(%q, {features_in = "memory"}).features:hash() end))]]):format(shards)})
  lu.assertEquals(out, ladies.data.load(shards, {features_in = "memory"}).features:hash() .. "\n",
    err)
  text = refused(shards, (", data = ladies.experiment.read(ladies.experiment.configure{"
    .. 'dataset = %q, features = "row_normalized"})'):format(shards))
  lu.assertStrContains(text, 'features = "row_normalized" reads all features, and of those of '
    .. "shards1 each rank has its own shards")
end

--- Rows that another rank has are an error outside of what all ranks do together.
function tests.test_rows_elsewhere()
  local _, shards = folders(1)
  local options = [[, settle = function(opts)
    function opts.on_batch() opts.data.features:rows(ladies.index{1000}) end
  end]]
  lu.assertStrContains(refused(shards, options),
    "rows: row 1000 is at rank 1, and this one has its own part alone")
end

-- The beginning of a script of two ranks, in which `rows(n, bounds)` has n rows, two of them at
-- each rank.
local TWO = [[
    local ladies, core = require "ladies", require "ladies_core"
    local link = require "ladies.ranks.link"
    local path = arg[1] .. link.rank
    ladies.safetensors.write(path, {x = ladies.ones(2, 3)})
    local file = ladies.safetensors.open(path, {mapped = true})
    local function rows(n, bounds)
      return core.rows_in_parts{dtype = "float32", n_rows = n, n_cols = 3, bounds = bounds,
        parts = {{first = 2 * link.rank + 1, rows = file:rows "x"}}}
    end
    local function fetch(...) return link.fetched("features", link.fetch(...)) end
    ]]

-- Returns the errors of two ranks in such a script.
local function failed(text)
  return (shell.refused(ranks.run_script(2, TWO .. text, {temporary.path "two"},
    {env = {"LADIES_PATIENCE=4"}})))
end

--- A fetch goes on while a rank computes, so that another one, which waits for its rows, has them
-- long before this rank does.
function tests.test_a_fetch_goes_on_while_a_rank_computes()
  local out = shell.succeeded(ranks.run_script(2, TWO .. [[
    local begun = link.fetch(rows(4, {0, 2, 4}), core.index{3 - 2 * link.rank})
    local x, began = ladies.ones(64, 64), core.clock()
    while link.rank == 1 and core.clock() - began < 20 and not core.exists(arg[1] .. ".got") do
      x = x:relu()
    end
    local got = link.fetched("features", begun)
    if link.rank == 0 then core.file.write(arg[1] .. ".got", "") end
    local ok, message = pcall(link.fetched, "features", begun)
    assert(not ok and message:find("the Fetch is closed", 1, true), message)
    local late = link.rank == 0 and core.clock() - began > 15
    print(got:rows(core.index{3}):to_table()[1][1], late and "late" or "early")]],
    {temporary.path "two"}))
  lu.assertEquals(out, "1.0\tearly\n")
end

--- Fetches fail for rows in parts of other processes than there are, and, after a fetch that failed
-- at this rank alone, whatever it does next.
function tests.test_fetches_that_fail()
  lu.assertStrContains(failed "fetch(rows(6, {0, 2, 4, 6}), core.index{1, 5})",
    "ranks: the features are in 3 parts, and there are 2 ranks")
  lu.assertStrContains(failed [[
    if link.rank == 0 then fetch(rows(6, {0, 2, 6}), core.index{6}) end
    local begun = link.fetch(rows(4, {0, 2, 4}), core.index{})
    local ok, message = pcall(link.fetched, "features", begun)
    assert(not ok and message:find("another one wants the row 6", 1, true), message)
    link.fetched("features", begun)]], "ranks: they have lost each other, by an error before")
end

return tests
