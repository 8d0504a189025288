--- method_names(): the names of all methods that are for nodes and a graph, sorted. The others,
-- which have tests of their own, are `temporal`, for edges in time, and `none`, without a graph.
local methods = require "ladies.experiment.methods"
local tables = require "ladies.base.tables"

return function()
  local list = {}
  for _, name in ipairs(tables.sorted_keys(methods.by_name)) do
    local entry = methods.by_name[name]
    if not (entry.no_graph or entry.in_time) then list[#list + 1] = name end
  end
  return list
end
