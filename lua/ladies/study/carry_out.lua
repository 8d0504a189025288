--- Carries out a study from its declaration: checks the options, trains or measures what the
-- study's folder does not hold yet, and writes the report. A declaration has
--
--   where              the name of the function, for messages
--   options            its own options (see ladies.options); those of a study are added, or out and
--                      quiet where it measures
--   check(opts)        refuses the options, or completes them; nil where there is nothing to do
--   seeded             whether the runs begin with settings.seed
--   sets               the settings that it sets itself: see Study.check_settings
--   of_classes         whether it shows F1s of classes of nodes: the first run that is for another
--                      task ends it
--   strict, whole      whether it is an error that a data set is not here, and that a run fails;
--                      otherwise it is a note
--   made               functions that make data sets, by name
--   data(opts)         the data sets that can be used, and notes about the others; by default those
--                      of opts.datasets
--   folder, name, title    of the study and of the report: texts in which {option} stands for its
--                      value, or functions of the options; of the title of the finished cases too
--   identity           what tells the study from others: such a text, or {word, names of options}
--   cases(opts, names, place, opened)     what is trained (see ladies.study.repeated) or measured
--                      (see ladies.study.measured); and whatever else the next two want, `more`.
--                      place(name) is the path, or the name, by which a run loads a data set;
--                      opened() the study, whose folder is not touched before
--   measure(opts), unit                   where it measures: a function that gives the record of a
--                      case, which becomes its `record`; and what a case is, for the progress bar
--   show(report, cases, opts, more, study)  fills the report
--   notes(cases, opts, more, study)       texts below it; below trainings behind where these were

local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local measured = require "ladies.study.measured"
local options = require "ladies.base.options"
local provenance = require "ladies.report.provenance"
local repeated = require "ladies.study.repeated"
local Study = require "ladies.study"
local tables = require "ladies.base.tables"
local usable_data = require "ladies.study.usable_data"

local MEASURING = {out = "string or nil", quiet = {"boolean", false}}

-- Checks the options, and fills in the defaults of those that are not given.
local function options_of(declared, given)
  local spec = declared.measure and tables.merged(MEASURING, declared.options)
    or Study.options(declared.options)
  local opts = options.check(declared.where, given or {}, spec)
  if declared.sets then Study.check_settings(declared.where, opts.settings, declared.sets) end
  if declared.seeded then opts.first = opts.settings.seed or 1 end
  if declared.check then declared.check(opts) end
  return opts
end

-- Returns the names of the data sets that can be used, and notes about the others.
local function usable(declared, opts)
  if declared.data then return declared.data(opts) end
  if not opts.datasets then return nil, {} end
  if #opts.datasets == 0 then errors.fail(declared.where .. ": name at least one data set") end
  local names, notes = usable_data(declared.where, opts.datasets, declared.made)
  if declared.strict and notes[1] then
    errors.fail(("%s: %s"):format(declared.where, table.concat(notes, "; ")))
  end
  return names, notes
end

local function filled(text, opts, cases)
  if type(text) == "function" then return text(opts, cases) end
  return (text:gsub("{(%w+)}", function(name) return tostring(opts[name]) end))
end

local function identity_of(declared, opts)
  local identity, values = declared.identity, {}
  if type(identity) ~= "table" then return filled(identity, opts) end
  for i = 2, #identity do values[identity[i]] = opts[identity[i]] end
  return identity[1] .. " " .. json.encode(values)
end

-- Returns a function that fails for the record of a run whose task is not classes of nodes.
local function only_classes(where)
  return function(record)
    if record.measure then
      errors.fail(("%s: it shows F1s of classes, and %s is for another task, by %s; ladies compare "
        .. "and ladies sweep serve any task"):format(where, record.config.dataset, record.measure))
    end
  end
end

-- Trains the cases that are not trained yet. Returns the notes that come before the declaration's
-- own in the report and those that come after them.
local function train(declared, study, cases, opts)
  local failures = {}
  local check = declared.of_classes and only_classes(declared.where) or nil
  local records = repeated(study, cases, tables.merged(opts, {check = check}), failures)
  if declared.whole and failures[1] then
    errors.fail(("%s: %s"):format(declared.where, failures[1]))
  end
  return {provenance.runs(study, records)}, failures
end

-- Measures the cases that are not measured yet.
local function measure(declared, study, cases, opts)
  local records = measured(study, cases, declared.unit, opts.quiet, declared.measure(opts))
  for i, case in ipairs(cases) do case.record = records[i] end
  return {}, {}
end

--- carry_out(declaration, given) -> report: carries out the declared study with these options. The
-- report (see ladies.report) has the `cases`, with the results of each.
return function(declared, given)
  local opts = options_of(declared, given)
  local names, notes = usable(declared, opts)
  local study
  local function opened()
    study = study
      or Study.at(opts.out, filled(declared.folder, opts), identity_of(declared, opts))
    return study
  end
  local function place(name)
    return declared.made and opened():place(name, declared.made) or name
  end
  local cases, more = declared.cases(opts, names, place, opened)
  local first, last = (declared.measure and measure or train)(declared, opened(), cases, opts)
  local report = study:report(filled(declared.name, opts), filled(declared.title, opts, cases))
  report.cases = cases
  declared.show(report, cases, opts, more, study)
  for _, list in ipairs{first, declared.notes and declared.notes(cases, opts, more, study) or {},
    notes, last} do
    report:note(table.unpack(list))
  end
  return report:write()
end
