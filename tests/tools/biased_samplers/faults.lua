--- Samplers that are wrong and average out: an unbiased one, whose blocks are changed.
--
-- A fault is {name =, kind = words that the laboratory is to say, make(known, size) -> change},
-- where change(block, call) gives factors for the rows, the columns and the entries of a block, as
-- lists or nil. known: P, data, degrees, labels as tables; call: {k = number of the call, seeds =,
-- rng =, epoch =}.

local ladies = require "ladies"

local faults = {}

-- A number in 0 .. m - 1 for an id, as if by chance.
local function hash(id, m) return (id * 2654435761 >> 13) % m end

local function median(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy[(#copy + 1) // 2]
end

-- Factors 1 + size where a test of the id holds, 1 - size elsewhere.
local function by(test, size)
  return function(ids)
    local list = {}
    for i, id in ipairs(ids:to_table()) do list[i] = test(id, i, #ids) and 1 + size or 1 - size end
    return ladies.tensor(list)
  end
end

local function add(name, kind, make)
  faults[#faults + 1] = {name = name, kind = kind, make = make}
end

-- A fault of rows, of columns, by a test(known) -> test of ids.
local function of_rows(name, kind, test)
  add(name, kind, function(known, size)
    local factors = by(test(known), size)
    return function(block) return factors(block.dst), nil end
  end)
end

local function of_columns(name, kind, test)
  add(name, kind, function(known, size)
    local factors = by(test(known), size)
    return function(block) return nil, factors(block.src) end
  end)
end

-- A fault of entries, by a test(known) -> test of the ids of row and column.
local function of_entries(name, kind, test)
  add(name, kind, function(known, size)
    local holds = test(known)
    return function(block)
      local rows, cols = block.dst[block.adj:row_of()], block.src[block.adj:col_of()]
      local list = {}
      for i = 1, #rows do list[i] = holds(rows[i], cols[i]) and 1 + size or 1 - size end
      return nil, nil, ladies.tensor(list)
    end
  end)
end

-- A fault of mini-batches as a whole: factor(call, size).
local function of_calls(name, kind, factor)
  add(name, kind, function(_, size)
    return function(block, call)
      return ladies.ones(#block.dst) * factor(call, size), nil
    end
  end)
end

of_rows("row by chance", "row", function() return function(v) return hash(v, 2) == 0 end end)
of_rows("row by parity", "row", function() return function(v) return v % 2 == 0 end end)
of_rows("row by place", "row", function() return function(_, i, n) return i <= n // 2 end end)
of_columns("column by chance", "column", function()
  return function(u) return hash(u, 2) == 0 end
end)
of_columns("column by parity", "column", function() return function(u) return u % 2 == 0 end end)

local function is_hub(known)
  local most = median(known.degrees)
  return function(v) return known.degrees[v] > most end
end
of_rows("row by degree", "degree", is_hub)
of_columns("column by degree", "degree", is_hub)

local function is_first_class(known)
  return function(v) return known.labels[v] * 2 <= known.classes end
end
of_rows("row by class", "class", is_first_class)
of_columns("column by class", "class", is_first_class)

of_entries("entry by class", "class of both ends", function(known)
  return function(v, u) return known.labels[v] == known.labels[u] end
end)
of_entries("entry to itself", "self-loops", function() return function(v, u) return v == u end end)

of_calls("batch by seeds", "batch", function(call, size)
  return call.seeds[1] % 2 == 0 and 1 + size or 1 - size
end)
of_calls("batch by chance", "batch", function(call, size)
  return call.rng:fork(99):below(2) == 1 and 1 + size or 1 - size
end)
of_calls("time by turns", "time", function(call, size)
  return call.k % 2 == 0 and 1 + size or 1 - size
end)
of_calls("time, slowly", "time", function(call, size) return 1 + size * math.sin(call.k / 30) end)
of_calls("time by epoch", "time", function(call, size)
  return (call.epoch or 1) % 2 == 0 and 1 + size or 1 - size
end)

-- The smaller, the rarer: a factor of 1 / (4 size) with the probability that keeps the mean.
local function rare(x, size)
  local q = size / 4
  return x < q and 0.5 + 0.5 / q or 0.5
end
of_calls("tail of batches", "tail", function(call, size)
  return rare(call.rng:fork(99):uniform(), size)
end)
add("tail of columns", "tail", function(_, size)
  return function(block, call)
    local list = {}
    for i, x in ipairs(call.rng:fork(99):uniform_of(block.src):to_table()) do
      list[i] = rare(x, size)
    end
    return nil, ladies.tensor(list)
  end
end)
add("tail cut", "how often they are drawn", function(_, size)
  return function(block)
    -- Nodes that are drawn rarely have a large weight, which is too small; the others make up for
    -- it.
    local most = median(block.w:to_table())
    local large = block.w:above(math.max(1, most))
    return nil, 1 + size - large * (2 * size)
  end
end)

of_columns("column by norm", "norm", function(known)
  local norms = known.P:col_sums(2):to_table()
  local most = median(norms)
  return function(u) return norms[u] > most end
end)

-- The unbiased sampler that the faults are planted in.
local function fair(P, samples, layers, change, layer)
  local choice, k = ladies.sampling.choice, 0
  return function(seeds, rng, place)
    k = k + 1
    local call = {k = k, seeds = seeds, rng = rng, epoch = place and place.epoch}
    local dst, blocks = seeds, {}
    for l = layers, 1, -1 do
      local U, near = P:slice(dst, {first = dst})
      local pick, w = choice(U:col_sums(2), samples, {rng = rng, draw = "poisson",
        always = ladies.range(1, #dst)})
      local block = {adj = U:pick_cols(pick):scale_cols(w), dst = dst, src = near[pick], w = w}
      if change and l == layer then
        local rows, columns, entries = change(block, call)
        if rows then block.adj = block.adj:scale_rows(rows) end
        if columns then block.adj = block.adj:scale_cols(columns) end
        if entries then block.adj = block.adj:scale_entries(entries) end
      end
      block.w = nil
      blocks[l], dst = block, block.src
    end
    return {blocks = blocks, input = dst, output = seeds}
  end
end

--- faults.sampler(fault, {size =, layer =, samples =, layers =}) -> {name =, sampler =} as
-- ladies.lab takes it; without a fault the unbiased one.
function faults.sampler(fault, opts)
  return {name = (fault and fault.name or "fair"):gsub("%W+", "_"), sampler = function(P, data)
    local change
    if fault then
      local known = {P = P, data = data, degrees = P:degrees():to_table(),
        labels = data.labels:to_table(), classes = data.classes}
      change = fault.make(known, opts.size)
    end
    return fair(P, opts.samples, opts.layers or 2, change, opts.layer)
  end}
end

return faults
