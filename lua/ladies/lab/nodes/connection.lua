--- Defines statistics of how the layers of a mini-batch are connected, in the form that
-- ladies.lab.error.measure takes.
--
-- LADIES draws the nodes of a layer among the neighbours of the nodes above it, so that rows have
-- entries; samplers that do not take the layer above into account leave rows empty, and node-wise
-- samplers draw the same nodes in several layers and rows.

local core = require "ladies_core"
local counts = require "ladies.lab.nodes.counts"
local edges = require "ladies.lab.contract.edges"
local sampling = require "ladies.sampling"

local connection = {}

-- A cache of facts about matrices P: for every node 1 if its row has an entry (entries), and 1 if
-- it has one off the diagonal (others).
local facts = setmetatable({}, {__mode = "k"})

local function facts_of(P)
  if not facts[P] then
    local loops = P:with_values(core.ones(P.nnz)):diagonal_values()
    facts[P] = {entries = P:degrees():above(0), others = (P:degrees() - loops):above(0)}
  end
  return facts[P]
end

-- Returns the number of entries of each row of a block, without a node's entry for itself.
local function others_of(block)
  local own = sampling.find(block.src, block.dst)
  local rows = sampling.find(block.dst, block.src[own])
  local loops = core.matrix{n_rows = #block.dst, n_cols = #block.src, rows = rows, cols = own}
  local both = edges.together(block.adj, loops)
  return both:with_values(both:entry_values():equals(1)):row_sums()
end

-- Returns, among the rows with 1 in the mask `counted`, the share that have 0 in the mask `there`;
-- nil where none is counted.
local function share_without(counted, there)
  local n = counted:sum():item()
  return n > 0 and 1 - (counted * there):sum():item() / n or nil
end

-- Statistics of layer l.
local OF_LAYER = {
  {"empty", "rows without an entry", "%.2f %%", 100, function(block, known)
    local counted = facts_of(known.P).entries[block.dst]
    return share_without(counted, block.adj:degrees():above(0))
  end, function(x)
    return x.mean == 0 and "No row of P lost all of its entries."
      or "These nodes get nothing from the layer below, not even from themselves."
  end},
  {"alone", "rows without a sampled neighbour", "%.2f %%", 100, function(block, known)
    local counted = facts_of(known.P).others[block.dst]
    return share_without(counted, others_of(block):above(0))
  end, function(x)
    return x.mean == 0 and "Every node hears a neighbour."
      or "These nodes have neighbours, and hear none of them: at most themselves."
  end},
  {"entries", "entries of a row", "%.2f", nil, function(block)
    return block.adj.nnz / #block.dst
  end},
  {"reuse", "rows that share a source", "%.2f", nil, function(block)
    return #block.src > 0 and block.adj.nnz / #block.src or nil
  end, function(x)
    return ("A row of the layer's input is used %.2f times, on average."):format(x.mean)
  end},
  {"kept", "destinations among the sources", "%.1f %%", 100, function(block)
    return #sampling.find(block.src, block.dst) / #block.dst
  end},
  {"nodes", "nodes of the input", "%.1f", nil, function(block)
    return #sampling.unique(block.src)
  end},
}

-- Statistics of the whole mini-batch.
local OF_BATCH = {
  {"nodes", "distinct nodes", "%.1f", nil, function(batch) return counts.nodes(batch) end},
  {"rows", "rows of all layers per distinct node", "%.3f", nil, function(batch)
    local rows = #batch.output
    for _, block in ipairs(batch.blocks) do rows = rows + #block.src end
    return rows / counts.nodes(batch)
  end, function(x)
    return ("A node is computed in %.2f layers, on average."):format(x.mean)
  end},
  {"draws", "entries per distinct node", "%.2f", nil, function(batch)
    return counts.entries(batch) / counts.nodes(batch)
  end},
}

local function statistic(key, label, row, see)
  return {key = "connection." .. key, section = "connection", label = label, format = row[3],
    scale = row[4], see = see, sentence = row[6]}
end

--- connection.statistics(layers): the statistics of samplers with so many layers, an array of {key
-- =, section =, label =, format =, scale =, see(batch, known) -> number or nil, sentence(interval)
-- -> text or nil}; known: exact values (ladies.lab.error.exact). For layer l, keys with ".l":
-- empty     share of the rows, of those with an entry in P, that have none
-- alone     share of the rows without a sampled neighbour, of those that have one in P
-- entries   entries per row
-- reuse     entries per node of the input
-- kept      share of the destinations that are in the input as well
-- nodes     distinct nodes of the input: the receptive field after the layers above it
-- For the whole mini-batch: nodes, the distinct ones of all layers; rows, the rows of all layers
-- per distinct node, and draws, the entries per distinct node, which tell how redundant it is.
function connection.statistics(layers)
  local list = {}
  for _, row in ipairs(OF_BATCH) do
    list[#list + 1] = statistic(row[1], row[2], row, row[5])
  end
  for l = layers, 1, -1 do
    for _, row in ipairs(OF_LAYER) do
      list[#list + 1] = statistic(("%s.%d"):format(row[1], l), ("layer %d: %s"):format(l, row[2]),
        row, function(batch, known) return row[5](batch.blocks[l], known) end)
    end
  end
  return list
end

--- Makes a series of the receptive field, the distinct nodes of each layer's input, from the
-- findings of these statistics.
function connection.receptive_field(findings, name)
  local points = {}
  for _, one in ipairs(findings) do
    local l = math.tointeger(one.key:match "^connection%.nodes%.(%d+)$")
    if l then points[#points + 1] = {l, one.mean, one.low, one.high} end
  end
  table.sort(points, function(a, b) return a[1] < b[1] end)
  return {key = "receptive_field", title = "Nodes of each layer's input", x_label = "layer",
    y_label = "nodes", log_x = false, log_y = true, lines = {{name = name, points = points}}}
end

return connection
