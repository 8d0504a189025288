--- Applies what follows the linear map of a hidden layer: layer normalisation (if the model has
-- it), activation and dropout.

local activation = require "ladies.nn.activation"
local Dropout = require "ladies.nn.dropout"
local LayerNorm = require "ladies.nn.layer_norm"
local module = require "ladies.nn.module"
local tables = require "ladies.base.tables"

local finish = {}

local free_after = module.free_after
local relu = activation.by_name "relu"

--- Adds norm, activation and dropout, from the options and for `width` columns, to the table
-- `layer`, which is returned; the layer that gives the classes (is_last) gets none of these.
function finish.layer(layer, opts, width, is_last)
  return tables.merged(layer, {
    norm = opts.norm and not is_last and LayerNorm.new{width = width} or nil,
    activation = activation.by_name(is_last and "none" or opts.activation),
    dropout = Dropout.new{p = is_last and 0 or opts.dropout},
  })
end

--- Returns h after the norm, activation and dropout of a layer; see Dropout for `rng`.
function finish.apply(layer, h, rng)
  if layer.norm then h = free_after(h, layer.norm:forward(h)) end
  local p = layer.dropout.p
  if rng and p > 0 and layer.activation == relu then
    if h.in_step then return h:relu_dropout(p, rng, true) end
    return free_after(h, h:relu_dropout(p, rng))
  end
  h = free_after(h, layer.activation(h))
  return free_after(h, layer.dropout:forward(h, rng))
end

return finish
