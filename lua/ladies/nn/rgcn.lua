--- The relational graph convolutional network. Schlichtkrull, Kipf, Bloem, van den Berg, Titov and
-- Welling, "Modeling Relational Data with Graph Convolutional Networks", ESWC 2018, eqs. 2 and 3.
--
--     h_v  <-  W_own h_v + b + sum over relations r of  (mean over N_r(v) of h_u) W_r
--     W_r   =  sum over bases b of  a_rb V_b
--
-- The means are computed for the pairs of a node and a relation that have an edge, in the order of
-- the relations, and those of a relation multiplied by its W_r. They are weighted by P's entries,
-- which are the same in a row of P = D^-1 (A + I) or A + I; entries of a sample are weighted by the
-- inverse of the probability with which they were drawn, and the mean over these estimates the one
-- over all. Entries of relation 0 are no edges, such as the loops of P, and are left out.

local core = require "ladies_core"
local edges = require "ladies.nn.edges"
local initialize = require "ladies.nn.initialize"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local stack = require "ladies.nn.stack"
local tables = require "ladies.base.tables"

local free_after = module.free_after

-- The options that a model and its layers have besides those of all.
local OWN = {relations = "positive integer", bases = {"positive integer", 30}}

local Conv = module.class("RgcnConv", "inputs outputs relations bases own maps shares")

--- nn.rgcn_conv{inputs =, outputs =, relations =, bases = 30, bias = true, init = "glorot_uniform",
-- rng = Rng} -> Module: it reads the relation of each entry, 1 to `relations`, from
-- block.edge_types. Of the bases there are at most as many as relations.
function Conv.new(given)
  local opts = options.check("ladies.nn.rgcn_conv", given, tables.merged(Linear.OPTIONS, OWN))
  local bases, first = math.min(opts.bases, opts.relations), initialize.by_name(opts.init)
  local maps = core.zeros(bases, opts.inputs * opts.outputs)
  for b = 1, bases do
    local map = first(core.zeros(opts.inputs, opts.outputs), opts.rng:fork(b + 1))
    maps:slice(b, b):copy_(map:reshape(1, opts.inputs * opts.outputs))
  end
  local shares = first(core.zeros(opts.relations, bases), opts.rng:fork(bases + 2))
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, relations = opts.relations, bases = bases,
    own = Linear.new{inputs = opts.inputs, outputs = opts.outputs, bias = opts.bias,
      init = opts.init, rng = opts.rng:fork(1)},
    maps = maps:requires_grad_(), shares = shares:requires_grad_(),
  }, Conv)
end

-- Returns the pairs of a row and a relation that have entries, by relation and then by row: a
-- matrix with a row for each pair and a column for each entry of adj, and the numbers of the pairs,
-- of which a relation has n_rows.
local function pairs_of(adj, types, relations)
  local n = adj.n_rows
  local others = types:equals(0):to_index()              -- these come last, and are left out
  local key = (types + others * (relations + 1) - 1) * n + adj:row_of()
  local all = core.segments(key, n * (relations + 1))
  local there = all:degrees():above(0):positions()
  there = there[there:below(n * relations + 1)]
  return all:rows(there), there
end

-- Returns the product of A, whose rows are the pairs, and h. Where h is sparse so is the product,
-- such as the sums of bags of words, which have few words each; but not if there is a gradient to
-- compute.
local function product(A, h)
  if options.class_of(h) ~= "Matrix" then return A:matmul(h) end
  if A.requires_grad or h.requires_grad then return A:matmul(h:to_dense()) end
  return core.no_grad(A.matmul_sparse, A, h)
end

-- Returns the mean over the entries of each pair of the rows of h, a Tensor or a Matrix.
local function means(adj, of_pairs, h)
  local entries = of_pairs:col_of()
  local weights = adj:entry_values()[entries]
  local column = weights:reshape(#weights, 1)
  local sums = of_pairs:matmul(adj:entry_values():reshape(adj.nnz, 1)):rows(of_pairs:row_of())
  local shares = (column / (sums + sums:equals(0))):reshape(#weights)
  local A, order = core.edge_matrix{n_rows = of_pairs.n_rows, n_cols = adj.n_cols,
    rows = of_pairs:row_of(), cols = adj:col_of()[entries]}          -- parallel edges stay apart
  return product(A:with_values(shares[order]), h)
end

-- Returns the means of each relation times its map, a row for each pair.
local function mapped(self, near, relation_of)
  local maps, list = self.shares:matmul(self.maps), {}
  local counts, last = core.segments(relation_of, self.relations):degrees():to_table(), 0
  local is_sparse = options.class_of(near) == "Matrix"
  for r, count in ipairs(counts) do
    if count > 0 then
      local map = maps:slice(r, r):reshape(self.inputs, self.outputs)
      local own = is_sparse and near:rows(core.range(last + 1, last + count))
        or near:slice(last + 1, last + count)
      list[#list + 1] = own:matmul(map)
      last = last + count
    end
  end
  return core.concat_rows(list)
end

--- #block.dst x outputs, of h, #block.src x inputs (Tensor or sparse Matrix).
function Conv:forward(h, block)
  local adj, types = block.adj, edges.types("nn.rgcn_conv", block, self.relations)
  local own = self.own:forward(own_rows(h, block))
  local of_pairs, keys = pairs_of(adj, types, self.relations)
  if #keys == 0 then return own end
  local means_of, relation_of = means(adj, of_pairs, h), (keys - 1) // adj.n_rows + 1
  local near = mapped(self, means_of, relation_of)
  if options.class_of(means_of) == "Tensor" then near = free_after(means_of, near) end
  local rows = (keys - 1) % adj.n_rows + 1
  local sum = free_after(near, core.segments(rows, adj.n_rows):matmul(near))
  return free_after(own, free_after(sum, sum + own))
end

function Conv:__tostring()
  return ("RgcnConv %d -> %d, %d relations, %d bases"):format(self.inputs, self.outputs,
    self.relations, self.bases)
end

local Rgcn = stack.class "Rgcn"

--- nn.rgcn{inputs =, outputs =, relations =, bases = 30, hidden = 256, layers = 5, ...} -> Model: a
-- model of `layers` layers of nn.rgcn_conv; all other options are those of nn.gcn, without order.
-- relations   the number of types of edges, which its layers read from block.edge_types
-- bases       maps of which those of the relations are sums; as many as there are relations at most
-- Its layers read the rows of their own nodes: layer-wise samplers need self_nodes = "previous".
function Rgcn.new(given)
  return stack.new(Rgcn, "ladies.nn.rgcn", given, OWN, Conv.new)
end

return {new = Rgcn.new, conv = Conv.new}
