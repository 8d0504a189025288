--- The features of a data set from a user's own files, and how many nodes it has.

local core = require "ladies_core"
local complete = require "ladies.data.complete"
local errors = require "ladies.base.errors"
local notes = require "ladies.data.notes"
local table_hints = require "ladies.data.formats.table_hints"

local WHERE = "ladies.data.from_files"

local NO_LIMIT = (1 << 31) - 2

-- The number of nodes where no features say it: a row of the labels is one.
local function count_nodes(reader)
  local path, classes = reader.opts.labels, reader.opts.classes
  if classes == "columns" then
    local cells = reader:matrix(path)
    return cells and cells.n_rows or #reader:read(path, {reader.names or "numbers",
      reader.names and "numbers"})
  end
  local kind = classes == "strings" and core.text.names() or "label"
  local alone = not reader.names and reader:n_columns(path) == 1
  return #reader:read(path, alone and {kind} or reader:pair(path, kind))
end

-- An error if one of the `rows` of the features is of the same node as another.
local function check_rows(reader, path, rows)
  local seen = {}
  for i = 1, #reader.names < #rows and #rows or 0 do
    if seen[rows[i]] then
      errors.fail(('%s: %s: two rows for the node "%s"'):format(WHERE, path,
        reader.names[rows[i]]))
    end
    seen[rows[i]] = true
  end
end

-- Whether a table of features has a line for each value, of a node, a column and the value: as
-- `feature_form` says, or the words of its header.
local function has_triplets(reader, path)
  local form = reader.opts.feature_form
  if reader.is_matrix(path) then return false end
  if form then return form == "triplets" end
  return table.concat(reader:fields(path), ","):lower() == "node,feature,value"
end

-- Three columns, the first two of whole numbers, the first in order and with repetitions: more
-- likely triplets than features.
local function check_rows_meant(reader, path, features)
  if reader.opts.feature_form or reader.names or features.n_cols ~= 3 then return end
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

-- A line, added to `list`, where a column that is read as the first feature looks like the nodes of
-- the rows: each id stands in it once.
local function tell_ids(reader, path, features, list)
  local n, seen = features.n_rows, {}
  for i = 1, n do
    local id = features:get(i, 1) - reader:first_id()
    if id < 0 or id >= n or id % 1 ~= 0 or seen[id] then return end
    seen[id] = true
  end
  local titles = reader:titles(path)
  notes.add({where = path}, list, "all %d columns are features, with the first%s, though that has "
    .. "each node's id once; a header that calls it node makes it the node of its row",
    features.n_cols, titles and (", %s"):format(titles[1]) or "")
end

-- Features with a line for each value, as a sparse matrix; values of one place are added.
local function triplets(reader, path)
  reader.n_nodes = count_nodes(reader)
  local kinds = {reader:node(), "label", "number"}
  local nodes, columns, values = reader:read(path, kinds, NO_LIMIT)
  reader:check_known(path)
  local n_cols, limit = columns:max(), complete.most_columns(#values, reader.opts.max_ids)
  if n_cols > limit then reader:read(path, kinds, limit) end      -- names the line
  if columns:min() < 1 then
    errors.fail(("%s: %s: a feature must be a number from %d on"):format(WHERE, path,
      reader:first_id()))
  end
  return core.matrix{n_rows = reader.n_nodes, n_cols = n_cols, rows = nodes, cols = columns,
    values = values}
end

-- Rows that begin with their node's number, in the order of the nodes; each must have one.
local function rows_by_node(reader, path)
  local nodes, rows = reader:read(path, {"id", "numbers"})
  local row_of = {}
  for i = 1, #nodes do
    local node = nodes[i]
    if node > #nodes then
      errors.fail(("%s: %s: has a row for the node %d, but %d rows; each node must have one%s")
        :format(WHERE, path, node - 1 + reader:first_id(), #nodes,
          table_hints.beyond(node - 1, #nodes - 1, reader:first_id())))
    end
    if row_of[node] then reader:fail_twice(path, node) end
    row_of[node] = i
  end
  return rows[core.index(row_of)]
end

--- file_features(reader, list): the features of a data set, nil where there is no file of them, and
-- the number of nodes for the reader; what may be meant otherwise is noted in `list`. They are a
-- row for each node: in the order of the ids, behind the node's number, or behind its name, where
-- the order of the rows becomes that of the nodes; or triplets.
return function(reader, list)
  local path = reader.opts.features
  local features
  if not path then
    reader.n_nodes = count_nodes(reader)
    return nil
  elseif has_triplets(reader, path) then
    return triplets(reader, path)
  end
  if reader.names then
    local rows
    if reader.is_matrix(path) then
      errors.fail(('%s: %s: with ids = "strings" it must be a table with a name in each row'):
        format(WHERE, path))
    end
    rows, features = reader:read(path, {reader.names, "numbers"})
    check_rows(reader, path, rows)
  elseif reader:node_column(path) == 1 then
    features = rows_by_node(reader, path)
  elseif reader.is_matrix(path) then
    features = reader:matrix(path)
  else
    features = reader:read(path, {"numbers"})
    check_rows_meant(reader, path, features)
    tell_ids(reader, path, features, list)
  end
  reader.n_nodes = features.n_rows
  return features
end
