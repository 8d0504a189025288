--- Decides which tests show a bias of a layer, and which attribute explains best where the bias is.

local series = require "ladies.statistics.series"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"

local kinds = {}

--- LEVEL is the probability that an unbiased layer is reported as biased; LEAST is the least
-- relative bias, a root mean square, that is reported.
kinds.LEVEL, kinds.LEAST = 0.001, 0.01

-- An attribute is named if it explains a share SHARE of the bias that single rows, columns or
-- entries explain; if the sum of all weights explains OF_ALL of it, no attribute is named.
-- Where the weights of its cells differ by more than UNLIKE, they are not off by one factor.
local SHARE, OF_ALL, UNLIKE = 0.7, 0.85, 0.05

-- The standard deviations by which cells must differ to be certain to, which is asked of some
-- dozens of attributes; and the most by which the variance of a small cell is taken to be larger.
local CERTAIN, MOST_LARGER = 4.5, 10

-- If a layer is known to be biased, attributes with a p-value below this may be the reason.
local LIKELY = 0.01

-- A cell that was never drawn is reported if it should have been drawn at least this often.
local EXPECTED = 50

-- Attributes with cells of few nodes, which may be drawn rarely for good reasons.
local FEW = {degree = true, frequency = true}

-- Weights count as heavy-tailed if the effective number of draws is below this share of their
-- number.
local EFFECTIVE = 0.5

-- The share of the mass of P below which a draw has no weights.
local EMPTY = 1e-6

-- Returns the differences of a list's numbers from the mean of their set of seeds.
local function within_groups(list, of_group)
  local sums, counts = {}, {}
  for k, x in ipairs(list) do
    local g = of_group[k]
    sums[g], counts[g] = (sums[g] or 0) + x, (counts[g] or 0) + 1
  end
  return tables.map(list, function(x, k)
    local g = of_group[k]
    return x - sums[g] / counts[g]
  end)
end

-- Adds the attributes of a layer to the list of candidates: {layer =, section =, place =, key =,
-- side =, text =, p =, explained =}.
local function of_sections(layer, list)
  for _, section in ipairs(layer:sections()) do
    local explained, margins, apart = section:explained()
    for i, one in ipairs(section.list) do
      local p, largest = series.p_above(section.series[i])
      list[#list + 1] = {layer = layer.l, section = section, place = i, key = one.key,
        side = one.side, text = one.text, p = largest < 0.5 and p or 1,
        explained = explained[i], score = explained[i] - margins[i], apart = apart[i],
        cells = one.names and one.cells}
    end
  end
end

-- Adds two candidates that concern the layer as a whole: a change over time, and mini-batches whose
-- weights are all too large or all too small, so that two halves of their columns vary together.
local function of_totals(layer, list)
  local p, period, square = series.period(within_groups(layer.totals, layer.of_group))
  list[#list + 1] = {layer = layer.l, key = "time", side = "time", p = p, explained = square,
    period = period, draws = #layer.totals}
  if layer.own then return end
  local x = within_groups(tables.map(layer.common, function(both) return both[1] end),
    layer.of_group)
  local y = within_groups(tables.map(layer.common, function(both) return both[2] end),
    layer.of_group)
  local products = tables.map(x, function(one, k) return one * y[k] end)
  local above, largest = series.p_above(products)
  list[#list + 1] = {layer = layer.l, key = "together", side = "batch",
    p = largest < 0.5 and above or 1, explained = math.max(0, statistics.mean(products) or 0)}
end

-- Returns the cells that should have been drawn often but were in no draw: {key =, side =, name =,
-- share = of the mass}.
local function never_of(layer)
  local list = {}
  for i, one in ipairs(layer.cells.list) do
    local looks = (one.side == "columns" or one.side == "entries") and not FEW[one.key]
    local cells = looks and layer.cells:cells(i) or {}
    local drawn, there, mass = 0, 0, 0
    for _, cell in ipairs(cells) do
      drawn, there, mass = drawn + cell.drawn, there + cell.there, mass + cell.mass
    end
    for _, cell in ipairs(cells) do
      if cell.drawn == 0 and there > 0 and cell.there * drawn / there > EXPECTED then
        list[#list + 1] = {key = one.key, side = one.side, name = cell.name,
          share = cell.mass / mass}
      end
    end
  end
  return list
end

-- Returns two shares that measure heavy tails, 1 without any: that of the weights of one entry from
-- draw to draw, and that of whole draws. A share is the effective number of weights (how many equal
-- ones would be worth as much) divided by their number; that of draws is 0 where all of their
-- weights are.
local function tails_of(layer)
  local e = layer.entry
  local drawn = e.drawn:clamp(1, math.huge)
  -- An entry's weight in a draw is its error plus its mass, which is M / times.
  local mass = e.M / e.times:clamp(1, math.huge)
  local mean = (e.S + e.M) / drawn
  -- An entry that is always drawn with weight 0 is biased, but has no heavy tail.
  local known = e.drawn:above(7) * mean:square():above(mass:square() * 1e-8)
  local n = known:sum():item()
  local squares = (e.Q + mass * e.S * 2 + mass:square() * e.times) / drawn
  local unequal = (squares / mean:square():clamp(1e-30, math.huge) * known):sum():item()
  local totals = tables.map(layer.totals, function(x) return 1 + x end)
  local largest = math.max(table.unpack(tables.map(totals, math.abs)))
  return {entries = unequal > 0 and math.min(1, n / unequal) or 1,
    draws = largest < EMPTY and 0 or series.effective(totals)}
end

-- Tells whether a candidate's attribute has a few cells with names.
local function is_named(one) return one.cells ~= nil and one.key ~= "all" end

local function most_of(list, accept)
  local best
  for _, one in ipairs(list) do
    local score = one.score or one.explained
    if accept(one) and (not best or score > (best.score or best.explained)) then
      best = one
    end
  end
  return best
end

--- kinds.extremes(one): returns the two cells of a candidate's attribute, among those with enough
-- mass, that are most certainly too small and too large. Where there are more than two, those are
-- chosen that half of the draws show, and their errors and intervals are of the other half: in the
-- draws that they were chosen by, the most extreme of many cells are so by chance as well.
function kinds.extremes(one)
  local seen, told = one.section:cells_of_halves(one.place)
  if #seen <= 2 then
    seen = one.section:cells(one.place)
    told = seen
  end
  local total, low, high, least, most = 0, nil, nil, 0, 0
  for _, cell in ipairs(seen) do total = total + cell.mass end
  for c, cell in ipairs(seen) do
    if cell.mass > 0.002 * total then
      local z = cell.error / (cell.half + 1e-6)
      if not low or z < least then low, least = told[c], z end
      if not high or z > most then high, most = told[c], z end
    end
  end
  return low, high
end

-- Tells whether the weights of some cells of an attribute are certainly and clearly larger than
-- those of others.
local function has_unlike_cells(one)
  local low, high = kinds.extremes(one)
  return low ~= nil and high.error - high.half > low.error + low.half + UNLIKE * (1 + low.error)
end

-- Tells whether the cells of a candidate's attribute are certainly not off by one factor, which is
-- asked of many attributes. A cell that comes out small because it was drawn seldom also has a
-- small variance, which goes with the number of draws as the sum does; so if all had one factor, it
-- would be larger by as much as the cell is too small.
local function is_apart(one)
  if not is_named(one) then return one.apart > CERTAIN end
  local low, high = kinds.extremes(one)
  if not low then return false end
  local larger = math.min(MOST_LARGER, (1 + high.error) / math.max(1 + low.error, 1e-6))
  local deviation = math.sqrt(high.half ^ 2 + larger * low.half ^ 2) / 1.96
  return high.error - low.error > CERTAIN * deviation
end

-- Returns the candidate that explains best where a layer is biased; nil unless the test of some
-- attribute shows a bias. Whether there is a bias and which attribute explains it are different
-- questions, so all likely attributes are compared here.
local function best_of(all_of_layer, counted)
  if not most_of(counted, function(one) return one.section ~= nil end) then return nil end
  local function is_likely(one)
    return one.section and one.p < LIKELY and one.explained > kinds.LEAST ^ 2
  end
  local all = most_of(all_of_layer, function(one) return is_likely(one) and one.key == "all" end)
  -- Where all weights together are off, an attribute is only the reason if its cells are not alike.
  local list = {}
  for _, one in ipairs(all_of_layer) do
    if is_likely(one) and (not all or is_apart(one)) then list[#list + 1] = one end
  end
  local named = most_of(list, is_named)
  local each = most_of(list, function(one) return one.key == "each" and one.side ~= "entries" end)
  local entry = most_of(list, function(one) return one.side == "entries" and one.key == "each" end)
  if not each or entry and entry.score * SHARE > each.score then each = entry or each end
  local best = named
  if each and (not best or best.score < SHARE * each.score) then best = each end
  if all and (not best or all.explained >= OF_ALL * best.explained) then
    all.alone = not named or not has_unlike_cells(named)
    best = all
  end
  -- Among remainders of ids or places, the smallest divisor that explains as much is chosen.
  for _, one in ipairs(list) do
    if best and one.side == best.side and one.key == best.key and is_named(one)
      and one.explained >= 0.9 * best.explained and one.cells < best.cells then
      best = one
    end
  end
  return best
end

--- kinds.of(layers): returns the significant findings, an array with a table for each layer: {layer
-- =, draws =, best = the candidate that explains its bias best, or nil; time =, together =
-- candidates of whole draws, or nil; never = array of cells; tails = shares, or nil}.
function kinds.of(layers)
  local list = {}
  for _, layer in ipairs(layers) do
    if #layer.totals > 0 then
      of_sections(layer, list)
      of_totals(layer, list)
    end
  end
  local adjusted = statistics.holm(tables.map(list, function(one) return one.p end))
  local found = {}
  for _, layer in ipairs(layers) do
    local counted, of_layer = {}, {}
    for i, one in ipairs(list) do
      if one.layer == layer.l then of_layer[#of_layer + 1] = one end
      if one.layer == layer.l and adjusted[i] < kinds.LEVEL
        and one.explained > kinds.LEAST ^ 2 then
        counted[#counted + 1] = one
      end
    end
    if #layer.totals > 0 then
      local function of(side, key)
        return most_of(counted, function(one) return one.side == side and one.key == key end)
      end
      local tails = tails_of(layer)
      found[#found + 1] = {layer = layer.l, draws = #layer.totals, time = of("time", "time"),
        together = of("batch", "together"), never = never_of(layer),
        tails = math.min(tails.entries, tails.draws) < EFFECTIVE and tails or nil,
        best = best_of(of_layer, counted)}
    end
  end
  return found
end

return kinds
