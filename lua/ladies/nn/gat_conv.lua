--- A graph attention layer. Velickovic, Cucurull, Casanova, Romero, Lio and Bengio, "Graph
-- Attention Networks", ICLR 2018, eqs. 1 to 6.
--
--     Z     =  H W                                              for each head, as all that follows
--     e_vu  =  leaky_relu(a_to . z_v + a_from . z_u)            for the entries (v, u) of P
--     h_v   =  sum over u of alpha_vu z_u,   alpha_vu  in proportion to  P_vu exp(e_vu)
--
-- The heads stand side by side, or are averaged. With P = D^-1 (A + I) the factor P_vu cancels in a
-- row, and alpha is the paper's. It is there for samplers: they weight what they draw by the
-- inverse of its probability, and alpha over a sample estimates the one over the whole row as a
-- ratio, as LADIES does by normalising rows. In training elements of alpha are dropped.

local core = require "ladies_core"
local Dropout = require "ladies.nn.dropout"
local edges = require "ladies.nn.edges"
local heads = require "ladies.nn.heads"
local initialize = require "ladies.nn.initialize"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local tables = require "ladies.base.tables"

local free_after = module.free_after

local GatConv = module.class("GatConv",
  "inputs outputs heads columns combine slope map to from bias dropout")

--- nn.gat_conv{inputs =, outputs =, heads = 8, combine = "concat", slope = 0.2, dropout = 0,
-- bias = true, init = "glorot_uniform", rng = Rng} -> Module: combine is "concat", where each head
-- has outputs / heads columns, or "mean" of heads of `outputs` columns; slope is that of
-- leaky_relu, dropout that of alpha.
function GatConv.new(given)
  local opts = options.check("ladies.nn.gat_conv", given,
    tables.merged(heads.OF_LAYER, {slope = {"number", 0.2}}))
  local columns = heads.columns("ladies.nn.gat_conv", opts)
  local function attention(key)
    local vector = core.zeros(columns, 1)
    return initialize.by_name(opts.init)(vector, opts.rng:fork(key)):requires_grad_()
  end
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, heads = opts.heads, columns = columns,
    combine = opts.combine, slope = opts.slope,
    map = Linear.new{inputs = opts.inputs, outputs = columns, bias = false, init = opts.init,
      rng = opts.rng:fork(1)},
    to = attention(2), from = attention(3), dropout = Dropout.new{p = opts.dropout},
    bias = opts.bias and core.zeros(opts.outputs):requires_grad_() or nil,
  }, GatConv)
end

--- Computes the output of the layer, #block.dst x outputs, from its input h, #block.src x inputs (a
-- Tensor or a sparse Matrix). With `rng` elements of the attention are dropped.
function GatConv:forward(h, block, rng)
  local adj, z = block.adj, self.map:forward(h)
  local of_heads = heads.sums(self.columns, self.heads)
  local to = own_rows(z:matmul(of_heads * self.to), block)
  local scores = adj:add_edges(to, z:matmul(of_heads * self.from))
  scores = free_after(scores, scores:leaky_relu(self.slope))
  scores = free_after(scores, scores + edges.log_weights("nn.gat_conv", adj))
  local alpha = self.dropout:forward(free_after(scores, adj:edge_softmax(scores)), rng)
  local near = heads.combined(self, free_after(alpha, free_after(z, adj:matmul_heads(alpha, z))))
  return self.bias and free_after(near, near + self.bias) or near
end

function GatConv:__tostring()
  return ("GatConv %d -> %d, %d heads"):format(self.inputs, self.outputs, self.heads)
end

return GatConv
