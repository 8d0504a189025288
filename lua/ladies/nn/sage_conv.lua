--- A GraphSAGE convolution: a node beside an aggregate of its neighbours. Hamilton, Ying and
-- Leskovec, NeurIPS 2017, algorithm 1 and eqs. 2 and 3.
--
--     [h_v, a_v] W + b  =  h_v W_own + a_v W_near + b        concatenation is two maps
--     mean   a_v  =  sum over u of P_vu h_u                  with P = D^-1 (A + I) their mean
--     max    a_v  =  max over u of relu(h_u W_pool + c)      whatever P's weights
--
-- P's self-loop is part of the aggregate, where the paper's is of the neighbours alone. The paper
-- divides each row of a layer's output by its length; here layer normalisation can be used instead.

local GcnConv = require "ladies.nn.gcn_conv"
local InputRows = require "ladies.nn.input_rows"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local tables = require "ladies.base.tables"

local free_after = module.free_after

local SageConv = module.class("SageConv", "inputs outputs aggregate near own pool")

--- The names of the aggregates, as a type of ladies.options.
SageConv.aggregates = "mean|max"

--- nn.sage_conv{inputs =, outputs =, aggregate = "mean", bias = true, init = "glorot_uniform",
-- rng = Rng} -> Module: aggregate is "mean", or "max" of `outputs` columns that a linear layer
-- makes of each node.
function SageConv.new(given)
  local opts = options.check("ladies.nn.sage_conv", given,
    tables.merged(Linear.OPTIONS, {aggregate = {SageConv.aggregates, "mean"}}))
  local function map(make, inputs, bias, key)
    return make{inputs = inputs, outputs = opts.outputs, bias = bias, init = opts.init,
      rng = opts.rng:fork(key)}
  end
  local is_max = opts.aggregate == "max"
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, aggregate = opts.aggregate,
    own = map(Linear.new, opts.inputs, false, 1),
    near = is_max and map(Linear.new, opts.outputs, opts.bias, 2)
      or map(GcnConv.new, opts.inputs, opts.bias, 2),
    pool = is_max and map(Linear.new, opts.inputs, opts.bias, 3) or nil,
  }, SageConv)
end

--- Computes the output of the layer, #block.dst x outputs, from its input h, #block.src x inputs (a
-- Tensor or a sparse Matrix).
function SageConv:forward(h, block)
  local own = self.own:forward(own_rows(h, block))
  local near
  if self.pool then
    if options.class_of(h) == "InputRows" then h = h:to_tensor() end
    local pooled = self.pool:forward(h)
    pooled = free_after(pooled, pooled:relu())
    local largest = free_after(pooled, block.adj:neighbour_max(pooled))
    near = free_after(largest, self.near:forward(largest))
  else
    near = self.near:forward(h, block)
  end
  return free_after(own, free_after(near, near + own))
end

InputRows.taken_by[SageConv.forward] = true

function SageConv:__tostring()
  return ("SageConv %d -> %d, %s"):format(self.inputs, self.outputs, self.aggregate)
end

return SageConv
