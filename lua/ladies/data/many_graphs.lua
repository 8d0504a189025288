--- Checks data sets of many graphs: the graph of such a data set is the disjoint union of its
-- graphs, and `graph_of` has the number of its graph for each node. Labels, targets and the split
-- then belong to graphs, `unit` is "graph", and no edge leads from one graph to another.

local checks = require "ladies.data.checks"

local many_graphs = {}

--- Checks `graph_of` among the fields of a data set of n nodes, where it is there: every graph from
-- 1 on must have nodes, and edges stay within graphs. Returns how many units there are to be
-- labelled, and what they are: "graph", or "node" without graph_of.
function many_graphs.units(context, fields, n)
  local graph_of = fields.graph_of
  if not graph_of then return n, "node" end
  checks.length(context, "graph_of", #graph_of, n, "one for each node")
  checks.ids(context, "graph_of", graph_of, n)
  local count = graph_of:max()
  for number, nodes in ipairs(graph_of:counts(count)) do
    if nodes == 0 then
      checks.fail(context, "%s: no node is in graph %d of %d", context.keys.graph_of,
        number + context.shift, count)
    end
  end
  local A = fields.adjacency
  local rows, cols = A:row_of(), A:col_of()
  local inside = graph_of[rows]:equals(graph_of[cols])
  if A.nnz > 0 and inside:min() == 0 then
    local k = (1 - inside):positions()[1]
    checks.fail(context, "%s: the edge of nodes %d and %d leads from one graph to another",
      context.keys.graph_of, cols[k] + context.shift, rows[k] + context.shift)
  end
  return count, "graph"
end

return many_graphs
