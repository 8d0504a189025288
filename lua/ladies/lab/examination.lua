--- Examines one sampler: collects all findings and faults, and the verdict.

local along = require "ladies.lab.along"
local causes = require "ladies.lab.causes"
local connection = require "ladies.lab.nodes.connection"
local contract = require "ladies.lab.contract"
local cost = require "ladies.lab.cost"
local counted = require("ladies.base.units").counted
local coverage = require "ladies.lab.nodes.coverage"
local errors = require "ladies.base.errors"
local findings = require "ladies.lab.error.findings"
local link = require "ladies.ranks.link"
local measure = require "ladies.lab.error.measure"
local propagation = require "ladies.graph.propagation"
local ranking = require "ladies.lab.cost.ranking"
local same = require "ladies.lab.same"
local scaling = require "ladies.lab.scaling"
local settings = require "ladies.experiment.settings"
local Subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local verdict = require "ladies.lab.verdict"

local examination = {}

-- The first group of draws for each purpose other than the two samples of measure.run, so that
-- draws for different purposes are independent.
local WEIGHTS, DEGREES, SCALING, COST, GROWTH = 10001, 20001, 30001, 40001, 50001

-- The additional time for the search for causes of bias, as a share of `seconds`.
local OF_CAUSES = 0.4

-- The depth of the deepest network that is measured.
local DEEPEST = 4

-- Converts the user's statistics, a table from name to function(batch, exact), to the form that
-- ladies.lab.error.measure takes.
local function own(given)
  return tables.map(tables.sorted_keys(given), function(name)
    return {key = "own." .. name, section = "own", label = name, see = given[name]}
  end)
end

local function settings_of(subject)
  if not subject.config then return "as it was given" end
  return settings.text(settings.at(subject.config, "sampler"))
end

local function add(found, list, series)
  tables.append(found.findings, list)
  tables.append(found.series, series)
end

-- Tells whether a fitted power is known and certainly 0.
local function is_zero(power)
  return power ~= nil and power.low == 0 and power.high == 0
end

-- Returns what f(...) finds, lists, at rank 0, whose findings are shown; nothing at others. It is
-- for what is measured for so many seconds, which does not become more by several ranks.
local function alone(f, ...)
  if link.rank > 0 then return {}, {}, {} end
  return f(...)
end

-- Measures how errors and costs grow with samples and depth, and adds the findings.
local function add_growth(found, context, subject, opts)
  add(found, scaling.errors(context, subject, SCALING, DEEPEST, found.has_tails))
  add(found, alone(scaling.costs, context, subject, GROWTH, DEEPEST, opts.seconds / 50))
  local by_key = tables.by_field(found.findings, "key")
  if is_zero(by_key["scaling.nodes.samples"]) and is_zero(by_key["scaling.entries.samples"]) then
    table.insert(found.notes, "its mini-batches are as large with a quarter of the samples and "
      .. "with four times as many: it does not use `samples`, or has all there is")
  end
  if not subject.given and not context:has_depth(subject, DEEPEST) then
    table.insert(found.notes, ("it gives other than %d blocks for %d layers, so nothing is told of "
      .. "its depth"):format(DEEPEST, DEEPEST))
  end
end

-- Tells whether one of the faults is more than a warning.
local function is_broken(faults)
  for _, fault in ipairs(faults) do
    if fault.kind ~= "warning" then return true end
  end
  return false
end

-- Measures a sampler and adds findings, faults, notes and series to its examination.
local function measured(found, context, subject, opts)
  local known = context:exact(context:propagation_of(subject))
  local run = {context = context, sampler = context:sampler(subject), known = known,
    statistics = tables.append(connection.statistics(known.n_layers), own(opts.statistics)),
    draws = opts.draws, name = subject.title, keeps = subject:takes "self_nodes"}
  local blocks = #context:draw(run.sampler, 1, 1).blocks
  if blocks ~= known.n_layers then
    errors.fail(("ladies.lab: %s gives mini-batches of %d blocks, and the network has %d layers; "
      .. "give layers = %d"):format(subject.title, blocks, known.n_layers, blocks))
  end
  local sample = measure.run(run, opts)
  local names = tables.map(known.model:named_parameters(), function(one) return one.name end)
  local told = alone(causes.examine, run, sample, WEIGHTS, opts.seconds * OF_CAUSES,
    is_broken(found.faults))
  found.has_tails = causes.has_tails(told)
  tables.append(found.findings, findings.of(sample, names, run.statistics, found.has_tails))
  tables.append(found.faults, told)
  table.insert(found.series, scaling.by_degree(run, DEGREES))
  table.insert(found.series, connection.receptive_field(found.findings, subject.title))
  local seen, series, unseen = alone(coverage.examine, subject, context, opts.seconds / 5)
  add(found, seen, series)
  tables.append(found.faults, unseen)
  if opts.along then
    local list, more = along.examine(context, subject, opts.along, opts.seconds)
    if list then add(found, list, more) else table.insert(found.notes, more) end
  end
  local ok, message = errors.try(add_growth, found, context, subject, opts)
  if not ok then
    table.insert(found.notes, "it fails with other samples or another depth, so nothing is told "
      .. "of these: " .. errors.message(message))
  end
  if sample.wanted then
    table.insert(found.notes, ("%d groups of %d draws instead of the %d that intervals of ±%g %% "
      .. "need: the %s did not allow more"):format(sample.groups, sample.draws, sample.wanted,
      100 * opts.precision, counted(opts.seconds, "second")))
  end
  if Subject.is_adaptive(run.sampler) then
    table.insert(found.notes, ("it goes in step with training: all of its draws are of the one "
      .. "state that it had after %s, and intervals do not cover other states"):format(
      counted(context.opts.steps, "step")))
  end
  found.settings.groups, found.sample, found.run = sample.groups, sample, run
end

-- Tells whether a fault makes measuring impossible.
local function is_fatal(faults)
  for _, fault in ipairs(faults) do
    if fault.key == "contract.shape" then return true end
  end
  return false
end

--- examination.of(context, subject, opts): examines a subject: {subject =, settings =, findings =,
-- faults =, notes =, series =, verdict =, has_tails = whether it is warned of them, sample = of
-- ladies.lab.error.measure, run = for add_costs}. A sampler whose mini-batches are malformed is not
-- measured. opts are those of ladies.lab; opts.reference: the subject that it is to be the same as,
-- if any.
function examination.of(context, subject, opts)
  local list, faults, notes = contract.examine(subject, context)
  local found = {findings = list, faults = faults, notes = notes, series = {},
    settings = {groups = 0, draws = opts.draws}, sample = {columns = {}}}
  if not is_fatal(faults) then
    if opts.reference then
      local more, differences = same.examine(subject, opts.reference, context)
      tables.append(found.findings, more)
      tables.append(found.faults, differences)
    end
    measured(found, context, subject, opts)
  end
  for _, fault in ipairs(faults) do fault.kind = fault.kind or "fault" end
  found.subject = {name = subject.name, title = subject.title, settings_text = settings_of(subject),
    P_text = propagation.describe(subject.P, context.data.graph)}
  found.verdict = verdict(found)
  return found
end

local function failure(message, when)
  return {key = "error", kind = "fault", text = "it fails: " .. message, proof = when,
    remedy = "the message says where"}
end

--- Makes the examination of a subject whose measurement failed with a message.
function examination.failed(context, subject, message)
  return {findings = {}, notes = {}, series = {}, sample = {columns = {}},
    faults = {failure(message, "while it was measured")}, verdict = "It fails, and has no numbers.",
    settings = {groups = 0, draws = context.opts.draws},
    subject = {name = subject.name, title = subject.title, settings_text = settings_of(subject)}}
end

--- Measures the costs of mini-batches, and adds them and the ranking to those examinations that
-- could be measured. The samplers take turns, with so many seconds each.
function examination.add_costs(list, seconds)
  local measured_ones = {}
  for _, found in ipairs(list) do
    if found.run then measured_ones[#measured_ones + 1] = found end
  end
  local runs = tables.map(measured_ones, function(found) return found.run end)
  for i, costs in ipairs(cost.examine(runs, COST, seconds)) do
    local found = measured_ones[i]
    found.run = nil
    if costs.failed then
      table.insert(found.faults, failure(costs.failed, "while it was timed"))
      found.verdict = verdict(found)
    else
      tables.append(found.findings, costs.findings)
      tables.append(found.findings, ranking.of(found.sample, costs.columns,
        found.has_tails))
      found.seconds = costs.columns.seconds
    end
  end
end

return examination
