-- ladies predict: the classes that a finished run's model predicts, as CSV or .npz
--
--   ladies predict RUN [--split all] [--out predictions.csv]
--   ladies predict RUN --out predictions.npz [--inference sampled --draws 10]
--
-- RUN is a run's folder. CSV has a line for each node: its id, counted from 0, its name where nodes
-- have names, the predicted class, its probability and the label (-1: none); where nodes may have
-- several classes, the predicted ones and the labels. An .npz file holds `nodes`, `predicted`,
-- `labels` and `probabilities`, a row for each node.

local ladies = require "ladies"
local cli = require "ladies.cli"
local inference_options = require "ladies.inference_options"
local predictions = require "ladies.predictions"
local SavedRun = require "ladies.saved_run"

local path = arg[1] and not arg[1]:find "^%-" and table.remove(arg, 1)

cli.main(cli.join({
  name = "ladies predict",
  usage = "ladies predict RUN [options]",
  about = "Writes what the model of a finished run predicts.",
  {"split", "PART", "train|val|test|labelled|all", default = "all", help = "the nodes"},
  {"out", "FILE", "string", help = "a file .csv or .npz (default: CSV on standard output)"},
}, inference_options), arg, function(opts)
  if not path then error("which run? ladies predict RUN", 0) end
  local kind = opts.out and (opts.out:match "%.(%a+)$" or "")
  if kind and kind ~= "csv" and kind ~= "npz" then
    error(("--out must end in .csv or .npz, got %s"):format(opts.out), 0)
  end
  local run = SavedRun.open(path, opts.dataset)
  local nodes = run:nodes(opts.split)
  local logits = run:logits(nodes, {how = opts.inference, samples = opts.samples,
    draws = opts.draws, seed = opts.seed})
  if kind == "npz" then
    predictions.write_npz(opts.out, run.data, nodes, logits)
  elseif kind == "csv" then
    ladies.file.write(opts.out, predictions.csv(run.data, nodes, logits))
  else
    io.write(predictions.csv(run.data, nodes, logits))
  end
end)
