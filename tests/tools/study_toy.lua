--- study_toy.lua FOLDER DATASET RUNS BATCHES: a study of so many small runs, two at a time.
local Study = require "ladies.study"

local runs = {}
for seed = 1, tonumber(arg[3]) do
  runs[seed] = {key = "run " .. seed, config = {
    dataset = arg[2], method = "ladies", samples = 5, layers = 2, hidden = 8, batch_size = 20,
    lr = 0.02, patience = 0, max_batches = tonumber(arg[4]), eval_every = 100, seed = seed,
  }}
end
Study.open(arg[1], "toy"):run(runs, {jobs = 2, quiet = true})
