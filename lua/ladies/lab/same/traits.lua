--- Computes the numbers by which the mini-batches of two samplers are compared: some hundred for
-- each draw, and others for pairs of draws. They cover all parts of a mini-batch: how many nodes it
-- has, and which, the weights (by the degree of the node and in all), what layers share, the loss,
-- `control` and `stats`.
--
-- Many are sums with functions f of the nodes: ones, classes of degree, the logarithm of the
-- degree, and random functions, which show differences that nobody thought of. For a layer's block
-- these sums are
--     sum of f(u) over src     sum over v of g(v) (P~ f)(v)     sum over v of (P~ f)(v)^2

local core = require "ladies_core"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

local traits = {}

local Traits = {__name = "ladies.lab.Traits"}
Traits.__index = Traits

-- Bounds of the classes of degree.
local BOUNDS = {2, 4, 8, 16, 50}

-- The number of ids at the front of src that are examined for its order.
local FRONT = 8

-- The size of the logarithm of a weight relative to P below which it is taken for rounding.
local ROUNDING = 1e-5

-- ---------------------------------------------------------------- functions of the nodes

local function class_name(low, high)
  if not high then return ("nodes of degree above %d"):format(low) end
  return ("nodes of degree %s %d"):format(low > 0 and low + 1 .. " to" or "up to", high)
end

-- Makes the functions f of the nodes: an array of {values =, name = of what is summed, is_random
-- =}.
local function node_functions(degrees, rng)
  local n, list = #degrees, {{values = core.ones(#degrees), name = "all nodes"}}
  local low = 0
  for i = 1, #BOUNDS + 1 do
    local high = BOUNDS[i]
    local member = degrees:above(low)
    if low == 0 then member = core.ones(n) end
    if high then member = member * (1 - degrees:above(high)) end
    if member:max() > 0 then
      list[#list + 1] = {values = member, name = class_name(low, high)}
    end
    low = high
  end
  list[#list + 1] = {values = (degrees + 1):log(), name = "the logarithm of the degree"}
  for i = 1, 4 do
    local values = core.zeros(n):normal_(1, rng:fork(i))
    if i <= 2 then values = values:above(0) * 2 - 1 end
    list[#list + 1] = {values = values, name = "a random function of the nodes", is_random = true}
  end
  return list
end

-- Returns a matrix whose columns are the values of some functions.
local function columns_of(functions)
  local all
  for _, one in ipairs(functions) do
    local column = one.values:reshape(#one.values, 1)
    all = all and all:concat(column) or column
  end
  return all
end

--- traits.new(P, seed, order): makes an object that computes the numbers of mini-batches over the
-- nodes of P. The order of the ids in src, which does not matter to most models, is only compared
-- with `order`.
function traits.new(P, seed, order)
  local degrees = P:degrees()
  local functions = node_functions(degrees, core.rng(seed))
  local n = #functions
  local left = {functions[1], functions[n - 2], functions[n]}
  return setmetatable({
    P = P, order = order, degrees = degrees, row_sums = P:row_sums(),
    col_norms = P:col_sums(2), functions = functions, left = left,
    f = columns_of(functions), g = columns_of(left),
  }, Traits)
end

-- ---------------------------------------------------------------- numbers of one draw

-- Adds each row and column of a table of numbers, named by the functions.
local function add_forms(self, add, forms, name, layer)
  for i, row in ipairs(forms) do
    for j, value in ipairs(row) do
      local is_random = self.left[i].is_random or self.functions[j].is_random
      add(value, is_random, name, self.functions[j].name, layer)
    end
  end
end

local function add_sums(self, add, values, name, layer)
  for j, value in ipairs(values) do
    add(value, self.functions[j].is_random, name, self.functions[j].name, layer)
  end
end

-- Adds numbers about `control`, which VR-GCN adds to P~ H.
local function see_control(self, add, block, layer)
  for _, field in ipairs{"control", "noise"} do
    local part = block[field]
    if part then
      local dense = field == "control" and part or part:matmul(self.f[block.src])
      add(dense:sum():item(), false, "the sum of %s in layer %d", field, layer)
      add(dense:square():sum():item(), false, "the sum of the squares of %s in layer %d", field,
        layer)
      local rows = dense:row_sums():reshape(#block.dst, 1)
      add((rows * self.g[block.dst]:slice_cols(2, 2)):sum():item(), true,
        "a random sum of %s in layer %d", field, layer)
    end
  end
end

-- Adds the mean, the variance and, with q, the covariance of the logarithms of columns' weights.
local function add_weights(add, r, q, n, name, layer)
  local mean_r, mean_q = r:sum():item() / n, q and q:sum():item() / n
  add(mean_r, false, "the logarithm of %s in layer %d", name, layer)
  add((r:square():sum():item() / n - mean_r ^ 2), false, "the spread of %s in layer %d", name,
    layer)
  if q then
    add((r * q):sum():item() / n - mean_r * mean_q, false,
      "how %s goes with its norm in P in layer %d", name, layer)
  end
end

-- Adds numbers about the size of columns: r = the column sum of P~ over that of P in the same rows,
-- alone, times the squared norm of the column in these rows, and times its squared norm in all of
-- P. For draws in proportion to these norms the products are constant.
local function see_weights(self, add, block, layer)
  local U = self.P:slice(block.dst, block.src)
  local of_P = U:col_sums()
  local there = of_P:above(0)
  local function log(t) return (t * there + 1 - there):abs():clamp(1e-30, math.huge):log() end
  local r, q = log(block.adj:col_sums()) - log(of_P), log(U:col_sums(2))
  r = r * r:abs():above(ROUNDING)
  local n = math.max(1, there:sum():item())
  add_weights(add, r, q, n, "a column's weight relative to P", layer)
  add_weights(add, r + q, nil, n, "a column's weight times its squared norm", layer)
  add_weights(add, r + log(self.col_norms[block.src]), nil, n,
    "a column's weight times its squared norm in all of P", layer)
end

-- Adds numbers about the order of src: which ids are in front, whether these are dst, and the
-- weights of the first and the last.
local function see_order(self, add, block, layer)
  local n, dst = #block.src, block.dst
  local in_front = n >= #dst and block.src:slice(1, #dst) == dst
  add(in_front and 1 or 0, false, "the share of draws with all destinations in front of layer %d",
    layer)
  local front = block.src:slice(1, math.min(FRONT, n))
  add_sums(self, add, self.f[front]:col_sums():to_table(), "%s among the first sources of layer "
    .. "%d", layer)
  local place = core.range(1, n)
  local late = core.zeros(n):add_at_(place, 1):cumsum() / n - 0.5
  add((self.f[block.src]:slice_cols(self.f.n_cols, self.f.n_cols):reshape(n) * late):sum():item(),
    true, "the places of the ids in src of layer %d", layer)
  local function add_ends(sums, name)
    local last = #sums
    add(last > 0 and sums:get(1, 1) or 0, false, "the weight of the first %s in layer %d", name,
      layer)
    add(last > 0 and sums:get(last, 1) or 0, false, "the weight of the last %s in layer %d", name,
      layer)
  end
  add_ends(block.adj:row_sums(), "row")
  add_ends(block.adj:col_sums(), "column")
  add_ends(block.adj:entry_values(), "entry")
end

local function see_block(self, add, block, layer, repeats)
  local adj, dst, src = block.adj, block.dst, block.src
  add_sums(self, add, self.f[src]:col_sums():to_table(), "%s among the sources of layer %d", layer)
  local near = adj:matmul(self.f[src])
  add_forms(self, add, self.g[dst]:matmul_t_precise(near):to_table(),
    "the weight of P~ on %s in layer %d", layer)
  add_sums(self, add, near:col_sums(2):to_table(),
    "the rows' squared weight on %s in layer %d", layer)
  add(adj.nnz, false, "the number of entries in layer %d", layer)
  add(adj:empty_rows(), false, "the number of rows without an entry in layer %d", layer)
  add(adj:row_sums(2):sum():item(), false, "the sum of the squared weights in layer %d", layer)
  add((adj:row_sums() - self.row_sums[dst]):square():sum():item(), false,
    "the squared differences of row sums from those of P in layer %d", layer)
  local distinct = repeats and sampling.unique(src) or src
  add(#distinct, false, "the number of different sources of layer %d", layer)
  add(#sampling.find(distinct, repeats and sampling.unique(dst) or dst), false,
    "the number of destinations that are among the sources of layer %d", layer)
  if not repeats then see_weights(self, add, block, layer) end
  see_control(self, add, block, layer)
  if self.order then see_order(self, add, block, layer) end
end

-- Adds numbers about what consecutive layers have in common: places among the columns that P has in
-- their rows, and entries of P. Layers that use the same random numbers share more of them.
local function see_layers(self, add, batch)
  local function places(block)
    local _, near = self.P:slice(block.dst)
    return sampling.find(near, block.src)
  end
  local above = places(batch.blocks[#batch.blocks])
  for l = #batch.blocks - 1, 1, -1 do
    local upper, lower = batch.blocks[l + 1].adj, batch.blocks[l].adj
    local below = places(batch.blocks[l])
    add(#sampling.find(above, below), false,
      "the number of equal choices among the neighbours in layers %d and %d", l + 1, l)
    if self.has_edges then
      add(#sampling.find(upper.edge, lower.edge), false,
        "the number of entries of P that are in both layers %d and %d", l + 1, l)
    end
    above = below
  end
end

local function see_loss(self, add, batch)
  local nodes, weight = batch.loss_nodes, rawget(batch, "loss_weight")
  add_sums(self, add, self.f[batch.output]:col_sums():to_table(), "%s in the output")
  if nodes then
    add_sums(self, add, self.f[batch.output[nodes]]:col_sums():to_table(),
      "%s among the loss_nodes")
  end
  if weight then
    add((weight:square()):sum():item(), false, "the sum of the squares of loss_weight")
    local n = #batch.output
    add_sums(self, add, (self.f[batch.output] * weight:reshape(n, 1)):col_sums():to_table(),
      "the loss_weight on %s")
  end
end

local function see_rest(self, add, batch)
  for _, name in ipairs(self.stats) do add(batch.stats[name], false, "stats.%s", name) end
  if batch.features then
    add(batch.features:norm(), false, "the norm of the features that come with the mini-batch")
  end
end

--- Computes the numbers of a mini-batch, in an order that depends on its shape alone. `names`, an
-- empty table, is filled with {text =, is_random =} for each number.
function Traits:of(batch, names)
  local values = {}
  local function add(value, is_random, name, ...)
    values[#values + 1] = value
    if names then names[#values] = {text = name:format(...), is_random = is_random} end
  end
  for l, block in ipairs(batch.blocks) do see_block(self, add, block, l, batch.readout ~= nil) end
  if not batch.readout then see_layers(self, add, batch) end
  see_loss(self, add, batch)
  see_rest(self, add, batch)
  return values
end

--- Computes the numbers of two draws of one sampler for the same seeds: how many nodes they share
-- in each layer.
function traits.of_pair(first, second, names)
  local values = {}
  for l, block in ipairs(first.blocks) do
    values[l] = #sampling.find(sampling.unique(block.src),
      sampling.unique(second.blocks[l].src))
    if names then
      names[l] = {text = ("the number of nodes that are in layer %d of two draws"):format(l)}
    end
  end
  return values
end

-- ---------------------------------------------------------------- shape, and single nodes

--- Returns a text that names the parts of a mini-batch; only mini-batches with the same parts can
-- be compared.
function traits.shape(batch)
  local n = #batch.blocks
  local parts = {units.counted(n, "layer")}
  local function has(name, value) parts[#parts + 1] = value ~= nil and name or nil end
  for l, block in ipairs(batch.blocks) do
    has(("control in layer %d"):format(l), block.control)
    has(("noise in layer %d"):format(l), block.noise)
  end
  has("loss_nodes", batch.loss_nodes)
  has("loss_weight", rawget(batch, "loss_weight"))
  has("features", batch.features)
  has("cvd", batch.cvd or nil)
  has("readout", batch.readout)
  return table.concat(parts, ", ")
end

-- Returns the names of the numbers in a mini-batch's stats, in order, and whether its blocks are
-- slices.
local function told_by(batch)
  local names, slices = {}, true
  for _, name in ipairs(tables.sorted_keys(batch.stats or {})) do
    if type(batch.stats[name]) == "number" then names[#names + 1] = name end
  end
  for _, block in ipairs(batch.blocks) do slices = slices and block.adj.edge ~= nil end
  return names, slices
end

--- Restricts the numbers to optional parts that both of these mini-batches have: numbers in stats,
-- and the places of entries in P.
function Traits:common_to(first, second)
  local names, slices = told_by(first)
  local _, others = told_by(second)
  self.has_edges, self.stats = slices and others, {}
  for _, name in ipairs(names) do
    if type((second.stats or {})[name]) == "number" then self.stats[#self.stats + 1] = name end
  end
end

--- Returns at most `most` nodes, an Index, whose frequency in a list of Indexes is nearest to one
-- half, where differences are seen best.
function Traits:uncertain(list, most)
  local counts = core.zeros(self.P.n_rows)
  for _, ids in ipairs(list) do counts:add_at_(ids, 1) end
  local drawn = counts:above(0)
  local far = (counts - #list / 2):abs() + (1 - drawn) * #list
  local n = math.tointeger(math.min(most, drawn:sum():item()))
  return far:argsort():slice(1, n)
end

return traits
