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
local tables = require "ladies.base.tables"
local where = require "ladies.lab.where"

local examination = {}

-- The first groups of what is drawn besides the two samples of measure.run.
local WEIGHTS, DEGREES, SCALING, COST, GROWTH = 10001, 20001, 30001, 40001, 50001

-- The deepest network of the errors over depth.
local DEEPEST = 4

-- A user's statistics, name -> function(batch, exact), as ladies.lab takes them.
local function own(statistics)
  return tables.map(tables.sorted_keys(statistics), function(name)
    return {key = "own." .. name, section = "own", label = name, see = statistics[name]}
  end)
end

local function find(list, key)
  for _, one in ipairs(list) do
    if one.key == key then return one end
  end
end

-- How the bias and the variance of the embedding stand.
local function kind_of(embedding, bias)
  if embedding.mean < measure.ROUNDING then return "Exact: it gives what the whole graph gives." end
  local share = bias and bias.low > 0 and bias.mean / embedding.mean or 0
  return share > 0.5 and "Badly biased: more draws of it do not help."
    or share > 0.1 and "Biased: part of its error stays, however many draws."
    or "Close to unbiased: its error is nearly all variance."
end

-- What a reader should know first.
local function verdict(list, faults)
  local parts = {}
  for _, fault in ipairs(faults) do
    if fault.kind == "fault" and not parts[1] then
      parts[1] = "Something is wrong with it: " .. fault.text .. "."
    end
  end
  local embedding, gradient = find(list, "embedding.error"), find(list, "gradient.error")
  if not embedding then return table.concat(parts, " ") end
  parts[1] = parts[1] or kind_of(embedding, find(list, "embedding.bias"))
  parts[2] = ("The embedding is off by %s of its size, the gradient by %s."):format(
    findings.percent(math.sqrt(embedding.mean)), findings.percent(math.sqrt(gradient.mean)))
  return table.concat(parts, " ")
end

local function settings_of(subject)
  if not subject.config then return "as it was given" end
  return settings.text(settings.at(subject.config, "sampler"))
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
  local costs, columns = cost.examine(run, COST, opts.seconds / 5)
  for _, part in ipairs{
    {coverage.examine(subject, context, opts.seconds / 5)},
    {costs, {}},
    {scaling.examine(context, subject, SCALING, DEEPEST)},
    {growth.examine(context, subject, GROWTH, DEEPEST, opts.seconds / 50)},
  } do
    tables.append(found.findings, part[1])
    tables.append(found.series, part[2])
  end
  tables.append(found.findings, ranking.of(sample, columns))
  if sample.wanted then
    table.insert(found.notes, ("%d groups of %d draws instead of the %d that intervals of ±%g %% "
      .. "need: the %g seconds did not allow more"):format(sample.groups, sample.draws,
      sample.wanted, 100 * opts.precision, opts.seconds))
  end
  found.settings.groups, found.sample = sample.groups, sample
end

-- Whether a fault leaves nothing to measure.
local function is_fatal(faults)
  for _, fault in ipairs(faults) do
    if fault.key == "contract.shape" or fault.key == "contract.error" then return true end
  end
  return false
end

--- examination.of(context, subject, opts): all that is found of a subject: {subject =, settings =,
-- findings =, faults =, notes =, series =, verdict =, sample = of ladies.lab.measure}. One that
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
  found.verdict = verdict(found.findings, faults)
  return found
end

return examination
