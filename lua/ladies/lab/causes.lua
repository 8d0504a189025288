--- What is wrong with an estimate that is badly biased, as far as it can be proved, and what helps.
--
-- Tests of one examination are looked at together: a p-value counts after Holm's adjustment, below
-- LEVEL. An estimate is badly biased when that is so and it is off by more than MUCH.

local bias = require "ladies.lab.bias"
local bias_sentences = require "ladies.lab.bias.sentences"
local measure = require "ladies.lab.measure"
local series = require "ladies.lab.bias.series"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"
local weights = require "ladies.lab.weights"

local percent = bias_sentences.percent

local causes = {}

local MUCH = 0.03

--- The chance that a sound sampler is blamed.
causes.LEVEL = 0.001

local LEVEL = causes.LEVEL

-- The first group of the draws for a layer's bias, above that of the weights; what weights may tell
-- of; and the share of their number that groups are worth without heavy tails.
local BIAS, EFFECTIVE = 100000, 0.33
local WEIGHED = {all = true, columns = true, entries = true}

-- The exponent of ladies.lab.weights from which on weights fall too fast. Unbiased weights that
-- depend on the draw, as those of draws with replacement, have up to 1.1; 1 / (s p) without
-- replacement has 1.2 and more where it is biased at all.
local TOO_FAST = 1.12

-- The share of the squares of a list about `expected` that its largest element has. Near 1, a mean
-- rests on a draw or two, and Student's t does not hold.
local function largest_share(list, expected)
  local most, sum = 0, 0
  for _, x in ipairs(list) do
    local square = (x - expected) ^ 2
    most, sum = math.max(most, square), sum + square
  end
  return sum > 0 and most / sum or 0
end

-- Of the numbers whose mean is 1 without bias those that are badly off: key -> interval.
local function badly_off(sample)
  local keys, ps, found = {}, {}, {}
  for key, list in pairs(sample.columns) do
    local number = key:match "%.(%l+)$"
    if (number == "scale" or number == "mass") and not key:find "^parameters" and #list > 2 then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys)
  for i, key in ipairs(keys) do ps[i] = student.p_value(sample.columns[key], 1) end
  for i, p in ipairs(student.holm(ps)) do
    local list = sample.columns[keys[i]]
    local x = student.interval(list, 1 - LEVEL)
    if p < LEVEL and math.abs(x.mean - 1) > MUCH and largest_share(list, x.mean) < 0.5 then
      found[keys[i]] = student.interval(list)
    end
  end
  return found
end

local function text_of(x, format)
  format = format or "%.2f"
  return (format .. " (" .. format .. " to " .. format .. ")"):format(x.mean, x.low, x.high)
end

local function is_near(x, value, width)
  return x.low > value - width and x.high < value + width
end

-- Rows of the last layer's blocks that are not empty sum to one, and those of P do not.
local function is_normalized(run, group)
  local block = run.context:draw(run.sampler, group, 1).blocks
  block = block[#block]
  local function off(sums)
    local there = sums:square():above(0)
    return ((sums - 1) * there):abs():max()
  end
  return off(block.adj:row_sums()) < 1e-4, off(run.known.row_sums[block.dst]) > 1e-3
end

-- What the weights of the last layer are by their exponent and products, as a cause; nil where they
-- are as they should be, or cannot be known. Of rows that are divided by their sums it is a
-- warning: they may be meant as means, or as ratio estimates whose bias is small with many samples.
-- is_all: whether nothing tells better by what the layer is off than all of its weights.
local function of_weights(seen, normalized, is_all)
  local b, often, rarely = seen.exponent, seen.often, seen.rarely
  local proof = ("%sfrequency times weight, 1 without bias: %s for entries that most draws have, "
    .. "%s for those that few have"):format(
    b and ("between the entries of a row weights go as frequency^%s; ")
      :format(text_of{mean = -b.mean, low = -b.high, high = -b.low}) or "",
    often and text_of(often) or "not known", rarely and text_of(rarely) or "not known")
  local function cause(key, text, remedy)
    return {key = key, kind = normalized and "warning" or "fault", text = text, proof = proof,
      remedy = remedy}
  end
  if b and b.high < -0.5 then
    return cause("inverted", "the weights are upside down: entries that are drawn often weigh more "
      .. "than those that are drawn rarely",
      "divide by the probabilities (scale_cols(w) with the weights of sampling.choice)")
  elseif b and is_near(b, 0, 0.25) then
    return cause("unweighted", "entries are not weighted by how often they are drawn",
      "multiply by the design weights that sampling.choice and sample_rows return")
  elseif is_all and often and rarely and not normalized and is_near(often, rarely.mean, 0.1)
    and (often.low > 1 + MUCH or often.high < 1 - MUCH) then
    return cause("factor", ("all weights are %.3g times what they should be"):format(often.mean),
      often.high < 0 and "look for a sign" or "look for a factor that is there twice, or a "
        .. "number of samples that is not that of the draws")
  elseif b and b.low > TOO_FAST then
    return cause("naive", "the weights fall faster than one over the frequency of draws, so "
      .. "that what is drawn rarely counts too much",
      "where nodes are drawn without replacement 1 / (s p) does so: choice with debias = true, "
        .. "draw = \"wr\" or \"poisson\""
        .. (normalized and "" or ", or rows divided by their sums"))
  end
end

-- Rows of a layer that lost all of their neighbours, where mass is lost. keeps: whether the sampler
-- has the setting self_nodes.
local function of_mass(off, sample, keeps)
  for key, x in pairs(off) do
    local layer = key:match "^layers%.(%d+)%.mass$"
    local empty = layer and student.interval(sample.columns["connection.empty." .. layer])
    if layer and empty.low == 1 then
      return {key = "mass", kind = "fault", text = ("layer %s has no entries at all"):format(layer),
        proof = "no row of it has one, in any draw",
        remedy = "look at what is drawn for this layer"}
    elseif layer and x.high < 1 and empty.low > MUCH then
      return {key = "mass", kind = "warning", text = ("rows of layer %s lose their mass: %.0f %% "
        .. "of them have no entry left"):format(layer, 100 * empty.mean),
        proof = "row sums over those of P: " .. text_of(x),
        remedy = ("more samples, or %s, so that a node has itself at least"):format(keeps
          and 'self_nodes = "previous"' or "each layer's dst among its src")}
    end
  end
end

local function of_normalization(normalized, of_P)
  if not (normalized and of_P) then return nil end
  return {key = "normalized", kind = "warning", text = "the rows of the blocks sum to one, those "
    .. "of P do not: training estimates P with rows divided by their sums, inference takes P",
    proof = "row sums of the blocks are 1 within 0.0001, those of P are not within 0.001",
    remedy = 'normalize = "row", whose rows sum to one; or unbiased weights, and rows that are not '
      .. "divided by their sums"}
end

-- The names of the numbers that can be off, as the report has them.
local NAMES = {scale = "size along the exact one", mass = "row sums of P~ over those of P"}

-- A layer that is off, where nothing proves why: the lowest, farthest from what was looked at.
-- broken: whether the sampler breaks its contract.
local function of_nothing_known(off, broken)
  for _, key in ipairs(tables.sorted_keys(off)) do
    local layer, number = key:match "^layers%.(%d+)%.(%l+)$"
    if layer then
      return {key = "biased", kind = "warning", text = ("layer %s: %s is %s, which should be 1")
        :format(layer, NAMES[number], text_of(off[key])),
        proof = "by Student's t, below 0.001 with all tests of this page counted",
        remedy = broken and "first mend what is said above, which may be the cause"
          or "no cause was proved: look at how this layer is drawn and weighted; compare with more "
          .. "samples, and with a sampler that is known"}
    end
  end
end

-- The largest bias² of a layer that the intervals of the sample allow, as a share of its signal,
-- and whether there is one for each layer.
local function bound_of_layers(sample, layers)
  local most = 0
  for l = 1, layers do
    local column = sample.columns[("layers.%d.bias"):format(l)] or {}
    if #column < 2 then return math.huge end
    most = math.max(most, student.interval(column).high)
  end
  return most
end

-- The embedding or the gradient is off although every layer is right, or may be right.
local function of_nonlinearity(off, sample, layers)
  local of_gradient = off["gradient.scale"] ~= nil
  local x = off["gradient.scale"] or off["embedding.scale"]
  local name, bound = of_gradient and "gradient" or "embedding", bound_of_layers(sample, layers)
  local proof = "along the exact one it has " .. text_of(x)
  if bound < ((x.mean - 1) / 2) ^ 2 then
    return {key = "nonlinear", kind = "warning", text = ("the %s comes out %.2f times as large, "
      .. "though no layer by itself is off by more than %s"):format(name, x.mean,
      percent(math.sqrt(bound))),
      proof = proof .. "; the bias of every layer is within its interval",
      remedy = "ReLU and the loss are not linear, so the variance of a layer is bias behind them: "
        .. "more samples lower both"}
  end
  return {key = "undecided", kind = "warning", text = ("the %s comes out %.2f times as large, "
    .. "and no layer by itself is off beyond chance%s"):format(name, x.mean, bound < math.huge
      and (", though one may be by up to %s"):format(percent(math.sqrt(bound))) or ""),
    proof = proof, remedy = "more draws (--seconds) tell whether a layer is off; --same-as NAME, a "
      .. "sampler that it should equal in distribution, tells sooner; more samples lower the "
      .. "variance, which ReLU and the loss turn into bias"}
end

-- Layers whose bias² is beyond chance, of which nothing else is said: an array of causes.
-- is_divided: whether rows are divided by their sums, and P's do not sum to one.
local function of_layers(sample, layers, told, broken, is_divided)
  local keys, ps, list = {}, {}, {}
  for l = 1, layers do
    local column = sample.columns[("layers.%d.bias"):format(l)]
    if column and #column > 2 then
      keys[#keys + 1] = l
      ps[#ps + 1] = student.p_value(column, 0)
    end
  end
  for i, p in ipairs(student.holm(ps)) do
    local l = keys[i]
    local column = sample.columns[("layers.%d.bias"):format(l)]
    local x = student.interval(column)
    if p < LEVEL and x.mean > MUCH ^ 2 and not told[l] and largest_share(column, x.mean) < 0.5 then
      list[#list + 1] = {key = "biased", kind = "warning", text = ("layer %d is off by %s, "
        .. "%s"):format(l, percent(math.sqrt(x.mean)), is_divided
        and "since its rows are divided by their sums, and those of P are not"
        or "by nothing that is known of its rows, columns or entries"),
        proof = ("bias² / signal is %s"):format(text_of(x, "%.3g")),
        remedy = broken and "first mend what is said above, which may be the cause"
          or "compare with more samples, and with a sampler that is known; --same-as NAME tells "
            .. "what differs"}
    end
  end
  return list
end

-- Errors that rest on a few draws: an array of causes.
local function of_tails(sample, layers, told)
  local function tail(key, name)
    local column = sample.columns[key]
    if not column or #column < 8 then return nil end
    local x, share = student.interval(column), series.effective(column)
    if x.mean < measure.ROUNDING or x.low > 0 and share > EFFECTIVE then return nil end
    return {key = "tails", kind = "warning", text = ("%s has heavy tails: the errors of %d sets of "
      .. "seeds are so unequal that they are worth %.0f"):format(name, #column,
      math.max(1, share * #column)), proof = ("error / signal is %s, and the largest has %.0f "
        .. "%% of the sum of squares"):format(text_of(x, "%.3g"), 100 * largest_share(column, 0)),
      remedy = "rare, large weights make errors that few draws meet, and intervals that miss them: "
        .. "bound the weights, or draw more often what has a large one"}
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

-- Whether the last layer is off by what its weights may tell.
local function asks_for_weights(found, off, last)
  local of_last = ("^layers%%.%d%%."):format(last)
  for key in pairs(off) do
    if key:find(of_last) then return true end
  end
  local best = found[last] and found[last].best
  return best ~= nil and WEIGHED[best.side] == true
end

--- What is off and why: an array of {key =, kind = "fault" | "warning", text =, proof =, remedy =},
-- the worst first; empty where nothing is. run, sample: those of measure.run, and run.keeps,
-- whether the sampler has the setting self_nodes; first: the first group for further draws;
-- seconds: for these; broken: whether the sampler breaks its contract, which may be why.
function causes.examine(run, sample, first, seconds, broken)
  local off, list, told, found = badly_off(sample), {}, {}, {}
  local last = run.known.n_layers
  local function add(cause) list[#list + 1] = cause end
  for _, one in ipairs(bias.examine(run, first + BIAS, seconds)) do found[one.layer] = one end
  if asks_for_weights(found, off, last) then
    local normalized = is_normalized(run, first)
    local seen = weights.examine(run, first, 160, normalized)
    local best = found[last] and found[last].best
    add(seen and of_weights(seen, normalized, not best or best.side == "all") or nil)
  end
  add(of_mass(off, sample, run.keeps))
  local divided = (next(off) or next(found)) and of_normalization(is_normalized(run, first)) or nil
  add(divided)
  local order = tables.sorted_keys(found)
  table.sort(order, function(a, b)
    local x, y = bias_sentences.amount(found[a]), bias_sentences.amount(found[b])
    return x > y or x == y and a < b
  end)
  for _, l in ipairs(order) do
    for _, cause in ipairs(bias_sentences.of(found[l])) do
      told[l] = true
      add(cause)
    end
  end
  tables.append(list, of_layers(sample, last, told, broken, divided ~= nil))
  tables.append(list, of_tails(sample, last, told))
  local in_layers = false
  for key in pairs(off) do in_layers = in_layers or key:find "^layers" ~= nil end
  if #list > 0 then return list end
  if in_layers then
    add(of_nothing_known(off, broken))
  elseif next(off) then
    add(of_nonlinearity(off, sample, last))
  end
  return list
end

return causes
