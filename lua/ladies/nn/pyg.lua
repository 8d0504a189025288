--- Converts the parameters of models to the names and shapes of PyTorch Geometric and back: those
-- of the classes in torch_geometric.nn.models (GCN, GraphSAGE, GAT, GIN, MLP), or of its layers
-- where it has no such class. Its weights are outputs x inputs, here they are inputs x outputs; its
-- attention vectors are 1 x heads x columns of a head, here they are one column.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local pyg = {}

-- A parameter is {name =, tensor =, to =, from =, shape =}: to(tensor) returns it as PyG has it,
-- from(x) converts back; shape is that in the file if it differs from the tensor's.

local function same(x) return x end
local function transposed(x) return x:transpose() end

local function vector(list, name, tensor)
  if tensor then list[#list + 1] = {name = name, tensor = tensor, to = same, from = same} end
end

local function add_linear(list, name, linear)
  list[#list + 1] = {name = name .. ".weight", tensor = linear.weight, to = transposed,
    from = transposed}
  vector(list, name .. ".bias", linear.bias)
end

local function add_norm(list, name, norm)
  if not norm then return end
  vector(list, name .. ".weight", norm.gain)
  vector(list, name .. ".bias", norm.bias)
end

local function add_attention(list, name, tensor, heads)
  local columns = tensor.n_rows // heads
  list[#list + 1] = {name = name, tensor = tensor, shape = {1, heads, columns},
    to = function(t) return t:reshape(heads, columns) end,
    from = function(x) return x:reshape(tensor.n_rows, 1) end}
end

local convolutions = {}

function convolutions.GcnConv(list, name, conv)
  add_linear(list, name .. ".lin", {weight = conv.weight})
  vector(list, name .. ".bias", conv.bias)
end

function convolutions.SageConv(list, name, conv)
  if conv.pool then
    errors.fail('nn.sage with aggregate = "max" has no counterpart in PyG, whose map before the '
      .. "maximum keeps the columns of the input")
  end
  add_linear(list, name .. ".lin_l", conv.near)
  add_linear(list, name .. ".lin_r", conv.own)
end

function convolutions.GatConv(list, name, conv)
  add_linear(list, name .. ".lin", conv.map)
  add_attention(list, name .. ".att_src", conv.from, conv.heads)
  add_attention(list, name .. ".att_dst", conv.to, conv.heads)
  vector(list, name .. ".bias", conv.bias)
end

function convolutions.GinConv(list, name, conv)
  local eps = conv.eps
  if type(eps) == "number" then eps = core.full(1, eps) end        -- a buffer there
  vector(list, name .. ".eps", eps)
  list[#list].constant = eps ~= conv.eps
  add_linear(list, name .. ".nn.lins.0", conv.near)
  add_norm(list, name .. ".nn.norms.0", conv.norm)
  add_linear(list, name .. ".nn.lins.1", conv.second)
end

local function add_mlp(list, prefix, mlp)
  for i, layer in ipairs(mlp.layers) do
    add_linear(list, ("%slins.%d"):format(prefix, i - 1), layer.linear)
    add_norm(list, ("%snorms.%d"):format(prefix, i - 1), layer.norm)
  end
end

local function add_stack(list, model)
  for i, layer in ipairs(model.layers) do
    convolutions[options.class_of(layer.conv)](list, ("convs.%d"):format(i - 1), layer.conv)
    add_norm(list, ("norms.%d"):format(i - 1), layer.norm)
  end
  if model.head then add_linear(list, "lin", model.head.linear) end
end

local models = {Gcn = add_stack, Sage = add_stack, Gat = add_stack, Gin = add_stack}

function models.Mlp(list, model) add_mlp(list, "", model) end

function models.Appnp(list, model) add_mlp(list, "mlp.", model.mlp) end

function models.Sgc(list, model)
  add_linear(list, "lin", {weight = model.linear.weight, bias = model.bias})
end

function models.Gcnii(list, model)
  add_linear(list, "lins.0", model.first.linear)
  for i, layer in ipairs(model.layers) do
    vector(list, ("convs.%d.weight1"):format(i - 1), layer.weight)
    vector(list, ("convs.%d.hops"):format(i - 1), layer.hops)
    add_norm(list, ("norms.%d"):format(i - 1), layer.norm)
  end
  add_linear(list, "lins.1", model.head)
end

-- Returns the parameters of a model, an array as above, under PyG's names.
local function named(where, model)
  local add, list = models[options.class_of(model)], {}
  if not add then
    errors.fail(("%s: PyG's names are those of our own models, gcn, sage, gat, gin, gcnii, appnp, "
      .. "sgc and mlp; this is %s"):format(where, options.class_of(model) or "another one"))
  end
  errors.within("%s", where, add, list, model)
  local ours, trained = module.named_parameters(model), 0
  for _, one in ipairs(list) do trained = trained + (one.constant and 0 or 1) end
  if #ours ~= trained then
    errors.fail(("%s: the model has %d parameters, PyG's has %d: it is not as it was made"):format(
      where, #ours, trained))
  end
  return list
end

--- Tells whether an open file of arrays has a parameter of the model under PyG's name.
function pyg.is_in(file, model)
  local add, list = models[options.class_of(model)], {}
  return add ~= nil and errors.try(add, list, model) and file:has(list[1].name)
end

--- Returns the arrays of a model under PyG's names, as npz.write and safetensors.write take them.
-- Errors begin with `where`.
function pyg.arrays(where, model)
  local arrays = {}
  for _, one in ipairs(named(where, model)) do
    local x = one.to(one.tensor:detach())
    arrays[one.name] = one.shape and core.npz.float32(x, {shape = one.shape}) or x
  end
  return arrays
end

--- Prepares to fill a model from a file: returns an array of {name =, tensor =, shape =} in PyG's
-- shapes, whose tensors the caller fills, and a function that then gives the model their values.
function pyg.to_fill(where, model)
  local list, wanted = named(where, model), {}
  for i, one in ipairs(list) do
    wanted[i] = {name = one.name, tensor = one.to(one.tensor:detach()) * 0, shape = one.shape}
  end
  return wanted, function()
    for i, one in ipairs(list) do
      local x = wanted[i].tensor
      if one.constant and x[1] ~= one.tensor[1] then
        errors.fail(("%s: %s is %g, the model's is %g"):format(where, one.name, x[1],
          one.tensor[1]))
      end
    end
    for i, one in ipairs(list) do
      if not one.constant then module.fill(one.tensor, one.from(wanted[i].tensor)) end
    end
  end
end

-- ---------------------------------------------------------------- in Python

local JUMP = {linear = "last", concat = "cat", max = "max"}

local function bool(x) return x and "True" or "False" end

-- Returns the Python arguments of a class as text: the given list, and those that all classes have.
local function joined(c, list)
  if c.activation ~= "relu" then
    list[#list + 1] = c.activation == "none" and "act=None" or ('act="%s"'):format(c.activation)
  end
  if c.dropout > 0 then list[#list + 1] = ("dropout=%g"):format(c.dropout) end
  if JUMP[c.head] then list[#list + 1] = ('jk="%s"'):format(JUMP[c.head]) end
  if c.norm then list[#list + 1] = 'norm="layer_norm", norm_kwargs={"mode": "node"}' end
  if not c.bias then list[#list + 1] = "bias=False" end
  return table.concat(list, ", ")
end

-- Returns the arguments of a class of torch_geometric.nn.models that is over a graph.
local function arguments(c, ...)
  return joined(c, {("in_channels=%d"):format(c.inputs), ("hidden_channels=%d"):format(c.hidden),
    ("num_layers=%d"):format(c.layers), ("out_channels=%d"):format(c.outputs), ...})
end

local classes = {}

function classes.Gcn(c, sym)
  return ("GCN(%s)"):format(sym and arguments(c) or arguments(c, "normalize=False"))
end

function classes.Sage(c) return ("GraphSAGE(%s)"):format(arguments(c)) end

function classes.Gat(c)
  if c.heads ~= c.output_heads and not JUMP[c.head] then return nil end
  return ("GAT(%s)"):format(arguments(c, ("heads=%d"):format(c.heads)))
end

function classes.Gin(c)
  if not c.norm then return nil end
  return ("GIN(%s)"):format(arguments(c, ("eps=%g"):format(c.eps),
    "train_eps=" .. bool(c.learn_eps)))
end

function classes.Mlp(c)
  local widths = {c.inputs}
  for i = 2, c.layers do widths[i] = c.hidden end
  widths[#widths + 1] = c.outputs
  local given = {("[%s]"):format(table.concat(widths, ", ")), not c.norm and "norm=None" or nil}
  return ("MLP(%s)"):format(joined(c, given))
end

function classes.Sgc(c)
  return ("SGConv(%d, %d, K=%d, bias=%s)"):format(c.inputs, c.outputs, c.layers, bool(c.bias))
end

--- Returns the Python expression that makes the PyG model for a model's arrays, or nil where PyG
-- has only the layers and no class for it.
function pyg.class(model)
  local c, make = model.config, classes[options.class_of(model)]
  if not make or c.residual or JUMP[c.head] and not c.bias then return nil end
  return make(c, model.normalize == "sym" and model.lambda == 0)
end

-- The P with which the layers of PyG propagate by default, for each class of models, as
-- graph:normalize names it.
local OWN = {Gcn = "sym", Gcnii = "sym", Appnp = "sym", Sgc = "sym", Sage = "row", Gin = "none",
  Gat = "row or none"}

--- Returns a remark on what has to be done in Python so that PyG's model gives the same logits, or
-- nil.
function pyg.note(model)
  local class, name = options.class_of(model), model.lambda == 0 and model.normalize or "another P"
  local own = OWN[class]
  if not own or own:find(name, 1, true) then
    return class == "Sage" and "edge_index with a self-loop for each node, as by "
      .. "torch_geometric.utils.add_self_loops" or nil
  elseif class == "Gcn" then
    return "edge_index and edge_weight: the entries of P, whose rows are targets"
  end
  return ("PyG's layers propagate by %s, this model by %s: its logits will be others"):format(own,
    name)
end

return pyg
