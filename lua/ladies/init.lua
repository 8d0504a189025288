--- The library: everything of the C core (ladies_core) and the modules written in Lua, in one
-- table. A module is loaded when it is first looked up.

require "ladies.base.address_space"

local core = require "ladies_core"
local core_classes = require "ladies.base.core_classes"
local fields = require "ladies.base.fields"
local launch = require "ladies.base.launch"

if launch.size() > 1 then require "ladies.ranks.link" end  -- before anything is computed or said

local ladies = {}

-- The name of a member -> the module that it is, or a module and the field of it that it is.
local MODULES = {
  home = {"ladies.base.home"},
  errors = {"ladies.base.errors"},
  options = {"ladies.base.options"},
  data = {"ladies.data"},
  generate = {"ladies.data.generate"},
  graph = {"ladies.graph"},
  partition = {"ladies.graph.partition"},
  eigenvectors = {"ladies.graph.eigenvectors", "of"},
  sampling = {"ladies.sampling"},
  samplers = {"ladies.samplers"},
  batches = {"ladies.training.batches", "new"},
  nn = {"ladies.nn"},
  optim = {"ladies.optim"},
  schedule = {"ladies.optim.schedule"},
  comm = {"ladies.ranks.comm"},
  loss = {"ladies.nn.loss"},
  gradcheck = {"ladies.nn.gradcheck", "check"},
  metrics = {"ladies.evaluation.metrics"},
  links = {"ladies.links"},
  inference = {"ladies.evaluation.inference"},
  projection = {"ladies.evaluation.projection"},
  smoothing = {"ladies.evaluation.smoothing"},
  task = {"ladies.task"},
  train = {"ladies.experiment.train"},
  early_stopping = {"ladies.training.loop.early_stopping", "new"},
  checkpoint = {"ladies.training.checkpoint"},
  log = {"ladies.training.record.log", "open"},
  timer = {"ladies.training.cost.timer", "new"},
  progress = {"ladies.base.progress", "new"},
  run_folder = {"ladies.training.record.run_folder", "take"},
  summary = {"ladies.training.record.summary", "new"},
  presets = {"ladies.experiment.presets"},
  experiment = {"ladies.experiment"},
  auto = {"ladies.study.auto"},
  compare = {"ladies.study.compare"},
  depth = {"ladies.study.depth"},
  reload = {"ladies.experiment.own_code", "reload"},
  lab = {"ladies.lab"},
  saved_run = {"ladies.experiment.saved_run", "new"},
  sweep = {"ladies.study.sweep"},
  plot = {"ladies.report.plot"},
  save_model = {"ladies.nn.model_file", "save"},
  load_model = {"ladies.nn.model_file", "load"},
  show = {"ladies.show", "text"},
  help = {"ladies.prompt.help", "show"},
  help_text = {"ladies.prompt.help", "text"},
}

-- Puts a member into the library. Reading a field that a module does not have is then an error.
local function add(name, value)
  if type(value) == "table" and not getmetatable(value) then
    fields.of_module("ladies." .. name, value)
  end
  ladies[name] = value
  return value
end

-- A function of the core is public under its own name when its docstring says so; the others are
-- for the modules.
for name, value in pairs(core) do
  local doc = core.docs[value]
  if name ~= "docs" and not MODULES[name]
    and (not doc or doc:find("^ladies%." .. name .. "%f[^%w_]")) then
    add(name, value)
  end
end

-- The module that shows these values is loaded when the first of them is shown, and then takes the
-- place of this function.
local classes = core_classes()
for _, name in ipairs{"Tensor", "Index", "Matrix"} do
  classes[name].__show = classes[name].__show
    or function(value, width) return ladies.show(value, width) end
end

fields.of_module("ladies", ladies, MODULES, function(name)
  local module, field = table.unpack(MODULES[name])
  local value = require(module)
  return add(name, field and value[field] or value)
end)
getmetatable(ladies).__tostring = function() return "ladies " .. ladies.version end

return ladies
