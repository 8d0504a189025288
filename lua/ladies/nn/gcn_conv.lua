--- A graph convolution: P H W + b (Kipf and Welling, ICLR 2017, eq. 2, without the activation).
-- P (HW) and (P H) W are the same numbers up to rounding; the cheaper order depends on the shapes.

local errors = require "ladies.base.errors"
local InputRows = require "ladies.nn.input_rows"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local free_after = module.free_after

local GcnConv = module.class("GcnConv",
  "inputs:integer outputs:integer order:string weight:Tensor bias:Tensor")

--- The orders of the two products, as a type of ladies.options.
GcnConv.orders = "auto|transform_first|propagate_first"

--- nn.gcn_conv{inputs =, outputs =, order = "auto", bias = true, init = "glorot_uniform",
-- rng = Rng} -> GcnConv: P H W + b, a layer whose weights are drawn by `init` from rng.
-- order  "transform_first" is P (HW), "propagate_first" (P H) W, "auto" whichever needs fewer
--        multiplications for the block at hand. A sparse H is always transformed first, since its
--        propagation would be dense.
-- The bias is added after the propagation in either order. (A bias before it, as in the authors'
-- program, is the same where the rows of P sum to one.)
function GcnConv.new(given)
  local opts = options.check("ladies.nn.gcn_conv", given,
    tables.merged(Linear.OPTIONS, {order = {GcnConv.orders, "auto"}}))
  local linear = Linear.new{
    inputs = opts.inputs, outputs = opts.outputs, bias = opts.bias, init = opts.init,
    rng = opts.rng,
  }
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, order = opts.order,
    weight = linear.weight, bias = linear.bias,
  }, GcnConv)
end

--- GcnConv.transform_is_cheaper(adj: Matrix, inputs: integer, outputs: integer) -> boolean: whether
-- P (HW) costs no more multiplications than (P H) W, for P of n_rows x n_cols with nnz entries and
-- dense H of n_cols x inputs.
function GcnConv.transform_is_cheaper(adj, inputs, outputs)
  local nnz = adj.nnz
  return adj.n_cols * inputs * outputs + nnz * outputs
      <= nnz * inputs + adj.n_rows * inputs * outputs
end

--- conv:transforms_first(adj: Matrix) -> boolean: whether dense rows are mapped before they are
-- propagated by this matrix.
function GcnConv:transforms_first(adj)
  if self.order ~= "auto" then return self.order == "transform_first" end
  return GcnConv.transform_is_cheaper(adj, self.inputs, self.outputs)
end

--- conv:forward(h: Tensor | Matrix | Rows [, adj: Matrix | table]) -> Tensor: P H W + b. h: n_cols
-- x inputs (Tensor or sparse Matrix, or Rows where nothing is recorded), adj: Matrix n_rows x
-- n_cols, or a block with it; the result is n_rows x outputs. Without adj, h (a Tensor) is P H
-- already. The order is that for block.whole, where there is one: the Matrix whose rows are
-- computed a part at a time, to the same bits.
function GcnConv:forward(h, adj)
  local whole, kind = nil, options.class_of(h)
  if type(adj) == "table" then adj, whole = adj.adj, adj.whole end
  if not adj or kind ~= "InputRows" then
    options.value("ladies.nn.gcn_conv", "h", h, adj and "Tensor or Matrix or Rows" or "Tensor")
  end
  if options.class_of(adj) ~= "MatrixInParts" then
    options.value("ladies.nn.gcn_conv", "the adjacency", adj, "Matrix or nil")
  end
  if h.n_cols ~= self.weight.n_rows then
    errors.fail(("nn.gcn_conv: features have %d columns, its weight %d rows"):format(h.n_cols,
      self.weight.n_rows))
  elseif adj and adj.n_cols ~= h.n_rows then
    errors.fail(("nn.gcn_conv: the block has %d columns, features %d rows"):format(adj.n_cols,
      h.n_rows))
  end
  if not adj then return h:linear(self.weight, self.bias) end
  if kind ~= "Matrix" and not self:transforms_first(whole or adj) then
    if kind == "Rows" then h = h:to_tensor() end
    local near = kind == "InputRows" and h:propagated(adj) or adj:matmul(h)
    return free_after(near, near:linear(self.weight, self.bias))
  end
  if kind == "InputRows" then h = h:to_tensor() end
  local mapped = h:matmul(self.weight)
  return free_after(mapped, adj:matmul(mapped, self.bias))
end

InputRows.taken_by[GcnConv.forward] = true

function GcnConv:__tostring()
  local order = self.order == "auto" and "" or ", " .. self.order:gsub("_", " ")
  return ("GcnConv %d -> %d%s%s"):format(self.inputs, self.outputs, order,
    self.bias and "" or ", no bias")
end

return GcnConv
