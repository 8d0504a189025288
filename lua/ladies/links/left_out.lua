--- Removes edges from the blocks of a mini-batch: those that it is to predict must not be used in
-- the propagation that predicts them.
--
-- A block loses the entries of these edges, and every other entry is multiplied by P'_vu / P_vu,
-- where P' is the propagation matrix of the graph without them: the degrees by which P is
-- normalised are smaller there. So a block of whole neighbourhoods is exactly one of P', and an
-- unbiased estimate of P has become one of P'.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local sampling = core.sampling
local LeftOut = {__name = "ladies.LeftOut"}
LeftOut.__index = LeftOut

--- Makes the object that removes edges from mini-batches of this graph. Parallel edges are removed
-- together: `pairs` has an entry for each pair of nodes, with the sum of their weights.
function LeftOut.new(graph)
  local A = graph.adjacency
  local pairs_of = A:is_simple() and A or core.matrix{n_rows = A.n_rows, n_cols = A.n_cols,
    rows = A:row_of(), cols = A:col_of(), values = A:entry_values()}
  return setmetatable({
    graph = graph, degrees = A:row_sums(), pairs = pairs_of,
    without_loops = A:loops() > 0 and A:without_loops():row_sums() or nil,
    weights = pairs_of.values and pairs_of:entry_values() or nil,
  }, LeftOut)
end

-- Returns the degrees of nodes by which graph:normalize, with the options `name`, normalises P.
local function degrees_of(self, name, nodes)
  if not name.self_loops then return self.degrees[nodes] end
  return (self.without_loops or self.degrees)[nodes] + 1
end

-- Returns the factors of the rows and of the columns of `nodes` when edges are removed whose
-- weights add up to `removed` in each row; nil for what is not scaled.
local function factors(self, name, nodes, removed)
  if not name or name.normalize == "none" then return nil end
  local before = degrees_of(self, name, nodes)
  local after = before - removed
  local is_empty = after:below(before * 1e-6)
  local ratio = core.where(is_empty, name.normalize == "sym" and 0 or 1,
    before / core.where(is_empty, 1, after))
  if name.normalize == "row" then return ratio, nil end
  return ratio:sqrt(), ratio:sqrt()
end

-- Prepares edges for :edit: numbers the nodes that they touch from 2 on and makes a matrix of the
-- edges over these numbers; number 1 stands for all other nodes.
function LeftOut:prepare(rows, cols)
  local A = self.pairs
  local present = A:has(rows, cols)
  rows, cols = rows[present], cols[present]
  if #rows == 0 then return nil end
  local nodes = sampling.unique(sampling.concat{rows, cols}):sort()
  local function compact(of) return sampling.find(nodes, of, {absent = "zero"}) + 1 end
  local edges = core.matrix{n_rows = #nodes + 1, n_cols = #nodes + 1, rows = compact(rows),
    cols = compact(cols)}
  local removed = edges:row_sums()
  if self.weights then
    local at = A:find(nodes[edges:row_of() - 1], nodes[edges:col_of() - 1])
    removed = edges:with_values(self.weights[at]):row_sums()
  end
  return {compact = compact, edges = edges, nodes = nodes,
    removed = removed:slice(2, #nodes + 1), factors = {}}
end

-- Puts a 1 before the elements of a vector, for number 1, the nodes that no edge touches.
local function with_one(vector)
  local joined = core.ones(#vector + 1)
  joined:slice(2, #joined):copy_(vector)
  return joined
end

-- Returns the factors of rows and columns for blocks that are slices of the matrix `root`.
local function factors_for(self, prepared, root)
  if self.root == nil or self.root ~= root then
    self.root, self.name = root, root and self.graph:name_of(root)
  end
  local found = prepared.factors
  if found.of ~= root then
    local of_rows, of_cols = factors(self, self.name, prepared.nodes, prepared.removed)
    found.of, found.rows, found.cols = root, of_rows and with_one(of_rows),
      of_cols and with_one(of_cols)
  end
  return found.rows, found.cols
end

local function edit_block(self, prepared, block)
  if block.control then
    errors.fail("links: a method that keeps histories remembers the edges that are to be left out; "
      .. 'exclude = "none" lets them be')
  end
  local dst, src, adj = prepared.compact(block.dst), prepared.compact(block.src), block.adj
  if #dst == 0 or #src == 0 or (dst:max() == 1 and src:max() == 1) then return block end
  local of_rows, of_cols = factors_for(self, prepared, adj.root)
  local hit = prepared.edges:has(dst[adj:row_of()], src[adj:col_of()])
  if #hit > 0 and hit:max() > 0 then adj = adj:pick_entries(1 - hit) end
  if of_rows then adj = adj:scale_rows(of_rows[dst]) end
  if of_cols then adj = adj:scale_cols(of_cols[src]) end
  return tables.merged(block, {adj = adj})
end

--- left_out:edit(batch, prepared): gives the mini-batch new blocks without the edges that :prepare
-- was given, and returns it; the old blocks are not changed, since a sampler may keep them.
function LeftOut:edit(batch, prepared)
  if not prepared then return batch end
  local blocks = {}
  for l, block in ipairs(batch.blocks) do blocks[l] = edit_block(self, prepared, block) end
  batch.blocks = blocks
  return batch
end

--- links.left_out(graph: Graph, batch, rows: Index, cols: Index) -> MiniBatch: returns a mini-batch
-- that was sampled from a P of this graph without the entries (rows[i], cols[i]) in any of its
-- blocks (an undirected edge has two), and with the weights of all others as they are in the P of
-- the graph without these edges; where P is none of graph:normalize's, their weights stay as they
-- are. Pairs that are no edges do not matter.
function LeftOut.of_batch(graph, batch, rows, cols)
  local where = "ladies.links.left_out"
  options.value(where, "the graph", graph, "Graph")
  options.value(where, "the mini-batch", batch, "table")
  options.value(where, "rows", rows, "Index")
  options.value(where, "cols", cols, "Index")
  core.check_constant(where, graph.adjacency)
  local left_out = LeftOut.new(graph)
  return left_out:edit(batch, left_out:prepare(rows, cols))
end

return LeftOut
