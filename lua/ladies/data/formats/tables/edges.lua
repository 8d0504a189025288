--- Reads the edges of a table, or of a matrix in a file, for ladies.data.from_files: as a Matrix
-- where they have ends and weights alone, otherwise as a list with all that each edge has.

local core = require "ladies_core"
local columns_of_edges = require "ladies.data.edges.columns"
local errors = require "ladies.base.errors"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local table_header = require "ladies.data.formats.tables.header"

local WHERE = "ladies.data.from_files"

local EDGES = 1 << 18       -- in a piece of a table that is counted

local edge_tables = {}

-- Tells whether a table has more to its edges than ends and weights.
local function has_parts(columns)
  return columns.type or columns.time or columns.features and #columns.features > 0
end

-- Finds the columns of a table of edges by its header (see table_header.edges); adds notes to
-- `list` about columns that are left out or guessed.
local function edge_columns(reader, path, list)
  local fields, weighted = reader:fields(path), reader.opts.weighted
  local titles = reader:titles(path)
  if titles then
    local columns, message = table_header.edges(titles, weighted)
    if not columns then errors.fail(("%s: %s: %s"):format(WHERE, path, message)) end
    if #columns.unused > 0 then
      notes.add({where = path}, list, "not used: %s%s", table.concat(columns.unused, ", "),
        has_parts(columns) and ("; a title such as feature_%s makes a column of numbers a feature "
          .. "of edges"):format(columns.unused[1]) or "")
    end
    return columns, titles
  end
  if weighted == nil and #fields == 3 and reader.names and not tonumber(fields[3]) then
    notes.add({where = path}, list, "three columns of names are taken as head, relation and tail; "
      .. "a header tells what columns are")
    return {source = 1, type = 2, target = 3, third = 3, features = {}}
  elseif weighted == nil and #fields == 3 then
    notes.add({where = path}, list, "the third column is taken as weights; a header tells what "
      .. "columns are")
  end
  local third = (weighted or #fields > 2) and 3 or nil
  return {source = 1, target = 2, weight = weighted ~= false and third or nil, third = third}
end

--- Tells whether the edges of the table have more than ends and weights.
function edge_tables.have_parts(reader)
  return has_parts((edge_columns(reader, reader.opts.edges, {})))
end

-- Returns the columns of a table of edges, and the options for reading it.
local function edge_options(reader, path, list)
  local columns, titles = edge_columns(reader, path, list)
  local kinds = {}
  for i = 1, titles and #titles or columns.third or 2 do kinds[i] = "skip" end
  kinds[columns.source], kinds[columns.target] = reader:node(), reader:node()
  if columns.weight then kinds[columns.weight] = "number" end
  return columns, {columns = kinds, header = titles and true or reader:header(path),
    separator = reader.opts.separator, first_id = reader:first_id(), n_ids = reader.n_nodes}
end

-- Where the titles of both ends are names of something else, such as user and item, and no node is
-- in both columns, these are two types of nodes: returns the type of each node, and their names.
-- A note in `list` tells where some nodes are in both.
local function types_of_ends(edges, path, titles, list)
  local is_target = core.ones(#edges.targets):scatter_add(edges.targets, edges.n):above(0)
  if #edges.sources == 0 then return nil end
  local n = #is_target[core.sampling.unique(edges.sources)]:above(0):positions()
  if n > 0 then
    notes.add({where = path}, list, "%d names are in both columns, %s and %s, and each is taken "
      .. "as one node; where they are two, names such as %s1 and %s1 tell them apart", n, titles[1],
      titles[2], titles[1]:sub(1, 1), titles[2]:sub(1, 1))
    return nil
  end
  return is_target:to_index() + 1, titles
end

-- Reads the columns of a table of edges: returns a function that gives the column of a number.
-- Times are whole numbers that fit an Index, or else texts, whose different ones are returned
-- second.
local function columns_of(reader, path, opts, time)
  local function read()
    return table.pack(reader:call(core.text.read, path, opts))
  end
  if time then opts.columns[time] = "label" end
  local place, k = {}, 0
  for i, kind in ipairs(opts.columns) do
    if kind ~= "skip" then k, place[i] = k + 1, k + 1 end
  end
  if not time then
    local found = read()
    return function(i) return i and found[place[i]] or nil end
  end
  local ok, found = errors.try(read)
  local times_of = ok and found[place[time]]
  local texts
  if not ok or #times_of > 0 and times_of:min() == 0 then    -- a label that is 0 was empty, or -1
    texts = core.text.names()
    opts.columns[time] = texts
    local read_again, again = errors.try(read)
    if not read_again then
      local empty = ("(column %d: found nothing, expected) a name$"):format(time)
      errors.pass_on((tostring(again):gsub(empty, "%1 a time")))
    end
    found = again
  end
  return function(i) return i and found[place[i]] or nil end, texts
end

-- Returns types and their names in alphabetical order, of the texts that a column has and an Index
-- of which of them each edge has.
local function sorted_types(texts, which)
  local sorted, number, of = {}, {}, {}
  for i = 1, #texts do sorted[i] = texts[i] end
  table.sort(sorted)
  for i, name in ipairs(sorted) do number[name] = i end
  for i = 1, #texts do of[i] = number[texts[i]] end
  return core.index(of)[which], sorted
end

--- Reads the table of edges as a list of them (see ladies.data.edges.list), with all that it has
-- of each, and node_types and node_type_names where its ends have two types. Adds notes to `list`;
-- sets context_keys.edges, by which messages call the parts.
function edge_tables.list(reader, list, context_keys)
  local path = reader.opts.edges
  local columns, opts = edge_options(reader, path, list)
  local titles, types = reader:titles(path), core.text.names()
  if columns.type then opts.columns[columns.type] = types end
  for _, i in ipairs(columns.features or {}) do opts.columns[i] = "number" end
  local column, texts = columns_of(reader, path, opts, columns.time)
  local edges = {n = reader.n_nodes, sources = column(columns.source),
    targets = column(columns.target), weights = column(columns.weight)}
  reader:check_known(path)
  if columns.type then
    edges.types, edges.type_names = sorted_types(types, column(columns.type))
  end
  if texts then
    edges.times, edges.time_origin = columns_of_edges.times_of_texts(
      {where = ("%s: %s"):format(WHERE, path), shift = 0}, titles[columns.time], texts,
      column(columns.time))
  elseif columns.time then
    edges.times, edges.time_origin = column(columns.time) - (1 - reader:first_id()), 0
  end
  if columns.features and #columns.features > 0 then
    local rows = {}
    edges.feature_names = {}
    for j, i in ipairs(columns.features) do
      rows[j], edges.feature_names[j] = column(i):to_table(), titles[i]
    end
    edges.features = core.tensor(rows):transpose()
  end
  if reader.names and titles and not columns.are_named then
    edges.node_types, edges.node_type_names = types_of_ends(edges, path,
      {titles[columns.source], titles[columns.target]}, list)
  end
  context_keys.edges = setmetatable({}, {__index = function() return path end})
  return edges
end

-- Reads a table of edges as a matrix, and how many were given more than once.
local function edge_table(reader, path, list)
  local columns, opts = edge_options(reader, path, list)
  local matrix, merged = reader:call(core.text.read_edges, path, opts)
  reader:check_known(path)
  -- A target hears its source: rows are destinations.
  return columns.target < columns.source and matrix:transpose() or matrix, merged
end

--- Returns an iterator over pieces of `size` edges of the table, rows and columns; nil where the
-- edges have weights or more.
function edge_tables.pieces(reader, list, size)
  local path = reader.opts.edges
  local columns, opts = edge_options(reader, path, list)
  if columns.weight or has_parts(columns) then return nil end
  local next_piece = reader:pieces(path, size, opts)
  return function()
    local first, second = next_piece()
    reader:check_known(path)
    -- A target hears its source: rows are destinations.
    if columns.target < columns.source then return first, second end
    return second, first
  end
end

--- Returns the largest and the least number of a node in the edges, and how many edges there are;
-- new names of nodes are added to the reader's. Adds a note to `list` where the first line of words
-- may be a header: it is read as an edge, and no other edge has its nodes.
function edge_tables.nodes(reader, list)
  local path = reader.opts.edges
  local matrix = reader:matrix(path)
  if matrix then return matrix.n_rows, 1, 0 end
  local columns, opts = edge_options(reader, path, {})
  if columns.weight then opts.columns[columns.weight] = "skip" end
  local most, least, count, fields = 0, math.huge, 0, reader:fields(path)
  local words = reader.names and not reader:titles(path) and table_header.is_one(fields)
  local ends, uses = nil, 0
  for first, second in reader:pieces(path, EDGES, opts) do
    ends = ends or {first[1], second[1]}
    for _, id in ipairs(words and ends or {}) do
      uses = uses + #first:equals(id):positions() + #second:equals(id):positions()
    end
    most = math.max(most, first:max(), second:max())
    least = math.min(least, first:min(), second:min())
    count = count + #first
  end
  if words and uses == 2 and count > 1 then
    notes.add({where = path}, list, 'the first line, "%s", is read as an edge, and no other edge '
      .. 'has its nodes; one with "source" and "target" is a header (in Lua header = {edges = '
      .. "true} says so)", table.concat(fields, ","))
  end
  return most, least, count
end

--- Reads the adjacency; returns it and how many edges were given more than once, nil where that is
-- not known. Adds notes to `list` about what was not used.
function edge_tables.adjacency(reader, list)
  local path, n = reader.opts.edges, reader.n_nodes
  local matrix, merged = reader:matrix(path)
  if not matrix then
    matrix, merged = edge_table(reader, path, list)
  elseif options.class_of(matrix) ~= "Matrix" then
    errors.fail(("%s: %s: the edges must be a coordinate file, got an array"):format(WHERE, path))
  elseif matrix.n_rows ~= n or matrix.n_cols ~= n then
    errors.fail(("%s: %s is %d x %d, must be %d x %d, as the %s have %d rows"):format(WHERE, path,
      matrix.n_rows, matrix.n_cols, n, n, reader.opts.features and "features"
        or reader.opts.labels and "labels" or "targets", n))
  end
  return matrix, merged
end

return edge_tables
