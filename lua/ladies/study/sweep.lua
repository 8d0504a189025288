--- Trains with every combination of some settings and ranks them by validation, to choose settings
-- without a look at the test nodes, whose metrics are not shown.

local carry_out = require "ladies.study.carry_out"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local json = require "ladies.base.json"
local methods = require "ladies.experiment.methods"
local metric_text = require "ladies.task.metric_text"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local run_folder = require "ladies.training.record.run_folder"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"

local WHERE = "ladies.sweep"

-- ---------------------------------------------------------------- what is run

-- Settings that the sweep has options for, with these options; and those that cannot be varied.
local SETS = {method = "methods", dataset = "datasets", preset = "preset"}
local FIXED = tables.merged(SETS, {seed = "runs"})

-- Fails when the values of a setting are not all different, or it is set elsewhere as well.
local function check_once(one, seen, opts)
  local key, values = one[1], {}
  if seen[key] then errors.fail(("%s: %s is varied twice"):format(WHERE, key)) end
  seen[key] = true
  if opts.settings[key] ~= nil then
    errors.fail(("%s: %s is varied, and set to %s besides"):format(WHERE, key,
      tostring(opts.settings[key])))
  end
  for i = 2, #one do
    local text = tostring(one[i])
    if values[text] then
      errors.fail(("%s: %s has the value %s twice"):format(WHERE, key, text))
    end
    values[text] = true
  end
  for _, text in ipairs(key == "samples" and opts.methods or {}) do
    if type(text) == "string" and text:find ":" then
      errors.fail(("%s: samples is varied, and given with %s besides"):format(WHERE, text))
    end
  end
end

-- Returns all combinations of values, each {label =, settings =}; the last of the varied settings
-- changes first.
local function combinations(opts)
  local list, seen = {{label = "", settings = {}}}, {}
  for i, one in ipairs(opts.vary) do
    options.value(WHERE, ("vary[%d]"):format(i), one, "table")
    local key, longer = one[1], {}
    if type(key) ~= "string" or one[2] == nil then
      errors.fail(('%s: vary[%d] must be {"setting", value, value, ...}'):format(WHERE, i))
    elseif FIXED[key] then
      errors.fail(("%s: %s is not varied: see the option %s"):format(WHERE, key, FIXED[key]))
    end
    check_once(one, seen, opts)
    for _, before in ipairs(list) do
      for j = 2, #one do
        local words = ("%s %s"):format(key:gsub("_", " "), one[j])
        longer[#longer + 1] = {settings = tables.merged(before.settings, {[key] = one[j]}),
          label = before.label == "" and words or before.label .. ", " .. words}
      end
    end
    list = longer
  end
  return list
end

-- Returns the settings that all runs have in common: those of the user, and a model that all
-- methods can train with every combination.
local function common_of(opts, plain, list)
  local common = tables.merged(opts.settings)
  for _, combination in ipairs(list) do
    common.model = common.model or experiment.same_model(plain,
      tables.merged(opts.settings, {preset = opts.preset}, combination.settings))
  end
  return common
end

-- Returns the columns of the table, {title =, settings =}, one for each method on each data set.
local function columns_of(opts, names, combined)
  local list = {}
  local parsed = tables.map(opts.methods, function(text) return own_code.method(WHERE, text) end)
  local plain = tables.map(parsed, function(one) return one.method end)
  local common = common_of(opts, plain, combined)
  for _, name in ipairs(names) do
    for i, settings in ipairs(methods.share(WHERE, plain, common)) do
      local title = methods.title(parsed[i])
      list[#list + 1] = {title = ("%s, %s"):format(run_folder.plain(name), title),
        settings = tables.merged(settings, parsed[i], {dataset = name, preset = opts.preset})}
    end
  end
  return list
end

-- Lists the variants that are trained, by combination and then by column: see
-- ladies.study.repeated.
local function variants_of(list, columns)
  return tables.map(list, function(combination)
    return tables.map(columns, function(column)
      return {key = ("%s, %s"):format(column.title, combination.label),
        settings = experiment.configure(tables.merged(column.settings, combination.settings))}
    end)
  end)
end

-- ---------------------------------------------------------------- what came out

-- Describes the metric that the runs of some cases go by, as metric_text.of does.
local function shown_of(cases)
  for _, case in ipairs(cases) do
    if case.records[1] then return metric_text.of_record(case.records[1]) end
  end
  return metric_text.of_record{}
end

-- Returns what is validated in the runs of some cases: "nodes", or "part" where their task is not
-- the classes of nodes.
local function validated(cases)
  for _, case in ipairs(cases) do
    local record = case.records[1]
    if record then
      local task = record.config.task or "node_classification"
      return not record.measure and task == "node_classification" and "nodes" or "part"
    end
  end
  return "part"
end

-- Scores a combination by its variants: the metric, `by_column`, means, nil where no run is
-- there; `by_seed`, means over the columns; `mean`, of all, nil where a run failed.
local function score(combination, variants, n_seeds, shown)
  local one, whole = {combination = combination, by_column = {},
    by_seed = tables.repeated(0, n_seeds)}, true
  for i, variant in ipairs(variants) do
    local list = metric_text.validations(variant.records, shown)
    whole = whole and #list == n_seeds
    one.by_column[i] = Table.number(statistics.mean(list), shown.format)
    for j, value in ipairs(list) do one.by_seed[j] = one.by_seed[j] + value / #variants end
  end
  one.mean = whole and statistics.mean(one.by_seed) or nil
  return one
end

-- Returns the combinations with their scores, best first; those with failed runs come last.
local function ranking(list, variants, n_seeds, shown)
  local ranked = tables.map(list, function(combination, i)
    return score(combination, variants[i], n_seeds, shown)
  end)
  local sign = shown.mode == "min" and -1 or 1
  table.sort(ranked, function(a, b)
    local x, y = a.mean and sign * a.mean or -math.huge, b.mean and sign * b.mean or -math.huge
    if x ~= y then return x > y end
    return a.combination.label < b.combination.label
  end)
  return ranked
end

-- Returns how far a combination's mean is behind the best one's, with half the 95 % interval of
-- that.
local function behind(one, best, shown)
  if not one.mean then return Table.number(nil) end
  local better, worse = best.by_seed, one.by_seed
  if shown.mode == "min" then better, worse = worse, better end
  local list = statistics.differences(better, worse)
  local mean, half = statistics.mean(list), statistics.half_width(list)
  return {text = one == best and "" or Table.with_spread(mean, #list > 1 and half,
    shown.format),
    mean, half}
end

local function table_of(ranked, columns, shown)
  local results = Table.new(tables.append({"settings", "mean",
    {"behind the best", csv = {"behind", "behind_half_width"}}},
    tables.map(columns, function(column) return column.title end)))
  for _, one in ipairs(ranked) do
    results:add(tables.append({one.combination.label, Table.number(one.mean, shown.format),
      behind(one, ranked[1], shown)}, one.by_column))
  end
  return results
end

local function title_of(opts, cases)
  return ("Settings by validation %s: %s on %s"):format(shown_of(cases).short,
    table.concat(tables.map(opts.vary, function(one) return (one[1]:gsub("_", " ")) end), ", "),
    table.concat(tables.map(opts.datasets, run_folder.plain), ", "))
end

-- Returns a text that explains the numbers of the table.
local function description(opts, shown, part)
  local first, fixed = opts.first, settings_text(opts.settings, "seed")
  return ([[%s%s on the validation %s, of the model that is kept; %s; preset %s
with %s. "behind the best" is of the mean, seed by seed, with its 95 %% interval by
Student's t where there are several seeds.]]):format(
    shown.name:gsub("^%l", string.upper), shown.percent and " in percent"
      or shown.mode == "min" and ", of which less is better," or "", part,
    opts.runs == 1 and "seed " .. first
      or ("mean over the seeds %d to %d"):format(first, first + opts.runs - 1),
    opts.preset, fixed ~= "" and fixed or "all its other settings")
end

-- ---------------------------------------------------------------- the whole

local SWEEP = {
  where = WHERE, name = "sweep", title = title_of, folder = "runs/sweep", seeded = true,
  sets = SETS, strict = true,
  options = {
    vary = "table", methods = {"table", {"ladies:64", "ladies:512"}},
    datasets = {"array of strings", {"cora", "citeseer", "pubmed"}},
    preset = {"default|paper|code", "default"}, runs = {"positive integer", 5},
  },
}

function SWEEP.check(opts)
  if #opts.methods == 0 then errors.fail(WHERE .. ": name at least one method") end
end

function SWEEP.identity(opts)
  return "sweep " .. json.encode{vary = opts.vary, methods = own_code.names(opts.methods),
    datasets = opts.datasets, preset = opts.preset, settings = opts.settings}
end

-- Lists the variants that are trained, by combination and then by column; and returns the
-- combinations, the columns and the variants of each combination.
function SWEEP.cases(opts, names)
  local flat, list = {}, combinations(opts)
  local columns = columns_of(opts, names, list)
  local variants = variants_of(list, columns)
  for _, of_one in ipairs(variants) do tables.append(flat, of_one) end
  return flat, {combinations = list, columns = columns, variants = variants}
end

function SWEEP.show(report, cases, opts, more)
  local shown = shown_of(cases)
  for _, case in ipairs(cases) do
    local record = case.records[1]
    if record and not metric_text.validation(record, shown.name) then
      errors.fail(("%s: %s has no validation %s to choose by"):format(WHERE, case.settings.dataset,
        record.measure and "part" or "nodes"))
    end
  end
  local ranked = ranking(more.combinations, more.variants, opts.runs, shown)
  report:results(table_of(ranked, more.columns, shown))
  report.best = ranked[1].mean and ranked[1].combination.settings
end

function SWEEP.notes(cases, opts)
  return {description(opts, shown_of(cases), validated(cases))}
end

--- ladies.sweep{vary = {{"dropout", 0, 0.3}, {"self_nodes", "none", "previous"}}, ...} -> table:
-- trains with every combination of the values and ranks them by the mean over methods, data sets
-- and runs of what validation goes by, such as micro-F1. Returns a report (see ladies.report) with
-- `best`: settings, nil where runs of all combinations failed.
-- vary       array of {"setting of ladies.experiment", value, value, ...}
-- methods    as for ladies.compare ({"ladies:64", "ladies:512"})
-- datasets   cora, citeseer and pubmed
-- preset     default, paper or code: what is not varied
-- settings   of ladies.experiment, for all; with `seed` the runs begin with that one
-- runs       5, with following seeds
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/sweep-1), which goes on where it was stopped
-- quiet      no progress
local function sweep(given) return carry_out(SWEEP, given) end

return sweep
