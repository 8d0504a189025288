--- Mini-batches whose seeds come from parts of the training nodes, one for each place of a step:
-- the right part, every node once in an epoch, the same with workers and from anywhere on; and runs
-- with the option seeds_from, which go on, or say why they cannot be.
local lu = require "luaunit"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

local index = ladies.index

-- The numbers 1 .. n, each third one first, in k parts that differ by at most one.
local function in_parts(n, k)
  local parts, first = {}, 1
  for i = 1, k do
    local last = i * n // k
    parts[i], first = ladies.range(first, last), last + 1
  end
  return parts
end

-- The seeds of all mini-batches, as arrays.
local function drawn(n, parts, options)
  local list = {}
  options.parts = parts
  for batch in ladies.batches(ladies.range(1, n), options) do
    list[#list + 1] = batch.output:to_table()
  end
  return list
end

--- A step has a mini-batch of each part, in their order, and an epoch each node once, whatever is
-- left over; in another order in each epoch.
function tests.test_every_node_once()
  for _, case in ipairs{{40, 4, 5}, {41, 4, 5}, {43, 4, 5}, {50, 4, 5}, {7, 7, 5}, {9, 7, 1},
      {100, 3, 32}, {10, 2, 100}} do
    local n, k, size = table.unpack(case)
    local parts, orders = in_parts(n, k), {}
    local batches = drawn(n, parts, {batch_size = size, epochs = 3})
    local per_epoch = #batches // 3
    lu.assertEquals({#batches % 3, per_epoch % k}, {0, 0})
    for epoch = 1, 3 do
      local seen = {}
      for i = 1, per_epoch do
        local part = parts[(i - 1) % k + 1]
        local seeds = batches[(epoch - 1) * per_epoch + i]
        local turn, turns = (i - 1) // k + 1, per_epoch // k
        lu.assertTrue(#seeds == math.min(size, #part) or turn == turns and #seeds > 0)
        for _, v in ipairs(seeds) do
          lu.assertTrue(v >= part[1] and v <= part[#part])
          lu.assertNil(seen[v])
          seen[v] = true
        end
      end
      local count = 0
      for v = 1, n do count = count + (seen[v] and 1 or 0) end
      lu.assertEquals(count, n)
      orders[epoch] = table.concat(batches[(epoch - 1) * per_epoch + 1], " ")
    end
    if #parts[1] > 4 then lu.assertNotEquals(orders[1], orders[2]) end
  end
end

--- An epoch takes equally many mini-batches from each part: as many as the smallest part has by the
-- rule for all nodes.
function tests.test_how_many()
  local function count(n, k, options) return #drawn(n, in_parts(n, k), options) end
  lu.assertEquals(count(40, 4, {batch_size = 10}), 4)
  lu.assertEquals(count(43, 4, {batch_size = 10}), 4)         -- 11, 11, 11 and 10
  lu.assertEquals(count(47, 4, {batch_size = 8}), 8)          -- 3 left of 11, a quarter or more
  lu.assertEquals(count(39, 4, {batch_size = 8}), 4)          -- 1 left of 9
  lu.assertEquals(count(47, 4, {batch_size = 8, drop_last = true}), 4)
  lu.assertEquals(count(47, 4, {batch_size = 99, drop_last = true}), 4)
end

function tests.test_one_part_of_all()
  local one = drawn(30, {ladies.range(1, 30)}, {batch_size = 8, shuffle = false})
  local all = drawn(30, nil, {batch_size = 8, shuffle = false})
  lu.assertEquals(one, all)
end

--- Workers, a start in the midst, and a step of a rank that is alone give the same mini-batches.
function tests.test_the_same_from_anywhere()
  if not ladies.have_metis then return end
  local data = toy.new()
  local P = data.graph:normalize "sym"
  local sampler = ladies.samplers.ladies(P, {samples = {6, 6}})
  local parts = ladies.data.seed_parts(data, 3)
  local function hashes(options)
    local list = {}
    options.batch_size, options.sampler, options.parts, options.seed = 5, sampler, parts, 4
    options.epochs = 4
    for batch in ladies.batches(data.train, options) do
      list[#list + 1] = ladies.sampling.hash(batch)
    end
    return list
  end
  local expected = hashes{}
  lu.assertEquals(hashes{workers = 2}, expected)
  lu.assertEquals(hashes{step = 3}, expected)
  local per_epoch = #expected // 4
  lu.assertEquals(hashes{start = {epoch = 2, batch = 3}},
    table.move(expected, per_epoch + 3, #expected, 1, {}))
end

function tests.test_parts_that_do_not_fit()
  local nodes = ladies.range(1, 10)
  local function refused(parts, options)
    options = options or {}
    options.parts = parts
    return message_of(ladies.batches, nodes, options)
  end
  lu.assertStrContains(refused{index{1, 2}, index{3, 4, 5}},
    "ladies.batches: 2 parts of 2 to 3 nodes, 5 in all; those of 10 nodes")
  lu.assertStrContains(refused{ladies.range(1, 3), ladies.range(4, 10)}, "differ by one at most")
  lu.assertStrContains(refused{}, "0 parts of 0 to 0 nodes, 0 in all")
  lu.assertStrContains(refused(in_parts(10, 2), {step = 5}), "2 parts for a step of 5 mini-batches")
  lu.assertStrContains(refused(in_parts(10, 2), {sampler = setmetatable({batches_per_epoch = 4,
    name = "mine"}, {__call = print})}), "ladies.batches: mine draws its own seeds")
  lu.assertStrContains(refused{1, 2}, "parts[1] must be an Index")
end

-- ---------------------------------------------------------------- runs

-- Trains on the toy data; returns the summary and the hash of the first weights.
local function train(options)
  local data = toy.new()
  local opts = {data = data, batch_size = 5, accumulate = 3, max_batches = 18, eval_every = 9,
    patience = 0, quiet = true, seeds_from = "parts",
    model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 2},
    sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {6, 6}})}
  for key, value in pairs(options or {}) do opts[key] = value end
  local result = ladies.train(opts)
  return result, opts.model:parameters()[1]:hash()
end

--- A run goes on with the bits of one that was not stopped, and not with seeds from elsewhere or
-- with other parts.
function tests.test_runs()
  if not ladies.have_metis then return end
  local _, whole = train()
  local _, other = train{seeds_from = "all"}
  lu.assertNotEquals(whole, other)
  lu.assertEquals(select(2, train{workers = 2}), whole)
  local out = temporary.path "stopped"
  train{out = out, max_batches = 9}
  lu.assertStrContains(message_of(train, {out = out, resume = true, seeds_from = "all"}),
    'seeds_from was "parts" and is "all"')
  local parts = require "ladies.data.parts"
  local seeds = parts.seeds
  parts.seeds = function(data, n) return seeds(data, n, {seed = 77}) end
  local text = message_of(train, {out = out, resume = true})
  parts.seeds = seeds
  lu.assertStrContains(text, "its data set has other parts of seeds")
  lu.assertEquals(select(2, train{out = out, resume = true}), whole)
end

--- The setting of experiments is this one.
function tests.test_setting()
  local config = ladies.experiment.configure{accumulate = 4, seeds_from = "parts"}
  lu.assertEquals(config.seeds_from, "parts")
  lu.assertNil(ladies.experiment.configure{}.seeds_from)
  lu.assertStrContains(message_of(ladies.experiment.configure, {seeds_from = "metis"}),
    'seeds_from must be one of all, parts, got "metis"')
end

function tests.test_refused()
  local data = toy.new()
  local function refused(options) return message_of(train, options) end
  lu.assertStrContains(refused{accumulate = 1}, "ladies.train: seeds_from = parts: each mini-batch "
    .. "of a step has one, and a step has one mini-batch: add --accumulate S")
  lu.assertStrContains(refused{sampler = ladies.samplers.clustergcn(data.graph.adjacency,
    {layers = 2, train = data.train, parts = 4, partition = "ldg"})},
    "seeds_from = parts: ladies.samplers.clustergcn draws its own seeds")
  lu.assertStrContains(refused{accumulate = 500}, "seeds_from = parts: ladies.data.seed_parts: "
    .. "500 parts for ")
  local links = ladies.task.link_prediction(data)
  lu.assertStrContains(refused{data = links.data, task = links}, "seeds_from = parts: they are "
    .. "parts of the nodes, and the task link prediction is of edges")
end

return tests
