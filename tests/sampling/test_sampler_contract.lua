--- Tests the messages of ladies.batches on mini-batches that a user's sampler may return by
-- mistake: they name the sampler, the batch, the layer, what was found and what was expected.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"
local toy = require "reference.toy_data"

local index = ladies.index

local tests = {}

-- A sampler that is right but for what spoil(batch) does to its n-th batch.
local function spoiled(spoil, n)
  local data, calls = toy.new(), 0
  local good = toy.neighbourhoods(data.graph:normalize "row", 2)
  return setmetatable({name = "mine", adaptive = true}, {__call = function(_, seeds)
    calls = calls + 1
    local batch = good(seeds)
    if calls ~= n then return batch end
    return spoil(batch)
  end})
end

-- The message of a loop over the batches of a sampler.
local function refusal(sampler)
  local ok, message = pcall(function()
    for _ in ladies.batches(ladies.range(1, 50),
      {batch_size = 20, sampler = sampler, shuffle = false, nodes = toy.NODES}) do end
  end)
  lu.assertFalse(ok, "the batch was accepted")
  return message
end

-- Changes a batch in place, for `spoiled`.
local function change(f)
  return function(batch) f(batch, batch.blocks) return batch end
end

local no_matrix = "adj must be of class Matrix, got Tensor"

-- Faults that are looked for in every batch, not in the first alone.
local ALWAYS = {
  {"it must return a mini-batch, got a nil", function() end},
  {"it must return a mini-batch, got a number", function() return 7 end},
  {"no luck", function() error "no luck" end},
  {"blocks must be an array with a block for each layer", change(function(b) b.blocks = nil end)},
  {"layer 2: the block must be a table, got number", change(function(_, l) l[2] = 3 end)},
  {"layer 2: dst must be of class Index, got table", change(function(_, l) l[2].dst = {1} end)},
  {"layer 1: " .. no_matrix, change(function(_, l) l[1].adj = ladies.ones(2, 2) end)},
  {"x 1, expected", change(function(_, l)
    l[2].adj = l[2].adj:pick_cols(index{1})
  end)},
  {"layer 1: dst (1 nodes) differs from src of the next layer", change(function(_, l)
    l[1].dst, l[1].adj = index{1}, l[1].adj:rows(index{1})
  end)},
  {"layer 2: src has the id 181, expected at most 180, the number of nodes", change(function(_, l)
    l[2].src = index{181} .. l[2].src:slice(2, #l[2].src)
  end)},
  {"layer 2: dst has the id 0, expected ids from 1 on", change(function(_, l)
    l[2].dst = index{0} .. l[2].dst:slice(2, #l[2].dst)
  end)},
  {"input (1 nodes) differs from src of layer 1", change(function(b) b.input = index{1} end)},
  {"output must be of class Index, got nil", change(function(b) b.output = nil end)},
  {"loss_weight has nan, expected finite numbers", change(function(b)
    b.loss_weight = ladies.full(#b.output, 0 / 0)
  end)},
  {"loss_nodes has the position 99, expected at most", change(function(b)
    b.loss_nodes = index{99}
  end)},
  {"after_step must be a callable, got 3", change(function(b) b.after_step = 3 end)},
  {"stats must be a table, got 3", change(function(b) b.stats = 3 end)},
  {"features must be", change(function(b) b.features = 3 end)},
}

-- Faults that cost a pass over the entries, or a set of ids, and are looked for in the first batch.
local FIRST = {
  {"layer 1: adj has the weight nan, expected finite ones", change(function(_, l)
    l[1].adj = l[1].adj:scale_cols(ladies.full(l[1].adj.n_cols, 0 / 0))
  end)},
  {"layer 2: dst has 20 ids, but only 19 distinct ones", change(function(_, l)
    l[2].dst = index{2} .. l[2].dst:slice(2, 20)
  end)},
  {"output (20 nodes) differs from dst of layer 2 (20 nodes), expected the same ids",
    change(function(b) b.output = b.output:slice(2, 20) .. b.output:slice(1, 1) end)},
  {"loss_weight is 3 x 1, expected a vector of 20", change(function(b)
    b.loss_weight = ladies.ones(3)
  end)},
  {"loss_weight is not 0 for every output node that is not in loss_nodes", change(function(b)
    b.loss_nodes, b.loss_weight = index{2}, ladies.ones(20)
  end)},
}

local function found(case, n)
  local message = refusal(spoiled(case[2], n))
  lu.assertStrContains(message, ("mine, epoch 1, batch %d: "):format(n))
  lu.assertStrContains(message, case[1])
end

function tests.test_the_first_batch()
  for _, cases in ipairs{ALWAYS, FIRST} do
    for _, case in ipairs(cases) do found(case, 1) end
  end
end

function tests.test_later_batches()
  for _, case in ipairs(ALWAYS) do found(case, 3) end
end

--- A sampler without a name is known by where it was written.
function tests.test_sampler_without_a_name()
  local line = debug.getinfo(1, "l").currentline + 1
  local message = refusal(function() return {blocks = {}} end)
  lu.assertStrMatches(message, (".*sampler of .*test_sampler_contract%%.lua:%d, epoch 1, batch 1: "
    .. "blocks must be an array.*"):format(line))
end

--- The number of batches of a sampler that draws its own seeds.
function tests.test_batches_of_its_own()
  for _, number in ipairs{2.5, 0, "two"} do
    local sampler = spoiled(function() end, 0)
    sampler.batches_per_epoch = number
    lu.assertStrContains(refusal(sampler), "mine: batches_per_epoch must be a positive integer")
  end
end

--- Layers that fail in a primitive say which they are.
function tests.test_errors_of_primitives()
  local data = toy.new()
  local sampler = ladies.samplers.ladies(data.graph:normalize "row", {samples = {4, 4}})
  local ok, message = pcall(function()
    for _ in ladies.batches(index{1, 500}, {sampler = sampler}) do end
  end)
  lu.assertFalse(ok)
  lu.assertStrMatches(message, "[^ ]*test_sampler_contract%.lua:%d+: ladies%.samplers%.ladies, "
    .. "epoch 1, batch 1: layer 2: draw_cols: node 500 at position [12] is out of range 1%.%.180")
end

--- Ctrl-C ends a sampler that does not, in Lua and in C, and says where it was.
function tests.test_endless_loops()
  for _, body in ipairs{"while true do end", "while true do P:slice(seeds) end"} do
    local started <close> = shell.file ""
    local script <close> = shell.file(([[
      local ladies = require "ladies"
      local P = ladies.sparse(ladies.ones(300, 300))
      local sampler = setmetatable({name = "endless"}, {__call = function(_, seeds)
        ladies.file.write(arg[1], "started")
        %s
      end})
      for _ in ladies.batches(ladies.range(1, 300), {sampler = sampler}) do end]]):format(body))
    local _, err, status = shell.run{here .. "/tools/interrupt.sh", started.path, shell.ladies,
      script.path, started.path}
    lu.assertEquals(status, 130)
    lu.assertStrMatches(err, "ladies: [^ ]*:%d+: endless, epoch 1, batch 1: interrupted!.*")
  end
end

return tests
