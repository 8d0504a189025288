--- Writes an edge into a table of predictions: its ends, by their names too where nodes have names,
-- its relation and its time.

local csv = require "ladies.report.csv"

--- edge_cells(edges, data) -> string, function: the head of these columns for the edges
-- {from =, to =, relations = Index | nil, times = Index | nil, time_origin =} of a data set, and a
-- function that gives the cells of an edge, with commas between.
return function(edges, data)
  local names, types = data.node_names, edges.relations and data.edges.type_names
  local head = names and "from,from_name,to,to_name" or "from,to"
  if edges.relations then head = head .. ",relation" end
  return head .. (edges.times and ",time" or ""), function(edge)
    local cells = {}
    for _, node in ipairs{edges.from[edge], edges.to[edge]} do
      cells[#cells + 1] = ("%d"):format(node - 1)
      cells[#cells + 1] = names and csv.field(names[node]) or nil
    end
    if edges.relations then
      local relation = edges.relations[edge]
      cells[#cells + 1] = types and csv.field(types[relation]) or ("%d"):format(relation - 1)
    end
    if edges.times then
      cells[#cells + 1] = ("%d"):format(edges.times[edge] + (edges.time_origin or 0))
    end
    return table.concat(cells, ",")
  end
end
