--- What is said of a layer that is off: causes as ladies.lab.causes has them, from what counts (see
-- ladies.lab.bias.kinds). Every number of a sentence is one of that result.

local sentences = {}

--- sentences.percent(x): a share as a text, such as "2.5 %" or "110 %".
function sentences.percent(x)
  x = 100 * x
  return (x < 10 and "%.2g %%" or "%.0f %%"):format(x)
end

local percent = sentences.percent

local WORDS = {rows = "rows", columns = "columns", entries = "entries"}

-- "1.30 times (1.28 to 1.32)" of what a cell has beyond P.
local function times_of(cell)
  local x = 1 + cell.error
  return ("%.2f times (%.2f to %.2f)"):format(x, x - cell.half, x + cell.half)
end

-- The cells that are above and below for the most certain, of those with some of the mass.
local function extremes(cells)
  local total, low, high, least, most = 0, nil, nil, 0, 0
  for _, cell in ipairs(cells) do total = total + cell.mass end
  for _, cell in ipairs(cells) do
    if cell.mass > 0.002 * total then
      local z = cell.error / (cell.half + 1e-6)
      if not low or z < least then low, least = cell, z end
      if not high or z > most then high, most = cell, z end
    end
  end
  return low, high
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

local function of_best(found, best)
  local l, amount = found.layer, percent(math.sqrt(best.explained))
  local function warning(text, ...)
    return cause(found, best.side, "warning", ("layer %d " .. text):format(l, ...), nil,
      REMEDY[best.side])
  end
  if best.key == "each" then
    return warning("is off by %s, by %s: some come out too large and others too small, and it goes "
      .. "by no degree, class, id or place that would tell which", amount, WORDS[best.side])
  end
  local low, high = extremes(best.section:cells(best.place))
  if best.key == "all" then
    return warning("is off by %s in all: its weights come out %s what they should be", amount,
      times_of(high))
  end
  if best.side == "batch" then
    return warning("is off by %s, by mini-batch: that of one set of seeds comes out %s as large, "
      .. "that of another %s", amount, times_of(high), times_of(low))
  end
  local word = WORDS[best.side]
  return warning("is off by %s, by %s and by %s: %s %s come out %s as large, those %s %s", amount,
    word, best.text, word, high.name, times_of(high), low.name, times_of(low))
end

local function of_time(found, one)
  local draws = one.draws
  local times = one.period > draws / 3 and "it drifts"
    or ("it comes back every %.3g mini-batches"):format(one.period)
  return cause(found, "time", "warning", ("layer %d is off by %s, by time: %s"):format(found.layer,
    percent(math.sqrt(one.explained)), times),
    ("a wave through %d draws in turn (Fisher's test), below a level of 0.001 with all tests "
      .. "counted")
      :format(draws), REMEDY.time)
end

local function of_together(found, one)
  return cause(found, "together", "warning", ("layer %d comes out too large or too small by batch: "
    .. "all of a mini-batch together, typically by %s"):format(found.layer,
    percent(math.sqrt(one.explained))),
    ("over %d draws two halves of the columns, which are drawn apart, are off together"):format(
      found.draws), "look for a random factor that all weights of a mini-batch have")
end

local function of_tails(found, tails)
  local of_draws = tails.draws <= tails.entries
  local share = of_draws and tails.draws or tails.entries
  return cause(found, "tails", "warning", ("layer %d has heavy tails: %s so unequal that 100 draws "
    .. "are worth %.0f"):format(found.layer, of_draws and "the mini-batches as a whole are"
      or "the weights that one entry has in different draws are", 100 * share),
    ("of the weights in %d draws, (sum w)² over the number of draws times the sum of w²"):format(
      found.draws), "rare, large weights make errors that few draws meet: bound the weights, or "
        .. "draw more often what has a large one")
end

--- The relative bias of a layer that tells most, for the order in which layers are told of.
function sentences.amount(found)
  local most = #found.never > 0 and 1 or 0
  for _, one in pairs{found.best or nil, found.time or nil, found.together or nil} do
    most = math.max(most, one.explained)
  end
  return most
end

--- sentences.of(found): the causes of one layer, the worst first.
function sentences.of(found)
  local list, told = {}, {}
  for _, one in ipairs(found.never) do
    -- Classes, hubs and self-loops may be one and the same: the first names them.
    if not told[one.side] then
      told[one.side] = true
      list[#list + 1] = of_never(found, one)
    end
  end
  if found.best then list[#list + 1] = of_best(found, found.best) end
  if found.time then list[#list + 1] = of_time(found, found.time) end
  if found.tails then
    list[#list + 1] = of_tails(found, found.tails)
  elseif found.together and not found.time then
    list[#list + 1] = of_together(found, found.together)
  end
  return list
end

return sentences
