--- Reads a data set from a user's own files: tables in text (CSV, TSV, blanks), Matrix Market,
-- .npy, and .npz of SciPy's save_npz. file_reader.lua reads single files, features.lua the features
-- and edges.lua the edges; here labels, targets and split are made of them.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local complete = require "ladies.data.complete"
local edge_tables = require "ladies.data.formats.tables.edges"
local errors = require "ladies.base.errors"
local file_features = require "ladies.data.formats.tables.features"
local FileReader = require "ladies.data.formats.tables.file_reader"
local multi = require "ladies.data.labels.multi"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local splits = require "ladies.data.splits"
local targets = require "ladies.data.labels.targets"
local tables = require "ladies.base.tables"

local WHERE = "ladies.data.from_files"

local SPEC = tables.merged(complete.SPEC, {
  edges = "string", features = "string or nil", labels = "string or nil",
  graph_of = "string or nil",
  targets = "string or nil",
  split = "string or nil", train = "string or nil", val = "string or nil", test = "string or nil",
  ids = {"numbers from 0|numbers from 1|strings", "numbers from 0"},
  classes = {"numbers|strings|columns", "numbers"},
  feature_form = "rows|triplets or nil", weighted = "boolean or nil",
  header = "boolean or table or nil", separator = "string or nil",
  node_names = "string or nil", class_names = "string or nil", feature_names = "string or nil",
  name = {"string", "files"}, source = "string or nil", quiet = {"boolean", false},
})

-- Reads the names in a file with one name a line.
local function read_names(path)
  local names = {}
  for line in core.file.read(path):gmatch "([^\n]*)\n?" do
    names[#names + 1] = line:gsub("\r$", "")
  end
  if names[#names] == "" then names[#names] = nil end
  return names
end

-- Reads a table of numbers with a row for each node; returns the numbers, and the titles of their
-- columns from the header. Rows that begin with their node may come in any order; a node that is
-- left out has `none` throughout its row.
local function node_rows(reader, path, none)
  if not reader.names and reader:node_column(path) ~= 1 then
    return reader:read(path, {"numbers"})
  end
  local nodes, cells, titles = reader:read(path, {reader:node(), "numbers"})
  reader:check_known(path)
  local seen = {}
  for i = 1, #nodes do
    if seen[nodes[i]] then reader:fail_twice(path, nodes[i]) end
    seen[nodes[i]] = true
  end
  local all = core.full(reader.n_nodes, cells.n_cols, none):copy_rows_(nodes, cells)
  return all, titles and table.move(titles, 2, #titles, 1, {})
end

-- Reads labels with a column of 0 and 1 for each class; returns the matrix, and the names of the
-- classes from the header.
local function label_columns(reader)
  local matrix = reader:matrix(reader.opts.labels)
  if matrix then
    return options.class_of(matrix) == "Tensor" and multi.from_cells(matrix) or matrix
  end
  local cells, titles = node_rows(reader, reader.opts.labels, -1)
  return multi.from_cells(cells), titles
end

-- Reads the targets; returns a Tensor with a row for each node, and their names from the header.
local function targets_of(reader)
  local path = reader.opts.targets
  local matrix = reader:matrix(path)
  if matrix then
    options.value(WHERE, path, matrix, "Tensor")
    return targets.columns(matrix)
  elseif not reader.names and not reader:titles(path) and reader:n_columns(path) > 1 then
    errors.fail(("%s: %s: has %d columns and no header; one names the targets, and calls a column "
      .. "of nodes node"):format(WHERE, path, reader:n_columns(path)))
  end
  return node_rows(reader, path, 0 / 0)
end

-- Reads the class of each node from names of classes, and returns these names second.
local function named_labels(reader)
  local class_names, words, none = {}, reader.class_words()
  local labels = reader:per_node(reader.opts.labels, words):to_table()
  for node, number in ipairs(labels) do labels[node] = math.max(number - none, 0) end
  for i = none + 1, #words do class_names[i - none] = words[i] end
  return core.index(labels), class_names
end

local function labels_of(reader)
  local classes = reader.opts.classes
  if classes == "columns" then return label_columns(reader) end
  if classes == "strings" then return named_labels(reader) end
  return reader:per_node(reader.opts.labels, "label")
end

-- Checks the words in the column of a split: "none" and no word at all are expected beside the
-- parts, and a note tells of others.
local function check_words(fields, path, words, has_parts)
  local others = {}
  for i = #checks.SPLIT + 1, #words do
    if words[i] ~= "none" and words[i] ~= "" then others[#others + 1] = words[i] end
  end
  local shown = table.concat(others, ", ", 1, math.min(#others, 5))
  if not has_parts then
    errors.fail(('%s: %s: no node is in "train", "val" or "test"; found %s'):format(WHERE, path,
      shown == "" and "none" or shown))
  elseif #others > 0 then
    notes.add({where = path}, fields.notes, 'nodes of other words than "train", "val" and "test" '
      .. "are in no part: %s", shown)
  end
end

-- Reads the split: from a file with train, val, test or another word (in no part) for each node, or
-- from a file of nodes for each part.
local function add_split(reader, fields, split_file)
  if split_file then
    local words = core.text.names()
    for _, part in ipairs(checks.SPLIT) do words:add(part) end
    words:add ""
    local parts = splits.by_node(reader:per_node(split_file, words):to_table())
    for part, ids in pairs(parts) do fields[part] = ids end
    return check_words(fields, split_file, words, next(parts) ~= nil)
  end
  for _, part in ipairs(checks.SPLIT) do
    local path = reader.opts[part]
    if path then
      fields[part] = reader:read(path, {reader:node()})
      reader:check_known(path)
    end
  end
end

-- Reads labels, targets and split, which are of nodes, or of graphs where a table says in which one
-- each node is: graphs have no names, and are as many as the largest number says.
local function add_units(reader, fields, split_file)
  local opts, n_nodes, names = reader.opts, reader.n_nodes, reader.names
  if opts.graph_of then
    if not opts.features then
      errors.fail(WHERE .. ": graph_of asks for features, a table with a row for each node")
    end
    fields.graph_of = reader:per_node(opts.graph_of, "label")
    reader.n_nodes, reader.names = fields.graph_of:max(), nil
  end
  if opts.labels then fields.labels, fields.class_names = labels_of(reader) end
  if opts.targets then fields.targets, fields.target_names = targets_of(reader) end
  add_split(reader, fields, split_file)
  reader.n_nodes, reader.names = n_nodes, names
end

local from_files = {}

--- Reads the fields of the data set, the context of messages and the options, as
-- ladies.data.complete takes them, for the options of from_files.load; without features where none
-- are given. With `piece`, and edges in a table without weights, the adjacency is left out, and the
-- last result is {n =, pieces =}: the number of nodes, and an iterator over pieces of so many
-- edges, rows and columns.
function from_files.read(given, piece)
  local opts = options.check(WHERE, given, SPEC)
  if opts.labels_as == "targets" and opts.labels and not opts.targets then
    opts.labels, opts.targets = nil, opts.labels
  end
  if not opts.labels and not opts.targets and not opts.features and not opts.make_features then
    errors.fail(WHERE .. ": give labels or targets, a table with a row for each node; or features "
      .. "alone, for tasks of edges, or make_features")
  end
  local reader = FileReader.new(opts)
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
  local fields = {name = opts.name, source = opts.source, notes = {}}
  fields.features, fields.feature_names = file_features(reader, fields.notes, function()
    return edge_tables.nodes(reader, fields.notes)
  end)
  add_units(reader, fields, split_file)
  local pieces = piece and not FileReader.is_matrix(opts.edges)
    and edge_tables.pieces(reader, fields.notes, piece)
  local edge_keys = {}
  if not pieces and not FileReader.is_matrix(opts.edges)
    and (opts.parallel == "keep" or edge_tables.have_parts(reader)) then
    local edges = edge_tables.list(reader, fields.notes, edge_keys)
    fields.node_types, fields.node_type_names = edges.node_types, edges.node_type_names
    fields.edge_list = edges
  elseif not pieces then
    fields.adjacency, fields.merged = edge_tables.adjacency(reader, fields.notes)
  end
  fields.from_rows = FileReader.is_matrix(opts.edges)
  if reader.names then fields.node_names = reader.names:lines() end
  if opts.node_names then fields.node_names = table.concat(read_names(opts.node_names), "\n") end
  fields.class_names = opts.class_names and read_names(opts.class_names) or fields.class_names
  if opts.feature_names then fields.feature_names = read_names(opts.feature_names) end
  local keys = setmetatable({adjacency = opts.edges, features = opts.features,
    labels = opts.labels, targets = opts.targets, target_names = "the header",
    edges = edge_keys.edges},
    {__index = function(_, part) return opts[part] or split_file end})
  return fields, {where = WHERE, shift = reader:first_id() - 1, keys = keys}, opts,
    pieces and {n = reader.n_nodes, pieces = pieces} or nil
end

--- ladies.data.from_files{edges =, features =, labels =, ...} -> Dataset: a data set from files,
-- checked as one of arrays is.
--
--   ladies.data.from_files{
--     edges    = "edges.csv",       -- source, target [, weight]; or a matrix in .mtx, .npz, whose
--                                   -- rows are sources and columns targets
--     features = "features.csv",    -- a row for each node; or .mtx, .npz, .npy
--     labels   = "labels.csv",      -- a class for each node, or a 0/1 column for each class
--     split    = "split.csv",       -- train, val, test or another word for each node; or files
--                                   -- with the nodes of each part, as train, val and test
--   }
--
-- Tables may have tabs, commas, semicolons or blanks between their columns, a header, and be packed
-- with gzip: {separator = ","} and {header = true}, or by table {header = {edges = true, labels =
-- false}}, say so where ladies.text.read would guess wrong.
-- Labels and splits have one column, in the order of the nodes, or two, with the node first; a node
-- that is left out then has none. targets = "targets.csv" (or .npy), beside labels or instead of
-- them, has real numbers, a column for each target. Targets of one column are in the order of the
-- nodes, too; more columns need a header, in which a column of nodes is called node; an empty field
-- or nan is a target that is not known. Without features, whose rows say which nodes there are,
-- labels of one column do, and for labels of two these and the edges; with make_features edges
-- alone do. A header counts: it names features; these, and columns of classes, whose first column
-- is called node, node_id, id or name have rows in any order; columns of edges called type
-- (relation, predicate) and time (timestamp, date), and those that begin with feature or attr,
-- become data.edges; those called source (src, from, u, head, subject), target (dst, dest,
-- destination, to, v, tail, object) and weight (weights, w, value) may stand in any order. Times
-- are whole numbers, or dates such as 2024-01-31 or 2024-01-31 13:05:00, which become seconds since
-- 1970. Three columns of names without a header are taken as head, relation and tail. A line tells
-- which others are not used. Where the first two columns are the ends of such edges and called
-- otherwise, as user and item, nodes have names and none is in both, these are the types of nodes
-- (data.node_types). In a table of names alone the first line is a header where it calls both ends
-- of the edges so, or a column behind them time, type, weight or feature, or its first column a
-- node, unless a node has such a name.
--
-- graph_of   a table that says in which of many graphs each node is, as labels say its class: a
--            number from 0 for each node, in their order or behind the node. Labels, targets and
--            split are then of graphs, by their numbers
-- feature_form    "rows", a row for each node, or "triplets", a line node,feature,value for each
--            value that is not zero; a header of these words says the latter, too
-- ids        "numbers from 0" (the default), "numbers from 1" (labels too) or "strings": the first
--            column of the features then names the nodes
-- make_features   instead of features, "identity", "degree" or "random" (see
--            ladies.data.load)
-- classes    "numbers" (the default; -1 or an empty field = unlabelled), "strings" (the same, with
--            names) or, where a node may have several, "columns": a column of 0 and 1 for each
--            class, named by the header if there is one; a row for each node in order (with ids =
--            "strings": its name first), of -1 = unlabelled; or .mtx, .npy
-- weighted   true: the edges have weights, in the column of that name or the third; false: none are
--            read; otherwise as the header says, or, without one, where there is a third column
-- labels_as  "targets": the labels are read as targets
-- directed, parallel, split (a way to split, where no file is called so), split_seed, max_ids,
--            features_in    as for ladies.data.load
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
