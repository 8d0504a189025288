--- A mini-batch as its funnel of layers: from the seeds at the top to the rows of the features that
-- are read.

local grouped = require "ladies.base.grouped"

local KNOWN = {blocks = true, input = true, output = true, stats = true}

-- What else there is in it.
local function others(batch)
  local names = {}
  for name in next, batch do
    if type(name) == "string" and not KNOWN[name] then names[#names + 1] = name end
  end
  table.sort(names)
  return #names > 0 and "  also: " .. table.concat(names, ", ") or nil
end

return function(batch)
  local lines = {
    ("mini-batch of %s seeds, %d %s"):format(grouped(#batch.output), #batch.blocks,
      #batch.blocks == 1 and "layer" or "layers"),
    ("  %-6s %9s    %9s  %10s  %8s"):format("layer", "nodes", "from", "entries", "isolated"),
  }
  for l = #batch.blocks, 1, -1 do
    local adj = batch.blocks[l].adj
    lines[#lines + 1] = ("  %-6d %9s <- %9s  %10s  %8s"):format(l, grouped(adj.n_rows),
      grouped(adj.n_cols), grouped(adj.nnz), grouped(adj:empty_rows()))
  end
  if batch.input then
    lines[#lines + 1] = ("  %s rows of the features"):format(grouped(#batch.input))
  end
  lines[#lines + 1] = others(batch)
  return table.concat(lines, "\n")
end
