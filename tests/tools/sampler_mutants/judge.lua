--- Has the laboratory judge mutants of a sampler beside the sampler itself.

local ladies = require "ladies"
local causes = require "ladies.lab.causes"
local connection = require "ladies.lab.nodes.connection"
local context = require "ladies.lab.context"
local contract = require "ladies.lab.contract"
local errors = require "ladies.base.errors"
local load = require "tools.sampler_mutants.load"
local measure = require "ladies.lab.error.measure"
local same = require "ladies.lab.same"
local sampling = require "ladies.sampling"
local Subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local judge = {}

local HIDDEN, BATCH_SIZE = 8, 24

-- Steps of training that samplers go along with, where a case does not say it.
local STEPS = 20

-- Groups and draws of each of them in which mini-batches are looked at bit by bit.
local GROUPS, DRAWS = 5, 4

--- Draws of the second look at a mutant that the usual number did not show.
judge.MANY = 1024

--- The graph of the mutants: a power law, so that there are nodes of all degrees.
function judge.data()
  return ladies.generate.power_law{nodes = 500, entries = 3000, features = 6, classes = 3}
end

-- The settings of a case that are no settings of the method's own.
local function split(case)
  local own = tables.merged(case)
  own.method, own.layers, own.dropout, own.training = nil, nil, nil, nil
  return own, case.layers or 2
end

--- The context of a case: networks and seeds; seed: of everything random.
function judge.context(data, case, seed)
  return context.new(data, {layers = case.layers or 2, hidden = HIDDEN, batch_size = BATCH_SIZE,
    steps = case.training or STEPS, seed = seed})
end

--- The subject of a method's name with the settings of a case.
function judge.subject(data, name, case)
  local settings, layers = split(case)
  return Subject.of("mutant", name, data, {layers = layers, hidden = HIDDEN, seed = 1,
    batch_size = BATCH_SIZE, dropout = case.dropout or 0, settings = settings})
end

-- All that a mini-batch has, as text.
local function whole(batch)
  local parts = {sampling.hash(batch)}
  for _, name in ipairs(tables.sorted_keys(batch.stats or {})) do
    parts[#parts + 1] = ("%s %s"):format(name, batch.stats[name])
  end
  return table.concat(parts, "\n")
end

-- The texts of some mini-batches.
local function seen(shared, subject)
  local sampler, list = shared:sampler(subject), {}
  for group = 1, GROUPS do
    for i = 1, DRAWS do
      local batch = shared:draw(sampler, group, i)
      sampling.check(batch, "mutant", {nodes = shared.data.graph.n_nodes})
      list[#list + 1] = whole(batch)
    end
  end
  return list
end

-- Tells whether all texts of a list are those of another one.
local function equal(a, b)
  for i, text in ipairs(a) do
    if text ~= b[i] then return false end
  end
  return true
end

--- The faults that the laboratory finds of a subject by itself, as ladies.lab does: text by key.
function judge.alone(shared, subject)
  local found = {}
  local function add(faults)
    for _, fault in ipairs(faults) do
      if fault.kind ~= "warning" then found[fault.key] = fault.text end
    end
  end
  add(select(2, contract.examine(subject, shared)))
  if not next(found) then
    local run = {context = shared, sampler = shared:sampler(subject), draws = 6, name = "mutant",
      known = shared:exact(shared:propagation_of(subject)),
      statistics = connection.statistics(shared.opts.layers)}
    add(causes.examine(run, measure.run(run, {precision = 0.2, seconds = 1}), 10001, 1))
  end
  return found
end

--- Computes once what all mutants of a sampler are compared with in a case.
function judge.original(data, case, with_lab)
  local one = {case = case, context = judge.context(data, case, 1)}
  one.subject = judge.subject(data, case.method, case)
  one.seen = seen(one.context, one.subject)
  one.alone = with_lab and judge.alone(one.context, one.subject) or {}
  return one
end

-- A fault that the laboratory finds of the mutant and not of the sampler.
local function new_fault(subject, original)
  for key in pairs(judge.alone(original.context, subject)) do
    if not original.alone[key] then return key end
  end
end

-- Looks at the mutant in one case; what is found goes into the verdict.
local function look(subject, original, with_lab, verdict)
  if equal(seen(original.context, subject), original.seen) then return end
  verdict.changes = true
  if with_lab and not verdict.alone then verdict.alone = new_fault(subject, original) end
  for _, draws in ipairs{same.DRAWS, judge.MANY} do
    if verdict.same then return end
    local _, faults = same.examine(subject, original.subject, original.context,
      {order = true, draws = draws})
    if faults[1] then verdict.same, verdict.draws = faults[1].text, draws end
  end
end

--- Returns the outcome of a mutant, text in place of the source of `file`: {changes = whether any
-- mini-batch is another, raised = what it failed with, alone = the key of the fault that the
-- laboratory finds by itself, same = the text of that which it finds beside the sampler, by so many
-- `draws`}.
function judge.mutant(data, file, text, originals, with_lab)
  local verdict = {changes = false}
  for _, original in ipairs(originals) do
    local ok, reason = errors.try(function()
      load.install(file, text, original.case.method)
      look(judge.subject(data, "mutant", original.case), original, with_lab, verdict)
    end)
    if not ok then verdict.changes, verdict.raised = true, errors.message(reason) end
    if verdict.raised or verdict.same and (verdict.alone or not with_lab) then break end
  end
  return verdict
end

return judge
