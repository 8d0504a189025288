--- The model of graph transformer layers: attention by keys and queries over the neighbours of a
-- node, with features of edges. Shi, Huang, Feng, Zhong, Wang and Sun, "Masked Label Prediction:
-- Unified Message Passing Model for Semi-Supervised Classification", IJCAI 2021, eqs. 3 and 4.
--
--     e_vu  =  q_v . (k_u + W_edge x_vu) / sqrt(columns of a head)          for each head
--     h_v   =  W_own h_v + sum over u of alpha_vu (v_u + W_edge x_vu)
--     alpha_vu  in proportion to  P_vu exp(e_vu)
--
-- q, k and v are linear maps of h. The factor P_vu is there for samplers, as in nn.gat_conv; x_vu
-- are the features of the edge, where the model reads them. The paper's gate between a node and its
-- neighbours is left out.

local core = require "ladies_core"
local Dropout = require "ladies.nn.dropout"
local edges = require "ladies.nn.edges"
local heads = require "ladies.nn.heads"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local stack = require "ladies.nn.stack"
local tables = require "ladies.base.tables"

local free_after = module.free_after

local Conv = module.class("TransformerConv",
  "inputs outputs heads columns combine query key value edge own dropout")

--- nn.transformer_conv{inputs =, outputs =, heads = 8, combine = "concat", edge_inputs = 0,
-- dropout = 0, bias = true, init = "glorot_uniform", rng = Rng} -> Module: heads, combine and
-- dropout are those of nn.gat_conv, edge_inputs that of nn.gatv2_conv.
function Conv.new(given)
  local opts = options.check("ladies.nn.transformer_conv", given,
    tables.merged(heads.OF_LAYER, heads.OF_EDGES))
  local columns = heads.columns("ladies.nn.transformer_conv", opts)
  local function map(inputs, outputs, bias, number)
    return Linear.new{inputs = inputs, outputs = outputs, bias = bias, init = opts.init,
      rng = opts.rng:fork(number)}
  end
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, heads = opts.heads, columns = columns,
    combine = opts.combine,
    query = map(opts.inputs, columns, opts.bias, 1), key = map(opts.inputs, columns, opts.bias, 2),
    value = map(opts.inputs, columns, opts.bias, 3), own = map(opts.inputs, opts.outputs,
      opts.bias, 4),
    edge = opts.edge_inputs > 0 and map(opts.edge_inputs, columns, false, 5) or nil,
    dropout = Dropout.new{p = opts.dropout},
  }, Conv)
end

-- Returns for each entry the inner product of its row's query and its column's key, a column for
-- each head.
local function dots(adj, query, key, count)
  local width, all = query.n_cols // count, nil
  for i = 1, count do
    local first, last = (i - 1) * width + 1, i * width
    local one = adj:dot_edges(query:slice_cols(first, last), key:slice_cols(first, last))
    one = one:reshape(adj.nnz, 1)
    all = all and all:concat(one) or one
  end
  return all
end

-- Computes the scores of the entries, a column for each head; e are the mapped features of edges.
local function scores_of(self, h, own, e, adj)
  local query = self.query:forward(own)
  local scores = dots(adj, query, self.key:forward(h), self.heads)
  if e then
    scores = scores + (query:rows(adj:row_of()) * e):matmul(heads.sums(self.columns, self.heads))
  end
  return scores / math.sqrt(self.columns // self.heads)
    + edges.log_weights("nn.transformer_conv", adj)
end

--- #block.dst x outputs, of h, #block.src x inputs (Tensor or sparse Matrix). With `rng` elements
-- of the attention are dropped.
function Conv:forward(h, block, rng)
  local adj, own = block.adj, own_rows(h, block)
  local e = self.edge and self.edge:forward(
    edges.features("nn.transformer_conv", block, self.edge.inputs))
  local scores = scores_of(self, h, own, e, adj)
  local alpha = self.dropout:forward(free_after(scores, adj:edge_softmax(scores)), rng)
  local near = adj:matmul_heads(alpha, self.value:forward(h))
  if e then
    local segments = core.segments(adj:row_of(), adj.n_rows)
    near = free_after(near, near + segments:matmul_heads(alpha, e))
  end
  near = heads.combined(self, near)
  return free_after(near, near + self.own:forward(own))
end

function Conv:__tostring()
  return ("TransformerConv %d -> %d, %d heads%s"):format(self.inputs, self.outputs, self.heads,
    self.edge and (", %d features of edges"):format(self.edge.inputs) or "")
end

local Transformer = stack.class "Transformer"

--- nn.transformer{inputs =, outputs =, hidden = 256, layers = 5, heads = 8, edge_inputs = 0, ...}
-- -> Model: a model of `layers` layers of nn.transformer_conv; all other options are those of
-- nn.gatv2.
function Transformer.new(given)
  return stack.new(Transformer, "ladies.nn.transformer", given,
    tables.merged(heads.OPTIONS, heads.OF_EDGES), Conv.new, heads.of_model)
end

return {new = Transformer.new, conv = Conv.new}
