-- ladies predict: what a finished run's model predicts, classes or numbers, as CSV or .npz
--
--   ladies predict RUN [--split test] [--out predictions.csv]
--   ladies predict RUN --out predictions.npz [--inference sampled --draws 10]
--   ladies predict RUN --top 10 [--out links.csv]
--
-- RUN is a run's folder, as for `ladies evaluate`; neither its own files nor the data set's are
-- written over. CSV has a line for each node: its id, counted from 0, its name where nodes have
-- names, the predicted class, its probability, the label (-1: none) and the part of the split;
-- behind a class stands its name where classes have names. Where nodes may have several classes,
-- these are the predicted ones and the labels. An .npz file holds `nodes`, `predicted`, `labels`,
-- `probabilities` and `split`, a row for each node, and `split_names` and `class_names`. Of other
-- tasks, such as regression, both have what the task gives. --top, of link prediction, has for each
-- node the pairs without an edge that have the highest scores, a line each. Several ranks, which
-- mpirun starts, share the inference, and the first one writes the file that one process alone
-- would write. What exact inference and the predictions have beyond --memory lies in temporary
-- files.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local inference_options = require "ladies.command.inference_options"
local link = require "ladies.ranks.link"
local predictions = require "ladies.evaluation.predictions"
local tables = require "ladies.base.tables"
local top_links = require "ladies.command.top_links"

-- Writes the predictions for some units, `out`, to the file opts.out of this kind, or as CSV to
-- standard output where there is none; returns what is in the file, or nil.
local function write(opts, kind, task, units, out)
  if kind == "npz" then
    local arrays = predictions.arrays(task, units, out, true)
    ladies.npz.write(opts.out, arrays)
    local names = table.concat(tables.sorted_keys(arrays), ", ")
    return ("%s of %d %ss"):format(names, #units, task.unit)
  elseif not kind then
    predictions.write_csv(task, units, out, function(text) print((text:gsub("\n$", ""))) end)
    return nil
  end
  local file <close> = ladies.file.writer(opts.out)
  local columns = predictions.write_csv(task, units, out, function(text) file:add(text) end)
  file:commit()
  return ("%d %ss, a line each: %s"):format(#units, task.unit, (columns:gsub(",", ", ")))
end

cli.main(cli.join({
  name = "ladies predict",
  usage = "ladies predict RUN [options]", words = {"run"}, ranks = true,
  about = "Writes what the model of a finished run predicts.",
  {"split", "PART", "train|val|test|labelled|all",
    help = "the nodes, edges or graphs (default all, or test where a task has no list of all)"},
  {"top", "K", "positive integer", help = "of link prediction, the K best pairs of each node that "
    .. "have no edge yet, instead of scores of edges"},
  {"out", "FILE", "string", help = "a file .csv or .npz (default: CSV on standard output)"},
}, inference_options.list), arg, function(opts, given)
  if not opts.run then error("which run? ladies predict RUN", 0) end
  local kind = opts.out and (opts.out:match "%.(%a+)$" or "")
  if kind and kind ~= "csv" and kind ~= "npz" then
    error(("--out must end in .csv or .npz, got %s"):format(opts.out), 0)
  end
  local how = inference_options.settings(opts, given)
  local run = inference_options.run(opts)
  if opts.out then inference_options.check_out(opts.out, run) end
  if opts.top then
    if opts.split then error("--top is of all nodes; leave --split out", 0) end
    return inference_options.within(opts, function(memory)
      top_links(run, opts.top, how, opts.out, memory)
    end)
  end
  local units = run:units(opts.split or run.task.all and "all" or "test")
  inference_options.within(opts, function()
    local out = inference_options.scores(run, units, how)
    if link.rank > 0 then return end
    local written = write(opts, kind, run.task, units, out)
    if written then print(("%s: %s"):format(opts.out, written)) end
  end)
end)
