--- Writes the best pairs that have no edge, for `ladies predict --top K`: as CSV, or to an .npz
-- file. Nodes count from 0 in files.

local core = require "ladies_core"
local edge_cells = require "ladies.task.edge_cells"

-- Returns the pairs as CSV: the ends, the rank of the pair among those of its node, and the score.
local function csv_of(found, data)
  local head, ends_at = edge_cells(found, data)
  local lines = {head .. ",rank,score"}
  for i = 1, #found.rank do
    lines[i + 1] = ("%s,%d,%.6g"):format(ends_at(i), found.rank[i], found.scores[i])
  end
  return table.concat(lines, "\n")
end

--- top_links(run, k, how, out): prints or writes for each node the k best pairs of a saved run.
-- how: the options of run:logits; out: a path that ends in .csv or .npz, or nil.
return function(run, k, how, out)
  local found, data = run:top(k, how), run.data
  if not out then
    print(csv_of(found, data))
    return
  end
  if out:match "%.npz$" then
    core.npz.write(out, {from = found.from, to = found.to, rank = found.rank,
      scores = found.scores, node_names = data.node_names})
  else
    core.file.write(out, csv_of(found, data) .. "\n")
  end
  print(("%s: %d pairs without an edge, the best %d of each node"):format(out, #found.rank, k))
end
