-- ladies evaluate: scores a finished run's model on any part of the split
--
--   ladies evaluate RUN [--split val] [--inference sampled --samples 64 --draws 10]
--   ladies evaluate RUN --dataset other.npz --model mine.lua
--   ladies evaluate RUN --smooth
--
-- RUN is the folder of a run, of `ladies train` or of a script (ladies.train{out = RUN}). Sampled
-- inference uses the run's own sampler. A model that is not one of ours comes from --model
-- FILE.lua, which returns function(settings, data) -> model, and a data set that a script had made
-- from --dataset.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local inference_options = require "ladies.command.inference_options"
local label_kinds = require "ladies.data.labels"

cli.main(cli.join({
  name = "ladies evaluate",
  usage = "ladies evaluate RUN [options]", words = {"run"},
  about = "Prints micro- and macro-F1 of the model of a finished run.",
  {"split", "PART", "train|val|test|labelled", default = "test", help = "the nodes to score"},
}, inference_options.list), arg, function(opts, given)
  if not opts.run then error("which run? ladies evaluate RUN", 0) end
  local how = inference_options.settings(opts, given)
  local run = inference_options.run(opts)
  local nodes, began = run:nodes(opts.split), core.clock()
  local logits = run:logits(nodes, how)
  local seconds = core.clock() - began
  local predicted = label_kinds.kind_of(run.data.labels).predict(logits)
  local labels = run.data.labels[nodes]
  print(("%s on %s, %s: %d nodes, %s inference%s in %.2f s"):format(core.printable(run.path),
    core.printable(run.data.name), opts.split, #nodes, opts.inference,
    opts.smooth and " and Correct and Smooth" or "", seconds))
  print(("%s micro-F1 %.4f"):format(opts.split, ladies.metrics.micro_f1(predicted, labels)))
  print(("%s macro-F1 %.4f"):format(opts.split,
    ladies.metrics.macro_f1(predicted, labels)))
end)
