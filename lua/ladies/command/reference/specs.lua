--- The specs by which functions in Lua check their options. There is no list of them: a function is
-- called, up to that check, with arguments of the kinds that its signature has.

local core = require "ladies_core"
local generate = require "ladies.data.generate"
local gcn = require "ladies.nn.gcn"
local options = require "ladies.base.options"
local samplers = require "ladies.samplers"

local specs = {}

local by_name, by_type, objects

-- What functions are called with: by the name of a parameter, or else by its type.
local function make_arguments()
  local data = generate.block_model{nodes = 20, classes = 2, features = 2, p_inside = 0.5,
    p_outside = 0.1}
  local P = data.graph:normalize "sym"
  by_name = {
    p = core.ones(2), inner = samplers.full(P, {layers = 1}), n = 20,
    how = "10/10/80", kind = "sym", name = "wordnet", sampler = "ladies",
  }
  by_type = {
    ["ladies.Dataset"] = data, ["ladies.Matrix"] = P, ["ladies.Index"] = data.train,
    ["ladies.Tensor"] = core.ones(20, 2), ["ladies.Tensor[]"] = {core.ones(1)},
    ["ladies.MiniBatch"] = {blocks = {}}, integer = 2, string = "",
    table = gcn.new{inputs = 2, outputs = 2, layers = 1}, ["function"] = function() end,
  }
  objects = {Dataset = data, Graph = data.graph, SavedRun = {}}
end

--- The spec of the function f, a method of the class of this name or of none, for the parameters
-- before its options, an array of {name =, type = as LuaLS has it}; nil for one of core, which has
-- none, and where the call fails before.
function specs.of(f, class_name, parameters)
  if core.docs[f] then return nil end
  if not by_name then make_arguments() end
  local arguments = class_name and {objects[class_name] or {}} or {}
  local n = #arguments
  for i, one in ipairs(parameters) do
    arguments[n + i] = by_name[one.name] or by_type[(one.type or ""):match "^[^|]*"]
  end
  return options.spec_of(f, table.unpack(arguments, 1, n + #parameters))
end

return specs
