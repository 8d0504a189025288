--- Writes the sentences of the laboratory about bias: a cause, with its proof and a remedy, for
-- each finding of ladies.lab.causes and ladies.lab.bias.kinds.
--
-- These functions only choose the words; their callers have decided what is said. Every number in a
-- sentence is from the finding that is given. A cause is {key =, kind = "fault" | "warning", text
-- =, proof =, remedy =}.

local kinds = require "ladies.lab.bias.kinds"
local statistics = require "ladies.statistics"
local words = require "ladies.lab.words"

local sentences = {}

local percent, interval = words.about_percent, words.interval

local FIRST_MEND = "first mend what is said above, which may be the cause"

-- ---------------------------------------------------------------- a layer, by its attributes

local WORDS = {rows = "rows", columns = "columns", entries = "entries"}

-- Returns how far off a layer is whose bias², as a share of its signal², is x: "76 % of its size".
local function of_its_size(x) return percent(math.sqrt(x)) .. " of its size" end

-- Returns a text with the factor by which a cell's weights are too large, "1.30 times (1.28 to
-- 1.32)".
local function times_of(cell)
  local x = 1 + cell.error
  return ("%.2f times (%.2f to %.2f)"):format(x, x - cell.half, x + cell.half)
end

local PROOF = "%d draws for this alone: what some of them find is found again in later ones, "
  .. "below a level of 0.001 with all tests counted"

local function cause(found, key, kind, text, proof, remedy)
  return {key = ("bias.%d.%s"):format(found.layer, key), kind = kind, text = text,
    proof = proof or PROOF:format(found.draws), remedy = remedy}
end

local function of_never(found, one)
  return cause(found, "never", "fault", ("layer %d never draws %s %s, which have %s of the mass "
    .. "of P"
    ):format(found.layer, WORDS[one.side], one.name, percent(one.share)),
    ("none of %d draws has one, where the others would give many"):format(found.draws),
    "give each entry of P a chance, and weights to match")
end

local REMEDY = {
  rows = "look at what is done to the rows of the block after the draw",
  columns = "look at the weights of the nodes that are drawn: they must be one over the "
    .. "probabilities with which they are drawn",
  entries = "look at the weights of single entries: they must be one over the probabilities with "
    .. "which they are drawn",
  all = "look for a factor that is there twice, or missing, in this layer",
  batch = "look at what depends on the seeds besides their neighbours",
  time = "look for what counts calls, epochs or mini-batches: a sampler should depend on its seeds "
    .. "and rng alone",
}

-- Added where single rows, columns or entries show a bias, which takes fewer draws than to see by
-- what it goes.
local MORE = "; more draws (--seconds) may show by what it goes"

local function of_best(found, best)
  local l, size = found.layer, "at least " .. of_its_size(best.explained)
  local function warning(text, ...)
    return cause(found, best.side, "warning", ("layer %d " .. text):format(l, ...), nil,
      REMEDY[best.side] .. (best.key == "each" and MORE or ""))
  end
  if best.key == "each" then
    return warning("is off by %s, by %s: some more than others, and these draws show no "
      .. "degree, class, id or place that tells which", size, WORDS[best.side])
  end
  local low, high = kinds.extremes(best)
  if best.key == "all" then
    return warning("is off by %s in all: its weights come out %s what they should be%s", size,
      times_of(high), best.alone and "" or " on average, and not all alike")
  end
  if best.side == "batch" then
    return warning("is off by %s, by mini-batch: that of one set of seeds comes out %s as large, "
      .. "that of another %s", size, times_of(high), times_of(low))
  end
  local word = WORDS[best.side]
  return warning("is off by %s, by %s and by %s: %s %s come out %s as large, those %s %s", size,
    word, best.text, word, high.name, times_of(high), low.name, times_of(low))
end

local function of_time(found, one)
  local draws = one.draws
  local times = one.period > draws / 3 and "it drifts"
    or ("it comes back every %.3g mini-batches"):format(one.period)
  return cause(found, "time", "warning", ("layer %d is off by at least %s, by time: %s"):format(
    found.layer, of_its_size(one.explained), times),
    ("a wave through %d draws in turn (Fisher's test), below a level of 0.001 with all tests "
      .. "counted")
      :format(draws), REMEDY.time)
end

local function of_together(found, one)
  return cause(found, "together", "warning", ("layer %d comes out too large or too small by batch: "
    .. "all of a mini-batch together, typically by %s"):format(found.layer,
    of_its_size(one.explained)),
    ("over %d draws two halves of the columns, which are drawn apart, are off together"):format(
      found.draws), "look for a random factor that all weights of a mini-batch have")
end

local function of_tails(found, tails)
  if tails.draws == 0 then
    return cause(found, "tails", "warning", ("layer %d has no weights but 0"):format(found.layer),
      ("so it is in all of %d draws; if others make up for these, they are rare"):format(
        found.draws), "look for a factor 0; if it is meant, bound the weights of the other draws")
  end
  local of_draws = tails.draws <= tails.entries
  local share = of_draws and tails.draws or tails.entries
  return cause(found, "tails", "warning", ("layer %d has heavy tails: %s so unequal that 100 draws "
    .. "are worth %.0f"):format(found.layer, of_draws and "the mini-batches as a whole are"
      or "the weights that one entry has in different draws are", 100 * share),
    ("of the weights in %d draws, (sum w)² over the number of draws times the sum of w²"):format(
      found.draws), "rare, large weights make errors that few draws meet: bound the weights, or "
        .. "draw more often what has a large one")
end

--- Returns the largest relative bias of a layer, by which layers are sorted.
function sentences.amount(found)
  local most = #found.never > 0 and 1 or 0
  for _, one in pairs{found.best or nil, found.time or nil, found.together or nil} do
    most = math.max(most, one.explained)
  end
  return most
end

--- Returns the causes for one layer, from a result of ladies.lab.bias.kinds, the worst first.
function sentences.of(found)
  local list, told = {}, {}
  for _, one in ipairs(found.never) do
    -- Classes, hubs and self-loops may be the same nodes: only the first of them is reported.
    if not told[one.side] then
      told[one.side] = true
      list[#list + 1] = of_never(found, one)
    end
  end
  local has_weights = not (found.tails and found.tails.draws == 0)
  if found.best and has_weights then list[#list + 1] = of_best(found, found.best) end
  if found.time then list[#list + 1] = of_time(found, found.time) end
  if found.tails then
    list[#list + 1] = of_tails(found, found.tails)
  elseif found.together and not found.time then
    list[#list + 1] = of_together(found, found.together)
  end
  return list
end

-- ---------------------------------------------------------------- weights and row sums

-- Returns what comes of weights that fall too fast: between entries of one row that are drawn
-- together, the rare ones weigh too much. Rows that are divided by their sums can turn that around
-- over all draws, so it is said as the products of frequency and weight have it.
local function effect_of(often, rarely, is_normalized)
  if not (often and rarely) then return "" end
  if rarely.low > often.high then
    return ", so that what is drawn rarely counts too much beside what is drawn often"
  elseif rarely.high < often.low and is_normalized then
    return " (between the entries of a row; over all draws what is drawn rarely counts too little "
      .. "all the same, since rows are divided by their sums)"
  end
  return ""
end

-- The texts and remedies of weights that are wrong, by the key of the cause, as functions of the
-- finding.
local OF_WEIGHTS = {
  inverted = function()
    return "the weights are upside down: entries that are drawn often weigh more than those that "
      .. "are drawn rarely",
      "divide by the probabilities (scale_cols(w) with the weights of sampling.choice)"
  end,
  unweighted = function()
    return "entries are not weighted by how often they are drawn",
      "multiply by the design weights that sampling.choice and sample_rows return"
  end,
  factor = function(seen)
    return ("all weights are %.3g times what they should be"):format(seen.often.mean),
      seen.often.high < 0 and "look for a sign" or "look for a factor that is there twice, or a "
        .. "number of samples that is not that of the draws"
  end,
  naive = function(seen, is_normalized)
    return "the weights fall faster than one over the frequency of draws"
      .. effect_of(seen.often, seen.rarely, is_normalized),
      "where nodes are drawn without replacement 1 / (s p) does so: choice with debias = true, "
        .. "draw = \"wr\" or \"poisson\""
        .. (is_normalized and "" or ", or rows divided by their sums")
  end,
}

--- Returns the cause `key` for a result of ladies.lab.bias.weights. For rows that are divided by
-- their sums it is only a warning: they may be meant as means, or as ratio estimates whose bias is
-- small with many samples.
function sentences.of_weights(key, seen, is_normalized)
  local b, often, rarely = seen.exponent, seen.often, seen.rarely
  local text, remedy = OF_WEIGHTS[key](seen, is_normalized)
  return {key = key, kind = is_normalized and "warning" or "fault", text = text, remedy = remedy,
    proof = ("%sfrequency times weight, 1 without bias: %s for entries that most draws have, "
      .. "%s for those that few have"):format(
      b and ("between the entries of a row weights go as frequency^%s; ")
        :format(interval{mean = -b.mean, low = -b.high, high = -b.low}) or "",
      often and interval(often) or "not known", rarely and interval(rarely) or "not known")}
end

--- Returns the cause for a layer without any entry.
function sentences.of_no_entries(layer)
  return {key = "mass", kind = "fault", text = ("layer %s has no entries at all"):format(layer),
    proof = "no row of it has one, in any draw",
    remedy = "look at what is drawn for this layer"}
end

--- Returns the cause for a layer whose rows lose their mass, with the share of its rows that are
-- `empty`. has_self_nodes: whether the sampler has the setting self_nodes.
function sentences.of_lost_mass(layer, mass, empty, has_self_nodes)
  return {key = "mass", kind = "warning", text = ("rows of layer %s lose their mass: %.0f %% "
    .. "of them have no entry left"):format(layer, 100 * empty.mean),
    proof = "row sums over those of P: " .. interval(mass),
    remedy = ("more samples, or %s, so that a node has itself at least"):format(has_self_nodes
      and 'self_nodes = "previous"' or "each layer's dst among its src")}
end

--- Returns the cause for rows that are divided by their sums although those of P do not sum to one.
function sentences.of_normalization()
  return {key = "normalized", kind = "warning", text = "the rows of the blocks that have entries "
    .. "sum to one, those of P do not: training estimates P with rows divided by their sums, "
    .. "inference takes P",
    proof = "row sums of the blocks are 1 within 0.0001, those of P are not within 0.001",
    remedy = 'normalize = "row", whose rows sum to one; or unbiased weights, and rows that are not '
      .. "divided by their sums"}
end

-- ---------------------------------------------------------------- without a known cause

-- The names in the report of the numbers that can be wrong.
local NAMES = {scale = "size along the exact one", mass = "row sums of P~ over those of P"}

--- Returns the cause for a layer with a wrong `number`, whose interval is x, where nothing proves
-- the reason. broken: whether the sampler breaks its contract.
function sentences.of_unknown(layer, number, x, broken)
  return {key = "biased", kind = "warning", text = ("layer %s: %s is %s, which should be 1")
    :format(layer, NAMES[number], interval(x)),
    proof = "by Student's t, below 0.001 with all tests of this kind counted",
    remedy = broken and FIRST_MEND or "no cause was proved: look at how this layer is drawn and "
      .. "weighted; compare with more samples, and with a sampler that is known"}
end

--- Returns the cause for a layer whose bias² x is significant and about which nothing else is said.
-- is_divided: whether its rows are divided by their sums, and P's do not sum to one.
function sentences.of_layer(layer, x, broken, is_divided)
  return {key = "biased", kind = "warning", text = ("layer %d is off by %s, %s"):format(layer,
    of_its_size(x.mean), is_divided
    and "since its rows are divided by their sums, and those of P are not"
    or "by nothing that is known of its rows, columns or entries"),
    proof = ("bias² / signal is %s"):format(interval(x, "%.3g")),
    remedy = broken and FIRST_MEND or "compare with more samples, and with a sampler that is "
      .. "known; --same-as NAME tells what differs"}
end

--- Returns the cause for an embedding or a gradient, `name`, that is x times as large as the exact
-- one although no layer is significantly biased. bound: the largest bias² of a layer that the
-- intervals allow; is_proved: whether that is too small to be the reason; what: names what of the
-- network is not linear.
function sentences.of_nonlinearity(name, x, bound, is_proved, what)
  local proof = "along the exact one it has " .. interval(x)
  local share = bound < math.huge and percent(math.sqrt(bound))
  if is_proved then
    return {key = "nonlinear", kind = "warning", text = ("the %s comes out %.2f times as large, "
      .. "though no layer by itself is off by more than %s of its size"):format(name, x.mean,
      share),
      proof = proof .. "; the bias of every layer is within its interval",
      remedy = what .. " and the loss are not linear, so the variance of a layer is bias behind "
        .. "them: more samples lower both"}
  end
  return {key = "undecided", kind = "warning", text = ("the %s comes out %.2f times as large, "
    .. "and no layer by itself is off beyond chance%s"):format(name, x.mean, share
      and (", though one may be by up to %s of its size"):format(share) or ""),
    proof = proof, remedy = "more draws (--seconds) tell whether a layer is off; --same-as NAME, a "
      .. "sampler that it should equal in distribution, tells sooner; more samples lower the "
      .. ("variance, which %s and the loss turn into bias"):format(what)}
end

--- Returns the cause for errors of `name` that are dominated by a few draws. column: the errors,
-- one for each set of seeds; share: of their number that they are worth; largest: the share of the
-- sum of squares that the largest has.
function sentences.of_unequal_errors(name, column, share, largest)
  return {key = "tails", kind = "warning", text = ("%s has heavy tails: the errors of %d sets of "
    .. "seeds are so unequal that they are worth %.0f"):format(name, #column,
      math.max(1, share * #column)), proof = ("error / signal is %s, and the largest has %.0f "
        .. "%% of the sum of squares"):format(interval(statistics.interval(column), "%.3g"),
          100 * largest),
    remedy = "rare, large weights make errors that few draws meet, and intervals that miss them: "
      .. "bound the weights, or draw more often what has a large one"}
end

return sentences
