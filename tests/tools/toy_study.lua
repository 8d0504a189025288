--- Helps tests of studies: a toy data set in a file, and the records that a study has left.
local ladies = require "ladies"
local json = require "ladies.base.json"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local M = {dataset = temporary.path "toy.npz"}
ladies.data.save(toy.new(true), M.dataset)

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
