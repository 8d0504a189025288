--- Partitions the nodes of a graph into disjoint parts, by METIS, as a stream or at random; a
-- partition is an array of Index.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local partition = {}

local SPEC = {
  by = {"metis|ldg|random", "metis"},
  rng = "Rng or nil",
  seed = {"integer", 1},
  weighted = {"boolean", false},
  passes = "positive integer or nil",
  balanced = "Index or nil",
}

-- For each way of partitioning, a function (A, k, rng, options) that returns the part of every
-- node.
local WAYS = {}

local MOST = 1 << 16    -- parts of a graph that has fewer nodes, most of them empty

-- Checks the number k of parts into which n nodes are divided, and returns it.
local function checked_count(k, n)
  k = options.value("partition", "the number of parts", k, "positive integer")
  if k > math.max(n, MOST) then
    errors.fail(("partition: %d parts of %d nodes; at most %d expected"):format(k, n,
      math.max(n, MOST)))
  end
  return k
end

function WAYS.metis(A, k, rng, opts)
  return A:metis(k, rng, {weighted = opts.weighted, balanced = opts.balanced})
end

function WAYS.ldg(A, k, rng, opts)
  return A:ldg(k, rng, {passes = opts.passes, balanced = opts.balanced})
end

-- Deals the nodes, in a random order, to the k parts like cards; returns the part of each node.
function WAYS.random(A, k, rng)
  local ids = core.sampling.permutation(A.n_rows, rng):to_table()
  for i, id in ipairs(ids) do ids[i] = (id - 1) % k + 1 end
  return core.index(ids)
end

-- Fails for options that the chosen way does not have.
local function check_way(opts)
  local foreign = opts.by ~= "metis" and opts.weighted and "weighted"
    or opts.by ~= "ldg" and opts.passes and "passes"
    or opts.by == "random" and opts.balanced and "balanced"
  if foreign then
    errors.fail(('partition: by = "%s" has no option %s'):format(opts.by, foreign))
  end
end

--- partition.of(A, k [, {by = "metis", seed = 1, rng =, weighted = false, passes = 10, balanced =
-- Index}]) -> Index[], integer: the nodes of a square Matrix in k parts: an array of k Indexes,
-- each ascending, and the number of A's entries between different parts (an undirected edge is two
-- of them). It is a function of A, k, seed (or rng) and the options alone.
-- by        "metis": few entries between parts that differ in size by a few in a hundred (Karypis
--           and Kumar 1998); "ldg": linear deterministic greedy (Stanton and Kliot 2012), for
--           graphs that METIS has no room for: 1.5 to 4 times as many entries between parts;
--           "random": sizes differ by at most one
-- weighted  whether METIS minds the entries' absolute values; otherwise each counts the same
-- passes    of "ldg" (10): how often it reads all rows, in the order of the nodes, each time with
--           the parts of the time before (Nishimura and Ugander 2013)
-- balanced  nodes, such as those for training, of which "metis" and "ldg" give each part nearly as
--           many, too
-- "ldg" reads the rows as they are: in a directed graph an entry counts for its row alone. It takes
-- 5 bytes a node beside the matrix, which may lie in a file. METIS sees every entry both ways; no
-- way minds self-loops. Parts may be empty, as they must be when k is greater than the number of
-- nodes; then METIS is not asked and every node has its own part. More parts than nodes
-- are at most 65,536.
-- METIS runs in one thread, cannot be interrupted (Ctrl-C counts when it returns) and has memory of
-- its own that nobody counts, several times 4 bytes an entry: a partition that took long is worth
-- keeping (npz.write) and giving to the sampler.
function partition.of(A, k, given)
  options.value("partition", "the adjacency", A, "Matrix")
  local opts = options.check("partition", given, SPEC)
  if A.n_rows ~= A.n_cols then
    errors.fail(("partition: the adjacency must be square, got %s"):format(A))
  end
  check_way(opts)
  k = checked_count(k, A.n_rows)
  local part_of = WAYS[opts.by](A, k, opts.rng or core.rng(opts.seed), opts)
  return partition.from_index(part_of, k), A:cut(part_of)
end

--- partition.from_index(part_of: Index, k) -> Index[]: returns the nodes of each part, from an
-- Index that holds the part 1 .. k of every node; k is at most the number of nodes, or 65,536 where
-- these are fewer.
function partition.from_index(part_of, k)
  options.value("partition", "the part of each node", part_of, "Index")
  k = checked_count(k, #part_of)
  local order, ends = part_of:group(k)
  local parts = {}
  for i = 1, k do parts[i] = order:slice(ends[i], ends[i + 1] - 1) end
  return parts
end

--- partition.part_of(where, parts: Index[], n) -> Index: checks `parts` and returns the part of
-- each of n nodes, 0 for those that are in none. Ids out of range or in two parts are an error,
-- which begins with `where`.
function partition.part_of(where, parts, n)
  options.value(where, "parts", parts, "table")
  local ids = {}
  for v = 1, n do ids[v] = 0 end
  for i, part in ipairs(parts) do
    options.value(where, ("parts[%d]"):format(i), part, "Index")
    for _, v in ipairs(part:to_table()) do
      if v < 1 or v > n then
        errors.fail(("%s: parts[%d] has the node %d, expected ids 1..%d"):format(where, i, v, n))
      elseif ids[v] ~= 0 then
        errors.fail(("%s: node %d is in parts[%d] and in parts[%d]"):format(where, v, ids[v], i))
      end
      ids[v] = i
    end
  end
  return core.index(ids)
end

return partition
