--- Reads a data set in a .safetensors file that may be larger than memory: its graph stays in the
-- file, and so may its features. All of it is checked when it is first read; the results, and
-- hashes of the parts, are kept (see ladies.data.formats.large.checked), so that later it opens at
-- once.
--
-- For that adj_indptr must be I64, adj_indices I32, sorted in each row without a column twice, and
-- there are no weights. Any other file is read into memory.

local array_file = require "ladies.base.array_file"
local checked = require "ladies.data.formats.large.checked"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local npz_matrix = require "ladies.data.formats.npz.matrix"
local tables = require "ladies.base.tables"

local large_file = {}

local LargeFile = {__name = "LargeFile"}
LargeFile.__index = LargeFile

--- Makes an object that reads an open `file` of arrays; context: that of messages.
function large_file.new(context, file)
  local path = context.where
  return setmetatable({path = path, context = context, file = file,
    identity = array_file.is_safetensors(path) and file:identity() or nil}, LargeFile)
end

-- Tells whether the arrays have the types that a matrix needs to be used in its file.
local function fits(file, prefix)
  for part, dtype in pairs{indptr = "int64", indices = "int32", shape = "int64"} do
    if not file:has(prefix .. part) or file:dtype(prefix .. part) ~= dtype then return false end
  end
  return not file:has(prefix .. "data") and not file:has(prefix .. "format")
end

--- Returns the matrix whose arrays have this prefix, mapped from the file without reading it into
-- memory, and 0, the number of entries given more than once; nil where it must be read into memory.
function LargeFile:read_matrix(prefix)
  local file = self.file
  if not self.identity or not fits(file, prefix) then return nil end
  local n_rows, n_cols = npz_matrix.read_shape(self.context, file, prefix .. "shape")
  local known = checked.read(self.identity)
  local ok, matrix = errors.try(file.csr, file, {offsets = prefix .. "indptr",
    columns = prefix .. "indices", n_rows = n_rows, n_cols = n_cols, checked = known.checked,
    symmetric = known.symmetric, looped = known.looped})
  if not ok then
    -- A matrix that is small enough is then read into memory by the usual reader, which sorts and
    -- merges it or explains its error.
    if file:shape(prefix .. "indices")[1] < 1 << 31 then return nil end
    checks.fail(self.context, "%s*: %s", prefix, errors.message(matrix))
  elseif matrix then
    self.matrix, self.known = matrix, known
    return matrix, 0
  end
end

-- Returns the hash of a part of a data set, from the record or computed now.
local function hash_of(known, part)
  return {of = part, hash = known or part:hash()}
end

--- Adds to the fields of the data set the hashes that the record of the file has, and `remember`, a
-- function that writes the record once the data set has been checked. Features that are not from
-- this file are ignored.
function LargeFile:settle(fields)
  local known, path, identity = self.known, self.path, self.identity
  if not known then return end
  local features = fields.features
  fields.known_finite = known.checked and known.features ~= nil
  fields.remember = function(data)
    local edges, rows = data.graph.adjacency, data.features
    if not rawequal(edges, self.matrix) or features and not rawequal(rows, features) then return end
    data.known_hashes = {edges = hash_of(known.edges, edges),
      features = features and hash_of(known.features, rows)}
    if known.checked and known.features then return end
    local now = tables.merged(known, {checked = true, looped = edges.looped,
      symmetric = edges:is_symmetric(), edges = data.known_hashes.edges.hash})
    now.features = features and data.known_hashes.features.hash or "none"
    checked.write(path, identity, now)
  end
end

return large_file
