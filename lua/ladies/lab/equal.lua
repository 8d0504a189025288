--- Samplers at equal cost: numbers of samples with which the mini-batches of all have as many
-- samples, nodes or entries, or take as many seconds, as those of the first.

local cost = require "ladies.lab.cost"
local counts = require "ladies.lab.counts"
local nearest_samples = require "ladies.study.nearest_samples"
local statistics = require "ladies.report.statistics"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"
local timing = require "ladies.lab.timing"

local equal = {}

-- Mini-batches from which a size is estimated while a number of samples is looked for, and those
-- that tell what was reached.
local PROBES, TOLD = 7, 16

-- A share by which sizes may differ and are still called equal.
local FAR = 0.1

-- The sizes of mini-batches of n groups from `first` on: for each subject lists of nodes, entries
-- and seconds. The subjects take turns, so that a machine that is busy is so for all.
local function sizes_of(context, subjects, first, n)
  local all = tables.map(subjects, function(subject)
    local run = {context = context, sampler = context:sampler(subject),
      known = context:exact(context:propagation_of(subject))}
    timing.batch(run, first, 1)                                     -- warms up
    return {run = run, nodes = {}, entries = {}, seconds = {}}
  end)
  for k = 1, n do
    for _, one in ipairs(all) do
      local sampling, step, batch = timing.batch(one.run, first + k - 1, 1)
      one.seconds[k], one.nodes[k] = sampling + step, counts.nodes(batch)
      one.entries[k] = counts.entries(batch)
    end
  end
  return all
end

-- What of a subject is to be equal: its nodes or entries; of seconds, which another moment of the
-- machine would change, how many times those of the reference, batch by batch.
local function size_of(context, subject, reference, what, first)
  if what ~= "seconds" then
    return statistics.mean(sizes_of(context, {subject}, first, PROBES)[1][what])
  end
  local of_first, own = table.unpack(sizes_of(context, {reference, subject}, first, PROBES))
  return statistics.median(tables.map(own.seconds, function(seconds, k)
    return seconds / of_first.seconds[k]
  end))
end

-- The subject with the number of samples that brings its size nearest to `wanted`.
local function adjusted(context, subject, reference, what, wanted, first)
  local most = nearest_samples.most(subject.config, context.data)
  return subject:with_samples(nearest_samples.find(wanted, most, function(samples)
    return size_of(context, subject:with_samples(samples), reference, what, first)
  end))
end

local function reached_by(subject, found)
  return {
    samples = subject:takes "samples" and subject.samples or nil,
    nodes = student.interval(found.nodes), entries = student.interval(found.entries),
    seconds = cost.median(found.seconds),
  }
end

-- What was reached in words; `first`: by the first subject, from which `what` may be far off.
local function text_of(subject, reached, what, first)
  local function between(x, format, scale)
    return (format .. " (" .. format .. " to " .. format .. ")"):format(scale * x.mean,
      scale * x.low, scale * x.high)
  end
  local text = ("%s: %s distinct nodes, %s entries, %s ms a mini-batch"):format(subject.title,
    between(reached.nodes, "%.1f", 1), between(reached.entries, "%.1f", 1),
    between(reached.seconds, "%.2f", 1e3))
  local ratio = what and reached[what].mean / first[what].mean or 1
  return math.abs(ratio - 1) <= FAR and text
    or ("%s; it comes no nearer than %.2f times the %s"):format(text, ratio, what)
end

--- equal.find(context, subjects, what, first): the subjects with numbers of samples that make
-- `what` of their mini-batches equal to that of the first: the number of "samples", of distinct
-- "nodes" in all layers, of "entries" of all blocks, or the "seconds" of sampling and step, a
-- median. An array of {subject =, reached = {samples =, nodes =, entries =, seconds = intervals},
-- text = the same in words}. Those without a number of samples stay as they are, and some come no
-- nearer with one neighbour or with all, which `reached` shows; it is of further mini-batches.
-- first: the first group.
function equal.find(context, subjects, what, first)
  local by_samples, reference = what == "samples", subjects[1]
  local wanted = what == "seconds" and 1
    or not by_samples and size_of(context, reference, reference, what, first)
  local found = tables.map(subjects, function(subject, i)
    if i == 1 or not subject:takes "samples" then return subject end
    return by_samples and subject:with_samples(reference.samples or subject.samples)
      or adjusted(context, subject, reference, what, wanted, first)
  end)
  local sizes, list = sizes_of(context, found, first + PROBES, TOLD), {}
  for i, subject in ipairs(found) do
    local reached = reached_by(subject, sizes[i])
    list[i] = {subject = subject, reached = reached}
    list[i].text = text_of(subject, reached, not by_samples and what, list[1].reached)
  end
  return list
end

return equal
