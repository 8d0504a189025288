--- Studies: a list of training runs, kept in a folder run by run. A study that was killed goes on
-- where it stopped and loses the run in progress at most.
--
--   local study = Study.open("studies/cora", "cora, 10 runs")
--   study:run{{key = "ladies-1", config = {...}}, ...}
--   study:record "ladies-1"                            -- {key =, config =, test_f1 =, ...}
--
-- The folder holds study.json, what the study is, and results.jsonl, a line for each finished run:
-- the settings that were given, the numbers of ladies.summary and the validations (`curve`).

local core = require "ladies_core"
local cjson = require "cjson"
local experiment = require "ladies.experiment"
local json = require "ladies.json"
local options = require "ladies.options"
local progress = require "ladies.progress"
local run_folder = require "ladies.run_folder"

local Study = {__name = "ladies.Study"}
Study.__index = Study

-- The finished runs in the file by key. A last line that was cut off is no run, and is cut away.
local function read_results(path)
  local records = {}
  if core.exists(path) ~= "file" then return records end
  local whole = 0
  for line in core.file.read(path):gmatch "([^\n]*\n)" do
    local ok, record = pcall(cjson.decode, line)
    if not ok then
      options.fail(("ladies.study: %s: byte %d begins no JSON"):format(path, whole))
    end
    records[record.key], whole = record, whole + #line
  end
  core.truncate(path, whole)
  return records
end

--- The study in the folder `path`, a new one or the one that is there. identity: text that says
-- what the study is; a folder that holds another study is refused.
function Study.open(path, identity)
  local folder = run_folder.at(path)
  if folder:has "study.json" then
    local there = folder:read_json "study.json".study
    if there ~= identity then
      options.fail(("ladies.study: %s holds another study (%s); choose another folder"):format(
        path, there))
    end
  else
    folder:write_json("study.json", {study = identity})
  end
  local results = folder:file "results.jsonl"
  return setmetatable({folder = folder, records = read_results(results), results = results}, Study)
end

--- The study of this identity in the first folder base-1, base-2, ... that holds it or is free.
function Study.find(base, identity)
  local n = 1
  while true do
    local path = ("%s-%d"):format(base, n)
    local there = path .. "/study.json"
    if core.exists(there) ~= "file"
      or json.decode(core.file.read(there), there).study == identity then
      return Study.open(path, identity)
    end
    n = n + 1
  end
end

--- The record of a finished run, or nil.
function Study:record(key)
  return self.records[key]
end

--- Keeps a finished record, plain data with a `key`: appends it to the file in one write.
function Study:add(record)
  local file = assert(io.open(self.results, "a"))
  file:setvbuf("full", 1 << 20)
  local ok, reason = file:write(json.encode(record), "\n")
  if ok then ok, reason = file:close() end
  if not ok then options.fail(("ladies.study: %s: %s"):format(self.results, reason)) end
  self.records[record.key] = record
end

-- Trains one run; returns its record.
local function train(run, data)
  local config, curve = experiment.configure(run.config), {}
  experiment.settle(config, data)
  local result = experiment.run(config, data, {
    quiet = true,
    on_validation = function(at)
      curve[#curve + 1] = {at.batch, at.seconds, at.val_f1}
    end,
  })
  local record = {key = run.key, config = run.config, curve = curve}
  for name, value in pairs(result) do record[name] = value end
  return record
end

--- Trains those of `runs`, {key =, config =} with settings of ladies.experiment, that are not
-- finished yet, one after the other. opts: quiet, whether to show no progress; data, a data set for
-- all of them (by default each run's config.dataset is loaded).
function Study:run(runs, opts)
  local waiting = {}
  for _, run in ipairs(runs) do
    if not self.records[run.key] then waiting[#waiting + 1] = run end
  end
  if #waiting == 0 then return end
  local bar = progress.new{
    total = #runs, done = #runs - #waiting, unit = "run", quiet = opts.quiet,
  }
  local data, name = opts.data, nil
  for i, run in ipairs(waiting) do
    if not opts.data and run.config.dataset ~= name then
      name = run.config.dataset
      data = experiment.load(experiment.configure(run.config))
    end
    self:add(train(run, data))
    bar:update(#runs - #waiting + i, core.clock())
  end
  bar:clear()
end

return Study
