--- Divides rows, columns and entries of P into cells (by degree, class and other attributes),
-- within which the laboratory looks for bias.
--
-- An attribute divides nodes or entries into cells, for example by classes of the degree or by the
-- remainder of the id modulo 2. A bias that averages out over a whole layer does not average out
-- within the cells of the attribute on which it depends.

local core = require "ladies_core"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local attributes = {}

-- The share of the nodes that count as hubs, the nodes with the largest degrees.
local HUBS = 0.01

-- Degrees up to this one have a cell of their own.
local FEW = 16

-- With more classes than these the attribute is left out: each cell would have too few nodes.
local MOST_CLASSES = 64

-- Makes an attribute: `key` and `text` say what it is, `names` what its cells are called, and `of`
-- is an Index with the cell of each node or entry.
local function attribute(key, text, of, names)
  return {key = key, text = text, of = of, names = names, cells = #names}
end

-- Returns an Index with 1 where a mask is 1, and 2 elsewhere.
local function of_mask(mask) return (2 - mask):to_index() end

-- Returns the class of a degree: each degree up to FEW has a class of its own, and larger ones
-- share classes whose bounds double every four classes.
local function class_of_degree(d)
  if d <= FEW then return d end
  return FEW + 1 + math.floor(4 * math.log(d / (FEW + 1), 2) + 1e-9)
end

local function by_degree(P)
  local of, low, high, most = {}, {}, {}, 0
  for v, x in ipairs(P:degrees():to_table()) do
    local d = math.tointeger(x)
    local class = class_of_degree(d) + 1
    of[v], most = class, math.max(most, class)
    low[class], high[class] = math.min(low[class] or d, d), math.max(high[class] or d, d)
  end
  local names = {}
  for class = 1, most do
    names[class] = low[class] == high[class] and ("of degree %d"):format(low[class] or 0)
      or ("of degree %d to %d"):format(low[class], high[class])
  end
  return attribute("degree", "their degree", core.index(of), names)
end

-- Makes the attribute of norms: the nodes in eight parts by the norm of their column of P, since
-- layer-wise samplers draw by its square.
local function by_mass(P)
  local n, mass = P.n_rows, P:col_sums(2)
  local size, of, names = math.ceil(n / math.min(8, n)), {}, {}
  local order = mass:argsort()
  local norms = mass[order]:sqrt():to_table()
  for i, v in ipairs(order:to_table()) do of[v] = (i - 1) // size + 1 end
  for part = 1, math.ceil(n / size) do
    names[part] = ("whose norm in P is %.2g to %.2g"):format(norms[(part - 1) * size + 1],
      norms[math.min(n, part * size)])
  end
  return attribute("mass", "the norm of their column of P", core.index(of), names)
end

local function by_class(data)
  local labels = data.labels
  if options.class_of(labels) ~= "Index" or data.classes > MOST_CLASSES then return nil end
  local names = {"without a class"}
  for c = 1, data.classes do names[c + 1] = ("of class %d"):format(c) end
  return attribute("class", "their class", labels + 1, names)
end

local function by_remainder(n, m)
  local names = {}
  for r = 0, m - 1 do
    names[r + 1] = ("whose id modulo %d is %d"):format(m, r)
  end
  return attribute("id", ("their id modulo %d"):format(m),
    core.range(1, n) % m + 1, names)
end

-- Makes the attribute of ids: the nodes in eight parts of equal size with consecutive ids.
local function by_id(n)
  local parts = math.min(8, n)
  local size, names = math.ceil(n / parts), {}
  for part = 1, math.ceil(n / size) do
    names[part] = ("with the ids %d to %d"):format((part - 1) * size + 1, math.min(n, part * size))
  end
  return attribute("id", "the order of ids", (core.range(1, n) - 1) // size + 1, names)
end

local function by_member(key, text, n, nodes, yes, no)
  local mask = core.zeros(n):add_at_(sampling.unique(nodes), 1)
  return attribute(key, text, of_mask(mask), {yes, no})
end

local function hubs_of(P)
  local _, hubs = P:degrees():topk(math.max(1, math.floor(HUBS * P.n_rows)))
  return hubs
end

-- Makes two attributes: being a hub, and having a hub among the neighbours.
local function by_hubs(P)
  local n, hubs = P.n_rows, hubs_of(P)
  local _, near = P:slice(hubs)
  return by_member("hub", "whether they are hubs", n, hubs, "that are hubs",
      "that are no hubs"),
    by_member("hubs", "whether a hub is among their neighbours", n, near, "next to a hub",
      "not next to a hub")
end

--- Makes the attributes of places in a list of n nodes: the place modulo 2, 3, 5 and 7, the eighth
-- of the list, and being the last one.
function attributes.of_positions(n)
  local at, list = core.range(1, n), {}
  local function add(text, of, names)
    list[#list + 1] = attribute("position", text, of, names)
  end
  for _, m in ipairs{2, 3, 5, 7} do
    local names = {}
    for r = 0, m - 1 do
      names[r + 1] = ("whose place in dst modulo %d is %d"):format(m, r)
    end
    add(("their place in dst modulo %d"):format(m), at % m + 1, names)
  end
  local names = {}
  for part = 1, 8 do names[part] = ("in eighth %d of dst"):format(part) end
  add("their place in dst", (at - 1) * 8 // n + 1, names)
  add("whether they are the last of dst", of_mask(at:equals(n)), {"at the end of dst", "before it"})
  return list
end

--- Divides n nodes into two random halves: returns an Index of 1 and 2.
function attributes.half(n)
  return of_mask(core.rng(n):at(1):uniform_of(core.range(1, n)):above(0.5))
end

--- Makes all attributes of the nodes of P: degree, norm, class, id modulo 2, 3, 4, 5 and 7, order
-- of ids, being a training node, being a hub, and being next to a hub.
function attributes.of_nodes(P, data)
  local n = P.n_rows
  local list = {by_degree(P), by_mass(P)}
  list[#list + 1] = by_class(data)
  for _, m in ipairs{2, 3, 4, 5, 7} do list[#list + 1] = by_remainder(n, m) end
  list[#list + 1] = by_id(n)
  list[#list + 1] = data.train and by_member("training", "whether they are training nodes", n,
    data.train, "that are training nodes", "that are no training nodes")
  list[#list + 1], list[#list + 2] = by_hubs(P)
  return list
end

-- Returns two masks of the entries of P: the first of each row, and the last. Self-loops are not
-- counted, so these are neighbours.
local function ends_of_rows(P, row, loops)
  local neighbour = 1 - loops
  local upto = neighbour:cumsum()
  local counts = neighbour:scatter_add(row, P.n_rows)
  local before = (counts:cumsum() - counts)[row]
  local place = upto - before
  local of_row = counts[row]
  return place:equals(core.ones(#row)) * neighbour, place:equals(of_row) * neighbour
end

--- Makes all attributes of the entries of P: being a self-loop, the first or the last neighbour of
-- a row, belonging to the row of a hub, and having one class at both ends.
function attributes.of_entries(P, data)
  local row, col = P:row_of(), P:col_of()
  local loops = row:equals(col)
  local list = {}
  local function add(key, text, mask, yes, no)
    if mask:max() > mask:min() then
      list[#list + 1] = attribute(key, text, of_mask(mask), {yes, no})
    end
  end
  add("self", "whether they are self-loops", loops, "of a node to itself (self-loops)",
    "between different nodes")
  local first, last = ends_of_rows(P, row, loops)
  add("first", "their place in the row", first, "of a row's first neighbour", "of all others")
  add("last", "their place in the row", last, "of a row's last neighbour", "of all others")
  local hub = core.zeros(P.n_rows):add_at_(hubs_of(P), 1)
  add("of_hubs", "whether a hub hears them", hub[row] * (1 - loops),
    "of a hub's neighbours", "of all others")
  if options.class_of(data.labels) == "Index" then
    add("same_class", "the class of both ends", data.labels[row]:equals(data.labels[col]),
      "between nodes of one class", "between nodes of different classes")
  end
  return list
end

return attributes
