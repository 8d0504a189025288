--- Declares the default graphs, rungs and trainings of `ladies lab search`, and those with --quick.

local generate = require "ladies.data.generate"

local plan = {}

--- Graphs that are made, by name.
plan.MADE = {
  ["power-law"] = function()
    return generate.power_law{nodes = 3000, entries = 24000, classes = 5, features = 32,
      signal = 0.3, train = 0.1, val = 0.1, seed = 1}
  end,
  communities = function()
    return generate.block_model{nodes = 2400, classes = 6, p_inside = 0.02, p_outside = 0.001,
      features = 24, signal = 0.4, train = 0.1, val = 0.1, seed = 2}
  end,
}

-- The rungs of successive halving: sets of seeds, draws of each, timed mini-batches, and how many
-- of the points go on to the next one. Each rung has draws of its own, so that what the last one
-- says of those that are left does not depend on why they are.
local RUNGS = {
  {groups = 6, draws = 2, batches = 9, left = 64},
  {groups = 24, draws = 2, batches = 21, left = 24},
  {groups = 60, draws = 3, batches = 45, left = 10},
  {groups = 150, draws = 4, batches = 101},
}
local QUICK = {
  {groups = 4, draws = 2, batches = 7, left = 40},
  {groups = 12, draws = 2, batches = 15, left = 8},
  {groups = 60, draws = 3, batches = 61},
}

-- Returns the names of `quick` graphs: citation graphs where they are, else graphs that are made.
local function quick_graphs()
  return os.getenv "LADIES_DATA" and {"cora", "pubmed"} or {"power-law", "communities"}
end

--- plan.of(quick) -> datasets, rungs.
function plan.of(quick)
  if quick then return quick_graphs(), QUICK end
  return {"cora", "citeseer", "pubmed", "wordnet", "coauthor_cs", "amazon_photo", "power-law",
    "communities"}, RUNGS
end

--- The settings of a training, but for its method, data set and seed.
plan.TRAINING = {model = "gcn", layers = 2, hidden = 64, dropout = 0.5, lr = 0.01,
  weight_decay = 5e-4, batch_size = 512, patience = 0, eval_every = 20, epochs = 1 << 30}

return plan
