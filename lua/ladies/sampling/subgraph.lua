--- Builds the mini-batches of samplers whose layers all propagate within one part of the graph.

--- subgraph(adj: Matrix, nodes: Index, layers: integer, loss_nodes: Index) -> MiniBatch: one whose
-- `layers` blocks are the same, adj with these nodes as rows and columns, and whose loss is that of
-- the positions `loss_nodes` among them.
return function(adj, nodes, layers, loss_nodes)
  local block, blocks = {adj = adj, dst = nodes, src = nodes}, {}
  for l = 1, layers do blocks[l] = block end
  return {blocks = blocks, input = nodes, output = nodes, loss_nodes = loss_nodes,
    stats = {isolated = layers * adj:empty_rows()}}
end
