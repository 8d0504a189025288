--- Training by several ranks whose mini-batches take their seeds from parts of the graph: the bits
-- of one process alone, whatever the number of ranks and however the run went on; few rows that
-- come from others, counted as they are sent.
local lu = require "luaunit"
local json = require "ladies.base.json"
local ladies = require "ladies"
local rank_runs = require "tools.rank_runs"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local rows_traffic = require "ladies.training.ranks.rows_traffic"
local temporary = require "reference.temporary"

local tests = {}
local read, assert_same = rank_runs.read, rank_runs.assert_same

-- Folders by name: a graph with communities in four shards, whose nodes are in the order of four
-- parts, without and with its graph; and in an order that has nothing to do with the graph.
local folders = {}
local function folder_of(name)
  if folders[name] then return folders[name] end
  local data = ladies.generate.power_law{nodes = 3000, entries = 24000, features = 12, classes = 8,
    inside = 0.97, train = 0.3, val = 0.1, seed = 2}
  folders[name] = temporary.path(name)
  ladies.data.to_shards(data, folders[name], {shards = 4, shard_graph = name == "graph",
    parts = name ~= "any" and 4 or nil, by = name ~= "any" and "ldg" or nil})
  return folders[name]
end

local runs = rank_runs.on_data [[max_batches = 48, eval_every = 16, batch_size = 20,
  accumulate = 8, seeds_from = "parts",
  model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 8, layers = 2}]]
local run, train = runs.run, runs.train

function tests.test_same_bits()
  for _, case in ipairs{{1, "parts", ""}, {2, "parts", "threads = 2, workers = 1"},
      {4, "parts", "feature_cache = 2000"}, {3, "parts", ""}, {2, "graph", ""}, {4, "graph", ""}} do
    local n, name, options = table.unpack(case)
    runs.check(n, folder_of(name), folder_of(name), "", options)
  end
end

--- Where nodes are in any order, every rank has METIS make the same parts.
function tests.test_parts_by_metis()
  if not ladies.have_metis then return end
  for _, n in ipairs{2, 4} do runs.check(n, folder_of "any", folder_of "any") end
end

--- A run of which a rank is killed goes on with other ranks and alone.
function tests.test_killed()
  local expected, other = runs.alone(folder_of "parts", "")
  local options = [[checkpoint_every = 0, settle = function(opts)
    local count = 0
    function opts.on_batch()
      count = count + 1
      if rank == %d and count == %d then os.execute "kill -KILL $PPID" end
    end
  end]]
  for rank, n in pairs{[0] = 2, [3] = 4} do
    local folder = "killed" .. rank
    local _, err, status = run(n, folder_of "parts", folder, options:format(rank, 20))
    lu.assertEquals(status, 137, err)
    train(6 - n, folder_of "parts", folder, "max_batches = 32")
    lu.assertEquals(train(0, folder_of "parts", folder), expected)
    assert_same(folder, other)
  end
end

--- A loop of one's own takes parts, too; its mini-batches have seeds from those of their place.
function tests.test_loop_by_hand()
  local function hash(n)
    return (shell.succeeded(ranks.run_script(n, [[
      local ladies = require "ladies"
      local data, S = ladies.data.load(arg[1]), 4
      local sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {16, 16}})
      local model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 8, layers = 2}
      local adam, parts = ladies.optim.adam(model:parameters()), ladies.data.seed_parts(data, S)
      for batch in ladies.batches(data.train, {batch_size = 20, sampler = sampler, step = S,
          parts = parts, features = data.features, model = model}) do
        local seeds, own = batch.output, parts[batch.place]
        assert(seeds:min() >= own:min() and seeds:max() <= own:max(), "another part")
        local step <close> = ladies.step()
        local logits = model:forward(data.features, batch)
        ladies.loss.cross_entropy(logits, data.labels[seeds]):backward()
        if ladies.comm.accumulate(adam, S, batch.place) then adam:step() end
      end
      if ladies.comm.rank == 0 then print(model:parameters()[1]:hash()) end]],
      {folder_of "parts"})))
  end
  local expected = hash(1)
  for _, n in ipairs{2, 4} do lu.assertEquals(hash(n), expected) end
end

--- The bytes sent for features are those that one process computes: with seeds from parts less than
-- half as many as with seeds from everywhere.
function tests.test_bytes()
  local data, bytes = ladies.data.load(folder_of "parts"), {}
  for _, from in ipairs{"parts", "all"} do
    local folder = "bytes " .. from
    train(4, folder_of "parts", folder, ('seeds_from = "%s"'):format(from))
    local found = json.decode(read(folder, "summary.json")).ranks.kinds.features
    local sum = rows_traffic.of({data = data, batch_size = 20, seed = 1, seeds_from = from,
      model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 8, layers = 2}, accumulate = 8,
      sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {20, 20}})}, 4, 6)
    lu.assertEquals({found.messages, found.bytes}, {sum.messages, sum.bytes})
    lu.assertTrue(sum.rows <= sum.read)
    lu.assertEquals(sum.bytes, sum.rows * (4 + 4 * 12) + 4 * 12 * 6)     -- and counts of rows
    bytes[from] = sum.bytes
  end
  lu.assertTrue(bytes.parts < bytes.all / 2, bytes.parts .. " of " .. bytes.all)
end

--- A graph in shards whose nodes are in any order cannot be divided by ranks that have a part each.
function tests.test_refused()
  local path = temporary.path "unordered"
  ladies.data.to_shards(ladies.generate.power_law{nodes = 600, entries = 3000, features = 12,
    classes = 8, train = 0.3}, path, {shards = 2, shard_graph = true})
  local err = shell.refused(run(2, path, "refused"))
  lu.assertStrContains(err, "parts need the whole graph, and that of unordered is in shards: write "
    .. "these with its nodes in the order of parts (ladies import --shards N --shard-graph --parts")
end

return tests
