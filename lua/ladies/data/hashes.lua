--- Hashes of what a data set holds, to tell it from another one of the same name.

local options = require "ladies.base.options"

local FIELDS = {"features", "labels", "train", "val", "test"}

--- hashes(data) -> {edges =, features =, labels =, train =, val =, test =}: a text for each part
-- that the data set has, of its structure, values and order. data.known_hashes has those that need
-- not be computed, {of = the part, hash =} by name.
return function(data)
  local list, known = {}, data.known_hashes or {}
  local function add(name, object)
    if known[name] and rawequal(known[name].of, object) then
      list[name] = known[name].hash
    elseif options.class_of(object) then
      list[name] = object:hash()
    end
  end
  add("edges", data.graph and data.graph.adjacency)
  for _, name in ipairs(FIELDS) do add(name, data[name]) end
  return list
end
