--- Trained models in files: parameters by name (parameter.NAME) and the architecture, the options
-- of the constructor as JSON text, in one .npz.

local core = require "ladies_core"
local checkpoint = require "ladies.checkpoint"
local json = require "ladies.json"
local module = require "ladies.nn.module"
local nn = require "ladies.nn"
local options = require "ladies.options"

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

--- ladies.load_model(path [, model]): the model of a file, or of a run's folder (its model.npz).
-- With `model`, a model of the user's own making, its parameters are filled from the file.
function model_file.load(path, model)
  options.value("ladies.load_model", "the path", path, "string")
  if core.exists(path) == "folder" then path = path .. "/model.npz" end
  local file <close> = core.npz.open(path)
  if not model then
    if not file:has "architecture" then
      options.fail(("ladies.load_model: %s does not say how its model is built; give the model to "
        .. "fill as the second argument"):format(path))
    end
    local architecture = json.decode(file:text "architecture", path .. ": architecture")
    local make = type(architecture) == "table" and KINDS[architecture.kind]
    if not make then options.fail(("ladies.load_model: %s is of an unknown kind"):format(path)) end
    model = make(architecture.options)
  end
  checkpoint.get(file, "ladies.load_model: " .. path, "parameter.", module.named_parameters(model))
  return model
end

return model_file
