--- Estimates, before exact inference begins, how many bytes it will have in files at most, by
-- trying its layers on a small graph.
--
-- The bytes that layers hold at a time depend on the model, which may be anybody's; but they grow
-- with the nodes and entries of the graph. So the layers are computed once on a small graph with as
-- many entries in a row and the same share of nodes in each layer, and with memory that is less in
-- the same proportion; the bytes that they then have in files are multiplied. Of few nodes some
-- tensors are too small there to go to files, and are not counted: a few bytes for each node of the
-- graph.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local kept_layers = require "ladies.evaluation.kept_layers"
local layers = require "ladies.evaluation.layers"
local options = require "ladies.base.options"

local rehearsal = {}

local NODES = 1 << 14        -- so many that a column of them counts as a large tensor
local LEAST = 2 * NODES      -- nodes of a graph that is worth it

-- The most that a layer is thought to hold at a time: so many tensors with a row for each node, as
-- wide as the widest of the model, and so many numbers for each entry.
local TENSORS, NUMBERS = 4, 16

-- Tells whether there is memory for the layers without doubt, so that trying is not worth its time
-- and memory. Hardly a model has a tensor that is wider than its features and parameters are wide
-- or high; one that has, and more of them, is short of disk later instead of before.
local function surely_fits(work, memory)
  local model, P, widest = work.model, work.field.P, work.features.n_cols
  if not model.parameters then return false end
  for _, one in ipairs(model:parameters()) do widest = math.max(widest, one.n_rows, one.n_cols) end
  return 4 * (TENSORS * widest * P.n_rows + NUMBERS * P.nnz) <= memory
end

-- Makes a matrix whose rows have so many entries each, at most one a column.
local function regular(n_rows, n_cols, degree)
  degree = math.min(math.ceil(degree), n_cols)
  local entries = core.range(1, n_rows * degree)
  local rows = (entries + degree - 1) // degree
  return core.matrix{n_rows = n_rows, n_cols = n_cols, rows = rows,
    cols = (rows + entries % degree) % n_cols + 1}
end

-- Makes the field of a graph of NODES nodes whose layers compute the same shares of nodes, with as
-- many entries a row, as those of the given field.
local function small(field)
  local P = field.P
  local n, whole = P.n_rows, regular(NODES, NODES, P.nnz / P.n_rows)
  local own = {P = whole, n_layers = field.n_layers, first = field.first, blocks = {}}
  local function share(nodes)
    return core.range(1, nodes and math.ceil(#nodes / n * NODES) or NODES)
  end
  for i = field.first, field.n_layers do
    local nodes = field.dst[i]
    local dst, src = share(nodes), share(field.dst[i - 1] or field.src)
    local degree = P:degrees(nodes):sum():item() / math.max(1, #nodes)
    own.blocks[i] = {adj = regular(#dst, #src, degree), dst = dst, src = src, whole = whole}
  end
  own.src = field.src and share(field.src)
  return own
end

-- Computes the layers in this room; returns the bytes in files.
local function rehearse(work, field, room)
  local model, features = work.model, work.features
  local function first_rows()
    return field.src and features:rows(field.src) or features:slice(1, NODES)
  end
  local kind, outside = options.class_of(features), nil
  if not field.src and kind == "Matrix" then
    outside = features:rows(core.range(1, NODES))
  elseif not field.src and (kind == "Tensor" or layers.takes_rows(model, work.field.P)) then
    outside = first_rows()
  end
  core.in_room(room, core.by_rows, layers.compute, room, {
    model = model, field = field, features = outside or {},
    input = function() return outside or first_rows() end, kept = kept_layers.rehearsed(),
  })
  return (select(2, core.room_use(room)))
end

--- rehearsal.bytes(work, memory, folder) -> integer | nil: the most bytes that exact inference will
-- have in files at a time, with so many bytes of memory. Small files are made in the folder. work:
-- what layers.compute takes. nil where it is not known: of small graphs, of those in parts, where
-- edges have features, and where a layer fails, for example because it is for this graph alone.
function rehearsal.bytes(work, memory, folder)
  local P = work.field.P
  local n = P.n_rows
  if options.class_of(P) ~= "Matrix" or n < LEAST or work.edges then return nil end
  if surely_fits(work, memory) then return 0 end
  local room = core.room(memory * NODES // n, folder)
  local ok, bytes = errors.try(rehearse, work, small(work.field), room)
  return ok and math.ceil(bytes / NODES * n) or nil
end

return rehearsal
