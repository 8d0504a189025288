--- Decides which causes of bias an examination reports, namely those that its draws prove;
-- ladies.lab.bias.sentences writes the sentences.
--
-- The tests of a kind (scales and masses; the bias of layers; what explains it, in
-- ladies.lab.bias.kinds) are adjusted together: a p-value is significant if it is below LEVEL after
-- Holm's adjustment. An estimate is badly biased if its test is significant and the bias is larger
-- than MUCH.

local bias = require "ladies.lab.bias"
local counts = require "ladies.lab.nodes.counts"
local measure = require "ladies.lab.error.measure"
local sentences = require "ladies.lab.bias.sentences"
local series = require "ladies.statistics.series"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local weights = require "ladies.lab.bias.weights"

local causes = {}

local MUCH = 0.03

--- The probability that the tests of a kind report a fault of a correct sampler, at most.
causes.LEVEL = 0.001

local LEVEL = causes.LEVEL

-- The offset of the groups of draws for layers' bias, so that they differ from those for weights;
-- and the effective share of the errors' number below which they count as heavy-tailed.
local BIAS, EFFECTIVE = 100000, 0.33

-- The draws that are looked at to find out whether rows are divided by their sums.
local LOOKED_AT = 8

-- The attributes of a layer's bias that an examination of its weights may explain.
local WEIGHED = {all = true, columns = true, entries = true}

-- The exponent of ladies.lab.bias.weights above which weights fall too fast with the frequency.
-- Unbiased weights that depend on the draw, as those of draws with replacement, have up to 1.1; 1 /
-- (s p) without replacement has 1.2 and more where it is biased at all.
local TOO_FAST = 1.12

-- Returns the share of a list's sum of squares about `expected` that its largest term has. If it is
-- near 1, the mean depends on one or two draws, and Student's t is not valid.
local function largest_share(list, expected)
  local most, sum = 0, 0
  for _, x in ipairs(list) do
    local square = (x - expected) ^ 2
    most, sum = math.max(most, square), sum + square
  end
  return sum > 0 and most / sum or 0
end

-- Returns those numbers that should be 1 on average and are significantly and clearly different
-- from 1, as a table from key to interval.
local function badly_off(sample)
  local keys, ps, found = {}, {}, {}
  for key in pairs(sample.columns) do
    local number = key:match "%.(%l+)$"
    if (number == "scale" or number == "mass") and not key:find "^parameters" then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys)
  for i, key in ipairs(keys) do ps[i] = statistics.p_value(sample.columns[key], 1) end
  for i, p in ipairs(statistics.holm(ps)) do
    local list = sample.columns[keys[i]]
    local x = statistics.interval(list, 1 - LEVEL)
    if p < LEVEL and math.abs(x.mean - 1) > MUCH and largest_share(list, x.mean) < 0.5 then
      found[keys[i]] = statistics.interval(list)
    end
  end
  return found
end

-- ---------------------------------------------------------------- weights and row sums

local function is_near(x, value, width)
  return x.low > value - width and x.high < value + width
end

-- Returns two booleans about the last layer: whether the rows of its blocks in some draws are
-- divided by their sums, and whether those of P do not sum to one.
local function is_normalized(run, group)
  local divided, unlike_P = nil, false
  for i = 1, LOOKED_AT do
    local blocks = run.context:draw(run.sampler, group, i).blocks
    local block = blocks[#blocks]
    local one = counts.is_divided(block.adj)
    if one ~= nil then divided = divided ~= false and one end
    unlike_P = unlike_P or not counts.sum_to_one(run.known.row_sums[block.dst])
  end
  return divided == true, unlike_P
end

-- Returns the key of the fault in the weights of the last layer, by their exponent and products;
-- nil where they are right or unknown. is_all: whether no attribute explains the layer's bias
-- better than all weights together.
local function trouble_of_weights(seen, normalized, is_all)
  local b, often, rarely = seen.exponent, seen.often, seen.rarely
  if b and b.high < -0.5 then return "inverted" end
  if b and is_near(b, 0, 0.25) then return "unweighted" end
  if is_all and often and rarely and not normalized and is_near(often, rarely.mean, 0.1)
    and (often.low > 1 + MUCH or often.high < 1 - MUCH) then
    return "factor"
  end
  return b and b.low > TOO_FAST and "naive" or nil
end

-- Tells whether the last layer is biased in a way that its weights may explain.
local function asks_for_weights(found, off, last)
  local of_last = ("^layers%%.%d%%."):format(last)
  for key in pairs(off) do
    if key:find(of_last) then return true end
  end
  local best = found[last] and found[last].best
  return best ~= nil and WEIGHED[best.side] == true
end

-- Returns the cause of bias in the weights of the last layer, or nil. first: the first group of
-- draws.
local function of_weights(run, found, off, first)
  local last = run.known.n_layers
  if not asks_for_weights(found, off, last) then return nil end
  local normalized = is_normalized(run, first)
  local seen = weights.examine(run, first, 160, normalized)
  local best = found[last] and found[last].best
  local key = seen and trouble_of_weights(seen, normalized, not best or best.alone == true)
  return key and sentences.of_weights(key, seen, normalized) or nil
end

-- Returns the cause for the layer that loses the most mass because rows lost all of their
-- neighbours; or nil.
local function of_mass(off, sample, has_self_nodes)
  local worst
  for _, key in ipairs(tables.sorted_keys(off)) do
    local layer, x = key:match "^layers%.(%d+)%.mass$", off[key]
    local empty = layer and statistics.interval(sample.columns["connection.empty." .. layer])
    if layer and (empty.low == 1 or x.high < 1 and empty.low > MUCH)
      and not (worst and worst.mass.high <= x.high) then
      worst = {layer = layer, mass = x, empty = empty}
    end
  end
  if not worst then return nil end
  if worst.empty.low == 1 then return sentences.of_no_entries(worst.layer) end
  return sentences.of_lost_mass(worst.layer, worst.mass, worst.empty, has_self_nodes)
end

-- ---------------------------------------------------------------- without a known cause

-- Returns the cause for the first layer with a wrong number, where nothing proves the reason.
local function of_nothing_known(off, broken)
  for _, key in ipairs(tables.sorted_keys(off)) do
    local layer, number = key:match "^layers%.(%d+)%.(%l+)$"
    if layer then return sentences.of_unknown(layer, number, off[key], broken) end
  end
end

-- Returns the largest bias² of a layer, relative to its signal, that the intervals of the sample
-- allow; infinite unless it is known for each layer.
local function bound_of_layers(sample, layers)
  local most = 0
  for l = 1, layers do
    local column = sample.columns[("layers.%d.bias"):format(l)] or {}
    if #column < 2 then return math.huge end
    most = math.max(most, statistics.interval(column).high)
  end
  return most
end

-- Returns the cause for an embedding or a gradient that is biased although every layer is, or may
-- be, unbiased.
local function of_nonlinearity(off, sample, known)
  local name = off["gradient.scale"] and "gradient" or "embedding"
  local x, bound = off[name .. ".scale"], bound_of_layers(sample, known.n_layers)
  return sentences.of_nonlinearity(name, x, bound, bound < ((x.mean - 1) / 2) ^ 2,
    known.problem.is_gcn and "ReLU" or "its layers")
end

-- Returns the causes for layers whose bias² is significant and about which nothing else is
-- reported.
local function of_layers(sample, layers, told, broken, is_divided)
  local keys, ps, list = {}, {}, {}
  for l = 1, layers do
    local column = sample.columns[("layers.%d.bias"):format(l)]
    if column then
      keys[#keys + 1] = l
      ps[#ps + 1] = statistics.p_value(column, 0)
    end
  end
  for i, p in ipairs(statistics.holm(ps)) do
    local l = keys[i]
    local column = sample.columns[("layers.%d.bias"):format(l)]
    local x = statistics.interval(column)
    if p < LEVEL and x.mean > MUCH ^ 2 and not told[l] and largest_share(column, x.mean) < 0.5 then
      list[#list + 1] = sentences.of_layer(l, x, broken, is_divided)
    end
  end
  return list
end

-- Returns the causes for errors that are dominated by a few draws.
local function of_tails(sample, layers, told)
  local function tail(key, name)
    local column = sample.columns[key]
    if not column or #column < 8 then return nil end
    local x, share = statistics.interval(column), series.effective(column)
    if x.mean < measure.ROUNDING or x.low > 0 and share > EFFECTIVE then return nil end
    return sentences.of_unequal_errors(name, column, share, largest_share(column, 0))
  end
  local list, any = {}, next(told) ~= nil
  for l = 1, layers do
    if not told[l] then list[#list + 1] = tail(("layers.%d.error"):format(l), "layer " .. l) end
  end
  if #list == 0 and not any then
    list[1] = tail("embedding.error", "the embedding") or tail("gradient.error", "the gradient")
  end
  return list
end

-- ---------------------------------------------------------------- all of them

-- Returns the numbers of the layers in `found`, results of ladies.lab.bias by layer, the most
-- biased one first.
local function worst_first(found)
  local order = tables.sorted_keys(found)
  table.sort(order, function(a, b)
    local x, y = sentences.amount(found[a]), sentences.amount(found[b])
    return x > y or x == y and a < b
  end)
  return order
end

--- Tells whether some causes of bias have a warning of heavy tails. Means of the draws and their
-- intervals do not hold then: rare draws decide, of which these may have met none.
function causes.has_tails(list)
  for _, one in ipairs(list) do
    if one.key == "tails" or one.key:find "^bias%.%d+%.tails$" then return true end
  end
  return false
end

--- Finds the causes of bias, and returns them with the worst first, an array of {key =, kind =
-- "fault" | "warning", text =, proof =, remedy =}, empty where there is none. run, sample: those of
-- measure.run, and run.keeps, whether the sampler has the setting self_nodes; first: the first
-- group for further draws; seconds: for these; broken: whether the sampler breaks its contract,
-- which may be the reason.
function causes.examine(run, sample, first, seconds, broken)
  local off, list, told, found = badly_off(sample), {}, {}, {}
  local last = run.known.n_layers
  local function add(cause) list[#list + 1] = cause end
  for _, one in ipairs(bias.examine(run, first + BIAS, {seconds = seconds})) do
    found[one.layer] = one
  end
  add(of_weights(run, found, off, first))
  add(of_mass(off, sample, run.keeps))
  local is_divided = false
  if next(off) or next(found) then
    local normalized, unlike_P = is_normalized(run, first)
    is_divided = normalized and unlike_P
  end
  if is_divided then add(sentences.of_normalization()) end
  for _, l in ipairs(worst_first(found)) do
    for _, cause in ipairs(sentences.of(found[l])) do
      told[l] = true
      add(cause)
    end
  end
  tables.append(list, of_layers(sample, last, told, broken, is_divided))
  tables.append(list, of_tails(sample, last, told))
  if #list > 0 then return list end
  local cause = of_nothing_known(off, broken)
    or next(off) and of_nonlinearity(off, sample, run.known) or nil
  return {cause}
end

return causes
