--- Models on Cora with its published split, where LADIES_DATA has it: floors under the test F1 of
-- full-batch training, means of three seeds.
local lu = require "luaunit"
local ladies = require "ladies"

local tests = {}

local SEEDS = 3

local function mean(given)
  if not os.getenv "LADIES_DATA" then lu.skip "LADIES_DATA is not set" end
  given.dataset, given.method, given.hidden, given.patience = "cora", "full", 64, 0
  given.dropout, given.input_dropout = 0.6, 0.6
  local sum = 0
  for seed = 1, SEEDS do
    given.seed = seed
    local config = ladies.experiment.configure(given)
    local result = ladies.experiment.run(config, ladies.experiment.load(config), {quiet = true})
    sum = sum + result.test_f1
  end
  return sum / SEEDS
end

function tests.test_gcnii_of_16_layers()
  local f1 = mean{model = "gcnii", alpha = 0.1, layers = 16, lr = 0.01, weight_decay = 1e-3,
    max_batches = 120}
  lu.assertTrue(f1 > 0.81, f1)
end

function tests.test_gat()
  local f1 = mean{model = "gat", layers = 2, lr = 0.005, weight_decay = 5e-4, max_batches = 200,
    attention_dropout = 0.6, features = "row_normalized"}
  lu.assertTrue(f1 > 0.80, f1)
end

function tests.test_jumping_knowledge()
  local f1 = mean{model = "jk", layers = 4, lr = 0.01, weight_decay = 5e-4, max_batches = 150,
    head_dropout = 0.5, features = "row_normalized"}
  lu.assertTrue(f1 > 0.79, f1)
end

return tests
