--- The library: everything of the C core (ladies_core) and the modules written in Lua, in one
-- table.

require "ladies.base.address_space"

local core = require "ladies_core"
local help = require "ladies.prompt.help"

local ladies = {}

-- A function of the core is public under its own name when its docstring says so; the others are
-- for the modules below.
for name, value in pairs(core) do
  local doc = core.docs[value]
  if name ~= "docs" and (not doc or doc:find("^ladies%." .. name .. "%f[^%w_]")) then
    ladies[name] = value
  end
end

ladies.home = require "ladies.base.home"
ladies.options = require "ladies.base.options"
ladies.data = require "ladies.data"
ladies.generate = require "ladies.data.generate"
ladies.graph = require "ladies.graph"
ladies.partition = require "ladies.graph.partition"
ladies.sampling = require "ladies.sampling"
ladies.samplers = require "ladies.samplers"
ladies.batches = require "ladies.training.batches".new
ladies.nn = require "ladies.nn"
ladies.optim = require "ladies.optim"
ladies.schedule = require "ladies.optim.schedule"
ladies.loss = require "ladies.nn.loss"
ladies.metrics = require "ladies.evaluation.metrics"
ladies.inference = require "ladies.evaluation.inference"
ladies.train = require "ladies.training.train"
ladies.presets = require "ladies.experiment.presets"
ladies.experiment = require "ladies.experiment"
ladies.compare = require "ladies.study.compare"
ladies.saved_run = require "ladies.experiment.saved_run".new
ladies.sweep = require "ladies.study.sweep"
ladies.plot = require "ladies.report.plot"
ladies.save_model = require "ladies.nn.model_file".save
ladies.load_model = require "ladies.nn.model_file".load
help.library = ladies
ladies.help, ladies.help_text = help.show, help.text

setmetatable(ladies, {__tostring = function() return "ladies " .. ladies.version end})
return ladies
