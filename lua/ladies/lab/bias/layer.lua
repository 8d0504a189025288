--- Collects the errors P~ - P of one layer's blocks, in the rows of dst, by rows, columns and
-- entries.
--
-- Given dst, the block of an unbiased sampler has the mean P(dst, :), whatever is propagated; so
-- each of its rows, columns and entries has the mean that P has there.

local core = require "ladies_core"
local Section = require "ladies.lab.bias.section"
local attributes = require "ladies.lab.bias.attributes"
local counts = require "ladies.lab.nodes.counts"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"

local Layer = {__name = "ladies.lab.bias.Layer"}
Layer.__index = Layer

-- Masks over the four numbers of a column: the numbers that are summed over its entries, and those
-- that become 1 if any of them is not 0.
local CELLS, COUNTS = core.tensor{1, 1, 0, 0}, core.tensor{0, 0, 1, 1}

-- The number of classes of columns by how often they are drawn, not counting the class of columns
-- that are hardly ever drawn.
local FREQUENCIES = 12

-- Converts attributes to a matrix with a row for each node or entry, which has a 1 for each of its
-- cells.
local function matrix_of(list, n)
  local rows, cols, before = nil, nil, 0
  for _, one in ipairs(list) do
    local own = one.of + before
    rows = rows and rows .. core.range(1, n) or core.range(1, n)
    cols = cols and cols .. own or own
    before = before + one.cells
  end
  return core.matrix{n_rows = n, n_cols = before, rows = rows, cols = cols}
end

-- Makes an attribute in which every node or entry is a cell of its own.
local function each(side, n)
  return {{side = side, key = "each", text = "each by itself", cells = n}}
end

-- Makes an attribute with a cell for each of some names.
local function attribute(side, key, text, names)
  return {side = side, key = key, text = text, names = names, cells = #names}
end

-- Adds attributes of one side (rows, columns or entries) to a list.
local function append(list, side, more)
  for _, one in ipairs(more) do list[#list + 1] = tables.merged(one, {side = side}) end
end

--- Computes what all layers need to know about P; data: what is known of the nodes (see
-- ladies.lab.context).
function Layer.known(P, data)
  local n = P.n_rows
  local nodes, entries = attributes.of_nodes(P, data), attributes.of_entries(P, data)
  local half = attributes.half(n)
  return {P = P, is_simple = P:is_simple(), n = n, nodes = nodes, entries = entries, half = half,
    of_nodes = matrix_of(nodes, n), positions = {},
    of_entries = #entries > 0 and matrix_of(entries, P.nnz) or nil}
end

--- Layer.new(known, l, source): makes an empty collection for layer l. source: {groups = sets of
-- seeds, own = whether the sampler draws its own seeds, so that its rows depend on what is drawn,
-- run =}.
function Layer.new(known, l, source)
  return setmetatable({known = known, l = l, groups = source.groups, own = source.own,
    is_last = l == source.run.known.n_layers, totals = {}, common = {},
    of_group = {}, drawn = core.zeros(known.n), there = core.zeros(known.n),
    row = Section.new(each("rows", known.n)), column = Section.new(each("columns", known.n)),
    entry = Section.new(each("entries", known.P.nnz))}, Layer)
end

-- Tells whether the matrix of which a block is a slice, or nil, is P; where P has parallel edges,
-- which are told apart by their positions alone, also whether it has the content of P. The last
-- such matrix is kept, and not compared again.
local function is_P(known, root)
  if root == nil then return false end
  if rawequal(root, known.P) or rawequal(root, known.twin) then return true end
  if known.is_simple or root:hash() ~= known.P:hash() then return false end
  known.twin = root
  return true
end

-- Returns the places of a block's entries among those of U, the rows dst of P with the columns
-- near; nil where one of them is no entry of P, or its place cannot be found, as that of one of
-- several parallel edges by its ends alone.
local function places_of(known, block, U, near)
  local adj = block.adj
  local place
  if is_P(known, adj.root) then
    place = sampling.find(U.edge, adj.edge)
  elseif not known.is_simple then
    return nil
  else
    local at = sampling.find(near, block.src)
    if #at < #block.src or #block.dst * #near >= 2 ^ 31 then return nil end
    place = sampling.find((U:row_of() - 1) * #near + U:col_of(),
      (adj:row_of() - 1) * #near + at[adj:col_of()])
  end
  return #place == adj.nnz and place or nil
end

--- Tells whether the blocks of layer l can be compared with P entry by entry.
function Layer.takes(batch, l)
  return not (batch.blocks[l].control or batch.readout)
end

--- Looks at a block of the pilot draws, to find out whether rows are divided by their sums, which
-- blocks without entries do not tell, and which columns are drawn.
function Layer:look(block)
  local is_divided = counts.is_divided(block.adj)
  if is_divided ~= nil then
    self.is_normalized = self.is_normalized ~= false and is_divided
      and not counts.sum_to_one(self.known.row_sums[block.dst])
  end
  local _, near = self.known.P:slice(block.dst)
  self.drawn:add_at_(block.src, 1)
  self.there:add_at_(near, 1)
end

-- Returns the class of each column by how often it is drawn; the bounds of classes double every two
-- classes.
local function frequencies_of(drawn, there)
  local of = {}
  for u, share in ipairs((drawn / there:clamp(1, math.huge)):to_table()) do
    local bin = share > 0 and math.floor(-2 * math.log(math.min(1, share), 2))
    of[u] = bin and math.max(1, FREQUENCIES + 1 - bin) or 1
  end
  return core.index(of)
end

local function percent(share) return (share < 0.1 and "%.2g" or "%.0f"):format(100 * share) end

-- Returns the names of the classes of frequencies_of.
local function names_of_frequencies()
  local names = {"that are drawn rarely or never"}
  for bin = FREQUENCIES - 1, 0, -1 do
    names[FREQUENCIES + 1 - bin] = ("that are in %s to %s %% of the draws"):format(
      percent(2 ^ (-(bin + 1) / 2)), percent(2 ^ (-bin / 2)))
  end
  return names
end

--- Ends the pilot and makes all attributes, now that it is known how often columns are drawn.
function Layer:settle()
  local list = {attribute("all", "all", "all weights", {"all"})}
  self.frequencies = frequencies_of(self.drawn, self.there)
  append(list, "rows", self.known.nodes)
  append(list, "columns", self.known.nodes)
  append(list, "entries", self.known.entries)
  list[#list + 1] = attribute("columns", "frequency", "how often they are drawn",
    names_of_frequencies())
  self.of_frequency = #list
  if not self.own then
    list[#list + 1] = attribute("columns", "above", "whether they are destinations too",
      {"that are destinations too", "that are no destinations"})
  end
  if self.is_last then append(list, "rows", attributes.of_positions(1)) end
  if self.groups > 1 then
    local names = {}
    for g = 1, self.groups do names[g] = ("set of seeds %d"):format(g) end
    list[#list + 1] = attribute("batch", "batch", "their set of seeds", names)
  end
  self.cells = Section.new(list)
end

-- Returns the matrix of the attributes of n places, which is made once for each n.
local function positions_of(self, n)
  local known = self.known.positions
  known[n] = known[n] or matrix_of(attributes.of_positions(n), n)
  return known[n]
end

local FIELDS = {"error", "mass", "drawn", "there"}

-- Returns the columns of a matrix as vectors, by the names in FIELDS.
local function fields_of(X)
  local x = {}
  for i, name in ipairs(FIELDS) do x[name] = X:slice_cols(i, i):reshape(X.n_rows) end
  return x
end

-- Returns U, the rows dst of P; the ids of its columns; and a matrix with four numbers for each of
-- its entries: error, mass, 1 where it was drawn, and 1. nil where the block has entries that P has
-- not.
local function entries_of(self, block)
  local U, near = self.known.P:slice(block.dst)
  local place = places_of(self.known, block, U, near)
  if not place then return nil end
  local mass = (self.is_normalized and U:row_normalize() or U):entry_values()
  local n = #mass
  local ends = core.range(1, n) * 4
  local X = core.zeros(4 * n):add_at_(ends - 3, mass * -1):add_at_(ends - 2, mass)
    :add_at_(ends, 1):add_at_(place * 4 - 3, block.adj:entry_values()):add_at_(place * 4 - 1, 1)
    :reshape(n, 4)
  return U, near, X
end

-- Returns the relative error of the columns in one half of the nodes, and that in the other half.
local function halves_of(self, near, columns)
  local sums = columns:scatter_add(self.known.half[near], 2):to_table()
  local function share(x) return x[2] > 0 and x[1] / x[2] or 0 end
  return {share(sums[1]), share(sums[2])}
end

-- Adds up a draw over the cells of all attributes, in their order; returns a matrix with a row for
-- each cell.
local function sums_of(self, g, dst, near, sums)
  local known = self.known
  local all = sums.total
  local function add(more) all = all:concat(more:reshape(1, 4 * more.n_rows)) end
  add(known.of_nodes:rows(dst):matmul_t(sums.rows))
  add(known.of_nodes:rows(near):matmul_t(sums.columns))
  if known.of_entries then add(known.of_entries:rows(sums.edge):matmul_t(sums.entries)) end
  add(sums.columns:scatter_add(self.frequencies[near], FREQUENCIES + 1))
  if not self.own then
    local among = core.zeros(#near):add_at_(sampling.find(near, dst), 1)
    add(sums.columns:scatter_add((2 - among):to_index(), 2))
  end
  if self.is_last then add(positions_of(self, #dst):matmul_t(sums.rows)) end
  if self.groups > 1 then add(sums.total:scatter_add(core.index{g}, self.groups)) end
  return all:reshape(all.n_cols // 4, 4)
end

--- Adds a draw for set of seeds g; half: whether it belongs to the first half of the draws. A block
-- with entries that P does not have is ignored.
function Layer:add(block, g, half)
  local dst, U, near, X = block.dst, entries_of(self, block)
  if not U or U.nnz == 0 then return end
  local rows, columns = X:scatter_add(U:row_of(), #dst), X:scatter_add(U:col_of(), #near)
  -- A drawn column counts once, however many of its entries are drawn.
  columns = columns * CELLS + columns:above(0) * COUNTS
  local total = rows:col_sums()
  local sums = {rows = rows, columns = columns, entries = X, edge = U.edge,
    total = total:reshape(1, 4)}
  self.cells:add(fields_of(sums_of(self, g, dst, near, sums)), half)
  self.row:add_at(dst, fields_of(rows), half)
  self.column:add_at(near, fields_of(columns), half)
  self.entry:add_at(U.edge, fields_of(X), half)
  local k = #self.totals + 1
  self.totals[k], self.of_group[k] = total:get(1, 1) / total:get(2, 1), g
  self.common[k] = halves_of(self, near, columns)
end

--- Makes the attribute of frequencies again, with empty sums, when more draws tell better how often
-- columns are drawn.
function Layer:sharpen()
  self.frequencies = frequencies_of(self.column.drawn, self.column.times)
  self.cells:clear(self.of_frequency)
end

--- Returns the sections (see ladies.lab.bias.section) of a layer.
function Layer:sections() return {self.cells, self.row, self.column, self.entry} end

--- Updates the factors of the tests from the draws so far; later draws are tested with them.
function Layer:refresh()
  for _, section in ipairs(self:sections()) do section:refresh() end
end

return Layer
