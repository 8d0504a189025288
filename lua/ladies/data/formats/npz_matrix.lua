--- A sparse matrix in the arrays of an .npz file, as SciPy's save_npz writes it (prefix ""), or
-- with a prefix before each name, as gnn-benchmark has it ("adj_", "attr_"):
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

local npz_matrix = {}

-- How many rows or columns there may be always, or for each entry, as in Matrix Market's files.
local ALWAYS, FOR_EACH_ENTRY = 1 << 24, 64

local PARTS = {"shape", "indptr", "indices", "row", "col", "data", "format"}

--- The array of the open npz `file` that may be meant by `key`, or nil: one that is not in `known`,
-- a set of names.
function npz_matrix.nearest(file, key, known)
  local strangers = {}
  for _, name in ipairs(file:names()) do
    if not known[name] then strangers[#strangers + 1] = name end
  end
  return options.nearest(key, strangers)
end

--- An error, which names the array that may be meant, unless the open npz `file` has array `key`.
function npz_matrix.require_key(context, file, key, known)
  if file:has(key) then return end
  local near = npz_matrix.nearest(file, key, known)
  checks.fail(context, "%s is missing%s", key, near and ('; is it "%s"?'):format(near) or "")
end

--- The names of the arrays with this prefix.
function npz_matrix.keys(prefix)
  local keys = {}
  for i, part in ipairs(PARTS) do keys[i] = prefix .. part end
  return keys
end

-- The words for what is wrong with CSR or CSC arrays, found slowly once core has refused them.
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

--- The rows and columns that the array `key`, the shape of a matrix, says.
function npz_matrix.read_shape(context, file, key)
  local shape = file:numbers(key)
  local n_rows = type(shape) == "table" and #shape == 2 and math.tointeger(shape[1])
  local n_cols = n_rows and math.tointeger(shape[2])
  if not n_cols or n_rows < 0 or n_cols < 0 then
    checks.fail(context, "%s must be two whole numbers", key)
  end
  return n_rows, n_cols
end

-- Rows and columns take memory whether they have entries or not: a few bytes must not be able to
-- ask for gigabytes.
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

-- CSR, or the same of the transpose (CSC): n_outer offsets, and inner ids up to n_inner.
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

-- The word in an array of one text, with or without a dimension.
local function read_format(file, key)
  if not file:has(key) then return "csr" end
  local format = file:strings(key)
  return type(format) == "table" and format[1] or format
end

--- The matrix, and how many of its entries were given more than once. `known` as in require_key.
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

-- The arrays of save_npz, which has one name more in newer versions.
local SAVED = {_is_array = true}
for _, key in ipairs(npz_matrix.keys "") do SAVED[key] = true end

--- Whether the open npz `file` is one of SciPy's save_npz.
function npz_matrix.is_saved(file) return file:has "format" and file:has "shape" end

--- The matrix in a file of SciPy's save_npz, and how many entries were given more than once.
function npz_matrix.load(path)
  local file <close> = core.npz.open(path)
  local context = {where = path, shift = -1, keys = {}}
  if not npz_matrix.is_saved(file) then
    checks.fail(context, "holds no matrix of SciPy's save_npz: it has no arrays format and shape")
  end
  return npz_matrix.read(context, file, "", SAVED)
end

return npz_matrix
