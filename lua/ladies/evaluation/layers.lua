--- Computes the layers of a model one after another, each for all nodes of its block before the
-- next begins, so that a node costs its degree once a layer and not its whole neighbourhood of
-- five hops. Besides P and the features, memory holds the output of the layer before and two
-- intermediates of the current one: 3 N K floats for N nodes and K columns. Features that stay in a
-- file are read into N rows of float32, unless the first layer multiplies them some rows at a time
-- (model.takes_rows). A layer may pass on a table of tensors for layers further on (jumping
-- knowledge, initial residuals); these are held as long as they are passed on.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local receptive_field = require "ladies.evaluation.receptive_field"
local tell = require "ladies.base.tell"

local layers = {}

--- layers.takes_rows(model, P) -> boolean: whether the model's first layer reads features that are
-- Rows as they are.
function layers.takes_rows(model, P)
  local takes_rows = model.takes_rows
  return takes_rows ~= nil and takes_rows(model, P)
end

--- layers.input(model, field, features): returns what the first layer reads.
function layers.input(model, field, features)
  if field.src then return features:rows(field.src) end
  if options.class_of(features) ~= "Rows" or layers.takes_rows(model, field.P) then
    return features
  end
  return features:to_tensor()
end

-- Adds the tensors in a value, a Tensor or a table with tensors at any depth, to a set.
local function add_tensors(set, value)
  if options.class_of(value) == "Tensor" then
    set[value] = true
  elseif type(value) == "table" and not set[value] then
    set[value] = true
    for _, part in next, value do add_tensors(set, part) end
  end
  return set
end

-- Frees the tensors in a layer's input, except those that are in its `output` too and those in the
-- set `held`.
local function release(input, output, held)
  local passed_on = add_tensors({}, output)
  for tensor in pairs(add_tensors({}, input)) do
    if type(tensor) == "userdata" and not passed_on[tensor] and not held[tensor]
      and not tensor.in_step then
      tensor:release()
    end
  end
end

-- Returns what the last layer that is kept has passed on, and the number of the next one; nil and 1
-- where none is.
local function resumed(room, work, known)
  local h = work.kept and work.kept:find(room, known)
  if not h then return nil, 1 end
  local first = work.kept.layer + 1
  tell("ladies: exact inference goes on with layer %d of %d, which an earlier one had come to (%s)",
    first, work.model.n_layers, work.kept.folder)
  return h, first
end

--- layers.compute(room, work): computes all layers, in a room of ladies_core, and returns the
-- output of the last one for the nodes that the field has there. work: model, field, features;
-- input, a function that returns what the first layer reads; edges, what blocks have of their
-- edges, or nil (see ladies.data.edges); kept, KeptLayers, or nil; own, the rows of P that this
-- rank has, where these and its rows of activations are all that it computes (OwnRows), or nil;
-- watch, of ladies.evaluation.division, or nil: where it returns true after a layer, they end there
-- without a result.
function layers.compute(room, work)
  local model, field, edges, kept, own = work.model, work.field, work.edges, work.kept, work.own
  local all = own and core.range(own.first, own.last) or core.range(1, field.P.n_rows)
  local whole = {adj = own or field.P, dst = all, src = all, whole = own and field.P}
  if edges then edges:attach(whole) end
  local held = add_tensors({[work.features] = true}, model)
  local known = {features = work.features, nodes = all}
  local h, first = resumed(room, work, known)
  h = h or work.input(all)
  for i = first, model.n_layers do
    local input = h
    local block = i < field.first and whole or receptive_field.block(field, i, all)
    if edges and block ~= whole then edges:attach(block) end
    h = errors.within("layer %d", i, model.layer, model, i, input, block)
    release(input, h, held)
    if work.watch and work.watch(i, room, own ~= nil) then return nil end
    if select(2, core.room_use(room)) > 0 then
      collectgarbage()                                   -- what a layer has left behind
      if kept and i < model.n_layers then kept:keep(room, i, h, known, held) end
    end
  end
  return h
end

return layers
