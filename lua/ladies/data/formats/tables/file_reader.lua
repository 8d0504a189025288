--- Reads the single files of ladies.data.from_files: a table in text, Matrix Market, .npy, or .npz
-- of SciPy's save_npz. Ids become 1 .. n whether files count from 0 or 1.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local class_numbers = require "ladies.data.labels.class_numbers"
local complete = require "ladies.data.complete"
local errors = require "ladies.base.errors"
local npz_matrix = require "ladies.data.formats.npz.matrix"
local progress = require "ladies.base.progress"
local options = require "ladies.base.options"
local table_header = require "ladies.data.formats.tables.header"
local table_hints = require "ladies.data.formats.tables.hints"

local WHERE = "ladies.data.from_files"

-- The options that name a table.
local TABLES = {"edges", "features", "labels", "targets", "graph_of", "split", "train", "val",
  "test"}

-- The words that stand in place of a class's name where a node has none.
local NO_CLASS = {"", "-1"}

local FileReader = {}
FileReader.__index = FileReader

-- Checks the option `header` and returns what it says about each table, by the option that names
-- the table; fails for a table that is not given.
local function check_header(opts)
  local spec = {}
  for _, part in ipairs(TABLES) do spec[part] = "boolean or nil" end
  for part in pairs(options.check(WHERE .. ": header", opts.header, spec)) do
    if not opts[part] then
      errors.fail(("%s: header.%s is of no file: there is no %s"):format(WHERE, part, part))
    end
  end
end

--- Makes a reader for the files of one data set, with the options of ladies.data.from_files. Its
-- fields are `names`, those of the nodes where ids are strings, and n_nodes, which is set when it
-- is known.
function FileReader.new(opts)
  if type(opts.header) == "table" then check_header(opts) end
  local part_of = {}
  for _, part in ipairs(TABLES) do
    if opts[part] then part_of[opts[part]] = part end
  end
  return setmetatable({opts = opts, part_of = part_of,
    names = opts.ids == "strings" and core.text.names() or nil}, FileReader)
end

local function is_npy(path) return path:find "%.npy$" end
local function is_npz(path) return path:find "%.npz$" end
local function is_mtx(path) return path:find "%.mtx$" or path:find "%.mtx%.gz$" end

--- Tells whether a file is a matrix and no table, by its name.
function FileReader.is_matrix(path) return is_mtx(path) or is_npy(path) or is_npz(path) end

-- Returns the hint that is added to the message of an error in a file, or "".
function FileReader:hint(message, path, kinds)
  if message:find "limit of labels$" then return "; --max-ids (in Lua max_ids) allows more" end
  local part = self.part_of[path]
  if part == "features" and table_hints.is_missing(message) then return checks.MISSING end
  return table_hints.of(message, kinds, self:first_id(), part == "labels")
end

--- Calls a reader of core, with a progress bar if it takes long.
function FileReader:call(read, path, opts)
  local finish
  opts.progress, finish = progress.reading(path, {quiet = self.opts.quiet})
  local result = table.pack(pcall(read, path, opts))
  finish()
  if result[1] then return table.unpack(result, 2, result.n) end
  local e = result[2]
  error(type(e) == "string" and e .. self:hint(e, path, opts.columns or {}) or e, 0)
end

--- Returns an iterator over pieces of `size` rows of a table, which gives the columns of each
-- piece; opts are those of ladies.text.reader.
function FileReader:pieces(path, size, opts)
  local function told(f, ...)
    local result = table.pack(pcall(f, ...))
    if result[1] then return table.unpack(result, 2, result.n) end
    local e = result[2]
    error(type(e) == "string" and e .. self:hint(e, path, opts.columns) or e, 0)
  end
  local rows = told(core.text.reader, path, opts)
  return function() return told(rows.next, rows, size) end
end

--- Reads a table by ladies.text.read; labels are limited to n_labels, by default to the number of
-- classes that there may be. Numbers may be missing in targets.
function FileReader:read(path, columns, n_labels)
  return self:call(core.text.read, path, {columns = columns,
    header = self:header(path), separator = self.opts.separator, first_id = self:first_id(),
    n_ids = self.n_nodes, n_labels = n_labels or self:most_classes(),
    missing = self.part_of[path] == "targets"})
end

--- Returns the path of the table that has a row for each node besides the features, that of the
-- labels or else of the targets, and the option `classes` for it ("columns" for targets).
function FileReader:of_nodes()
  if self.opts.labels then return self.opts.labels, self.opts.classes end
  return self.opts.targets, "columns"
end

--- Returns the largest allowed number of classes; nil where names say how many there are, or the
-- number of nodes is not known yet.
function FileReader:most_classes()
  if self.opts.class_names or not self.n_nodes then return nil end
  return class_numbers.limit(self.n_nodes, self.opts.max_ids)
end

--- Returns the fields of a table's first line.
function FileReader:fields(path)
  return core.text.fields(path, {separator = self.opts.separator})
end

--- Returns the number of columns of a table.
function FileReader:n_columns(path) return #self:fields(path) end

-- Returns the option `header` for a table: true, false or nil.
function FileReader:said(path)
  local header = self.opts.header
  if type(header) == "table" then return header[self.part_of[path]] end
  return header
end

-- Tells whether the words of the first line are titles, in a table whose nodes have names: titles
-- of edges name both ends, or a time, weight, type or feature behind them, others begin with the
-- node, and no known node has such a name.
function FileReader:are_titles(path, fields)
  if self.part_of[path] ~= "edges" then
    return table_header.node(fields) == 1 and not self.names:find(fields[1])
  end
  local source, target = table_header.ends(fields)
  if not source and table_header.names_more(fields) then source, target = 1, 2 end
  return source and not self.names:find(fields[source]) and not self.names:find(fields[target])
end

--- Returns the titles of a table's columns if the first line has them, or nil.
function FileReader:titles(path)
  local said = self:said(path)
  if FileReader.is_matrix(path) or said == false then return nil end
  local fields = self:fields(path)
  local found = said or table_header.is_one(fields)
    and (not self.names or self:are_titles(path, fields))
  return found and fields or nil
end

--- Returns true or false if it is known whether a table has a header; nil if that is left to
-- ladies.text.read, which finds it out from columns of numbers.
function FileReader:header(path)
  local said = self:said(path)
  if said == nil and self.names and self:titles(path) then return true end
  return said
end

--- Returns the number of the column of nodes in a table, by its header, or nil.
function FileReader:node_column(path)
  local titles = self:titles(path)
  return titles and table_header.node(titles)
end

--- Returns the kind of a column of nodes, for ladies.text.read.
function FileReader:node() return self.names or "id" end

-- Returns a hint for a table that named an unknown node if its first line may be a header;
-- otherwise "".
function FileReader:header_hint(path)
  local fields = self:fields(path)
  if self:header(path) ~= nil or not table_header.is_one(fields) then return "" end
  local unknown = self.names[self.n_nodes + 1]
  local stands_there = false
  for _, field in ipairs(fields) do
    if (self.names:find(field) or math.huge) <= self.n_nodes then return "" end
    stands_there = stands_there or field == unknown
  end
  return stands_there and ("; header = {%s = true} says that the first line is a header")
    :format(self.part_of[path]) or ""
end

--- Fails if a file named a node that has no row among the features.
function FileReader:check_known(path)
  if not self.names or #self.names <= self.n_nodes then return end
  errors.fail(('%s: %s: the node "%s" has no row in %s%s'):format(WHERE, path,
    self.names[self.n_nodes + 1], self.opts.features or self:of_nodes(), self:header_hint(path)))
end

--- Reads the matrix in a file that is no table; returns nil for a table.
function FileReader:matrix(path)
  if is_mtx(path) then return self:call(core.mtx.read, path, {}) end
  if is_npy(path) then return core.npy.read(path, {as = "tensor"}) end
  if is_npz(path) then return npz_matrix.load(path) end
end

--- Raises the error for a node that has two values.
function FileReader:fail_twice(path, node)
  errors.fail(("%s: %s: the node %s stands there twice"):format(WHERE, path,
    self.names and ('"%s"'):format(self.names[node]) or node - 1 + self:first_id()))
end

--- Makes a collector of the names of classes; returns it and how many of its first names stand for
-- no class.
function FileReader.class_words()
  local words = core.text.names()
  for _, word in ipairs(NO_CLASS) do words:add(word) end
  return words, #NO_CLASS
end

--- Fails where the numbers of nodes begin with 1 in files that count from 0, or where there are
-- too many. n: the largest number; least: the least one; n_numbers: how many the files have.
function FileReader:check_numbers(n, least, n_numbers)
  local path = self:of_nodes() or self.opts.edges
  if n > 0 and least > 1 and self:first_id() == 0 then
    errors.fail(("%s: neither %s nor %s names the node 0%s"):format(WHERE, path, self.opts.edges,
      table_hints.FROM_1))
  end
  local limit = complete.most_columns(n_numbers, self.opts.max_ids)
  if n > limit then
    errors.fail(("%s: the nodes go to %d, more than the %d that %s and %s may name; --max-ids (in "
      .. "Lua max_ids) allows more"):format(WHERE, n - 1 + self:first_id(), limit, path,
      self.opts.edges))
  end
end

--- Returns the kinds of the two columns of a file with a node and a value in each row; the node
-- comes first unless the header says that it comes second. Returns whether the header says so, too.
function FileReader:pair(path, kind)
  local swapped = self:node_column(path) == 2
  return swapped and {kind, self:node()} or {self:node(), kind}, swapped
end

--- Reads one value for each node, as an Index. A file with one column has the values in the order
-- of the nodes; a file with two has the node beside the value, and nodes that it leaves out get 0.
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
  local all, seen = {}, {}
  for i = 1, self.n_nodes do all[i] = 0 end
  for i = 1, #nodes do
    local node = nodes[i]
    if seen[node] then self:fail_twice(path, node) end
    all[node], seen[node] = values[i], true
  end
  return core.index(all)
end

--- Returns the number of the first node in the files, 0 or 1.
function FileReader:first_id() return self.opts.ids == "numbers from 1" and 1 or 0 end

return FileReader
