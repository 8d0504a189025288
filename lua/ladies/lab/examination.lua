--- The examination of one sampler: all findings, what is wrong, and a verdict.

local causes = require "ladies.lab.causes"
local connection = require "ladies.lab.connection"
local contract = require "ladies.lab.contract"
local cost = require "ladies.lab.cost"
local coverage = require "ladies.lab.coverage"
local errors = require "ladies.base.errors"
local findings = require "ladies.lab.findings"
local growth = require "ladies.lab.growth"
local measure = require "ladies.lab.measure"
local propagation = require "ladies.graph.propagation"
local ranking = require "ladies.lab.ranking"
local same = require "ladies.lab.same"
local scaling = require "ladies.lab.scaling"
local settings = require "ladies.experiment.settings"
local Subject = require "ladies.lab.subject"
local statistics = require "ladies.report.statistics"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"
local where = require "ladies.lab.where"

local examination = {}

-- The first groups of what is drawn besides the two samples of measure.run.
local WEIGHTS, DEGREES, SCALING, COST, GROWTH = 10001, 20001, 30001, 40001, 50001

-- The deepest network of the errors over depth.
local DEEPEST = 4

-- A user's statistics, name -> function(batch, exact), as ladies.lab takes them.
local function own(given)
  return tables.map(tables.sorted_keys(given), function(name)
    return {key = "own." .. name, section = "own", label = name, see = given[name]}
  end)
end

local function find(list, key)
  for _, one in ipairs(list) do
    if one.key == key then return one end
  end
end

-- The bias² of the embedding or the gradient beyond chance, as a share of the signal: as it was
-- estimated, or at least that along the exact one, which is known better.
local function certain_bias(columns, name)
  local function mean(number, without)
    local column = columns[name .. "." .. number] or {}
    return #column > 1 and student.p_value(column, without) <= causes.LEVEL
      and statistics.mean(column) or without
  end
  return math.max(mean("bias", 0), (mean("scale", 1) - 1) ^ 2)
end

-- How bias and variance of the embedding or the gradient stand. Bias counts where it has a share of
-- the error, or is large itself.
local function kind_of(found, name)
  local whole = find(found.findings, name .. ".error").mean
  if whole < measure.ROUNDING then return "exact" end
  local bias = certain_bias(found.sample.columns, name)
  local most = math.max(bias / whole, bias)
  return most > 0.5 and "badly biased" or most > 0.1 and "biased" or "close to unbiased"
end

local MEANING = {
  exact = "it gives what the whole graph gives",
  biased = "the mean of many draws is off",
  ["badly biased"] = "the mean of many draws is far off",
  ["close to unbiased"] = "its error is nearly all variance",
}

-- The same of both as a sentence.
local function bias_text(found)
  local embedding, gradient = kind_of(found, "embedding"), kind_of(found, "gradient")
  if embedding == gradient then
    return ("%s: %s."):format(embedding:gsub("^%l", string.upper), MEANING[embedding])
  end
  return ("Its embedding is %s, its gradient %s."):format(embedding, gradient)
end

-- What a reader should know first.
local function verdict(found)
  local parts = {}
  for _, fault in ipairs(found.faults) do
    if fault.kind == "fault" and not parts[1] then
      parts[1] = "Something is wrong with it: " .. fault.text .. "."
    end
  end
  local embedding = find(found.findings, "embedding.error")
  local gradient = find(found.findings, "gradient.error")
  if not embedding then return table.concat(parts, " ") end
  parts[1] = parts[1] or bias_text(found)
  parts[2] = ("The embedding is off by %s of its size, the gradient by %s."):format(
    findings.percent(math.sqrt(embedding.mean)), findings.percent(math.sqrt(gradient.mean)))
  return table.concat(parts, " ")
end

local function settings_of(subject)
  if not subject.config then return "as it was given" end
  return settings.text(settings.at(subject.config, "sampler"))
end

local function add(found, list, series)
  tables.append(found.findings, list)
  tables.append(found.series, series)
end

-- Whether a number does not grow at all with the samples.
local function is_constant(list, key)
  local one = find(list, key)
  return one ~= nil and one.low == 0 and one.high == 0
end

-- How errors and sizes grow with samples and depth.
local function add_growth(found, context, subject, opts)
  add(found, scaling.examine(context, subject, SCALING, DEEPEST))
  add(found, growth.examine(context, subject, GROWTH, DEEPEST, opts.seconds / 50))
  if is_constant(found.findings, "scaling.nodes.samples")
    and is_constant(found.findings, "scaling.entries.samples") then
    table.insert(found.notes, "its mini-batches are as large with a quarter of the samples and "
      .. "with four times as many: it does not use `samples`, or has all there is")
  end
  if not subject.given and not context:has_depth(subject, DEEPEST) then
    table.insert(found.notes, ("it gives other than %d blocks for %d layers, so nothing is told of "
      .. "its depth"):format(DEEPEST, DEEPEST))
  end
end

-- Measures a sampler that keeps its contract; adds to what is known of it.
local function measured(found, context, subject, opts)
  local known = context:exact(context:propagation_of(subject))
  local run = {context = context, sampler = context:sampler(subject), known = known,
    statistics = tables.append(connection.statistics(known.n_layers), own(opts.statistics)),
    draws = opts.draws, name = subject.title}
  local blocks = #context:draw(run.sampler, 1, 1).blocks
  if blocks ~= known.n_layers then
    errors.fail(("ladies.lab: %s gives mini-batches of %d blocks, and the network has %d layers; "
      .. "give layers = %d"):format(subject.title, blocks, known.n_layers, blocks))
  end
  local sample = measure.run(run, opts)
  local names = tables.map(known.model:named_parameters(), function(one) return one.name end)
  tables.append(found.findings, findings.of(sample, names, run.statistics))
  tables.append(found.faults, causes.examine(run, sample, WEIGHTS,
    #found.faults > 0))
  table.insert(found.series, where.examine(run, DEGREES))
  table.insert(found.series, connection.receptive_field(found.findings, subject.title))
  add(found, coverage.examine(subject, context, opts.seconds / 5))
  local ok, message = errors.try(add_growth, found, context, subject, opts)
  if not ok then
    table.insert(found.notes, "it fails with other samples or another depth, so nothing is told "
      .. "of these: " .. errors.message(message))
  end
  if sample.wanted then
    table.insert(found.notes, ("%d groups of %d draws instead of the %d that intervals of ±%g %% "
      .. "need: the %g seconds did not allow more"):format(sample.groups, sample.draws,
      sample.wanted, 100 * opts.precision, opts.seconds))
  end
  if Subject.is_adaptive(run.sampler) then
    table.insert(found.notes, ("it goes in step with training: all of its draws are of the one "
      .. "state that it had after %d steps, and intervals do not cover other states"):format(
      context.opts.steps))
  end
  found.settings.groups, found.sample, found.run = sample.groups, sample, run
end

-- Whether a fault leaves nothing to measure.
local function is_fatal(faults)
  for _, fault in ipairs(faults) do
    if fault.key == "contract.shape" or fault.key == "contract.error" then return true end
  end
  return false
end

--- examination.of(context, subject, opts): all that is found of a subject: {subject =, settings =,
-- findings =, faults =, notes =, series =, verdict =, sample = of ladies.lab.measure, run = for
-- add_costs}. One that
-- does not keep its contract is not measured. opts are those of ladies.lab; opts.reference: the
-- subject that it is to be the same as, if any.
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

--- The examination of a subject that failed with a message while it was measured.
function examination.failed(context, subject, message)
  return {findings = {}, notes = {}, series = {}, sample = {columns = {}},
    faults = {{key = "error", kind = "fault", text = "it fails: " .. message,
      proof = "while it was measured", remedy = "the message says where"}},
    settings = {groups = 0, draws = context.opts.draws}, verdict = "It fails, and has no numbers.",
    subject = {name = subject.name, title = subject.title, settings_text = settings_of(subject)}}
end

--- Adds what mini-batches cost, and the ranks, to the examinations that have measured something.
-- seconds: of each of them. They take turns.
function examination.add_costs(list, seconds)
  local measured_ones = {}
  for _, found in ipairs(list) do
    if found.run then measured_ones[#measured_ones + 1] = found end
  end
  local runs = tables.map(measured_ones, function(found) return found.run end)
  for i, costs in ipairs(cost.examine(runs, COST, seconds)) do
    local found = measured_ones[i]
    tables.append(found.findings, costs.findings)
    tables.append(found.findings, ranking.of(found.sample, costs.columns))
    found.seconds, found.run = costs.columns.seconds, nil
  end
end

return examination
