--- Exact inference: the model over the whole graph, one layer after the other, without sampling.
-- Every layer is computed for all nodes before the next begins, so a node costs its degree once a
-- layer and not its whole neighbourhood of five hops. Held at a time: the output of the layer
-- before and two intermediates of the one in hand, 3 N K floats for N nodes and K columns, besides
-- P and the features.

local core = require "ladies_core"
local options = require "ladies.options"

local inference = {}

-- P for the model: a Matrix as it is, that of a graph or a data set by the model's own choice.
local function propagation(model, of)
  if options.class_of(of) == "Matrix" then return of end
  local graph = options.class_of(of) == "Graph" and of or of.graph
  return graph:normalize(model.normalize or "sym")
end

local function run(model, P, features)
  local nodes = core.range(1, P.n_rows)
  local block = {adj = P, dst = nodes, src = nodes}
  local h = features
  for i = 1, model.n_layers do
    local input = h
    h = model:layer(i, input, block)
    if input ~= features and input ~= h then input:release() end
  end
  return h
end

--- Whether a model has what exact inference needs: layer(i, h, block) and n_layers.
function inference.possible(model)
  return model.layer ~= nil and model.n_layers ~= nil
end

--- inference.exact(model, data [, features]): the logits of all nodes, N x outputs.
-- model     has `n_layers` and `layer(i, h, block)`, as nn.gcn; `normalize` ("sym" or "row") names
--           its P
-- data      a data set; or a Graph, or P itself as a Matrix, and then `features` as well
-- Nothing is recorded, no element is dropped, and the result belongs to no step.
function inference.exact(model, data, features)
  if not inference.possible(model) then
    options.fail("ladies.inference.exact: the model must have layer(i, h, block) and n_layers")
  end
  features = features or data.features
  local P = propagation(model, data)
  if features.n_rows ~= P.n_rows then
    options.fail(("ladies.inference.exact: %d rows of features for a graph of %d nodes"):format(
      features.n_rows, P.n_rows))
  end
  return core.no_grad(run, model, P, features)
end

return inference
