--- Manages the folder of a run, which has these files:
--
--   ladies.json       says that it is one (see ladies.base.own_folder)
--   config.json       the settings, where the run has such (see ladies.experiment); paths in it are
--                     from the root
--   log.jsonl         a line for every batch and every validation (see ladies.training.record.log)
--   checkpoint.npz    where the run stands (see ladies.training.checkpoint)
--   model.npz         the best model (see ladies.load_model)
--   predictions.npz   the predicted class and the label of every node, from 0, its part of the
--                     split, and the names of parts and classes
--   curve.tsv, .svg   loss and validation F1 over the batches (see ladies.training.record.curve)
--   summary.json      the numbers of the closing table
--   view.html         all of it as a page, where `ladies view` has made it

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local errors = require "ladies.base.errors"
local own_folder = require "ladies.base.own_folder"
local tell = require "ladies.base.tell"

local run_folder = {}

local FILES = {"ladies.json", "config.json", "log.jsonl", "checkpoint.npz", "model.npz",
  "predictions.npz", "curve.tsv", "curve.svg", "summary.json", "view.html"}

--- Returns the name of the file in the run's folder `path` to which the path `file` leads, or nil.
function run_folder.owns(path, file)
  for _, name in ipairs(FILES) do
    if core.same_file(path .. "/" .. name, file) then return name end
  end
end

--- Converts the name of a data set to one for a path, a heading or a key: "x/pubmed.npz" becomes
-- "pubmed". Characters that a shell, Markdown or a terminal might take for more than a letter
-- become "_".
function run_folder.plain(name)
  local last = array_file.base_name((name:gsub("/+$", "")))
  return (core.printable(last):gsub("[^%w%.,_+ \x80-\xff-]", "_"))
end

--- Makes a new, empty folder runs/DATASET-METHOD-N with the first N that is free. Returns its path,
-- and a <close> variable that removes it when it is still empty then, and runs with it if it was
-- made.
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

--- Returns the folder at `path`, for a new run or, with `resume`, for the one that is there. A new
-- one does not take the place of a run that has come to a checkpoint: that is an error.
function run_folder.at(path, resume)
  local folder = own_folder.at(path)
  folder:check "run"
  if not resume and (folder:has "checkpoint.npz" or folder:has "model.npz") then
    errors.fail(("%s holds a run: go on with it (--resume %s, or resume = true), or choose "
      .. "another folder"):format(path, path))
  end
  return folder
end

--- Tells whether a run of `ladies train` has begun in the folder at `path`, or another one has come
-- to a checkpoint there.
function run_folder.has_begun(path)
  local folder = own_folder.at(path)
  return folder:has "config.json" or folder:has "checkpoint.npz"
end

-- Returns how many batches there are in the log.
local function logged(path)
  local last = 0
  if core.exists(path) ~= "file" then return last end
  for line in io.lines(path) do
    last = math.tointeger(tonumber(line:match '^{"batch":(%d+),.*}$')) or last
  end
  return last
end

-- Renames the existing log of a run that begins anew because it has no checkpoint.
local function keep_log(folder)
  local path, n = folder:file "log.jsonl", 1
  if folder:has "checkpoint.npz" then return end
  local count = logged(path)
  if count == 0 then return end
  if folder:has "model.npz" then
    errors.fail(("%s has a log of %d batches and model.npz, and no checkpoint.npz to go on from; "
      .. "choose a new folder"):format(folder, count))
  end
  while core.exists(folder:file(("log-%d.jsonl"):format(n))) do n = n + 1 end
  local name = ("log-%d.jsonl"):format(n)
  local ok, reason = os.rename(path, folder:file(name))
  if not ok then errors.fail(reason) end
  tell("ladies.train: %s has a log of %d batches and no checkpoint.npz: the run begins anew, and "
    .. "that log is kept as %s", folder, count, name)
end

-- The files that a run writes before its first batch.
local BEFORE = {"log.jsonl", "config.json", "ladies.json"}

-- Returns the folders on the way to `path` that do not exist, the deepest first.
local function missing_on_the_way(path)
  local missing = {}
  local part = path:gsub("(.)/+$", "%1")
  while part and not core.exists(part) do
    missing[#missing + 1] = part
    part = part:match "^(.*[^/])/+[^/]+$"
  end
  return missing
end

-- Returns the lock as a <close> variable. Where it goes with an error and no batch was trained, it
-- leaves nothing behind. made: the folders that were made.
local function undoing(folder, lock, made)
  local function is_begun()
    return folder:has "checkpoint.npz" or folder:has "summary.json"
      or logged(folder:file "log.jsonl") > 0
  end
  return setmetatable({}, {__close = function(_, failure)
    local is_undone
    do
      local _ <close> = lock
      is_undone = failure ~= nil and not is_begun()
      for _, name in ipairs(is_undone and BEFORE or {}) do os.remove(folder:file(name)) end
    end
    for _, path in ipairs(is_undone and made or {}) do os.remove(path) end     -- if it is empty
  end})
end

--- ladies.run_folder(path [, resume: boolean]) -> table, Lock | table: the folder of a run, taken
-- for this process alone until the lock, a <close> variable, goes. It is new or empty, or, with
-- `resume`, that of the run that is there: neither the files of others nor a run are written over.
-- folder:file(name) is the path of a file in it, folder:has(name) whether it is there,
-- folder:write_json(name, value) writes one. Those of ladies.train are config.json (its settings,
-- where it has such), log.jsonl, checkpoint.npz, model.npz (the best model), predictions.npz,
-- curve.tsv, curve.svg and summary.json. Where the lock goes with an error before a batch was
-- logged or a checkpoint written, what was made here goes as well: the files of a folder that was
-- new or empty, and the folder where there was none.
function run_folder.take(path, resume)
  local folder = run_folder.at(path, resume)
  local made, is_new = missing_on_the_way(path), #core.files(path) == 0
  local lock = folder:take "run"
  folder = run_folder.at(path, resume)
  for _, name in ipairs(FILES) do folder:has(name) end      -- sooner than anything is trained
  keep_log(folder)
  return folder, is_new and undoing(folder, lock, made) or lock
end

return run_folder
