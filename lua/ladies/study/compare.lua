--- Methods side by side: the same network, split and seeds, and the same sample numbers, the same
-- number of nodes a batch, or the same time of training.

local core = require "ladies_core"
local batches = require "ladies.training.batches"
local experiment = require "ladies.experiment"
local finished_run = require "ladies.study.finished_run"
local hashes_of = require "ladies.data.hashes"
local json = require "ladies.base.json"
local markdown = require "ladies.report.markdown"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local plot = require "ladies.report.plot"
local provenance = require "ladies.report.provenance"
local statistics = require "ladies.report.statistics"
local Study = require "ladies.study"
local tables = require "ladies.base.tables"

local WHERE = "ladies.compare"

-- Whether what is to be compared is the folder of a finished run.
local function is_run(one)
  return type(one) == "string" and own_code.is_file(one) and not one:find "%.lua$"
    and not one:find "%.lua:%w*$"
end

-- What is compared, an array: {run = folder} for a finished run; {settings =, config =} for a
-- method, with those of the common settings that it takes. And the methods alone.
local function contestants(given, common)
  local list, trained = {}, {}
  for i, one in ipairs(given) do
    list[i] = is_run(one) and {run = one} or {parsed = own_code.method(WHERE, one)}
    if not list[i].run then trained[#trained + 1] = list[i] end
  end
  if #trained == 0 then return list, trained end
  local names = tables.map(trained, function(one) return one.parsed.method end)
  for i, shared in ipairs(methods.share(WHERE, names, common)) do
    local one = trained[i]
    one.settings = tables.merged(shared, one.parsed)
    one.config = experiment.configure(one.settings)
    one.settings.samples = one.config.samples
  end
  return list, trained
end

-- ---------------------------------------------------------------- equal nodes

local PROBES = 8   -- batches from which the nodes of a batch are estimated

-- The mean number of rows of a batch, of the input and of all layers.
local function rows_of(config, data, samples)
  -- What is drawn does not depend on the width, and the tables of histories do.
  local narrow = setmetatable({hidden = 1}, {__index = config})
  local model = config.method_code and experiment.model(narrow, data)
  local sampler = experiment.sampler(narrow, data, model, samples)
  local n, count = 0, 0
  for batch in batches.new(data.train, {size = experiment.batch_size(config, data),
    sampler = sampler, seed = config.seed, epochs = PROBES}) do
    batch.after_step = nil              -- there is no step
    n, count = n + #batch.input, count + 1
    for _, block in ipairs(batch.blocks) do n = n + #block.dst end
    if count == PROBES then break end
  end
  return n / count
end

-- The same of a record.
local function rows_of_record(record)
  return record.input_rows + record.hidden_rows
end

-- More samples than this change nothing: all nodes in a layer, or all neighbours of a node.
local function most_samples(config, data)
  local graph = data.graph
  return (methods.takes(config.method, "draw") or config.method_code) and graph.n_nodes
    or math.max(1, math.tointeger(graph:degrees():max()) + 1)
end

-- The number of samples with which a batch has the nearest to `rows` rows.
local function samples_for(config, data, rows)
  local low, high = 1, 1
  local limit = most_samples(config, data)
  while high < limit and rows_of(config, data, high) < rows do
    low, high = high, 2 * high
  end
  high = math.min(high, limit)
  while high - low > 1 do
    local middle = (low + high) // 2
    if rows_of(config, data, middle) < rows then low = middle else high = middle end
  end
  local below, above = rows_of(config, data, low), rows_of(config, data, high)
  return math.abs(below - rows) <= math.abs(above - rows) and low or high
end

-- Gives every method that samples the number of samples with which its batches are as large as
-- those of the first, which may be a finished run.
local function equalize_nodes(list, data)
  local first = list[1]
  local rows = first.run and rows_of_record(first.records[1])
    or rows_of(first.config, data, first.config.samples)
  for i = 2, #list do
    local one = list[i]
    if one.config and one.config.samples then
      one.settings.samples = samples_for(one.config, data, rows)
      one.config = experiment.configure(one.settings)
    end
  end
end

-- ---------------------------------------------------------------- what came out

-- The field of each record of one contestant.
local function column(records, field)
  local list = {}
  for _, record in ipairs(records) do list[#list + 1] = record[field] end
  return list
end

local MIB = 1 << 20

-- A row of the table from the records of one contestant.
local function row_of(one)
  local function text(field, scale, format)
    return statistics.text(column(one.records, field), scale, format)
  end
  return {
    one.title, text("test_f1", 100), text("val_f1", 100), text "seconds", text "batch_ms",
    text("batches", 1, "%.0f"), text("memory_paper", 1 / MIB), text("memory_batch", 1 / MIB),
    statistics.text(tables.map(one.records, rows_of_record), 1, "%.0f"),
  }
end

local HEAD = {"method", "test F1 %", "val F1 %", "training s", "batch ms", "batches", "memory MB",
  "held MB", "rows a batch"}

-- The mean validation F1 over the runs of a contestant, against batches (1) or seconds (2), as far
-- as all of its runs went.
local function mean_curve(records, x)
  local shortest = math.huge
  for _, record in ipairs(records) do shortest = math.min(shortest, #record.curve) end
  local points = {}
  for i = 1, shortest do
    local at, f1 = {}, {}
    for j, record in ipairs(records) do at[j], f1[j] = record.curve[i][x], record.curve[i][3] end
    points[i] = {statistics.mean(at), statistics.mean(f1)}
  end
  return points
end

-- Draws curves over batches and over seconds; returns the files' names.
local function draw(list, folder, dataset)
  local files = {}
  for x, name in ipairs{"batches", "seconds"} do
    local series = {}
    for _, one in ipairs(list) do
      local points = mean_curve(one.records, x)
      if #points > 1 then series[#series + 1] = {name = one.title, points = points} end
    end
    local file = name .. ".svg"
    if #series > 0 and plot.svg(folder:file(file), {title = dataset, series = series,
      x = x == 1 and "batch" or "seconds of training", y = "validation micro-F1, mean over runs"})
    then
      files[#files + 1] = file
    end
  end
  return files
end

-- ---------------------------------------------------------------- the comparison

local Comparison = {__name = "ladies.Comparison"}

function Comparison.__tostring(self)
  return self.table .. (self.note and "\n\n" .. self.note or "")
end

--- ladies.compare{methods = {"ladies:64", "graphsage:5", "full"}, runs = 3, equal = "samples",
-- settings = {dataset = "cora"}, out = DIR}: trains every method `runs` times, with the seeds seed,
-- seed + 1, ..., and returns a table with `rows`, `table` (the same as text), `files`, and a
-- `note` where runs were computed by different versions, vector units or kernels of BLAS.
-- methods    names of ladies.experiment.methods, each with its own samples behind a colon where
--            they are given; files of methods of one's own, "./mine.lua" or "./mine.lua:64";
--            {name =, sampler = function(P, data, model) -> sampler}; or the folder of a finished
--            run, written with a slash, of `ladies train` or of a script: it is shown as it is, and
--            must have had the same data set
-- equal      "samples": each method has the samples that it was given; "nodes":
--            those with which its batches have as many rows as the first method's (full batches and
--            Cluster-GCN, which draw no samples, stay as they are); "seconds": as for "samples",
--            and all train for `seconds` of their own time, without early stopping
-- settings   of ladies.experiment, the same for all methods that take them
-- out        a folder (runs/compare-DATASET-N): results.jsonl, table.md, the curves. A
--            comparison that is there goes on where it stopped, run by run. With another content
--            of the data set, or of its split, it is another comparison.
-- data       a data set of one's own instead of settings.dataset
-- quiet      no progress
local function compare(given)
  local opts = options.check(WHERE, given, {
    methods = "table", runs = {"positive integer", 3},
    equal = {"samples|nodes|seconds", "samples"}, seconds = "positive number or nil",
    settings = {"table", {}}, out = "string or nil", data = "any or nil",
    quiet = {"boolean", false},
  })
  if #opts.methods == 0 then options.fail(WHERE .. ": name at least one method") end
  if (opts.equal == "seconds") ~= (opts.seconds ~= nil) then
    options.fail(WHERE .. ': seconds go with equal = "seconds", and it needs them')
  end
  local common = tables.merged(opts.settings)
  if opts.seconds then common.max_seconds, common.patience = opts.seconds, 0 end
  local list, trained = contestants(opts.methods, common)
  local config = trained[1] and trained[1].config or experiment.configure(common)
  local data = opts.data or experiment.load(config)
  for _, one in ipairs(trained) do experiment.resolve(one.config, data) end
  for _, one in ipairs(list) do
    one.records = one.run and {finished_run(WHERE, one.run, data)} or {}
    one.title = one.run and ("%s (%s)"):format(one.records[1].method, one.run)
  end
  if opts.equal == "nodes" then equalize_nodes(list, data) end

  local identity = json.encode{methods = own_code.names(opts.methods), equal = opts.equal,
    settings = common, data = hashes_of(data)}
  local study = Study.at(opts.out, "runs/compare-" .. data.name, identity)
  local runs = {}
  for seed = config.seed, config.seed + opts.runs - 1 do
    for _, one in ipairs(trained) do
      one.title = select(2, methods.of(one.config))
      runs[#runs + 1] = {key = ("%s, seed %d"):format(one.title, seed), of = one,
        config = tables.merged(one.settings, {seed = seed})}
    end
  end
  study:run(runs, {quiet = opts.quiet, data = data})

  for _, run in ipairs(runs) do
    run.of.records[#run.of.records + 1] = study:record(run.key)
  end
  local rows, records = {HEAD}, {}
  for i, one in ipairs(list) do
    rows[i + 1] = row_of(one)
    table.move(one.records, 1, #one.records, #records + 1, records)
  end
  local result = setmetatable({rows = rows, table = markdown.table(rows),
    note = provenance.numerics(records), folder = study.folder.path}, Comparison)
  result.files = draw(list, study.folder, data.name)
  core.file.write(study.folder:file "table.md", tostring(result) .. "\n")
  table.insert(result.files, 1, "table.md")
  return result
end

return compare
