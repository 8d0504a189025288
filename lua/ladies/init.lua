--- The library: everything of the C core (ladies_core) and the modules written in Lua, in one
-- table.

require "ladies.address_space"

local core = require "ladies_core"

local ladies = {}

-- A function of the core is public under its own name when its docstring says so; the others are
-- for the modules below.
for name, value in pairs(core) do
  local doc = core.docs[value]
  if name ~= "docs" and (not doc or doc:find("^ladies%." .. name .. "%f[^%w_]")) then
    ladies[name] = value
  end
end

--- The folder of the program's own data: datasets/ and scripts/ are in it.
function ladies.home()
  local source = debug.getinfo(1, "S").source
  local prefix = source:match "^@(.*)/share/lua/5%.4/ladies/init%.lua$"
  if prefix then return prefix .. "/share/ladies" end
  return source:match "^@(.*)/lua/ladies/init%.lua$" or "."
end

-- Some of these modules need the library's table themselves.
package.loaded["ladies"] = ladies

ladies.options = require "ladies.options"
ladies.data = require "ladies.data"
ladies.generate = require "ladies.generate"
ladies.graph = require "ladies.graph"
ladies.partition = require "ladies.partition"
ladies.sampling = require "ladies.sampling"
ladies.samplers = require "ladies.samplers"
ladies.batches = require "ladies.batches".new
ladies.nn = require "ladies.nn"
ladies.optim = require "ladies.optim"
ladies.schedule = require "ladies.schedule"
ladies.loss = require "ladies.loss"
ladies.metrics = require "ladies.metrics"
ladies.inference = require "ladies.inference"
ladies.train = require "ladies.train"
ladies.presets = require "ladies.presets"
ladies.experiment = require "ladies.experiment"
ladies.compare = require "ladies.compare"
ladies.sweep = require "ladies.sweep"
ladies.table3 = require "ladies.paper.table3"
ladies.ablate = require "ladies.paper.ablate"
ladies.figures = require "ladies.paper.figures"
ladies.report = require "ladies.paper.report"
ladies.reproduce = require "ladies.paper.reproduce"
ladies.variance = require "ladies.paper.variance"
ladies.costs = require "ladies.paper.costs"
ladies.plot = require "ladies.plot"
ladies.save_model = require "ladies.model_file".save
ladies.load_model = require "ladies.model_file".load
ladies.help = require "ladies.help".show
ladies.help_text = require "ladies.help".text

setmetatable(ladies, {__tostring = function() return "ladies " .. ladies.version end})
return ladies
