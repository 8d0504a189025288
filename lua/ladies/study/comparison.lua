--- What came of a comparison of methods (study/compare.lua): the table of their results, which has
-- every setting in which they differ, the curves, and the notes that explain the numbers.
--
-- A contestant, an entry of `list`, is {title =, records =, said = what comparison.said gives, run
-- = the folder of a finished run or nil}; `shown` is the metric that is compared (see
-- ladies.task.metric_text).

local declared = require "ladies.training.declared"
local kinds = require "ladies.experiment.kinds"
local metric_text = require "ladies.task.metric_text"
local optimizers = require "ladies.experiment.optimizers"
local settings = require "ladies.experiment.settings"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local tasks = require "ladies.experiment.tasks"
local units = require "ladies.base.units"

local comparison = {}

-- Returns the mean number of rows of a run's mini-batches, of the input and all layers together.
local function rows_of(record) return record.input_rows + record.hidden_rows end

-- How the columns come from a record; before them are those of the metric.
local COLUMNS = {
  {name = "training s", csv = "seconds", of = function(r) return r.seconds end},
  {name = "batch ms", csv = "batch_ms", of = function(r) return r.batch_ms end},
  {name = "batches", csv = "batches", format = "%.0f", of = function(r) return r.batches end},
  {name = "memory MB", csv = "memory_MB",
    of = function(r) return r.memory_paper and r.memory_paper / units.MIB end},
  {name = "held MB", csv = "held_MB", of = function(r) return r.memory_batch / units.MIB end},
  {name = "rows a batch", csv = "rows", format = "%.0f", of = rows_of},
}

-- Returns the columns of a metric, as metric_text.of gives it, and all others.
local function columns_of(shown)
  local format = shown.format
  local function scaled(value) return value and shown.scale * value end
  return tables.append({
    {name = ("test %s%s"):format(shown.short, shown.head), csv = "test_" .. shown.csv,
      format = format,
      of = function(r) return scaled(metric_text.tests(r)[shown.name]) end},
    {name = ("val %s%s"):format(shown.short, shown.head), csv = "val_" .. shown.csv,
      format = format,
      of = function(r) return scaled(metric_text.validation(r, shown.name)) end},
  }, COLUMNS)
end

-- Returns by how much the test metric of the one contestant is above that of the other, as it is
-- shown, for every seed that both have.
local function differences(one, other, shown)
  local by_seed, list = {}, {}
  for _, record in ipairs(other.records) do
    by_seed[record.seed] = metric_text.tests(record)[shown.name]
  end
  for _, record in ipairs(one.records) do
    local value, base = metric_text.tests(record)[shown.name], by_seed[record.seed]
    if value and base then list[#list + 1] = shown.scale * (value - base) end
  end
  return list
end

-- Settings in which contestants always differ, or that only number the runs, so that the table of
-- differences leaves them out.
local OF_METHOD = {method = true, seed = true, preset = true}

-- Tells whether a setting that is left open amounts to its default: not those that a network or
-- code of one's own does not take. What such code does instead is not known.
local function has_default(one, said)
  local kind = kinds.of(one)
  local entry = kind and kind.entries[said[kind.name]]
  if not kind or not entry then return not kind end
  return settings.takes(entry, one.name) or kind.name ~= "model" and not entry.code
end

--- comparison.said(config, task) -> table: the settings of a contestant, where those that an
-- experiment leaves open are what they amount to, as for one that names it. task: that of all.
function comparison.said(config, task)
  if not config.preset then return config end            -- of a script
  local open = {model = "gcn", task = tasks.name_of(config), monitor = task:metric().name,
    optimizer = config.decoupled_decay and "adamw" or "adam"}
  local said = tables.merged(open, config)
  for _, one in ipairs(kinds.settings()) do
    if said[one.name] == nil and has_default(one, said) then
      said[one.name] = declared.default(one.name) or one.follows
    end
  end
  return said
end

-- Tells whether two contestants agree in a setting. One that has not recorded it agrees with any,
-- since a run that a script trained records fewer settings than an experiment.
local function is_same(one, other, name)
  local function is_silent(said) return said[name] == nil and not said.preset end
  return is_silent(one.said) or is_silent(other.said)
    or settings.show(one.said[name]) == settings.show(other.said[name])
end

-- Tells whether contestants may differ in a setting without a word: in those of samplers, of models
-- alone and of the data set.
local function goes_unsaid(name)
  local there = settings.common[name]
  if not there then
    return not (settings.owners(tasks.by_name, name)[1]
      or settings.owners(optimizers.by_name, name)[1])
  end
  return there.place == "sampler" or there.place == "data" or OF_METHOD[name]
end

-- Returns the names of the settings in which the contestants differ, without those that go unsaid.
local function unequal(list)
  local found, first = {}, list[1]
  local all = tables.merged(table.unpack(tables.map(list, function(one) return one.said end)))
  for _, name in ipairs(settings.names(all)) do
    for _, one in ipairs(goes_unsaid(name) and {} or list) do
      if not is_same(first, one, name) then
        table.insert(found, name)
        break
      end
    end
  end
  return found
end

-- The heads in the table for settings that have a usual symbol.
local WORDS = {normalize = "P"}

--- comparison.add_table(report, list, shown) -> array: adds the table of the contestants' results
-- to a report, and returns the names of the settings in which they differ.
function comparison.add_table(report, list, shown)
  local differing, first = unequal(list), list[1]
  local columns = columns_of(shown)
  local heads = tables.map(columns, function(column)
    return {column.name, csv = {column.csv, column.csv .. "_sd"}}
  end)
  if #list > 1 then
    table.insert(heads, {"difference", csv = {"difference", "difference_half_width"}})
  end
  for _, name in ipairs(differing) do
    table.insert(heads, {WORDS[name] or name:gsub("_", " "), csv = {name}})
  end
  local results = Table.new(tables.append({"method", {csv = {"runs"}}}, heads))
  for _, one in ipairs(list) do
    local cells = tables.map(columns, function(column)
      local values = {}
      for _, record in ipairs(one.records) do values[#values + 1] = column.of(record) end
      return Table.deviation(values, column.format or "%.2f")
    end)
    if #list > 1 then
      table.insert(cells, Table.interval(one ~= first and differences(one, first, shown) or {},
        "%+" .. shown.format:sub(2), shown.format))
    end
    for _, name in ipairs(differing) do
      local value = one.said[name]
      table.insert(cells, value == nil and "-" or settings.show(value))
    end
    results:add(tables.append({one.title, #one.records}, cells))
  end
  report:results(results)
  return differing
end

-- Notes that explain the numbers after ±, for several runs of a method and for one.
local SPREAD = {
  "Behind ± is the standard deviation over the runs of a method, how far one may be from another.",
  "One run of each: nothing tells how far another one may be from it.",
}

-- Returns what can be done about settings that are not the same for all, or "" where all are
-- finished runs, in which nothing is set here.
local function remedy_of(list)
  local trained, same_p = {}, ""
  for _, one in ipairs(list) do trained[#trained + 1] = not one.run and one or nil end
  if #trained == 0 then return "" end
  local all = #trained < #list and "all that are trained here" or "all"
  for _, one in ipairs(trained) do
    if not is_same(trained[1], one, "normalize") then
      same_p = ("; --same-p gives %s the P of the first"):format(all == "all" and all or "these")
    end
  end
  return (" A method has its own by default, and what is set, as by --normalize sym, holds for "
    .. "%s%s."):format(all, same_p)
end

-- Returns the notes below the table that explain its numbers.
local function notes_of_numbers(list, differing, shown)
  local notes, most, words = {}, 0, {}
  for _, one in ipairs(list) do most = math.max(most, #one.records) end
  notes[1] = SPREAD[most > 1 and 1 or 2]
  if #list > 1 then
    notes[2] = ('"difference" is by how much the test %s is above that of %s%s, over '
      .. "runs of the same seed%s."):format(shown.short, list[1].title,
        shown.percent and ", in points" or shown.mode == "min" and " (less is better)" or "",
        most > 1 and ": the mean ± half of its "
        .. "95 % interval by Student's t; where that has 0 in it, these runs tell no difference"
        or "")
  end
  for i, name in ipairs(differing) do words[i] = WORDS[name] or name:gsub("_", " ") end
  if words[1] then
    notes[#notes + 1] = ("Not the same for all: %s.%s"):format(table.concat(words, ", "),
      remedy_of(list))
  end
  return notes
end

-- Returns the mean of what is validated over the runs of a contestant, against batches (1) or
-- seconds (2), as far as all of its runs went.
local function mean_curve(records, x)
  local shortest = math.huge
  for _, record in ipairs(records) do shortest = math.min(shortest, #record.curve) end
  local points = {}
  for i = 1, shortest do
    local at, values = {}, {}
    for j, record in ipairs(records) do
      at[j], values[j] = record.curve[i][x], record.curve[i][3]
    end
    points[i] = {statistics.mean(at), statistics.mean(values)}
  end
  return points
end

--- comparison.add_curves(report, list, dataset, shown): adds the curves of validation, over batches
-- and over seconds of training.
function comparison.add_curves(report, list, dataset, shown)
  for x, name in ipairs{"batches", "seconds"} do
    local series = {}
    for _, one in ipairs(list) do
      local points = #one.records > 0 and mean_curve(one.records, x) or {}
      if #points > 1 then series[#series + 1] = {name = one.title, points = points} end
    end
    report:picture(name, {title = dataset, series = series,
      x = x == 1 and "batch" or "seconds of training",
      y = ("validation %s, mean over runs"):format(shown.name)})
  end
end

-- The relative difference below which numbers of rows count as equal.
local FAR = 0.1

-- Returns a note for every method whose batches could not be given as many rows as those of the
-- first method, because no number of samples comes nearer or the method draws no samples.
local function notes_of_unequal(list)
  local notes, sizes = {}, tables.map(list, function(one)
    return #one.records > 0 and statistics.mean(tables.map(one.records, rows_of)) or false
  end)
  for i, size in ipairs(sizes) do
    local ratio = size and sizes[1] and size / sizes[1] or 1
    if math.abs(ratio - 1) > FAR then
      notes[#notes + 1] = ("Not equal: %s comes no nearer than %.2f times the rows a batch of %s.")
        :format(list[i].title, ratio, list[1].title)
    end
  end
  return notes
end

-- Returns a note for every method whose runs ended before they had trained for so long.
local function notes_of_seconds(list, seconds)
  local notes = {}
  for _, one in ipairs(list) do
    local trained = #one.records > 0
      and statistics.mean(tables.map(one.records, function(r) return r.seconds end))
    if trained and trained < (1 - FAR) * seconds then
      notes[#notes + 1] = ("Not equal: %s trained for %.2f of %g seconds, as its runs ended by "
        .. "other bounds (--epochs, --patience, --max-batches).")
        :format(one.title, trained, seconds)
    end
  end
  return notes
end

-- Explains the column "memory MB" where some records lack that number.
local function notes_of_memory(records)
  for _, record in ipairs(records) do
    if not record.memory_paper then
      return {'"memory MB" is the paper\'s count, of GCNs alone (--model gcn); "held MB" was '
        .. "measured."}
    end
  end
end

--- comparison.notes(list, differing, shown, opts) -> array: the notes that explain the numbers;
-- opts: `equal` and `seconds` of ladies.compare.
function comparison.notes(list, differing, shown, opts)
  local notes, records = {}, {}
  for _, one in ipairs(list) do tables.append(records, one.records) end
  if opts.equal == "nodes" then tables.append(notes, notes_of_unequal(list)) end
  if opts.equal == "seconds" then tables.append(notes, notes_of_seconds(list, opts.seconds)) end
  tables.append(notes, notes_of_memory(records) or {})
  return tables.append(notes, notes_of_numbers(list, differing, shown))
end

return comparison
