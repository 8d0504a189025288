--- What is wrong with an estimate that is badly biased, as far as it can be proved, and what helps.
--
-- Tests of one examination are looked at together: a p-value counts after Holm's adjustment, below
-- LEVEL. An estimate is badly biased when that is so and it is off by more than MUCH.

local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"
local weights = require "ladies.lab.weights"

local causes = {}

local MUCH = 0.03

--- The chance that a sound sampler is blamed.
causes.LEVEL = 0.001

local LEVEL = causes.LEVEL

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
local function of_weights(seen, normalized)
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
  elseif often and rarely and not normalized and is_near(often, rarely.mean, 0.1)
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

-- The embedding or the gradient is off although every layer is right.
local function of_nonlinearity(off)
  local x = off["gradient.scale"] or off["embedding.scale"]
  return {key = "nonlinear", kind = "warning", text = ("the %s comes out %.2f times as large, "
    .. "though no layer by itself is off beyond chance by more than %g %%"):format(
    off["gradient.scale"] and "gradient" or "embedding", x.mean, 100 * MUCH),
    proof = "along the exact one it has " .. text_of(x),
    remedy = "ReLU and the loss are not linear, so the variance of a layer is bias behind them: "
      .. "more samples lower both"}
end

--- What is badly biased and why: an array of {key =, kind = "fault" | "warning", text =, proof =,
-- remedy =}; empty where nothing is. run, sample: those of measure.run, and run.keeps, whether the
-- sampler has the setting self_nodes; first: the first group for further draws; broken: whether the
-- sampler breaks its contract, which may be why.
function causes.examine(run, sample, first, broken)
  local off, list = badly_off(sample), {}
  local in_layers = false
  for key in pairs(off) do in_layers = in_layers or key:find "^layers" ~= nil end
  if not next(off) then return list end
  if not in_layers then return {of_nonlinearity(off)} end
  local function add(cause) list[#list + 1] = cause end
  local normalized, of_P = is_normalized(run, first)
  local seen = weights.examine(run, first, 160, normalized)
  add(seen and of_weights(seen, normalized) or nil)
  add(of_mass(off, sample, run.keeps))
  add(of_normalization(normalized, of_P))
  if #list > 0 then return list end
  add(of_nothing_known(off, broken))
  return list
end

return causes
