--- The folder of a run:
--
--   config.json       the effective configuration
--   log.jsonl         a line for every batch and every validation (see ladies.log)
--   checkpoint.npz    where the run stands (see ladies.checkpoint)
--   model.npz         the best model (see ladies.load_model)
--   predictions.npz   the predicted class and the label of every node, from 0, and its split
--   curve.tsv, .svg   loss and validation F1 over the batches (see ladies.curve)
--   summary.json      the numbers of the closing table

local core = require "ladies_core"
local json = require "ladies.json"

local run_folder = {}

local Folder = {__name = "RunFolder"}
Folder.__index = Folder

local function make(path)
  local parent = path:match "^(.+)/[^/]+/*$"
  if parent and not core.exists(parent) then make(parent) end
  core.mkdir(path)
end

--- The name of a data set as part of a path: "x/pubmed.npz" -> "pubmed".
function run_folder.plain(name)
  return (name:gsub("/+$", ""):match "[^/]*$":gsub("%.npz$", ""))
end

--- The folder at `path`, made with its parents where it is not there.
function run_folder.at(path)
  make(path)
  return setmetatable({path = path}, Folder)
end

--- A new folder runs/DATASET-METHOD-N with the first N that is free.
function run_folder.next(dataset, method)
  local base, n = ("runs/%s-%s"):format(run_folder.plain(dataset), method), 1
  while core.exists(("%s-%d"):format(base, n)) do n = n + 1 end
  return run_folder.at(("%s-%d"):format(base, n))
end

--- The path of a file in it.
function Folder:file(name)
  return self.path .. "/" .. name
end

--- Whether a file of that name is there.
function Folder:has(name)
  return core.exists(self:file(name)) == "file"
end

--- Writes plain data as indented JSON; the file appears whole or not at all.
function Folder:write_json(name, value)
  core.file.write(self:file(name), json.encode(value, "  ") .. "\n")
end

--- The data of a JSON file; an error names the file when it is missing or not JSON.
function Folder:read_json(name)
  return json.decode(core.file.read(self:file(name)), self:file(name))
end

function Folder:__tostring()
  return self.path
end

return run_folder
