--- Reads a sparse matrix from the arrays of an .npz file, as SciPy's save_npz writes it (prefix
-- ""), or with a prefix before each name, as gnn-benchmark has it ("adj_", "attr_"):
--
--   shape               rows, columns
--   indptr, indices     CSR or CSC; read as CSR where no format is given
--   row, col            COO
--   data                the values; may be absent (all ones)
--   format              "csr", "csc" or "coo"; others are refused

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local npz_matrix = {}

-- The number of rows or columns that is always allowed, and the number that each entry allows; the
-- limits for Matrix Market files are the same.
local ALWAYS, FOR_EACH_ENTRY = 1 << 24, 64

local PARTS = {"shape", "indptr", "indices", "row", "col", "data", "format"}

--- Returns the name of an array in the open npz `file` that may be a misspelt `key`, one that is
-- not in the set of names `known`; or nil.
function npz_matrix.nearest(file, key, known)
  local strangers = {}
  for _, name in ipairs(file:names()) do
    if not known[name] then strangers[#strangers + 1] = name end
  end
  return options.nearest(key, strangers)
end

--- Fails unless the open npz `file` has the array `key`; the error names an array that may be
-- meant.
function npz_matrix.require_key(context, file, key, known)
  if file:has(key) then return end
  local near = npz_matrix.nearest(file, key, known)
  checks.fail(context, "%s is missing%s", key, near and ('; is it "%s"?'):format(near) or "")
end

--- Returns the set of names that a matrix's arrays have with this prefix.
function npz_matrix.keys(prefix)
  return tables.map(PARTS, function(part) return prefix .. part end)
end

-- Raises the error for CSR or CSC arrays that core has refused, after a slow search for what is
-- wrong.
local function explain(context, prefix, offsets, inner, n_inner)
  local indptr, indices, last = prefix .. "indptr", prefix .. "indices", 0
  for i = 1, #offsets do
    local at = offsets[i] - 1
    if i == 1 and at ~= 0 then checks.fail(context, "%s[0] is %d, must be 0", indptr, at) end
    if at < last then
      checks.fail(context, "%s[%d] is %d, must be at least the %d before it", indptr, i - 1, at,
        last)
    end
    last = at
  end
  if last ~= #inner then
    checks.fail(context, "%s ends with %d, must end with %d, the length of %s", indptr, last,
      #inner, indices)
  end
  context.keys.inner = indices
  checks.ids(context, "inner", inner, n_inner)
end

--- Reads the numbers of rows and columns from the array `key`, the shape of a matrix.
function npz_matrix.read_shape(context, file, key)
  local shape = file:numbers(key)
  local n_rows = type(shape) == "table" and #shape == 2 and math.tointeger(shape[1])
  local n_cols = n_rows and math.tointeger(shape[2])
  if not n_cols or n_rows < 0 or n_cols < 0 then
    checks.fail(context, "%s must be two whole numbers", key)
  end
  return n_rows, n_cols
end

-- Fails if a matrix has far more rows or columns than entries, since a small file must not be able
-- to make the program allocate gigabytes.
local function check_sides(context, prefix, n_rows, n_cols, given)
  local side = math.max(n_rows, n_cols)
  if side > ALWAYS and side > FOR_EACH_ENTRY * given then
    checks.fail(context, "%sshape has %d rows or columns, too many for %d entries", prefix, side,
      given)
  end
end

local function read_values(context, file, prefix, count, places)
  if not file:has(prefix .. "data") then return nil end
  local values = core.freeze(file:tensor(prefix .. "data"))
  context.keys.values = prefix .. "data"
  checks.length(context, "values", #values, count, ("one for each of %s"):format(prefix .. places))
  checks.finite(context, "values", values)
  return values
end

-- Reads a matrix in CSR, or in CSC, which is CSR of the transpose, with n_outer rows and ids up to
-- n_inner.
local function read_compressed(context, file, prefix, n_outer, n_inner, lines)
  local offsets, inner = file:index(prefix .. "indptr"), file:index(prefix .. "indices")
  check_sides(context, prefix, n_outer, n_inner, #inner)
  context.keys.offsets = prefix .. "indptr"
  checks.length(context, "offsets", #offsets, n_outer + 1,
    ("one more than the %s in %sshape"):format(lines, prefix))
  local values = read_values(context, file, prefix, #inner, "indices")
  local ok, matrix = errors.try(core.csr, {n_rows = n_outer, n_cols = n_inner, offsets = offsets,
    columns = inner, values = values})
  if ok then return matrix, #inner end
  explain(context, prefix, offsets, inner, n_inner)
  checks.fail(context, "%s*: %s", prefix, errors.message(matrix))
end

local function read_coo(context, file, prefix, n_rows, n_cols)
  local rows, cols = file:index(prefix .. "row"), file:index(prefix .. "col")
  context.keys.rows, context.keys.cols = prefix .. "row", prefix .. "col"
  checks.length(context, "cols", #cols, #rows, ("one for each of %srow"):format(prefix))
  check_sides(context, prefix, n_rows, n_cols, #rows)
  checks.ids(context, "rows", rows, n_rows)
  checks.ids(context, "cols", cols, n_cols)
  local values = read_values(context, file, prefix, #rows, "row")
  return core.matrix{n_rows = n_rows, n_cols = n_cols, rows = rows, cols = cols, values = values},
    #rows
end

local NEEDED = {csr = {"shape", "indptr", "indices"}, csc = {"shape", "indptr", "indices"},
  coo = {"shape", "row", "col"}}

-- Reads the format from an array with one text, of dimension 1 or 0; it is "csr" without that
-- array.
local function read_format(file, key)
  if not file:has(key) then return "csr" end
  local format = file:strings(key)
  return type(format) == "table" and format[1] or format
end

--- Reads the matrix whose arrays have this prefix; returns it and how many of its entries were
-- given more than once. `known` as in require_key.
function npz_matrix.read(context, file, prefix, known)
  local format = read_format(file, prefix .. "format")
  if not NEEDED[format] then
    checks.fail(context, '%sformat is "%s", must be csr, csc or coo; in Python, matrix.tocsr() '
      .. "makes one", prefix, tostring(format))
  end
  for _, part in ipairs(NEEDED[format]) do
    npz_matrix.require_key(context, file, prefix .. part, known)
  end
  local n_rows, n_cols = npz_matrix.read_shape(context, file, prefix .. "shape")
  local matrix, given
  if format == "coo" then
    matrix, given = read_coo(context, file, prefix, n_rows, n_cols)
  elseif format == "csr" then
    matrix, given = read_compressed(context, file, prefix, n_rows, n_cols, "rows")
  else
    matrix, given = read_compressed(context, file, prefix, n_cols, n_rows, "columns")
    matrix = matrix:transpose()
  end
  return matrix, given - matrix.nnz
end

-- The names of the arrays that save_npz writes, as a set; newer versions also write _is_array.
local SAVED = {_is_array = true}
for _, key in ipairs(npz_matrix.keys "") do SAVED[key] = true end

--- Tells whether the open npz `file` was written by SciPy's save_npz.
function npz_matrix.is_saved(file) return file:has "format" and file:has "shape" end

--- Reads the matrix in a file of SciPy's save_npz; returns it and how many entries were given more
-- than once.
function npz_matrix.load(path)
  local file <close> = core.npz.open(path)
  local context = {where = path, shift = -1, keys = {}}
  if not npz_matrix.is_saved(file) then
    checks.fail(context, "holds no matrix of SciPy's save_npz: it has no arrays format and shape")
  end
  return npz_matrix.read(context, file, "", SAVED)
end

return npz_matrix
