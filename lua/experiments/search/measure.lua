--- Measures a point of the search on a graph: its errors beside exact values, and the processor
-- time of its mini-batches beside LADIES', at as many distinct nodes or at the same seconds.

local beside = require "experiments.bench.beside_ladies"
local context = require "ladies.lab.context"
local counts = require "ladies.lab.nodes.counts"
local equal_nodes = require "ladies.study.equal_nodes"
local errors = require "ladies.base.errors"
local measured = require "ladies.lab.error.measure"
local medians = require "ladies.statistics.medians"
local subject = require "ladies.lab.subject"

local measure = {}

-- The network, as in doc/gallery.md.
local NETWORK = {layers = 2, hidden = 64, batch_size = 512, steps = 5}

-- The samples of pooled draws whose distinct nodes all others get: two a row and layer; and the
-- mini-batches from which nodes and times are estimated while numbers of samples are looked for.
local POOLED, PROBES, ROUNDS = 4, 3, 15

-- How often a number of samples is looked for whose time is not near, within a tenth.
local LOOKS, NEAR = 3, 0.1

-- The first groups of the probes; those of a rung are given.
local PROBE = 80001

--- The numbers that are kept of each group.
measure.KEYS = {"embedding.error", "embedding.bias", "gradient.error", "gradient.bias"}

local Graph = {}
Graph.__index = Graph

--- measure.graph(data, seed): a graph with its network, for the functions below.
function measure.graph(data, seed)
  local opts = {layers = NETWORK.layers, hidden = NETWORK.hidden, steps = NETWORK.steps,
    batch_size = NETWORK.batch_size, seed = seed}
  return setmetatable({data = data, opts = opts, shared = context.new(data, opts)}, Graph)
end

-- Returns the laboratory's subject of a point's file, with these samples.
function Graph:subject(path, samples)
  return subject.of("ladies lab search", ("%s:%d"):format(path, samples), self.data, self.opts)
end

-- Returns the mean number of distinct nodes of a few mini-batches, which nothing is computed with.
function Graph:nodes(path, samples)
  local one = self:subject(path, samples)
  local sampler, sum = self.shared:sampler(one), 0
  for i = 1, PROBES do
    sum = sum + counts.nodes(self.shared:sampled(sampler, PROBE + i, 1))
  end
  return sum / PROBES
end

--- graph:wanted(path): the distinct nodes that all points are given, those of pooled draws, which
-- cannot have any number.
function Graph:wanted(path) return self:nodes(path, POOLED) end

--- graph:samples_for(path, nodes): the number of samples with which a point has as many distinct
-- nodes.
function Graph:samples_for(path, nodes)
  return equal_nodes.nearest(nodes, self.data.graph.n_nodes, function(samples)
    return self:nodes(path, samples)
  end)
end

-- Returns the run of a point, as the laboratory's measurements take one.
function Graph:run(path, samples, draws)
  return beside.run(self.shared, self:subject(path, samples), draws)
end

-- Returns the ratios of a run's seconds of sampling and step to those of LADIES, in turns.
local function ratios_of(base, run, rounds) return beside.times(base, run, rounds)[2].ratios end

--- measure.in_time(ratio_of, most): the number of samples, 1 to most, of which ratio_of(samples), a
-- ratio of times, is nearest to 1. A moment in which the machine was busy may lead astray where it
-- is looked for, so it is measured once more, and looked for again where it is far from 1; at last
-- it is the nearest that was found. One that cannot be measured is returned, for what is measured
-- next to tell why.
function measure.in_time(ratio_of, most)
  local best, least
  for _ = 1, LOOKS do
    local samples = equal_nodes.nearest(1, most, ratio_of)
    local ok, ratio = errors.try(ratio_of, samples)
    if not ok then return samples end
    local off = math.abs(math.log(ratio))
    if not best or off < least then best, least = samples, off end
    if least < NEAR then break end
  end
  return best
end

--- graph:samples_in_time(path, base): the number of samples with which the mini-batches of a point
-- take as long as those of `base`, {path =, samples =}.
function Graph:samples_in_time(path, base)
  local of_base = self:run(base.path, base.samples, 1)
  return measure.in_time(function(samples)
    return medians.of(ratios_of(of_base, self:run(path, samples, 1), ROUNDS))
  end, self.data.graph.n_nodes)
end

--- graph:point(path, samples, base, rung): measures a point with so many samples: {samples =, nodes
-- =, columns = a list over groups by each of measure.KEYS, ratios = of its seconds to those of
-- LADIES}; {failure = a text} where it fails. rung: {first = group, groups =, draws =, batches =}.
function Graph:point(path, samples, base, rung)
  local ok, found = errors.try(function()
    local run = self:run(path, samples, rung.draws)
    local columns, kept = measured.columns(run, rung.first, rung.first + rung.groups - 1), {}
    for _, key in ipairs(measure.KEYS) do kept[key] = columns[key] end
    return {samples = samples, nodes = self:nodes(path, samples), columns = kept,
      ratios = ratios_of(self:run(base.path, base.samples, 1), run, rung.batches)}
  end)
  return ok and found or {failure = errors.message(found)}
end

return measure
