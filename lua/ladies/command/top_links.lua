--- Writes the best pairs that have no edge, for `ladies predict --top K`: as CSV, which is written
-- for some nodes at a time, or to an .npz file, whose arrays are in memory as a whole. Nodes count
-- from 0 in files.

local core = require "ladies_core"
local edge_cells = require "ladies.task.edge_cells"
local link = require "ladies.ranks.link"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

-- The bytes of a pair: three ids and a score, in pieces and in the arrays that these become.
local PAIR = 2 * (3 + 1) * 4

-- Adds all pairs as CSV by add(text): the ends, the rank of the pair among those of its node, and
-- the score; the head when the first are found or there are none, so that what is refused prints
-- nothing. Returns how many they are. Ranks without `add` help to find them.
local function add_csv(run, k, how, add)
  local n, begun = 0, false
  local function begin()
    if add and not begun then add((edge_cells({}, run.data)) .. ",rank,score\n") end
    begun = true
  end
  run:top(k, tables.merged(how, {each = function(found)
    begin()
    local _, ends_at = edge_cells(found, run.data)
    for i = 1, add and #found.rank or 0 do
      add(("%s,%d,%.6g\n"):format(ends_at(i), found.rank[i], found.scores[i]))
    end
    n = n + #found.rank
  end}))
  begin()
  return n
end

local function write_csv(run, k, how, out)
  if link.rank > 0 then return add_csv(run, k, how) end
  if not out then
    return add_csv(run, k, how, function(line) print((line:gsub("\n$", ""))) end)
  end
  local file <close> = core.file.writer(out)
  local n = add_csv(run, k, how, function(text) file:add(text) end)
  file:commit()
  return n
end

-- Fails where the arrays of an .npz file may need more than so many bytes.
local function check_memory(run, k, memory)
  local n = run.data.graph.n_nodes
  local bytes = n * math.min(k, n - 1) * PAIR
  if bytes <= memory then return end
  error(("--top %d of %d nodes needs %s of memory for the arrays of an .npz file, and may have %s "
    .. "(--memory); a file .csv is written in pieces"):format(k, n, units.size(bytes),
      units.size(memory)), 0)
end

local function write_npz(run, k, how, out)
  local found = run:top(k, how)
  if link.rank == 0 then
    local names = run.data.node_names
    core.npz.write(out, {from = found.from, to = found.to, scores = found.scores,
      rank = found.rank + 1,           -- files count ids from 0, and a rank is none: the best is 1
      node_names = names and names:lines()})
  end
  return #found.rank
end

--- top_links(run, k, how, out, memory): prints or writes for each node the k best pairs of a saved
-- run; the first of several ranks does.
-- how: the options of run:logits; out: a path that ends in .csv or .npz, or nil; memory: the bytes
-- that arrays may have.
return function(run, k, how, out, memory)
  local is_npz = out and out:find "%.npz$"
  if is_npz then check_memory(run, k, memory) end
  local n = link.shared("inference", is_npz and write_npz or write_csv, run, k, how, out)
  if out then
    print(("%s: %d pairs without an edge, at most the best %d of each node"):format(out, n, k))
  end
end
