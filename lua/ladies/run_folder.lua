--- The folder of a run:
--
--   ladies.json       says that it is one (see ladies.own_folder)
--   config.json       the settings, where the run has such (see ladies.experiment)
--   log.jsonl         a line for every batch and every validation (see ladies.log)
--   checkpoint.npz    where the run stands (see ladies.checkpoint)
--   model.npz         the best model (see ladies.load_model)
--   predictions.npz   the predicted class and the label of every node, from 0, and its split
--   curve.tsv, .svg   loss and validation F1 over the batches (see ladies.curve)
--   summary.json      the numbers of the closing table

local core = require "ladies_core"
local options = require "ladies.options"
local own_folder = require "ladies.own_folder"

local run_folder = {}

--- The name of a data set as part of a path, a heading or a key: "x/pubmed.npz" -> "pubmed". What a
-- shell, Markdown or a terminal might take for more than a letter is "_".
function run_folder.plain(name)
  local last = name:gsub("/+$", ""):match "[^/]*$":gsub("%.npz$", "")
  return (core.printable(last):gsub("[^%w%.,_+ \x80-\xff-]", "_"))
end

--- A new, empty folder runs/DATASET-METHOD-N with the first N that is free: its path, and a <close>
-- variable with which it goes again when it is still empty then, and runs with it if it was made.
function run_folder.next(dataset, method)
  local first = not core.exists "runs"
  core.folder.make "runs"
  local base, n = ("runs/%s-%s"):format(run_folder.plain(dataset), method), 1
  while not core.mkdir(("%s-%d"):format(base, n)) do n = n + 1 end
  local path = ("%s-%d"):format(base, n)
  return path, setmetatable({}, {__close = function()
    os.remove(path)
    if first then os.remove "runs" end
  end})
end

--- The folder at `path`, for a new run or, with `resume`, for the one that is there. A new one does
-- not take the place of a run that has come to a checkpoint: that is an error.
function run_folder.at(path, resume)
  local folder = own_folder.at(path)
  folder:check "run"
  if not resume and (folder:has "checkpoint.npz" or folder:has "model.npz") then
    options.fail(("%s holds a run: go on with it (--resume %s, or resume = true), or choose "
      .. "another folder"):format(path, path))
  end
  return folder
end

--- The same, taken for this process alone: the folder, and its lock for a <close> variable.
function run_folder.take(path, resume)
  local folder = run_folder.at(path, resume)
  local lock = folder:take "run"
  return run_folder.at(path, resume), lock
end

return run_folder
