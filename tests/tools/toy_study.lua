--- Helps tests of studies: a toy data set in a file, and the records that a study has left.
local ladies = require "ladies"
local json = require "ladies.base.json"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local M = {dataset = temporary.path "toy.npz"}
ladies.data.save(toy.new(true), M.dataset)

--- Saves the toy graph with a number for each node in place of a class; returns the path.
function M.regression()
  local data, path = toy.new(true), temporary.path "numbers.npz"
  ladies.data.save(ladies.data.from_arrays{graph = data.graph.adjacency, features = data.features,
    targets = ladies.range(1, #data):to_tensor() / 10, train = data.train, val = data.val,
    test = data.test}, path)
  return path
end

--- The records of a study's folder by key, and their number.
function M.records_of(folder)
  local list, n = {}, 0
  for line in io.lines(folder .. "/results.jsonl") do
    local record = json.decode(line)
    list[record.key], n = record, n + 1
  end
  return list, n
end

return M
