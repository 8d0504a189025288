--- table3_toy.lua FOLDER DATASET: a small table 3 of one data set, two runs at a time, and so many
-- that most are left when the first has ended.
local paper = require "experiments.paper"

paper.table3{
  datasets = {arg[2]}, methods = {"full", "ladies:5"}, runs = 4, jobs = 2, out = arg[1],
  quiet = true, settings = {layers = 2, hidden = 8, batch_size = 20, lr = 0.02, patience = 0,
    max_batches = 1500, eval_every = 100},
}
