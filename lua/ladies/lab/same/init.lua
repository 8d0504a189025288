--- Tests whether two samplers have the same distribution, of the contents of mini-batches and of
-- the dependence between draws and between layers, as far as the numbers of ladies.lab.same.traits
-- show it.
--
-- Both draw for the same groups of seeds, with different random numbers. Two consecutive draws of
-- one sampler are a unit, which has the mean of each number over the two, its difference between
-- them, and how much the two have in common; so a sampler that repeats draws or remembers earlier
-- ones is recognized too. Units of the two samplers are compared by ladies.lab.same.permutations.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local numbered_batches = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local permutations = require "ladies.lab.same.permutations"
local sampling = require "ladies.sampling"
local statistics = require "ladies.statistics"
local Subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local traits = require "ladies.lab.same.traits"

local same = {}

-- The number of nodes in each layer whose draws are counted individually, and the number of nodes
-- whose pairs are counted.
local NODES, PAIRED = 16, 10

-- The most differences that a fault names.
local TOLD = 3

-- The difference of two means, as such and as a share of their size, that is taken for rounding.
local ROUNDING, OF_SIZE = 1e-9, 1e-5

-- The number of the random stream for the permutations, different from those of context.lua with
-- the same seed.
local EXCHANGES = -11

--- The default number of draws of each sampler.
same.DRAWS = 128

local SPEC = {
  draws = {"positive integer", same.DRAWS},
  groups = {"positive integer", 16},
  level = {"positive number", 0.001},
  order = {"boolean", false},
}

-- ---------------------------------------------------------------- units

-- Makes one side of the comparison, a sampler with its units and draws. One side has the draws with
-- even numbers, the other those with odd numbers.
local function side_of(subject, context, parity)
  return {subject = subject, sampler = context:sampler(subject), parity = parity, units = {},
    draws = {}}
end

-- Makes draw i of a group and checks it; records if it has other parts than the first draw.
local function draw(run, side, group, i)
  local batch = run.context:draw(side.sampler, group, 2 * i + side.parity)
  sampling.check(batch, side.subject.title, {nodes = run.traits.P.n_rows})
  local shape = traits.shape(batch)
  run.shape = run.shape or shape
  if shape ~= run.shape then run.other_shape = run.other_shape or {side = side, shape = shape} end
  return batch
end

-- Returns the distinct ids of each layer's sources, for counting single nodes.
local function sources_of(batch)
  return tables.map(batch.blocks, function(block) return sampling.unique(block.src) end)
end

-- Makes two draws of a group and adds them as a unit.
local function add_unit(run, side, group, number)
  local first = draw(run, side, group, 2 * number - 1)
  local second = draw(run, side, group, 2 * number)
  if run.other_shape then return end
  local names = not run.names and {} or nil
  local pair_names = names and {}
  local a, b = run.traits:of(first, names), run.traits:of(second)
  local common = traits.of_pair(first, second, pair_names)
  local n, unit = #a, {}
  for k = 1, n do
    local far, rounding = (a[k] - b[k]) ^ 2, (1e-5 * (a[k] + b[k])) ^ 2
    unit[k], unit[n + k] = (a[k] + b[k]) / 2, far > rounding and far / 2 or 0
  end
  table.move(common, 1, #common, 2 * n + 1, unit)
  side.units[#side.units + 1] = unit
  table.insert(side.draws, sources_of(first))
  table.insert(side.draws, sources_of(second))
  if names then
    for k = 1, n do
      names[n + k] = {text = "the variance between draws of " .. names[k].text,
        is_random = names[k].is_random}
    end
    run.names = table.move(pair_names, 1, #pair_names, 2 * n + 1, names)
  end
end

-- Returns an array with 1 for each of some nodes that is among the ids and 0 for the others,
-- followed by such a number for each pair of the first nodes, 1 if both are.
local function presence(nodes, ids)
  local list = core.zeros(#nodes):add_at_(sampling.find(nodes, ids), 1):to_table()
  local paired = math.min(PAIRED, #nodes)
  for i = 1, paired do
    for j = i + 1, paired do list[#list + 1] = list[i] * list[j] end
  end
  return list
end

-- Returns the names of the numbers of `presence`.
local function presence_names(run, nodes, layer)
  local ids, list = nodes:to_table(), {}
  for i, id in ipairs(ids) do
    list[i] = {text = ("the share of draws with node %d (degree %d) in layer %d"):format(id,
      run.traits.degrees:get(id, 1), layer)}
  end
  local paired = math.min(PAIRED, #ids)
  for i = 1, paired do
    for j = i + 1, paired do
      list[#list + 1] = {text = ("the share of draws with both nodes %d and %d in layer %d")
        :format(ids[i], ids[j], layer)}
    end
  end
  return list
end

-- Adds to every unit how often some nodes were drawn in a layer.
local function add_nodes(run, sides, layer)
  local all = {}
  for _, side in ipairs(sides) do
    for _, sources in ipairs(side.draws) do all[#all + 1] = sources[layer] end
  end
  local nodes = run.traits:uncertain(all, NODES)
  local before = #run.names
  tables.append(run.names, presence_names(run, nodes, layer))
  for _, side in ipairs(sides) do
    for i, unit in ipairs(side.units) do
      local first = presence(nodes, side.draws[2 * i - 1][layer])
      local second = presence(nodes, side.draws[2 * i][layer])
      for k, there in ipairs(first) do unit[before + k] = (there + second[k]) / 2 end
    end
  end
end

-- ---------------------------------------------------------------- words

-- Returns the mean of number k over the units first .. last of a side.
local function mean_of(side, k, first, last)
  local sum = 0
  for i = first, last do sum = sum + side.units[i][k] end
  return sum / (last - first + 1)
end

-- Returns the first and the last unit of the group in which the two sides differ most in number k.
local function widest_group(run, x, y, k)
  local size, first, most = #x.units // run.opts.groups, 1, -1
  for g = 0, run.opts.groups - 1 do
    local from, to = g * size + 1, (g + 1) * size
    local far = math.abs(mean_of(x, k, from, to) - mean_of(y, k, from, to))
    if far > most then first, most = from, far end
  end
  return first, first + size - 1
end

-- Returns the means of a number of both sides: over all units or, where the sides differ by group,
-- over those of the group in which they differ most.
local function means_of(run, x, y, one)
  local first, last = 1, #x.units
  if one.by_group then first, last = widest_group(run, x, y, one.k) end
  return mean_of(x, one.k, first, last), mean_of(y, one.k, first, last)
end

-- Describes a difference in words and numbers.
local function describe(run, x, y, one)
  local a, b = means_of(run, x, y, one)
  return ("%s%s: %.4g a mini-batch, %s %.4g"):format(run.names[one.k].text,
    one.by_group and " for some seeds" or "", a, y.subject.title, b)
end

-- Tells whether the sides differ in a number by rounding alone.
local function is_rounding(run, x, y, one)
  local a, b = means_of(run, x, y, one)
  return math.abs(a - b) <= math.max(ROUNDING, OF_SIZE * math.max(math.abs(a), math.abs(b)))
end

-- Returns the numbers that differ, the most different first; those of random functions, which are
-- hard to interpret, come last. The p-values of those that differ by rounding alone become 1.
local function differing(run, x, y, ps, strengths, by_group)
  local list = {}
  for k, p in ipairs(ps) do
    local one = {k = k, p = p, by_group = by_group[k],
      rank = strengths[k] - (run.names[k].is_random and 100 or 0)}
    if p <= run.opts.level then
      if is_rounding(run, x, y, one) then ps[k] = 1 else list[#list + 1] = one end
    end
  end
  table.sort(list, function(a, b) return a.rank > b.rank or a.rank == b.rank and a.k < b.k end)
  return list
end

-- ---------------------------------------------------------------- the examination

local function fault_of(x, y, text, proof)
  return {key = "same", text = ("%s is not %s: %s"):format(x.subject.title, y.subject.title, text),
    proof = proof}
end

-- Returns a text about a difference in the fields of the two samplers, or nil.
local function plain_difference(x, y)
  local own_x = numbered_batches.own_batches(x.sampler)
  local own_y = numbered_batches.own_batches(y.sampler)
  if own_x ~= own_y then
    return ("mini-batches of its own in an epoch: %s, %s %s"):format(own_x or "none",
      y.subject.title, own_y or "none")
  end
  local steps_x, steps_y = Subject.is_adaptive(x.sampler), Subject.is_adaptive(y.sampler)
  if steps_x ~= steps_y then
    return ("adaptive: %s, %s %s"):format(steps_x, y.subject.title, steps_y)
  end
end

-- Makes the draws of both sides; returns a sentence if their mini-batches differ in which parts
-- they have.
local function compare_draws(run, x, y)
  local units = run.opts.draws // (2 * run.opts.groups)
  run.traits:common_to(draw(run, y, 1, 1), draw(run, x, 1, 1))
  for group = 1, run.opts.groups do
    for number = 1, units do
      add_unit(run, y, group, number)
      add_unit(run, x, group, number)
      if run.other_shape then
        return ("a mini-batch has %s; %s's first one %s"):format(run.other_shape.shape,
          y.subject.title, run.shape)
      end
    end
  end
  for layer = 1, #x.draws[1] do add_nodes(run, {x, y}, layer) end
end

-- Tests the numbers of all units; returns findings and faults.
local function test(run, x, y)
  local rng = core.rng(run.context.opts.seed):fork(EXCHANGES)
  local ps, strengths, by_group = permutations.test(x.units, y.units, run.opts.groups,
    run.opts.level, rng)
  local list = differing(run, x, y, ps, strengths, by_group)
  local least = math.min(table.unpack(ps))
  local findings = {{key = "same.p", section = "contract", mean = least, low = least, high = least,
    n = #x.draws, format = "%.4f", is_p_value = true,
    label = ("p-value of being the same in distribution as %s"):format(y.subject.title),
    sentence = #list == 0 and ("%d numbers of %d draws of each do not tell it from %s: a p-value "
      .. "of at most %g would."):format(#run.names, #x.draws, y.subject.title, run.opts.level)
      or nil}}
  if #list == 0 then return findings, {} end
  local texts = {}
  for i = 1, math.min(TOLD, #list) do
    local k, differences = list[i].k, {}
    texts[i] = describe(run, x, y, list[i])
    for u, unit in ipairs(x.units) do differences[u] = unit[k] - y.units[u][k] end
    local interval = statistics.interval(differences)
    findings[#findings + 1] = {key = "same.difference." .. i, section = "contract",
      label = ("difference from %s in %s"):format(y.subject.title, run.names[k].text),
      mean = interval.mean, low = interval.low, high = interval.high, n = interval.n,
      format = "%.4g"}
  end
  return findings, {fault_of(x, y, table.concat(texts, "; "),
    ("of %d numbers of %d draws of each, %d differ more than in all but a share of %g of the "
      .. "random exchanges between the two"):format(#run.names, #x.draws, #list, run.opts.level))}
end

--- same.examine(subject, reference, context, opts) -> findings, faults: tests whether the two
-- subjects' mini-batches have the same distribution; both are subjects of ladies.lab. opts:
-- draws    of each (128), in `groups` of seeds (16)
-- level    the chance of a fault where there is no difference (0.001)
-- order    whether the order of the ids in src counts (false)
-- Both are samplers of the reference's P. Adaptive samplers have seen the same training steps; what
-- they remember of these depends on their draws, so two of them are the same only if they use their
-- random numbers alike. Numbers in batch.stats are compared if both samplers give them. There is at
-- most one fault, which names what differs most.
function same.examine(subject, reference, context, opts)
  opts = options.check("ladies.lab", opts, SPEC)
  if opts.draws < 2 * opts.groups then
    errors.fail(("ladies.lab: %d draws are too few for %d groups, expected two of each at least")
      :format(opts.draws, opts.groups))
  end
  local x, y = side_of(subject, context, 0), side_of(reference, context, 1)
  local run = {context = context, opts = opts,
    traits = traits.new(context:propagation_of(reference), context.opts.seed, opts.order)}
  local text = plain_difference(x, y) or compare_draws(run, x, y)
  if text then return {}, {fault_of(x, y, text, "it is so of the samplers, not of their draws")} end
  return test(run, x, y)
end

return same
