--- Finds the specs by which functions in Lua check their options (see ladies.base.options), by
-- calling the function, up to that check, with arguments of the types in its signature.

local core = require "ladies_core"
local generate = require "ladies.data.generate"
local gcn = require "ladies.nn.gcn"
local links = require "ladies.links"
local options = require "ladies.base.options"
local samplers = require "ladies.samplers"

local specs = {}

local by_name, by_type, objects

-- Makes the arguments for these calls, by the name of a parameter or else by its type.
local function make_arguments()
  local data = generate.block_model{nodes = 20, classes = 2, features = 2, p_inside = 0.5,
    p_outside = 0.1}
  local P = data.graph:normalize "sym"
  by_name = {
    p = core.ones(2), inner = samplers.full(P, {layers = 1}), n = 20,
    how = "10/10/80", kind = "sym", name = "wordnet", sampler = "ladies",
  }
  local edges = links.split(data.graph)
  by_type = {
    ["ladies.Graph"] = data.graph, ["ladies.Edges"] = edges,
    ["ladies.Dataset"] = data, ["ladies.Matrix"] = P, ["ladies.Index"] = data.train,
    ["ladies.Tensor"] = core.ones(20, 2), ["ladies.Tensor[]"] = {core.ones(1)},
    ["ladies.MiniBatch"] = {blocks = {}}, integer = 2, string = "",
    table = gcn.new{inputs = 2, outputs = 2, layers = 1}, ["function"] = function() end,
  }
  objects = {Dataset = data, Edges = edges, Graph = data.graph, SavedRun = {}}
end

--- Returns the spec of a function f; class_name is its class if it is a method, `parameters` are
-- those before its options, an array of {name =, type = as LuaLS has it}. Returns nil for functions
-- of the core, which have no spec, and where the call fails before the check.
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
