--- Stands for the adjacency of a graph that is divided among the ranks, or for a propagation matrix
-- P of it, with the methods of a Matrix that samplers call. Methods that take rows bring the rows
-- that other ranks have, and call the method of a Matrix of these rows alone, which knows their
-- numbers (core's graph_rows), so that results are the same to the bit. A method that needs the
-- whole graph at once is an error. The ranks divide a product, in ladies.comm.together and in
-- validation: each computes its own rows and sends them to all.

local core = require "ladies_core"
local core_classes = require "ladies.base.core_classes"
local errors = require "ladies.base.errors"
local link = require "ladies.ranks.link"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local NEEDS_WHOLE = "that needs the whole graph, and this one is in shards, of which each rank has "
  .. "its own; a data set whose shards have the features alone (ladies import --shards without "
  .. "--shard-graph) has it"

local MatrixInParts = {__name = "ladies.MatrixInParts", __remark = NEEDS_WHOLE}

-- The class of the diagonal of such a matrix; it finds the places of diagonal entries in those rows
-- that are at hand.
local Diagonal = {__name = "ladies.DiagonalInParts"}

local PIECE = 1 << 14     -- rows of a product that are made at a time

--- MatrixInParts.new(graph: GraphInParts): returns the adjacency of the graph.
function MatrixInParts.new(graph)
  return setmetatable({
    graph = graph, name = "adjacency", how = {}, requires_grad = false, in_parts = true,
    n_rows = graph.n_nodes, n_cols = graph.n_nodes, nnz = graph.n_entries,
  }, MatrixInParts)
end

-- Optional fields of a Matrix that are always nil here.
local ABSENT = {values = true, root = true}

local methods = {}

-- Tells whether every Matrix has a field or method of this name.
local function is_of_matrices(key)
  local class = core_classes().Matrix
  for _, name in ipairs(class.__fields) do
    if name == key then return true end
  end
  return class.__methods[key] ~= nil
end

-- Finds a method. A name that only a Matrix has raises an error that says why it is missing here; a
-- name that neither has raises the error that a Matrix would.
function MatrixInParts.__index(matrix, key)
  if methods[key] or ABSENT[key] or type(key) ~= "string" or key:find "^__" then
    return methods[key]
  elseif is_of_matrices(key) then
    errors.fail(key .. ": " .. NEEDS_WHOLE)
  end
  return matrix.graph.rows:collect(core.index{})[key]
end

-- Restricts the option `always` of a method, which is for all rows, to the rows `ids`, which M has.
-- A value that is neither an Index nor a diagonal in parts is left for M to judge.
local function always_of(matrix, name, always, M, ids)
  local class = options.class_of(always)
  if class == "DiagonalInParts" then return M:diagonal() end
  if class ~= "Index" then return always end
  if #always ~= matrix.n_rows then
    errors.fail(("%s: always has %d elements, must have %d, one for each row"):format(name, #always,
      matrix.n_rows))
  end
  return always[ids]
end

-- Maps the methods that take rows to whether they have an option `always` (options are their third
-- argument).
local OF_ROWS = {slice = false, rows = false, draw_cols = false, sample_rows = true,
  poisson_rows = true, poisson_factors = true}

-- Makes each of these methods call that of a Matrix that has the wanted rows alone, as its rows 1,
-- 2, ...
for name, has_always in pairs(OF_ROWS) do
  methods[name] = function(self, ids, ...)
    options.value(name, "the rows", ids, "Index")
    self.graph.asked = self
    local M, given = self.graph:collect(ids, self.how), table.pack(...)
    local opts = has_always and type(given[2]) == "table" and given[2] or {}
    if name == "sample_rows" and opts.p then
      errors.fail "sample_rows: p is for entries of the whole graph, and this one is in shards"
    elseif opts.always then
      given[2] = tables.merged(opts, {always = always_of(self, name, opts.always, M, ids)})
    end
    return M[name](M, core.range(1, #ids), table.unpack(given, 1, given.n))
  end
end

-- Returns a vector with 1 for each node that has an edge to itself, and 0 for the others.
local function loops_of(graph)
  return core.ones(graph.n_loops):scatter_add(graph.loops, graph.n_nodes)
end

-- Returns the number of entries of each row, counting the diagonal entries that P adds.
function methods:degrees(ids)
  options.value("degrees", "the rows", ids, "Index or nil")
  local graph, degrees = self.graph, self.graph.degrees
  if self.how.self_loops then
    degrees = degrees + 1
    if graph.n_loops > 0 then degrees = degrees - loops_of(graph) end
  end
  return ids and degrees[ids] or degrees
end

-- Returns the sum of each row, of all rows.
function methods:sums()
  local graph = self.graph
  if not graph.sums then return self:degrees() end
  return self.how.self_loops and graph.looped_sums or graph.sums
end

function methods.diagonal()
  return setmetatable({}, Diagonal)
end

function methods:loops()
  return self.how.self_loops and self.n_rows or self.graph.n_loops
end

function methods:empty_rows()
  return self.n_rows - math.tointeger(self:degrees():above(0):sum():item())
end

--- Returns the number of nodes without an edge from or to another one (see Graph:n_isolated); rows
-- alone tell it, for graphs in which each edge has its reverse.
function methods:isolated()
  local graph = self.graph
  if not graph.symmetric then errors.fail("isolated: " .. NEEDS_WHOLE) end
  local others = graph.degrees
  if graph.n_loops > 0 then others = others - loops_of(graph) end
  return self.n_rows - math.tointeger(others:above(0):sum():item())
end

function methods:is_symmetric()
  return self.graph.symmetric and not (self.how.row_scale and not self.how.col_scale)
end

function methods:hash()
  if self.name ~= "adjacency" then errors.fail("hash: " .. NEEDS_WHOLE) end
  return self.graph.hash
end

function methods:is_close(other)
  return rawequal(self, other) or options.class_of(other) == "MatrixInParts"
    and rawequal(self.graph, other.graph) and self.name == other.name
end

function methods:normalize(kind, given)
  local loops = options.check("normalize", given, {self_loops = {"boolean", true}}).self_loops
  if self.name ~= "adjacency" then
    errors.fail "normalize: a graph in shards is normalised once: graph:normalize"
  end
  options.value("normalize", "the kind", kind, "sym|row|none")
  if kind == "none" and not loops then return self end
  local P = MatrixInParts.new(self.graph)
  P.name, P.how = ("%s %s"):format(kind, loops), {self_loops = loops}
  P.nnz = self.nnz + (loops and self.n_rows - self.graph.n_loops or 0)
  if kind ~= "none" then
    P.how.row_scale = core.normalization(P:sums(), kind)
    P.how.col_scale = kind == "sym" and P.how.row_scale or nil
  end
  return P
end

--- Returns this rank's own rows as a Matrix.
function methods:own_rows()
  local first, last = self.graph:own()
  return self.graph.rows:collect(core.range(first, last), self.how)
end

-- Computes this rank's own rows of the product with x and writes them into y; further arguments are
-- those of the product.
function methods:multiply_own(y, x, ...)
  local first, last = self.graph:own()
  for from = first, last, PIECE do
    local to = math.min(from + PIECE - 1, last)
    local M = self.graph.rows:collect(core.range(from, to), self.how)
    y:slice(from, to):copy_(M:matmul(x, ...))
  end
end

function methods:matmul(x, ...)
  options.value("matmul", "the operand", x, "Tensor")
  for _, argument in ipairs{x, ...} do core.check_constant("matmul", argument) end
  if not link.is_sharing() then
    errors.fail("matmul: each rank has its own rows of the graph, so all must make the product: "
      .. "ladies.comm.together(f, ...)")
  end
  local y = core.zeros(self.n_rows, x.n_cols)
  link.make_own(y, self.graph.bounds, self.multiply_own, self, y, x, ...)
  return y
end

function MatrixInParts:__tostring()
  return ("Matrix %d x %d, %d entries, in parts"):format(self.n_rows, self.n_cols, self.nnz)
end

function MatrixInParts:__len() return self.n_rows end

return MatrixInParts
