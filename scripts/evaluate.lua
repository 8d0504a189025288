-- ladies evaluate: scores a finished run's model on any part of the split
--
--   ladies evaluate RUN [--split val] [--inference sampled --samples 64 --draws 10]
--   ladies evaluate RUN --dataset other.npz --model mine.lua
--   ladies evaluate RUN --smooth
--
-- RUN is the folder of a run, of `ladies train` or of a script (ladies.train{out = RUN}). Sampled
-- inference uses the run's own sampler. A model that is not one of ours comes from --model
-- FILE.lua, which returns function(settings, data) -> model, and a data set that a script had made
-- from --dataset. Several ranks, which mpirun starts, share the inference; the numbers are the
-- same.

local core = require "ladies_core"
local cli = require "ladies.command.cli"
local inference_options = require "ladies.command.inference_options"
local metric_text = require "ladies.task.metric_text"

cli.main(cli.join({
  name = "ladies evaluate",
  usage = "ladies evaluate RUN [options]", words = {"run"}, ranks = true,
  about = [[Prints how good the model of a finished run is: the metrics of its task, such as micro-
    and macro-F1, and those of a blind guess.]],
  {"split", "PART", "train|val|test|labelled", default = "test",
    help = "the nodes, edges or graphs to score"},
}, inference_options.list), arg, function(opts, given)
  if not opts.run then error("which run? ladies evaluate RUN", 0) end
  local how = inference_options.settings(opts, given)
  local run = inference_options.run(opts)
  local task = run.task
  local units, began = run:units(opts.split), core.clock()
  local found, seconds
  inference_options.within(opts, function()
    local out = inference_options.scores(run, units, how)
    seconds = core.clock() - began
    found = task:values(task.predict(out, units), out, units)
  end)
  print(("%s on %s, %s: %d %ss, %s inference%s in %.2f s"):format(core.printable(run.path),
    core.printable(run.data.name), opts.split, #units, task.unit, opts.inference,
    opts.smooth and " and Correct and Smooth" or "", seconds))
  for _, metric in ipairs(task.metrics) do
    print(("%s %s %.4f"):format(opts.split, core.printable(metric.name), found[metric.name]))
  end
  local guess = metric_text.blind(task, units)
  if guess then print("blind " .. core.printable(guess)) end
end)
