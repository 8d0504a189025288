--- Trains one run of a study from its settings, and makes its record, which is plain data.

local core = require "ladies_core"
local complete = require "ladies.data.complete"
local experiment = require "ladies.experiment"
local hashes = require "ladies.data.hashes"
local json = require "ladies.base.json"
local machine = require "ladies.base.machine"
local metrics = require "ladies.evaluation.metrics"
local tables = require "ladies.base.tables"

local one_run = {}

--- Loads the data set that the settings of a run name.
function one_run.load(config)
  return experiment.load(experiment.configure(config))
end

--- Returns a text that is the same for two runs whose settings name the same data set, read in the
-- same way.
function one_run.source(config)
  return json.encode(tables.merged(complete.options_of(config), {dataset = config.dataset,
    shuffle = config.shuffle, features = config.features}))
end

-- Returns the micro-F1 on each part of the split, from the predictions of the validation if these
-- came from exact inference, and otherwise from a new exact inference.
local function trace_of(at, data)
  local predicted = at.predicted or metrics.predictions(at.model, data)
  local point = {batch = at.batch, seconds = at.seconds}
  for _, part in ipairs{"train", "val", "test"} do
    point[part] = data[part] and metrics.micro_f1(predicted, data.labels, data[part])
  end
  return point
end

--- Trains run.config, settings of ladies.experiment, and returns the record:
-- key, config     those of the run
-- curve           {batch, seconds of training, validation F1} for every validation
-- trace           with run.trace: {batch =, seconds =, train =, val =, test =} at every validation,
--                 micro-F1s of exact inference on the parts of the split. They change nothing of
--                 the training, and no time that is measured but `wall`.
-- machine, jobs   where it ran, and how many runs were going on at the same time
-- threads         of the parallel loops
-- wall            seconds from here to the end, with loading, validation and test
-- data            hashes of the data set (see ladies.data.hashes)
-- notes           of the data set (see ladies.data.notes), nil where there are none
-- and everything of ladies.training.record.summary. opts: data, a data set instead of
-- config.dataset; jobs (1); tick, called at every validation.
function one_run.train(run, opts)
  local began, curve = core.clock(), {}
  local trace = run.trace and {} or nil
  local config = experiment.configure(run.config)
  local data = opts.data or one_run.load(run.config)
  experiment.resolve(config, data)
  local result = experiment.run(config, data, {
    quiet = true,
    on_validation = function(at)
      curve[#curve + 1] = {at.batch, at.seconds, at.value}
      if trace then trace[#trace + 1] = trace_of(at, data) end
      if opts.tick then opts.tick() end
    end,
  })
  if result.stopped == "interrupted" then error(core.interruption "interrupted!", 0) end
  result.history = nil     -- the curve has it
  local notes = data.notes and data.notes[1] and data.notes or nil
  return tables.merged({key = run.key, config = run.config, curve = curve, trace = trace,
    notes = notes, data = hashes.of(data), machine = machine.text(), jobs = opts.jobs or 1,
    threads = core.threads(), wall = core.clock() - began}, result)
end

return one_run
