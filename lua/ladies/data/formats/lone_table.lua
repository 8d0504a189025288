--- A table or matrix that is no data set by itself: the reader that says what is missing.

local core = require "ladies_core"
local checks = require "ladies.data.checks"

local lone_table = {}

local ENDINGS = {"csv", "tsv", "txt", "mtx", "edges", "edgelist"}

--- Whether the path is that of a text file, packed or not, by its name.
function lone_table.fits(path)
  if core.exists(path) ~= "file" then return false end
  local ending = path:gsub("%.gz$", ""):match "%.([^./]*)$"
  for _, known in ipairs(ENDINGS) do
    if ending == known then return true end
  end
  return false
end

--- Always an error.
function lone_table.read(path)
  checks.fail({where = path}, "is one table, and nothing says the class of each node: make a "
    .. "folder with it as edges.csv, labels.csv and, if there are any, features.csv; see "
    .. "doc/data.md")
end

return lone_table
