--- Finds the numbers of samples with which samplers cost the same: their mini-batches then have as
-- many nodes or entries, or take as many seconds, as those of the first sampler.

local equal_nodes = require "ladies.study.equal_nodes"
local medians = require "ladies.statistics.medians"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local timing = require "ladies.lab.cost.timing"
local words = require "ladies.lab.words"

local equal = {}

-- The number of mini-batches from which a size is estimated during the search, and the number for
-- the sizes that are reported in the end.
local PROBES, TOLD = 7, 16

-- The relative difference up to which sizes count as equal.
local FAR = 0.1

-- Measures the sizes of the subjects' mini-batches for n groups from `first` on (see timing.sizes).
local function sizes_of(context, subjects, first, n)
  return timing.sizes(tables.map(subjects, function(subject)
    return {context = context, sampler = context:sampler(subject),
      known = context:exact(context:propagation_of(subject))}
  end), first, function(k) return k <= n end)
end

-- Returns seconds as a multiple of the reference's, which were measured in turns with them, since
-- the machine's speed varies.
local function times_of(seconds, of_first)
  return medians.of(tables.map(seconds, function(x, k) return x / of_first[k] end))
end

-- Returns the size of a subject that is to be made equal: its mean number of nodes or entries; or
-- its seconds as a multiple of the reference's.
local function size_of(context, subject, reference, what, first)
  if what ~= "seconds" then
    return statistics.mean(sizes_of(context, {subject}, first, PROBES)[1][what])
  end
  local of_first, own = table.unpack(sizes_of(context, {reference, subject}, first, PROBES))
  return times_of(own.seconds, of_first.seconds)
end

-- Returns the subject with the number of samples for which its size is nearest to `wanted`.
local function adjusted(context, subject, reference, what, wanted, first)
  local most = equal_nodes.most(subject.config, context.data)
  return subject:with_samples(equal_nodes.nearest(wanted, most, function(samples)
    return size_of(context, subject:with_samples(samples), reference, what, first)
  end))
end

local function reached_by(subject, found)
  return {
    samples = subject:takes "samples" and subject.samples or nil,
    nodes = statistics.interval(found.nodes), entries = statistics.interval(found.entries),
    seconds = medians.interval(found.seconds),
  }
end

-- Describes the sizes of a subject in words, with a remark if `what`, `ratio` times that of the
-- first subject, is far from it. Of seconds that may be chance: other samples may come nearer.
local function text_of(subject, reached, what, ratio)
  local text = ("%s: %s distinct nodes, %s entries, %s ms a mini-batch"):format(subject.title,
    words.interval(reached.nodes, "%.1f"), words.interval(reached.entries, "%.1f"),
    words.interval(reached.seconds, "%.2f", 1e3))
  if not what or math.abs(ratio - 1) <= FAR then return text end
  local remark = what == "seconds" and "measured once more it takes" or "it comes no nearer than"
  return ("%s; %s %.2f times the %s"):format(text, remark, ratio, what)
end

--- equal.find(context, subjects, what, first): gives the subjects the numbers of samples that make
-- `what` of their mini-batches equal to that of the first: the number of "samples", of distinct
-- "nodes" in all layers, of "entries" of all blocks, or the "seconds" of sampling and step, a
-- median. An array of {subject =, reached = {samples =, nodes =, entries =, seconds = intervals},
-- text = that in words}. Those without a number of samples stay as they are, and some come no
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
    local ratio = what == "seconds" and times_of(sizes[i].seconds, sizes[1].seconds)
      or not by_samples and reached[what].mean / list[1].reached[what].mean
    list[i].text = text_of(subject, reached, not by_samples and what, ratio)
  end
  return list
end

return equal
