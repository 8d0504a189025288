--- Trained models in files: parameters by name (parameter.NAME) and the architecture, the options
-- of the constructor as JSON text, in one .npz.

local core = require "ladies_core"
local checkpoint = require "ladies.checkpoint"
local json = require "ladies.json"
local module = require "ladies.nn.module"
local nn = require "ladies.nn"
local options = require "ladies.options"
local propagation = require "ladies.propagation"

local model_file = {}

-- Constructors that a file may name; their options are plain data, kept in model.config.
local KINDS = {gcn = nn.gcn}

local function kind_of(model)
  local class = options.class_of(model)
  local kind = class and class:lower()
  return KINDS[kind] and model.config and kind
end

--- ladies.save_model(model, path): writes the parameters of a model, and how it is built when it is
-- one of ours (nn.gcn). The file appears whole or not at all.
function model_file.save(model, path)
  local arrays, kind = {}, kind_of(model)
  checkpoint.put(arrays, "parameter.", module.named_parameters(model))
  if kind then arrays.architecture = json.encode({kind = kind, options = model.config}, "  ") end
  core.npz.write(path, arrays, {compress = false})
end

-- The options by which a model was made that is in a file, or nil.
local function architecture_of(file, path)
  if not file:has "architecture" then return nil end
  local architecture = json.decode(file:text "architecture", path .. ": architecture")
  local make = type(architecture) == "table" and KINDS[architecture.kind]
  if not make then options.fail(("ladies.load_model: %s is of an unknown kind"):format(path)) end
  return architecture.options, make
end

-- Fails when the model `made` is for another P than that of the file.
local function check_propagation(path, saved, made)
  for _, name in ipairs{"P", "normalize", "lambda"} do
    if saved[name] ~= made[name] then
      options.fail(("ladies.load_model: the model in %s is for %s, not %s"):format(path,
        propagation.describe(saved), propagation.describe(made)))
    end
  end
end

--- ladies.load_model(path [, model or P]): the model of a file, or of a run's folder (its
-- model.npz). With `model`, a model of the user's own making, its parameters are filled from the
-- file. A model for a P of its own is given that Matrix, which must be the one that it was made
-- with.
function model_file.load(path, given)
  options.value("ladies.load_model", "the path", path, "string")
  local P = options.class_of(given) == "Matrix" and given or nil
  local model = not P and given or nil
  if core.exists(path) == "folder" then path = path .. "/model.npz" end
  local file <close> = core.npz.open(path)
  local saved, make = architecture_of(file, path)
  if not model then
    if not saved then
      options.fail(("ladies.load_model: %s does not say how its model is built; give the model to "
        .. "fill as the second argument"):format(path))
    end
    local with = {}
    for name, value in pairs(saved) do with[name] = value end
    if P then with.P, with.normalize, with.lambda = P, nil, nil end
    model = make(with)
  end
  if saved and model.config then check_propagation(path, saved, model.config) end
  checkpoint.get(file, "ladies.load_model: " .. path, "parameter.", module.named_parameters(model))
  return model
end

return model_file
