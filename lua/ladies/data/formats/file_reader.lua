--- How one file of a user's is read: a table in text, Matrix Market, .npy, or .npz of SciPy's
-- save_npz. Ids become 1 .. n whatever the files count from.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local class_numbers = require "ladies.data.class_numbers"
local errors = require "ladies.base.errors"
local npz_matrix = require "ladies.data.formats.npz_matrix"
local progress = require "ladies.base.progress"
local table_header = require "ladies.data.formats.table_header"

local WHERE = "ladies.data.from_files"

local FileReader = {}
FileReader.__index = FileReader

--- A reader for files of one data set. opts: those of ladies.data.from_files. Its fields: `names`,
-- of the nodes, where ids are strings, and n_nodes, which is set when it is known.
function FileReader.new(opts)
  return setmetatable({opts = opts, names = opts.ids == "strings" and core.text.names() or nil},
    FileReader)
end

local function is_npy(path) return path:find "%.npy$" end
local function is_npz(path) return path:find "%.npz$" end
local function is_mtx(path) return path:find "%.mtx$" or path:find "%.mtx%.gz$" end

--- Whether a file is no table.
function FileReader.is_matrix(path) return is_mtx(path) or is_npy(path) or is_npz(path) end

--- Calls a reader of core, with a progress bar if it takes long.
function FileReader:call(read, path, opts)
  local finish
  opts.progress, finish = progress.reading(path, {quiet = self.opts.quiet})
  local result = table.pack(pcall(read, path, opts))
  finish()
  if result[1] then return table.unpack(result, 2, result.n) end
  local e = result[2]
  local limited = type(e) == "string" and e:find "limit of labels$"
  error(limited and e .. "; --max-ids (in Lua max_ids) allows more" or e, 0)
end

--- What ladies.text.read makes of a table; labels are limited to n_labels, by default the classes
-- that there may be.
function FileReader:read(path, columns, n_labels)
  return self:call(core.text.read, path, {columns = columns,
    header = self.opts.header, separator = self.opts.separator, first_id = self:first_id(),
    n_ids = self.n_nodes, n_labels = n_labels or self:most_classes()})
end

--- Where names say how many classes there are, every number is fine that these allow.
function FileReader:most_classes()
  if self.opts.class_names or not self.n_nodes then return nil end
  return class_numbers.limit(self.n_nodes, self.opts.max_ids)
end

--- The fields of a table's first line.
function FileReader:fields(path)
  return core.text.fields(path, {separator = self.opts.separator})
end

--- How many columns a table has.
function FileReader:n_columns(path) return #self:fields(path) end

--- The titles of a table's columns where the first line has them, or nil. Where nodes have names,
-- any word may be one.
function FileReader:titles(path)
  if FileReader.is_matrix(path) or self.opts.header == false then return nil end
  local fields = self:fields(path)
  local is_header = self.opts.header or not self.names and table_header.is_one(fields)
  return is_header and fields or nil
end

--- The number of the column of nodes among those of a table, by its header, or nil.
function FileReader:node_column(path)
  local titles = self:titles(path)
  return titles and table_header.node(titles)
end

--- What a column of node ids is read as.
function FileReader:node() return self.names or "id" end

--- An error if a file named a node that has no row among the features.
function FileReader:check_known(path)
  if self.names and #self.names > self.n_nodes then
    errors.fail(('%s: %s: the node "%s" has no row in %s'):format(WHERE, path,
      self.names[self.n_nodes + 1], self.opts.features or self.opts.labels))
  end
end

--- The matrix in a file that is no table, or nil.
function FileReader:matrix(path)
  if is_mtx(path) then return self:call(core.mtx.read, path, {}) end
  if is_npy(path) then return core.npy.read(path, {as = "tensor"}) end
  if is_npz(path) then return npz_matrix.load(path) end
end

--- An error about a node that has two values.
function FileReader:fail_twice(path, node)
  errors.fail(("%s: %s: the node %s stands there twice"):format(WHERE, path,
    self.names and ('"%s"'):format(self.names[node]) or node - 1 + self:first_id()))
end

--- The kinds of the two columns of a file with a value for each node: the node is first, unless the
-- header calls the second one so; and whether it does.
function FileReader:pair(path, kind)
  local swapped = self:node_column(path) == 2
  return swapped and {kind, self:node()} or {self:node(), kind}, swapped
end

--- One value for each node: a file with one column has them in the order of the nodes, one with two
-- has the node beside the value, and nodes that it leaves out get 0.
function FileReader:per_node(path, kind)
  if not self.names and self:n_columns(path) == 1 then
    local values = self:read(path, {kind})
    checks.length({where = WHERE, keys = {values = path}}, "values", #values, self.n_nodes,
      "one for each node")
    return values
  end
  local columns, swapped = self:pair(path, kind)
  local nodes, values = self:read(path, columns)
  if swapped then nodes, values = values, nodes end
  self:check_known(path)
  local all = {}
  for i = 1, self.n_nodes do all[i] = 0 end
  for i = 1, #nodes do
    if all[nodes[i]] ~= 0 then self:fail_twice(path, nodes[i]) end
    all[nodes[i]] = values[i]
  end
  return core.index(all)
end

--- The number of the first node in the files.
function FileReader:first_id() return self.opts.ids == "numbers from 1" and 1 or 0 end

return FileReader
