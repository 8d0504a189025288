--- A data set from a user's own files: tables in text (CSV, TSV, blanks), Matrix Market, .npy, and
-- .npz of SciPy's save_npz.
--
-- Ids are read into 1 .. n whatever the files count from, so all that follows is as for arrays.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local checks = require "ladies.data.checks"
local class_numbers = require "ladies.data.class_numbers"
local complete = require "ladies.data.complete"
local npz_matrix = require "ladies.data.formats.npz_matrix"
local multi = require "ladies.data.labels.multi"
local notes = require "ladies.data.notes"
local progress = require "ladies.base.progress"
local splits = require "ladies.data.splits"
local table_header = require "ladies.data.formats.table_header"
local tables = require "ladies.base.tables"

local WHERE = "ladies.data.from_files"

local SPEC = tables.merged(complete.SPEC, {
  edges = "string", features = "string or nil", labels = "string",
  split = "string or nil", train = "string or nil", val = "string or nil", test = "string or nil",
  ids = {"numbers from 0|numbers from 1|strings", "numbers from 0"},
  classes = {"numbers|strings|columns", "numbers"},
  feature_form = "rows|triplets or nil", weighted = "boolean or nil",
  header = "boolean or nil", separator = "string or nil",
  node_names = "string or nil", class_names = "string or nil", feature_names = "string or nil",
  name = {"string", "files"}, source = "string or nil", quiet = {"boolean", false},
})

local NO_LIMIT = (1 << 31) - 2

local function is_npy(path) return path:find "%.npy$" end
local function is_npz(path) return path:find "%.npz$" end
local function is_mtx(path) return path:find "%.mtx$" or path:find "%.mtx%.gz$" end
local function is_matrix(path) return is_mtx(path) or is_npy(path) or is_npz(path) end

local Reader = {}
Reader.__index = Reader

-- Calls a reader of core, with a progress bar if it takes long.
function Reader:call(read, path, opts)
  local finish
  opts.progress, finish = progress.reading(path, {quiet = self.opts.quiet})
  local result = table.pack(pcall(read, path, opts))
  finish()
  if result[1] then return table.unpack(result, 2, result.n) end
  local e = result[2]
  local limited = type(e) == "string" and e:find "limit of labels$"
  error(limited and e .. "; --max-ids (in Lua max_ids) allows more" or e, 0)
end

-- What ladies.text.read makes of a table; labels are limited to n_labels, by default the classes
-- that there may be.
function Reader:read(path, columns, n_labels)
  return self:call(core.text.read, path, {columns = columns,
    header = self.opts.header, separator = self.opts.separator, first_id = self:first_id(),
    n_ids = self.n_nodes, n_labels = n_labels or self:most_classes()})
end

-- Where names say how many classes there are, every number is fine that these allow.
function Reader:most_classes()
  if self.opts.class_names or not self.n_nodes then return nil end
  return class_numbers.limit(self.n_nodes, self.opts.max_ids)
end

-- The fields of a table's first line.
function Reader:fields(path)
  return core.text.fields(path, {separator = self.opts.separator})
end

function Reader:n_columns(path) return #self:fields(path) end

-- The titles of a table's columns where the first line has them, or nil. Where nodes have names,
-- any word may be one.
function Reader:titles(path)
  if is_matrix(path) or self.opts.header == false then return nil end
  local fields = self:fields(path)
  local is_header = self.opts.header or not self.names and table_header.is_one(fields)
  return is_header and fields or nil
end

-- The number of the column of nodes among those of a table, by its header, or nil.
function Reader:node_column(path)
  local titles = self:titles(path)
  return titles and table_header.node(titles)
end

-- What a column of node ids is read as.
function Reader:node() return self.names or "id" end

-- An error if a file named a node that has no row among the features.
function Reader:check_known(path)
  if self.names and #self.names > self.n_nodes then
    errors.fail(('%s: %s: the node "%s" has no row in %s'):format(WHERE, path,
      self.names[self.n_nodes + 1], self.opts.features or self.opts.labels))
  end
end

-- The matrix in a file that is no table, or nil.
function Reader:matrix(path)
  if is_mtx(path) then return self:call(core.mtx.read, path, {}) end
  if is_npy(path) then return core.npy.read(path, {as = "tensor"}) end
  if is_npz(path) then return npz_matrix.load(path) end
end

-- The names in a file, a name a line.
local function read_names(path)
  local names = {}
  for line in core.file.read(path):gmatch "([^\n]*)\n?" do
    names[#names + 1] = line:gsub("\r$", "")
  end
  if names[#names] == "" then names[#names] = nil end
  return names
end

-- An error if one of the `rows` of the features is of the same node as another.
function Reader:check_rows(path, rows)
  local seen = {}
  for i = 1, #self.names < #rows and #rows or 0 do
    if seen[rows[i]] then
      errors.fail(('%s: %s: two rows for the node "%s"'):format(WHERE, path, self.names[rows[i]]))
    end
    seen[rows[i]] = true
  end
end

-- The number of nodes where no features say it: a row of the labels is one.
function Reader:count_nodes()
  local path, classes = self.opts.labels, self.opts.classes
  if classes == "columns" then
    local cells = self:matrix(path)
    return cells and cells.n_rows or #self:read(path, {self.names or "numbers",
      self.names and "numbers"})
  end
  local kind = classes == "strings" and core.text.names() or "label"
  local alone = not self.names and self:n_columns(path) == 1
  return #self:read(path, alone and {kind} or self:pair(path, kind))
end

-- Whether a table of features has a line for each value, of a node, a column and the value: as
-- `feature_form` says, or the words of its header.
function Reader:has_triplets(path)
  local form = self.opts.feature_form
  if is_matrix(path) then return false end
  if form then return form == "triplets" end
  return table.concat(self:fields(path), ","):lower() == "node,feature,value"
end

-- Three columns, the first two of whole numbers, the first in order and with repetitions: more
-- likely triplets than features.
function Reader:check_rows_meant(path, features)
  if self.opts.feature_form or self.names or features.n_cols ~= 3 or is_matrix(path) then return end
  local last, repeated = -1, false
  for i = 1, features.n_rows do
    local node, column = features:get(i, 1), features:get(i, 2)
    if node < last or node % 1 ~= 0 or column % 1 ~= 0 or column < 0 then return end
    repeated, last = repeated or node == last, node
  end
  if repeated and last > 1 then
    errors.fail(('%s: %s: are these three features a node, or lines of node, feature and value? A '
      .. 'header node,feature,value, or feature_form = "rows" or "triplets", says it'):format(WHERE,
      path))
  end
end

-- Features with a line for each value, as a sparse matrix; values of one place are added.
function Reader:triplets(path)
  self.n_nodes = self:count_nodes()
  local kinds = {self:node(), "label", "number"}
  local nodes, columns, values = self:read(path, kinds, NO_LIMIT)
  self:check_known(path)
  local n_cols, limit = columns:max(), complete.most_columns(#values, self.opts.max_ids)
  if n_cols > limit then self:read(path, kinds, limit) end      -- names the line
  if columns:min() < 1 then
    errors.fail(("%s: %s: a feature must be a number from %d on"):format(WHERE, path,
      self:first_id()))
  end
  return core.matrix{n_rows = self.n_nodes, n_cols = n_cols, rows = nodes, cols = columns,
    values = values}
end

-- Rows that begin with their node's number, in the order of the nodes; each must have one.
function Reader:rows_by_node(path)
  local nodes, rows = self:read(path, {"id", "numbers"})
  local row_of = {}
  for i = 1, #nodes do
    local node = nodes[i]
    if node > #nodes then
      errors.fail(("%s: %s: has a row for the node %d, but %d rows; each node must have one")
        :format(WHERE, path, node - 1 + self:first_id(), #nodes))
    end
    if row_of[node] then self:fail_twice(path, node) end
    row_of[node] = i
  end
  return rows[core.index(row_of)]
end

-- A row for each node: in the order of the ids, behind the node's number, or behind its name, where
-- the order of the rows becomes that of the nodes; or triplets.
function Reader:features()
  local path = self.opts.features
  local features
  if not path then
    self.n_nodes = self:count_nodes()
    return nil
  elseif self:has_triplets(path) then
    return self:triplets(path)
  end
  if self.names then
    local rows
    if is_matrix(path) then
      errors.fail(('%s: %s: with ids = "strings" it must be a table with a name in each row'):
        format(WHERE, path))
    end
    rows, features = self:read(path, {self.names, "numbers"})
    self:check_rows(path, rows)
  elseif self:node_column(path) == 1 then
    features = self:rows_by_node(path)
  else
    features = self:matrix(path) or self:read(path, {"numbers"})
    self:check_rows_meant(path, features)
  end
  self.n_nodes = features.n_rows
  return features
end

function Reader:fail_twice(path, node)
  errors.fail(("%s: %s: the node %s stands there twice"):format(WHERE, path,
    self.names and ('"%s"'):format(self.names[node]) or node - 1 + self:first_id()))
end

-- The kinds of the two columns of a file with a value for each node: the node is first, unless the
-- header calls the second one so; and whether it does.
function Reader:pair(path, kind)
  local swapped = self:node_column(path) == 2
  return swapped and {kind, self:node()} or {self:node(), kind}, swapped
end

-- One value for each node: a file with one column has them in the order of the nodes, one with two
-- has the node beside the value, and nodes that it leaves out get 0.
function Reader:per_node(path, kind)
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

function Reader:first_id() return self.opts.ids == "numbers from 1" and 1 or 0 end

-- A matrix of 0 and 1 with a column for each class, which the header names, and the names. Rows
-- that begin with their node may come in any order; a node that is left out has no label.
function Reader:label_columns()
  local path = self.opts.labels
  local matrix = self:matrix(path)
  if matrix then
    return options.class_of(matrix) == "Tensor" and multi.from_cells(matrix) or matrix
  elseif not self.names and self:node_column(path) ~= 1 then
    local cells, titles = self:read(path, {"numbers"})
    return multi.from_cells(cells), titles
  end
  local nodes, cells, titles = self:read(path, {self:node(), "numbers"})
  self:check_known(path)
  local seen = {}
  for i = 1, #nodes do
    if seen[nodes[i]] then self:fail_twice(path, nodes[i]) end
    seen[nodes[i]] = true
  end
  local all = core.full(self.n_nodes, cells.n_cols, -1):copy_rows_(nodes, cells)
  return multi.from_cells(all), titles and table.move(titles, 2, #titles, 1, {})
end

function Reader:labels()
  if self.opts.classes == "columns" then return self:label_columns() end
  local classes = self.opts.classes == "strings" and core.text.names() or nil
  local labels = self:per_node(self.opts.labels, classes or "label")
  if not classes then return labels end
  local class_names = {}
  for i = 1, #classes do class_names[i] = classes[i] end
  return labels, class_names
end

-- The words in the column of a split that are no part of it: "none" is expected, others are told.
local function check_words(fields, path, words, n_parts)
  local others = {}
  for i = #checks.SPLIT + 1, #words do
    if words[i] ~= "none" then others[#others + 1] = words[i] end
  end
  local shown = table.concat(others, ", ", 1, math.min(#others, 5))
  if n_parts == 0 then
    errors.fail(('%s: %s: no node is in "train", "val" or "test"; found %s'):format(WHERE, path,
      shown == "" and "none" or shown))
  elseif #others > 0 then
    notes.add({where = path}, fields.notes, 'nodes of other words than "train", "val" and "test" '
      .. "are in no part: %s", shown)
  end
end

-- The split: a file with train, val, test or another word (none of them) for each node, or a file
-- of nodes for each part.
function Reader:split(fields)
  if self.split_file then
    local words = core.text.names()
    for _, part in ipairs(checks.SPLIT) do words:add(part) end
    local part_of, ids, n_parts = self:per_node(self.split_file, words), {{}, {}, {}}, 0
    for node = 1, #part_of do
      local list = ids[part_of[node]]
      if list then list[#list + 1] = node end
    end
    for i, part in ipairs(checks.SPLIT) do
      fields[part] = #ids[i] > 0 and core.index(ids[i]) or nil
      n_parts = n_parts + (fields[part] and 1 or 0)
    end
    return check_words(fields, self.split_file, words, n_parts)
  end
  for _, part in ipairs(checks.SPLIT) do
    local path = self.opts[part]
    if path then
      fields[part] = self:read(path, {self:node()})
      self:check_known(path)
    end
  end
end

-- The columns of a table of edges, as ladies.data.table_header.edges gives them; what is left out
-- or guessed is noted in `list`.
function Reader:edge_columns(path, list)
  local fields, weighted = self:fields(path), self.opts.weighted
  local titles = self:titles(path)
  if self.names and #fields > 2 and self.opts.header == nil and table_header.is_one(fields)
    and table_header.has_ends(fields) then titles = fields end
  if titles then
    local columns, message = table_header.edges(titles, weighted)
    if not columns then errors.fail(("%s: %s: %s"):format(WHERE, path, message)) end
    if #columns.unused > 0 then
      notes.add({where = path}, list, "not used: %s", table.concat(columns.unused, ", "))
    end
    return columns, titles
  end
  if weighted == nil and #fields == 3 then
    notes.add({where = path}, list, "the third column is taken as weights; a header tells what "
      .. "columns are")
  end
  local third = (weighted or #fields > 2) and 3 or nil
  return {source = 1, target = 2, weight = weighted ~= false and third or nil, third = third}
end

-- A table of edges as a matrix, and how many were given more than once.
function Reader:edge_table(path, list)
  local columns, titles = self:edge_columns(path, list)
  local kinds = {}
  for i = 1, titles and #titles or columns.third or 2 do kinds[i] = "skip" end
  kinds[columns.source], kinds[columns.target] = self:node(), self:node()
  if columns.weight then kinds[columns.weight] = "number" end
  local matrix, merged = self:call(core.text.read_edges, path, {columns = kinds,
    header = titles and true or self.opts.header, separator = self.opts.separator,
    first_id = self:first_id(), n_ids = self.n_nodes})
  self:check_known(path)
  -- A target hears its source: rows are destinations.
  return columns.target < columns.source and matrix:transpose() or matrix, merged
end

-- The adjacency, and how many edges were given more than once, or nil where that is not known; what
-- was not used is noted in `list`.
function Reader:adjacency(list)
  local path, n = self.opts.edges, self.n_nodes
  local matrix, merged = self:matrix(path)
  if not matrix then
    matrix, merged = self:edge_table(path, list)
  elseif options.class_of(matrix) ~= "Matrix" then
    errors.fail(("%s: %s: the edges must be a coordinate file, got an array"):format(WHERE, path))
  elseif matrix.n_rows ~= n or matrix.n_cols ~= n then
    errors.fail(("%s: %s is %d x %d, must be %d x %d, as the %s have %d rows"):format(WHERE, path,
      matrix.n_rows, matrix.n_cols, n, n, self.opts.features and "features" or "labels", n))
  end
  return matrix, merged
end

local from_files = {}

--- The fields of the data set, the context of messages and the options, as ladies.data.complete
-- takes them, for the options of from_files.load; without features where none are given.
function from_files.read(given)
  local opts = options.check(WHERE, given, SPEC)
  local split_file
  if opts.split and (core.exists(opts.split) == "file" or not splits.is_way(opts.split)) then
    opts.split, split_file = nil, opts.split
  end
  if (opts.split or split_file) and (opts.train or opts.val or opts.test) then
    errors.fail(WHERE .. ": give either split or train, val and test")
  end
  for option, key in pairs{node_names = "ids", class_names = "classes"} do
    if opts[option] and opts[key] == "strings" then
      errors.fail(('%s: with %s = "strings" the tables have the names, not %s'):format(WHERE, key,
        option))
    end
  end
  local reader = setmetatable({opts = opts, split_file = split_file}, Reader)
  if opts.ids == "strings" then reader.names = core.text.names() end
  local fields = {name = opts.name, source = opts.source, notes = {}}
  fields.features = reader:features()
  fields.labels, fields.class_names = reader:labels()
  reader:split(fields)
  fields.adjacency, fields.merged = reader:adjacency(fields.notes)
  if reader.names then fields.node_names = reader.names:lines() end
  if opts.node_names then fields.node_names = table.concat(read_names(opts.node_names), "\n") end
  fields.class_names = opts.class_names and read_names(opts.class_names) or fields.class_names
  fields.feature_names = opts.feature_names and read_names(opts.feature_names)
  local keys = setmetatable({adjacency = opts.edges, features = opts.features,
    labels = opts.labels}, {__index = function(_, part) return opts[part] or split_file end})
  return fields, {where = WHERE, shift = reader:first_id() - 1, keys = keys}, opts
end

--- A data set from files, checked as one of arrays is.
--
--   ladies.data.from_files{
--     edges    = "edges.csv",       -- source, target [, weight]; or a matrix in .mtx, .npz
--     features = "features.csv",    -- a row for each node; or .mtx, .npz, .npy
--     labels   = "labels.csv",      -- a class for each node, or a 0/1 column for each class
--     split    = "split.csv",       -- train, val, test or another word for each node; or
--     train = "train.txt", val = "val.txt", test = "test.txt",     -- the nodes of each part
--   }
--
-- Tables may have tabs, commas, semicolons or blanks between their columns, a header, and be packed
-- with gzip: {separator = ","} and {header = true} say so where ladies.text.read would guess wrong.
-- Labels and splits have one column, in the order of the nodes, or two, with the node first; a node
-- that is left out then has none. A header counts: features, and columns of classes, whose first
-- column is called node, node_id, id or name have rows in any order; columns of edges called source
-- (src, from, u), target (dst, dest, destination, to, v) and weight (weights, w, value) may stand
-- in any order. A line tells which others are not used.
--
-- feature_form    "rows", a row for each node, or "triplets", a line node,feature,value for each
--                 value
--            that is not zero; a header of these words says the latter, too
-- ids        "numbers from 0" (the default), "numbers from 1" (labels too) or "strings": the first
--            column of the features then names the nodes
-- make_features   instead of features, "identity", "degree" or "random" (see
--            ladies.data.load); the labels must then have a row for every node
-- classes    "numbers" (the default; -1 = unlabelled), "strings" or, where a node may have several,
--            "columns": a column of 0 and 1 for each class, named by the header if there is one; a
--            row for each node in order (with ids = "strings": its name first), of -1 = unlabelled;
--            or .mtx, .npy
-- weighted   true: the edges have weights, in the column of that name or the third; false: none are
--            read; otherwise as the header says, or, without one, where there is a third column
-- directed, split (a way to split, where no file is called so), split_seed, max_ids    as for
--            ladies.data.load
-- node_names, class_names, feature_names    files with a name a line, in their order
-- name, source    texts for the description
-- quiet      no progress bar for files that take more than a second
--
-- A matrix (Matrix Market, or .npz of SciPy's save_npz) has a row for each node that hears, a
-- column for each that is heard.
function from_files.load(given)
  local fields, context, opts = from_files.read(given)
  return complete.dataset(WHERE, fields, context, opts)
end

return from_files
