--- Saves and loads trained models: a file holds parameters and buffers by name, and the
-- architecture, which is the options of the constructor as JSON text. In an .npz file they are
-- arrays parameter.NAME, buffer.NAME and architecture, in a .safetensors file tensors NAME and
-- metadata, which list the buffers. With PyG's names (ladies.nn.pyg) an .npz has parameters alone.
-- Where features are standardized for the model, the .npz file of a run has their scale, as arrays
-- features.mean and features.deviation.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local Buffers = require "ladies.nn.buffers"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local module = require "ladies.nn.module"
local named_tensors = require "ladies.nn.named_tensors"
local nn = require "ladies.nn"
local options = require "ladies.base.options"
local pyg = require "ladies.nn.pyg"
local propagation = require "ladies.graph.propagation"
local tables = require "ladies.base.tables"

local model_file = {}

-- The constructors that a file may name as its architecture; their options are plain data and in
-- model.config.
local KINDS = {}
for _, kind in ipairs{"appnp", "embedding", "gat", "gatv2", "gcn", "gcnii", "gin", "gine", "mlp",
  "pna", "rgcn", "sage", "sgc", "transformer"} do
  KINDS[kind] = nn[kind]
end

-- Makes a model from the options of another; P is the Matrix whose hash these hold, if they do.
local function make_again(make, config, P)
  local with = tables.merged(config)
  if P then with.P, with.normalize, with.lambda = P, nil, nil end
  return make(with)
end

-- Fields that may differ from those of a new model, since a user may set another P (see
-- ladies.graph.propagation).
local FREE = {P = true, normalize = true, lambda = true}

-- Tells whether a value in a model is the same as in a new model, `made` with the same options;
-- parameters may differ in their numbers only.
local function is_as_made(value, made)
  local class = options.class_of(made)
  if class ~= options.class_of(value) then return false end
  if class == "Tensor" then
    return value.ndim == made.ndim and value.n_rows == made.n_rows and value.n_cols == made.n_cols
  elseif type(made) ~= "table" or type(value) ~= "table" then
    return rawequal(value, made)
  end
  if getmetatable(value) ~= getmetatable(made) then return false end
  for key in pairs(value) do
    if rawget(made, key) == nil and not FREE[key] then return false end
  end
  for key, part in pairs(made) do
    if not FREE[key] and not is_as_made(rawget(value, key), part) then return false end
  end
  return true
end

-- Returns which constructor makes a model, and with which options; nil for models of the user's
-- own, which include models of the library in which the user has changed a method, a layer or a
-- setting.
local function kind_of(model)
  local class = options.class_of(model)
  local kind = class and class:lower()
  local make = KINDS[kind]
  if not make or type(rawget(model, "config")) ~= "table" then return nil end
  local opts = propagation.options_of("ladies.save_model", model)
  local ok, made = errors.try(make_again, make, opts, model.P)
  if ok and is_as_made(model, made) then return kind, opts end
end

-- Returns the arrays for a model's file: parameters under their own names behind a prefix or under
-- PyG's names, and the `buffers`, an array of {name =, tensor =}, behind another prefix.
local function arrays_of(model, names, prefix, buffers, buffer_prefix)
  if names == "pyg" then return pyg.arrays("ladies.save_model", model) end
  local arrays = {}
  named_tensors.put(arrays, prefix, module.named_parameters(model))
  named_tensors.put(arrays, buffer_prefix, buffers)
  return arrays
end

local function name_of(one) return one.name end

--- ladies.save_model(model, path [, {names = "ladies", buffers = Buffers, scale = table}]): writes
-- the parameters of a model, frozen or not, its buffers, which are its other tensors, and how it is
-- built, for the P that it states then, when it is one of ours (nn.gcn, nn.sage) as it was made.
-- One that the user changed since (a method, a layer, a setting) is a model of the user's own:
-- ladies.load_model must be given one to fill. The file is a .safetensors one when the path ends
-- so, else .npz; it appears whole or not at all.
-- names   "pyg": those of PyTorch Geometric, whose models take the file as their state_dict; its
--         metadata, in .safetensors, then say which class it is of. An .npz has the parameters
--         alone.
-- buffers   nn.buffers(model), perhaps without some of them; all by default
-- scale   data.feature_scale of a standardized data set, which an .npz file with our names keeps
function model_file.save(model, path, given)
  options.value("ladies.save_model", "the path", path, "string")
  given = options.check("ladies.save_model", given, {
    names = {"ladies|pyg", "ladies"}, buffers = "Buffers or nil", scale = "table or nil",
  })
  local names, buffers = given.names, (given.buffers or Buffers.new(model)):list()
  local kind, opts = kind_of(model)
  local architecture = kind and json.encode({kind = kind, options = opts}, "  ")
  if array_file.is_safetensors(path) then
    core.safetensors.write(path, arrays_of(model, names, "", buffers, ""), {metadata = {
      buffers = names == "ladies" and #buffers > 0 and json.encode(tables.map(buffers, name_of))
        or nil,
      architecture = architecture, names = names, pyg = names == "pyg" and pyg.class(model) or nil,
    }})
    return
  end
  local arrays = arrays_of(model, names, "parameter.", buffers, "buffer.")
  if names == "ladies" then
    arrays.architecture = architecture
    for name, vector in pairs(given.scale or {}) do arrays["features." .. name] = vector end
  end
  core.npz.write(path, arrays, {compress = false})
end

-- Returns the architecture in a file, the options with which its model was made, or nil.
local function architecture_of(file, path)
  local text
  if array_file.is_safetensors(path) then
    text = file:metadata().architecture
  elseif file:has "architecture" then
    text = file:text "architecture"
  end
  if not text then return nil end
  local architecture = json.decode(text, path .. ": architecture")
  local make = type(architecture) == "table" and KINDS[architecture.kind]
  if not make then errors.fail(("ladies.load_model: %s is of an unknown kind"):format(path)) end
  options.value("ladies.load_model: " .. path, "the options of its architecture",
    architecture.options, "table")
  return architecture.options, make
end

--- Returns the options with which the model in a file was made, without reading the model; nil
-- where the file does not say them.
function model_file.options(path)
  local file <close> = array_file.open(path)
  return (architecture_of(file, path))
end

--- Returns the scale of the features that the model in an .npz file takes, as data.feature_scale of
-- a standardized data set, or nil.
function model_file.scale(path)
  local file <close> = array_file.open(path)
  return file:has "features.mean"
    and {mean = file:tensor "features.mean", deviation = file:tensor "features.deviation"} or nil
end

-- Reads the buffers in an open file; returns an array of {name =, tensor =}.
local function buffers_in(file, path)
  local list = {}
  if array_file.is_safetensors(path) then
    local names = json.decode(file:metadata().buffers or "[]", path .. ": buffers")
    for i, name in ipairs(type(names) == "table" and names or {}) do
      list[i] = {name = name, tensor = file:tensor(name)}
    end
    return list
  end
  for _, member in ipairs(file:names()) do
    local name = member:match "^buffer%.(.*)"
    if name then list[#list + 1] = {name = name, tensor = file:tensor(member)} end
  end
  return list
end

-- Fills a model from an open file, whose parameters have the library's own names or PyG's.
local function fill(model, file, path)
  local where = "ladies.load_model: " .. path
  local prefix = array_file.is_safetensors(path) and "" or "parameter."
  local ours = module.named_parameters(model)
  if (not ours[1] or not file:has(prefix .. ours[1].name)) and pyg.is_in(file, model) then
    local wanted, finish = pyg.to_fill(where, model)
    named_tensors.get(file, where, "", wanted)
    return finish()
  end
  local buffers = buffers_in(file, path)
  named_tensors.get(file, where, prefix, ours, "model", prefix == "" and buffers or nil)
  Buffers.new(model):restore(buffers, where)
end

-- Fails when the model `made` is for another P than that of the file.
local function check_propagation(path, saved, made)
  for _, name in ipairs{"P", "normalize", "lambda"} do
    if saved[name] ~= made[name] then
      errors.fail(("ladies.load_model: the model in %s is for %s, not %s"):format(path,
        propagation.describe(saved), propagation.describe(made)))
    end
  end
end

--- ladies.load_model(path [, model: table | Matrix]) -> Model: the model of a file, .npz or
-- .safetensors, or of a run's folder (its model.npz). With `model`, a model of the user's own
-- making, its parameters and buffers are filled from the file; those that are frozen in it stay so.
-- Files do not hold what was frozen: in a model that is made anew no parameter is. A model for a P
-- of its own is given that Matrix, which must be the one that it was made with. The names in the
-- file may be PyTorch Geometric's, as ladies.save_model or Python's
-- safetensors.torch.save_file(model.state_dict(), path) writes them; one that Python wrote does not
-- say how the model is built.
function model_file.load(path, given)
  options.value("ladies.load_model", "the path", path, "string")
  options.value("ladies.load_model", "what comes after it", given, "Matrix or table or nil")
  local P = options.class_of(given) == "Matrix" and given or nil
  local model = not P and given or nil
  if core.exists(path) == "folder" then path = path .. "/model.npz" end
  local file <close> = array_file.open(path)
  local saved, make = architecture_of(file, path)
  if not model then
    if not saved then
      errors.fail(("ladies.load_model: %s does not say how its model is built; give the model to "
        .. "fill as the second argument, or take that of a run of ladies train by "
        .. "ladies.saved_run(FOLDER)"):format(path))
    end
    model = make_again(make, saved, P)
  end
  if saved and model.config then
    check_propagation(path, saved, propagation.options_of("ladies.load_model", model))
  end
  fill(model, file, path)
  return model
end

return model_file
