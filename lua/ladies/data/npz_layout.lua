--- The arrays of a data set in an .npz file, in the layout of gnn-benchmark:
--
--   adj_indices, adj_indptr, adj_shape    the adjacency in CSR form; adj_data, its weights, may be
--                                         absent (all ones)
--   attr_indices, attr_indptr, attr_shape, attr_data     the features alike,
--   attr_matrix                           or dense
--   labels                                0 .. classes - 1, -1 = unlabelled
--   idx_train, idx_val, idx_test          node ids; may be absent
--   class_names, feature_names            strings; may be absent
--   node_names                            strings, or uint8: a UTF-8 text with a name a line
--   source                                a string, or uint8: where the data came from
--
-- Ids count from 0 here and from 1 in Lua; the npz functions convert. A file with an array
-- adj_matrix is in the layout of ladies.data.npz_pickled instead.

local core = require "ladies_core"
local options = require "ladies.options"
local checks = require "ladies.data.checks"
local npz_pickled = require "ladies.data.npz_pickled"

local layout = {}

local KEYS = {
  adjacency = "adj_shape", features = "attr_shape", labels = "labels",
  train = "idx_train", val = "idx_val", test = "idx_test",
  class_names = "class_names", node_names = "node_names", feature_names = "feature_names",
}

local LAYOUT = {attr_matrix = true, source = true}
for _, key in pairs(KEYS) do LAYOUT[key] = true end
for _, part in ipairs{"_data", "_indices", "_indptr", "_shape"} do
  LAYOUT["adj" .. part], LAYOUT["attr" .. part] = true, true
end

-- Raises an error that names the array which may have been meant, if there is no `key`.
local function require_key(context, file, key)
  if file:has(key) then return end
  local strangers = {}
  for _, name in ipairs(file:names()) do
    if not LAYOUT[name] then strangers[#strangers + 1] = name end
  end
  local near = options.nearest(key, strangers)
  checks.fail(context, "%s is missing%s", key, near and ('; is it "%s"?'):format(near) or "")
end

-- The words for what is wrong with CSR arrays, found slowly once core has refused them.
local function explain_csr(context, prefix, offsets, columns, n_cols)
  local indptr, indices, last = prefix .. "_indptr", prefix .. "_indices", 0
  for i = 1, #offsets do
    local at = offsets[i] - 1
    if i == 1 and at ~= 0 then checks.fail(context, "%s[0] is %d, must be 0", indptr, at) end
    if at < last then
      checks.fail(context, "%s[%d] is %d, must be at least the %d before it", indptr, i - 1, at,
        last)
    end
    last = at
  end
  if last ~= #columns then
    checks.fail(context, "%s ends with %d, must end with %d, the length of %s", indptr, last,
      #columns, indices)
  end
  context.keys.columns = indices
  checks.ids(context, "columns", columns, n_cols)
end

local function read_shape(context, file, key)
  local shape = file:numbers(key)
  local n_rows = type(shape) == "table" and #shape == 2 and math.tointeger(shape[1])
  local n_cols = n_rows and math.tointeger(shape[2])
  if not n_cols or n_rows < 0 or n_cols < 0 then
    checks.fail(context, "%s must be two whole numbers", key)
  end
  return n_rows, n_cols
end

-- The matrix, and how many of its entries were given more than once.
local function read_matrix(context, file, prefix)
  for _, part in ipairs{"_shape", "_indptr", "_indices"} do
    require_key(context, file, prefix .. part)
  end
  local n_rows, n_cols = read_shape(context, file, prefix .. "_shape")
  local offsets, columns = file:index(prefix .. "_indptr"), file:index(prefix .. "_indices")
  local values = file:has(prefix .. "_data") and file:tensor(prefix .. "_data") or nil
  context.keys.offsets, context.keys.values = prefix .. "_indptr", prefix .. "_data"
  checks.length(context, "offsets", #offsets, n_rows + 1,
    ("one more than the rows in %s_shape"):format(prefix))
  if values then
    checks.length(context, "values", #values, #columns,
      ("one for each of %s_indices"):format(prefix))
    checks.finite(context, "values", values)
  end
  local ok, matrix = pcall(core.csr, {n_rows = n_rows, n_cols = n_cols, offsets = offsets,
    columns = columns, values = values})
  if ok then return matrix, #columns - matrix.nnz end
  explain_csr(context, prefix, offsets, columns, n_cols)
  checks.fail(context, "%s_*: %s", prefix, matrix)
end

local function read_index(file, key)
  return file:has(key) and file:index(key) or nil
end

-- A list of texts, or nil when the file has no such key.
local function read_texts(context, file, key)
  if not file:has(key) then return nil end
  local texts = file:strings(key)
  if type(texts) == "string" then return {texts} end
  if type(texts[1]) == "table" then
    checks.fail(context, "%s must have one dimension", key)
  end
  return texts
end

-- A text in one piece, from bytes or from a list with a line each.
local function read_lines(context, file, key)
  if file:has(key) and file:dtype(key) == "uint8" then return file:text(key) end
  local lines = read_texts(context, file, key)
  return lines and table.concat(lines, "\n")
end

--- Whether the path may be that of an .npz file: that of any file, since its name is the user's.
function layout.fits(path)
  return core.exists(path) == "file" or path:find "%.npz$" ~= nil
end

--- The fields of the data set in the .npz file at `path`, and the context of its messages, as
-- ladies.data.dataset takes them.
function layout.read(path)
  local context = {where = path, shift = -1, keys = setmetatable({}, {__index = KEYS})}
  local file <close> = core.npz.open(path, {mapped = true})
  if npz_pickled.has_layout(file) then return npz_pickled.read(path, file) end
  local fields = {path = path}
  fields.adjacency, fields.merged = read_matrix(context, file, "adj")
  if file:has("attr_matrix") then
    context.keys.features = "attr_matrix"
    fields.features = file:tensor("attr_matrix")
  else
    fields.features = read_matrix(context, file, "attr")
  end
  require_key(context, file, "labels")
  fields.labels = file:index("labels")
  for _, part in ipairs(checks.SPLIT) do
    fields[part] = read_index(file, KEYS[part])
  end
  fields.class_names = read_texts(context, file, "class_names")
  fields.feature_names = read_texts(context, file, "feature_names")
  fields.node_names = read_lines(context, file, "node_names")
  fields.source = read_lines(context, file, "source")
  return fields, context
end

-- An Index in the smallest type that holds its elements.
local function smallest(ids)
  local low, high = #ids > 0 and ids:min() or 1, #ids > 0 and ids:max() or 1
  if low >= 1 and high <= 256 then return core.npz.uint8(ids) end
  return high <= 32768 and core.npz.int16(ids) or ids
end

local function add_matrix(arrays, prefix, matrix)
  arrays[prefix .. "_indptr"] = matrix:offsets()
  arrays[prefix .. "_indices"] = smallest(matrix:col_of())
  arrays[prefix .. "_shape"] = {matrix.n_rows, matrix.n_cols}
  arrays[prefix .. "_data"] = matrix.values and matrix:entry_values()
end

--- Writes the data set `data` to an .npz file at `path`, with the options of npz.write; equal data
-- gives equal bytes.
function layout.write(path, data, opts)
  local arrays = {
    labels = smallest(data.labels), class_names = data.class_names,
    feature_names = data.feature_names, source = data.source and {data.source},
    node_names = data.node_names and data.node_names:lines(),
  }
  add_matrix(arrays, "adj", data.graph.adjacency)
  if options.class_of(data.features) == "Matrix" then
    add_matrix(arrays, "attr", data.features)
  else
    arrays.attr_matrix = data.features
  end
  for _, part in ipairs(checks.SPLIT) do
    arrays[KEYS[part]] = data[part] and smallest(data[part])
  end
  core.npz.write(path, arrays, opts)
end

return layout
