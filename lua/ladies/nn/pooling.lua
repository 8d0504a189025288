--- Pooling: from the rows of many nodes to one row for each graph, or other group of nodes, that
-- they are in. Attention is that of Li, Tarlow, Brockschmidt and Zemel, "Gated Graph Sequence
-- Neural Networks", ICLR 2016, eq. 7, with a softmax over the nodes of a graph: the weights sum to
-- 1.
--
--     sum_v alpha_v h_v,    alpha_v  in proportion to  exp(w . h_v + b)

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local initialize = require "ladies.nn.initialize"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local Pooling = module.class("Pooling", "kind:string score:Linear")

--- nn.pooling{kind = "mean", inputs = integer, bias = true, init = "glorot_uniform", rng = Rng} ->
-- Pooling: kind is "sum", "mean", "max" or "attention", which alone has parameters, and needs
-- `inputs`, the columns of what it pools, and `rng`.
function Pooling.new(given)
  local where = "ladies.nn.pooling"
  local opts = options.check(where, given or {}, {
    kind = {"sum|mean|max|attention", "mean"}, inputs = "positive integer or nil",
    bias = {"boolean", true}, init = initialize.names .. " or nil", rng = "Rng or nil",
  })
  if opts.kind == "attention" then
    options.value(where, "inputs, for attention,", opts.inputs, "positive integer")
    options.value(where, "rng, for attention,", opts.rng, "Rng")
  end
  if opts.kind ~= "attention" then return setmetatable({kind = opts.kind}, Pooling) end
  return setmetatable({kind = opts.kind, score = Linear.new{inputs = opts.inputs, outputs = 1,
    bias = opts.bias, init = opts.init, rng = opts.rng}}, Pooling)
end

local POOLED = {
  sum = function(segments, h) return segments:matmul(h) end,
  mean = function(segments, h) return segments:neighbour_mean(h) end,
  max = function(segments, h) return segments:neighbour_max(h) end,
}

--- pooling:forward(h: Tensor, graphs: Index, n: integer) -> Tensor: n x h.n_cols: row g pools the
-- rows i of h with graphs[i] = g; zeros where there are none. It is differentiable.
function Pooling:forward(h, graphs, n)
  local where = "ladies.nn.pooling"
  options.value(where, "h", h, "Tensor")
  options.value(where, "the graphs", graphs, "Index")
  options.value(where, "n", n, "positive integer")
  if #graphs ~= h.n_rows then
    errors.fail(("%s: there are %d rows of h and %d numbers of graphs"):format(where, h.n_rows,
      #graphs))
  end
  local segments = core.segments(graphs, n)
  if self.kind ~= "attention" then return POOLED[self.kind](segments, h) end
  local scores = self.score:forward(h):rows(segments:col_of())
  return segments:matmul_heads(segments:edge_softmax(scores), h)
end

function Pooling:__tostring()
  return "Pooling by " .. self.kind
end

return Pooling
