--- Writes the best pairs that have no edge, for `ladies predict --top K`: as CSV, or to an .npz
-- file. Nodes count from 0 in files.

local core = require "ladies_core"
local edge_cells = require "ladies.task.edge_cells"
local link = require "ladies.ranks.link"

-- Adds the pairs as CSV by add(text): the ends, the rank of the pair among those of its node, and
-- the score.
local function add_csv(found, data, add)
  local head, ends_at = edge_cells(found, data)
  add(head .. ",rank,score\n")
  for i = 1, #found.rank do
    add(("%s,%d,%.6g\n"):format(ends_at(i), found.rank[i], found.scores[i]))
  end
end

--- top_links(run, k, how, out): prints or writes for each node the k best pairs of a saved run; the
-- first of several ranks does.
-- how: the options of run:logits; out: a path that ends in .csv or .npz, or nil.
return function(run, k, how, out)
  local found, data = link.shared("inference", run.top, run, k, how), run.data
  if link.rank > 0 then return end
  if not out then
    add_csv(found, data, function(line) print((line:gsub("\n$", ""))) end)
    return
  end
  if out:match "%.npz$" then
    core.npz.write(out, {from = found.from, to = found.to, rank = found.rank,
      scores = found.scores, node_names = data.node_names})
  else
    local file <close> = core.file.writer(out)
    add_csv(found, data, function(text) file:add(text) end)
    file:commit()
  end
  print(("%s: %d pairs without an edge, the best %d of each node"):format(out, #found.rank, k))
end
