--- The model GATv2: graph attention in which the ranking of neighbours depends on the node that
-- attends to them. Brody, Alon and Yahav, "How Attentive are Graph Attention Networks?", ICLR 2022,
-- eq. 7.
--
--     e_vu  =  a . leaky_relu(W_to h_v + W_from h_u + W_edge x_vu)    for each head
--     h_v   =  sum over u of alpha_vu W_from h_u,   alpha_vu in proportion to  P_vu exp(e_vu)
--
-- In nn.gat the vector a comes before leaky_relu, and so every node ranks the others alike. The
-- factor P_vu is there for samplers, as in nn.gat_conv. x_vu are the features of the edge, where
-- the model reads them.

local core = require "ladies_core"
local Dropout = require "ladies.nn.dropout"
local edges = require "ladies.nn.edges"
local heads = require "ladies.nn.heads"
local initialize = require "ladies.nn.initialize"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local stack = require "ladies.nn.stack"
local tables = require "ladies.base.tables"

local free_after = module.free_after

local Conv = module.class("Gatv2Conv",
  "inputs outputs heads columns combine slope from to edge attention bias dropout")

--- nn.gatv2_conv{inputs =, outputs =, heads = 8, combine = "concat", edge_inputs = 0, slope = 0.2,
-- dropout = 0, bias = true, init = "glorot_uniform", rng = Rng} -> Module: the options are those of
-- nn.gat_conv; edge_inputs is the number of features of edges that it reads from
-- block.edge_features, a row for each entry of block.adj, or 0.
function Conv.new(given)
  local opts = options.check("ladies.nn.gatv2_conv", given,
    tables.merged(heads.OF_LAYER, heads.OF_EDGES, {slope = {"number", 0.2}}))
  local columns = heads.columns("ladies.nn.gatv2_conv", opts)
  local function map(inputs, key, bias)
    return Linear.new{inputs = inputs, outputs = columns, bias = bias, init = opts.init,
      rng = opts.rng:fork(key)}
  end
  local attention = core.zeros(columns, 1)
  initialize.by_name(opts.init)(attention, opts.rng:fork(4))
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, heads = opts.heads, columns = columns,
    combine = opts.combine, slope = opts.slope,
    from = map(opts.inputs, 1, opts.bias), to = map(opts.inputs, 2, opts.bias),
    edge = opts.edge_inputs > 0 and map(opts.edge_inputs, 3, false) or nil,
    attention = attention:requires_grad_(), dropout = Dropout.new{p = opts.dropout},
    bias = opts.bias and core.zeros(opts.outputs):requires_grad_() or nil,
  }, Conv)
end

-- Computes the scores e_vu of the entries, a column for each head.
local function scores_of(self, from, h, block)
  local adj = block.adj
  local scores = adj:add_edges(self.to:forward(own_rows(h, block)), from)
  if self.edge then
    local x = edges.features("nn.gatv2_conv", block, self.edge.inputs)
    scores = free_after(scores, scores + self.edge:forward(x))
  end
  scores = free_after(scores, scores:leaky_relu(self.slope))
  scores = free_after(scores,
    scores:matmul(heads.sums(self.columns, self.heads) * self.attention))
  return free_after(scores, scores + edges.log_weights("nn.gatv2_conv", adj))
end

--- #block.dst x outputs, of h, #block.src x inputs (Tensor or sparse Matrix). With `rng` elements
-- of the attention are dropped.
function Conv:forward(h, block, rng)
  local adj, from = block.adj, self.from:forward(h)
  local scores = scores_of(self, from, h, block)
  local alpha = self.dropout:forward(free_after(scores, adj:edge_softmax(scores)), rng)
  local near =
    heads.combined(self, free_after(alpha, free_after(from, adj:matmul_heads(alpha, from))))
  return self.bias and free_after(near, near + self.bias) or near
end

function Conv:__tostring()
  return ("Gatv2Conv %d -> %d, %d heads%s"):format(self.inputs, self.outputs, self.heads,
    self.edge and (", %d features of edges"):format(self.edge.inputs) or "")
end

local Gatv2 = stack.class "Gatv2"

--- nn.gatv2{inputs =, outputs =, hidden = 256, layers = 5, heads = 8, edge_inputs = 0, ...} ->
-- Model: a model of `layers` layers of nn.gatv2_conv; all other options are those of nn.gat.
-- edge_inputs   the number of features of edges, which its layers read from block.edge_features; 0:
--               none
function Gatv2.new(given)
  return stack.new(Gatv2, "ladies.nn.gatv2", given,
    tables.merged(heads.OPTIONS, heads.OF_EDGES), Conv.new, heads.of_model)
end

return {new = Gatv2.new, conv = Conv.new}
