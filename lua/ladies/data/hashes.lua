--- Hashes the parts of a data set, so that data sets of the same name but different content can be
-- told apart.

local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local hashes = {}

local FIELDS = {"features", "labels", "targets", "node_types", "graph_of", "part_ends", "train",
  "val", "test"}

--- hashes.of(data) -> {edges =, features =, labels =, targets =, train =, val =, test =}: returns a
-- hash, as text, for each part that the data set has, which depends on its structure, values and
-- order. data.known_hashes has the hashes that need not be computed, {of = the part, hash =} by
-- name.
function hashes.of(data)
  local list, known = {}, data.known_hashes or {}
  local function add(name, object)
    if known[name] and rawequal(known[name].of, object) then
      list[name] = known[name].hash
    elseif options.class_of(object) then
      list[name] = object:hash()
    end
  end
  add("edges", data.graph and data.graph.adjacency)
  add("edge_parts", data.edges)
  for _, name in ipairs(FIELDS) do add(name, data[name]) end
  return list
end

--- hashes.differing(before, now) -> "features, labels": returns the names of the parts whose hashes
-- differ, sorted, or nil where none do.
function hashes.differing(before, now)
  local parts = {}
  for _, part in ipairs(tables.sorted_keys(tables.merged(before, now))) do
    if before[part] ~= now[part] then parts[#parts + 1] = part end
  end
  return parts[1] and table.concat(parts, ", ")
end

return hashes
