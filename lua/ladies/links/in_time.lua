--- Has what examples with times need: the parts of a split by time, numbers for nodes at times, and
-- the nodes to which each node has an edge at a time.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local sampling = core.sampling
local in_time = {}

--- in_time.parts(where, times: Index, val: number, test: number) -> {train =, val =, test =, cut
-- =}: divides examples by their times: the last share `test` of them is for test, the share `val`
-- before these for validation, and all earlier ones are for training. Examples of one time are all
-- in one part, the later of those that they would be divided among. Each part is an Index of
-- positions, ascending, nil without any; `cut` is the time from which on none is for training.
-- Errors begin with `where`.
function in_time.parts(where, times, val, test)
  local n = #times
  local n_test, n_val = math.floor(n * test), math.floor(n * val)
  local ascending = times:sort()
  local function beginning(held_out) return held_out > 0 and ascending[n - held_out + 1] or nil end
  local first_test, cut = beginning(n_test), beginning(n_test + n_val)
  local function before(time) return time and times:below(time) or core.ones(n) end
  local function part(chosen)
    local positions = chosen:positions()
    return #positions > 0 and positions or nil
  end
  local parts = {train = part(before(cut)), val = part(before(first_test) - before(cut)),
    test = part(1 - before(first_test)), cut = cut}
  if parts.train then return parts end
  errors.fail(("%s: of %d edges, from time %d to %d, none is left for training, as those of one "
    .. "time are never divided"):format(where, n, n > 0 and ascending[1] or 0,
      n > 0 and ascending[n] or 0))
end

--- in_time.distinct(nodes: Index, times: Index, n: integer) -> Index, Index, function: each node at
-- a time that is among nodes[i] at times[i] once, as an Index of the nodes, numbers from 1 to n,
-- and one of their times; and a function(nodes, times) -> Index that returns the places of such
-- pairs among these.
function in_time.distinct(nodes, times, n)
  local all = sampling.unique(times)
  local there = core.matrix{n_rows = #all, n_cols = n, rows = sampling.find(all, times),
    cols = nodes}
  return there:col_of(), all[there:row_of()], function(some, at)
    return there:find(sampling.find(all, at), some)
  end
end

--- in_time.others(edges: Edges, which: "to" | "from" [, positions: Index]) -> Matrix, function: as
-- edges:others, but a row has the other ends of a node's edges at one time; and a function(ends,
-- relations, times) -> Index that returns the rows of edges with these ends, which must be some of
-- the edges at `positions`. The node itself counts as an edge where there is one relation.
function in_time.others(edges, which, positions)
  local rows, cols, of = edges:incident(which, positions)
  local at, n = edges.times[of], edges.n_nodes
  local nodes, times, places = in_time.distinct(rows, at, n * edges.n_relations)
  local numbers = places(rows, at)
  if edges.n_relations == 1 then
    numbers, cols = numbers .. core.range(1, #times), cols .. nodes
  end
  local others = core.matrix{n_rows = #times, n_cols = n, rows = numbers, cols = cols}
  return others, function(ends, relations, when)      -- without `edges`, which no worker can have
    return places(relations and (relations - 1) * n + ends or ends, when)
  end
end

return in_time
