--- Reads the features of a data set from a user's own files, and finds out how many nodes it has.

local core = require "ladies_core"
local complete = require "ladies.data.complete"
local errors = require "ladies.base.errors"
local notes = require "ladies.data.notes"
local table_hints = require "ladies.data.formats.tables.hints"

local WHERE = "ladies.data.from_files"

local NO_LIMIT = (1 << 31) - 2
local SHOWN = 5        -- nodes that a line names

-- Returns the nodes of the labels, or of the targets, if each row begins with its node; otherwise
-- nil and the number of rows, which are then those of the nodes in their order.
local function listed_nodes(reader)
  local path, classes = reader:of_nodes()
  local titled = reader.names or reader:node_column(path) == 1
  if classes == "columns" then
    local cells = reader:matrix(path)
    if cells then return nil, cells.n_rows end
    if not titled then return nil, #reader:read(path, {"numbers"}) end
    return (reader:read(path, {reader:node(), "numbers"}))
  end
  local kind = classes == "strings" and reader.class_words() or "label"
  if not reader.names and reader:n_columns(path) == 1 then
    return nil, #reader:read(path, {kind})
  end
  local columns, swapped = reader:pair(path, kind)
  return (select(swapped and 2 or 1, reader:read(path, columns)))
end

-- Adds a line to `list` about nodes that are in the edges and not in the labels or targets.
local function tell_unlisted(reader, listed, n, list)
  local seen, shown, count = {}, {}, 0
  for i = 1, #listed do seen[listed[i]] = true end
  for node = 1, n do
    if not seen[node] then
      count = count + 1
      if count <= SHOWN then
        shown[count] = reader.names and reader.names[node] or node - 1 + reader:first_id()
      end
    end
  end
  if count > 0 then
    notes.add({where = reader:of_nodes()}, list, "%d of %d nodes are not in it, and have no "
      .. "%s: %s%s", count, n, reader.opts.labels and "class" or "target",
      table.concat(shown, ", "), count > SHOWN and ", ..." or "")
  end
end

-- Adds a line to `list` where the first row of labels that are all names may be a header.
local function tell_header(reader, list)
  local path = reader.opts.labels
  if not path or reader.opts.classes ~= "strings" or reader:header(path) ~= nil then return end
  notes.add({where = path}, list, 'the first line, "%s", is read as a node, which no edge names; '
    .. 'one that begins with "node" is a header (in Lua header = {labels = true} says so)',
    table.concat(reader:fields(path), ","))
end

-- Counts the nodes of a data set without rows of features. If it has nothing but edges, its nodes
-- are those that edges name. Otherwise each row of the labels, or of the targets if there are no
-- labels, is a node; if these rows begin with the number or name of their node, the nodes are all
-- that they or the edges name. edge_nodes() gives the largest and the least number of a node in the
-- edges, and how many edges there are.
local function count_nodes(reader, list, edge_nodes)
  if not reader:of_nodes() then
    local most, least, n_edges = edge_nodes()
    if reader.names then return #reader.names end
    reader:check_numbers(most, least, 2 * n_edges)
    return most
  end
  local listed, n_rows = listed_nodes(reader)
  if not listed then return n_rows end
  local most, least, n_edges = edge_nodes()
  local n = reader.names and #reader.names or math.max(most, #listed > 0 and listed:max() or 0)
  if reader.names then
    if least > 1 then tell_header(reader, list) end
  else
    least = math.min(least, #listed > 0 and listed:min() or least)
    reader:check_numbers(n, least, #listed + 2 * n_edges)
  end
  tell_unlisted(reader, listed, n, list)
  return n
end

-- Fails if two of the `rows` of the features are of one node.
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

-- Tells whether a table of features has a line for each value, with a node, a column and the value,
-- as `feature_form` or the words of its header say.
local function has_triplets(reader, path)
  local form = reader.opts.feature_form
  if reader.is_matrix(path) then return false end
  if form then return form == "triplets" end
  return table.concat(reader:fields(path), ","):lower() == "node,feature,value"
end

-- Fails for a table of three columns that are more likely triplets than features: the first two
-- hold integers, and the first is sorted and has repetitions.
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

-- Adds a line to `list` if the column that is read as the first feature looks like the ids of the
-- nodes, because each id occurs in it once.
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

-- Reads features with a line for each value as a sparse matrix; values of one place are added.
local function triplets(reader, path, list, edge_nodes)
  reader.n_nodes = count_nodes(reader, list, edge_nodes)
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

-- Reads rows that begin with their node's number, and puts them in the order of the nodes; each
-- node must have one.
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

-- Returns the names of the n columns of features, the last titles of a header; nil where there is
-- no header, or one of numbers alone.
local function names_of(titles, n)
  local names = titles and table.move(titles, #titles - n + 1, #titles, 1, {})
  for _, name in ipairs(names or {}) do
    if not tonumber(name) then return names end
  end
end

--- file_features(reader, list, edge_nodes): reads the features of a data set, and the names of
-- their columns where a header has some; returns nil where there is no file of features. It sets
-- the reader's number of nodes, and adds notes to `list` about what may be a misunderstanding.
-- Features are triplets or a row for each node, in the order of the ids, or with the node's number
-- or its name before it; with names, the order of the rows becomes that of the nodes. edge_nodes()
-- is called if nothing else tells the number of nodes (see count_nodes).
return function(reader, list, edge_nodes)
  local path = reader.opts.features
  local features
  if not path then
    reader.n_nodes = count_nodes(reader, list, edge_nodes)
    return nil
  elseif has_triplets(reader, path) then
    return triplets(reader, path, list, edge_nodes)
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
  return features, names_of(reader:titles(path), features.n_cols)
end
