--- Has what layers and models with several heads of attention share: their options, how columns are
-- divided among heads, and the constant matrices that sum over the columns of each head or average
-- over the heads. These are stored here and not in the models, so that files do not hold them.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local tables = require "ladies.base.tables"

local heads = {}

--- The options of a model about its heads, for stack.new.
heads.OPTIONS = {
  heads = {"positive integer", 8}, output_heads = {"positive integer", 1},
  attention_dropout = {"number in [0, 1)", 0},
}

--- The options that every layer with heads has.
heads.OF_LAYER = tables.merged(Linear.OPTIONS, {
  heads = {"positive integer", 8}, combine = {"concat|mean", "concat"},
  dropout = {"number in [0, 1)", 0},
})

--- The option of models and layers that read the features of edges.
heads.OF_EDGES = {edge_inputs = {"non-negative integer", 0}}

--- Returns how many columns all heads of a layer have together, by its checked options: heads stand
-- side by side in its outputs or, with combine = "mean", have as many each. Fails, with a message
-- that begins with `where`, unless each head has as many as the others.
function heads.columns(where, opts)
  local columns = opts.combine == "mean" and opts.heads * opts.outputs or opts.outputs
  if columns % opts.heads ~= 0 then
    errors.fail(("%s: %d columns cannot be divided among %d heads"):format(where, columns,
      opts.heads))
  end
  return columns
end

--- Returns the options by which stack.new makes the convolutions of a model: heads stand side by
-- side in hidden layers, and are averaged in the one that gives the classes.
function heads.of_model(opts, _, is_last)
  return {
    heads = is_last and opts.output_heads or opts.heads, combine = is_last and "mean" or "concat",
    edge_inputs = opts.edge_inputs, dropout = opts.attention_dropout,
  }
end

-- Makes a dense matrix whose row i is 1 in column cols[i] and 0 elsewhere.
local function one_in_each_row(cols, n_cols)
  local rows = core.range(1, #cols)
  return core.matrix{n_rows = #cols, n_cols = n_cols, rows = rows, cols = cols}:to_dense()
end

local made = {}

-- Returns the matrix of this kind, which is made at its first use: often within a step, at the end
-- of which results of operations are freed, so it is detached.
local function kept(kind, columns, count, make)
  local key = ("%s %d %d"):format(kind, columns, count)
  if not made[key] then made[key] = make(core.range(1, columns) - 1):detach() end
  return made[key]
end

--- Returns a matrix, columns x count; x times it has the sum of each head's columns of x.
function heads.sums(columns, count)
  return kept("sums", columns, count, function(before)
    return one_in_each_row(before // (columns // count) + 1, count)
  end)
end

-- Returns a matrix, columns x (columns / count); x times it is the mean of the heads.
local function mean(columns, count)
  local each = columns // count
  return kept("mean", columns, count, function(before)
    return one_in_each_row(before % each + 1, each) / count
  end)
end

--- Returns the output of a layer from `near`, in which the heads stand side by side: the mean of
-- the heads where the layer has combine = "mean", otherwise `near` itself.
function heads.combined(layer, near)
  if layer.combine ~= "mean" then return near end
  return module.free_after(near, near:matmul(mean(layer.columns, layer.heads)))
end

return heads
