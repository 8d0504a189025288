--- Runs with features in shards that end before their time: at random moments, with rows on their
-- way; for a shard that is damaged; and for want of room at one rank.
local lu = require "luaunit"
local files = require "tools.files"
local ladies = require "ladies"
local rank_faults = require "tools.rank_faults"
local rank_runs = require "tools.rank_runs"
local temporary = require "reference.temporary"

local tests = {}

local made = {}

-- Makes a data set in shards, perhaps with its graph, and returns its folder.
local function shards(with_graph)
  local folder = temporary.path(with_graph and "graph in shards" or "shards")
  if not made[folder] then
    ladies.data.to_shards(rank_runs.data(), folder, {shards = 5, dtype = "float16",
      shard_graph = with_graph})
    made[folder] = true
  end
  return folder
end

-- Activations are in files, at every rank.
local OPTIONS = "data = ladies.data.load(%q), memory = 1000, feature_cache = %s"

function tests.test_random_moments()
  rank_faults.check("broken", ladies.rng(21), {options = OPTIONS:format(shards(), "nil"),
    all_write = true})
end

--- Faults at random moments end runs with a cache, and with rows of the graph that others have, in
-- the same way.
function tests.test_random_moments_of_a_graph()
  rank_faults.check("broken too", ladies.rng(22), {options = OPTIONS:format(shards(true), "2000"),
    all_write = true})
end

-- ---------------------------------------------------------------- shards that are damaged

-- Gives each of two ranks its shards in a folder of its own; that of rank 1.
local function apart(name) return rank_runs.apart(shards(), name) .. 1 end

-- Returns the errors of a run of two ranks with these folders, which must fail with one line of a
-- rank.
local function failed(name, options)
  local out, err, status = rank_runs.run(2, name, ([[data = ladies.data.load(%q .. rank),
    accumulate = 4, max_batches = 400, %s]]):format(temporary.path(name), options or ""))
  lu.assertNotEquals(status, 0, out .. err)
  lu.assertEquals(select(2, err:gsub("rank %d of 2 on ", "")), 1, err)
  return err
end

--- A file that is cut off, or no file any more, on one machine alone ends the run with a line that
-- names it.
function tests.test_damaged()
  for name, file in pairs{cut = "shard-5-of-5.safetensors", short = "common.safetensors"} do
    local path = apart(name) .. "/" .. file
    files.write(path, files.read(path):sub(1, -2))
    lu.assertStrMatches(failed(name), ".*rank 1 of 2 on [^\n]*" .. file:gsub("%p", "%%%0")
      .. "[^\n]*\n.*")
  end
  local path = apart "other" .. "/shard-4-of-5.safetensors"
  os.remove(path)
  ladies.folder.make(path)
  lu.assertStrMatches(failed "other", ".*rank 1 of 2 on [^\n]*is missing; rank 1 of 2 needs.*")
end

--- A file that is cut off while it is in use ends the run with a line; it is large enough to be
-- mapped.
function tests.test_cut_off_in_use()
  local path, columns = temporary.path "wide", 1200
  ladies.data.to_shards(rank_runs.data(1, columns), path, {shards = 2})
  local out, err, status = rank_runs.run(2, "wide run", ([[data = ladies.data.load(%q),
    model = ladies.nn.gcn{inputs = %d, hidden = 8, outputs = 3, layers = 2}, on_batch = function(at)
      if rank == 1 and at.batch == 40 then io.open(%q, "w"):close() end
    end]]):format(path, columns, path .. "/shard-2-of-2.safetensors"))
  lu.assertEquals(status, 1, out .. err)
  lu.assertStrMatches(err, ".*rank 1 of 2 on [^\n]*/shard%-2%-of%-2%.safetensors: was overwritten "
    .. "[^\n]*\n.*")
end

return tests
