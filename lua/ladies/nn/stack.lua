--- Makes models that are a stack of convolutions: each layer has one, then norm, activation,
-- dropout and perhaps a residual connection. The last gives the classes, or a linear head after it
-- does; the head may read the outputs of all layers: jumping knowledge (Xu et al., ICML 2018,
-- section 4.1).

local core = require "ladies_core"
local Dropout = require "ladies.nn.dropout"
local finish = require "ladies.nn.finish"
local InputRows = require "ladies.nn.input_rows"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local network = require "ladies.nn.network"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local residual = require("ladies.nn.own_nodes").residual
local tables = require "ladies.base.tables"

local stack = {}

local free_after = module.free_after

local SPEC = tables.merged(network.SPEC, {
  head = {"none|linear|concat|max", "none"},
  head_dropout = {"number in [0, 1)", 0},
  residual = "boolean or nil",
})

-- Ways of combining the outputs of all layers for the head: each function adds one layer's output
-- to those before.
local JUMP = {
  concat = function(before, h) return before:concat(h) end,
  max = function(before, h) return core.where(h:above(before), h, before) end,
}

local function head_of(opts, rng)
  local inputs = opts.head == "concat" and opts.hidden * opts.layers or opts.hidden
  return {
    jump = JUMP[opts.head],
    dropout = Dropout.new{p = opts.head_dropout},
    linear = Linear.new{
      inputs = inputs, outputs = opts.outputs, bias = opts.bias, init = opts.init, rng = rng,
    },
  }
end

--- Makes the metatable for a kind of model that is a stack. Their convolutions have forward(h,
-- block, rng).
function stack.class(name)
  local class = network.class(name, "head:table")
  class.layer, class.__tostring, class.__words = stack.layer, network.describe, stack.words
  return class
end

--- Makes a model of the class. `own` has the types of its options besides those of all stacks (see
-- nn.gcn); make{inputs =, outputs =, bias =, init =, rng =, ...} makes the convolution of a layer,
-- whose further options are those of `own` or, where it is given, of_model(opts, outputs, is_last).
function stack.new(class, where, given, own, make, of_model)
  local model, rng = network.new(class, where, given, tables.merged(SPEC, own))
  local opts = model.config
  local last = opts.head == "none" and opts.layers or nil   -- the layer that gives the classes
  local further = {}
  for name in pairs(own) do further[name] = opts[name] end
  for i = 1, opts.layers do
    local inputs = i == 1 and opts.inputs or opts.hidden
    local outputs = i == last and opts.outputs or opts.hidden
    model.layers[i] = finish.layer({
      conv = make(tables.merged(of_model and of_model(opts, outputs, i == last) or further, {
        inputs = inputs, outputs = outputs, bias = opts.bias, init = opts.init, rng = rng:fork(i),
      })),
      input_dropout = i == 1 and opts.input_dropout and Dropout.new{p = opts.input_dropout} or nil,
      residual = opts.residual and i > 1 and i ~= last or nil,
    }, opts, outputs, i == last)
  end
  if not last then model.head = head_of(opts, rng:fork(opts.layers + 1)) end
  return model
end

-- Returns the output of one layer, without the head.
local function hidden(layer, h, block, rng)
  if options.class_of(h) == "InputRows"
    and (layer.input_dropout or not InputRows.taken_by[layer.conv.forward]) then
    h = h:to_tensor()
  end
  if layer.input_dropout then h = layer.input_dropout:forward(h, rng) end
  local z = finish.apply(layer, layer.conv:forward(h, block, rng), rng)
  return layer.residual and residual(z, 1, h, block) or z
end

--- model:layer(i: integer, h: Tensor | Matrix | table, block [, rng]) -> Tensor | table: layer i
-- alone: h (n_cols x inputs of the layer) -> n_rows x its outputs, over block.adj; a block without
-- adj has h propagated already. The last layer includes the head. Where the head reads all layers,
-- what goes from layer to layer is {last =, all =}. With `rng` elements are dropped (training),
-- without it none (evaluation).
function stack.layer(model, i, h, block, rng)
  local layer = network.layer_of(model, i, block)
  local head = model.head
  local jump = head and head.jump
  local z = hidden(layer, jump and i > 1 and h.last or h, block, rng)
  local all = jump and i > 1 and jump(own_rows(h.all, block), z) or z
  if i < model.n_layers then return jump and {last = z, all = all} or z end
  if not head then return z end
  all = free_after(free_after(z, all), head.dropout:forward(all, rng))
  return free_after(all, head.linear:forward(all))
end

InputRows.taken_by[stack.layer] = true

--- Describes a stack: a line about the model, and then a line for each layer.
function stack.words(model)
  local c, lines = model.config, {network.describe(model)}
  for i, layer in ipairs(model.layers) do
    local parts = {tostring(layer.conv)}
    if layer.norm then parts[#parts + 1] = "layer norm" end
    if model.head or i < c.layers then
      parts[#parts + 1] = c.activation
      if c.dropout > 0 then parts[#parts + 1] = "dropout " .. c.dropout end
    end
    if layer.residual then parts[#parts + 1] = "residual" end
    lines[#lines + 1] = ("  %d  %s"):format(i, table.concat(parts, ", "))
  end
  if model.head then
    lines[#lines + 1] = ("  head  %s%s%s"):format(
      JUMP[c.head] and c.head .. " of all layers, " or "",
      c.head_dropout > 0 and ("dropout %g, "):format(c.head_dropout) or "", model.head.linear)
  end
  return table.concat(lines, "\n")
end

return stack
