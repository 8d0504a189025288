--- Reads a folder of the Open Graph Benchmark (Hu et al., 2020) as it comes out of its archive:
-- one graph for node prediction, such as ogbn_arxiv, ogbn_products and ogbn_proteins, or many for
-- graph prediction, such as ogbg_molhiv and ogbg_molesol:
--
--   raw/num-node-list.csv.gz    the number of nodes of each graph
--   raw/num-edge-list.csv.gz    how many edges each graph has; of many graphs
--   raw/edge.csv.gz             source, target, counted from 0 in each graph
--   raw/edge-feat.csv.gz        a row for each edge; may be absent. Of one graph it is read only
--                               where the option `parallel` asks for edges one by one
--   raw/node-feat.csv.gz        a row for each node; may be absent
--   raw/node-label.csv.gz       the class of each node, empty or nan for none; or more than one
--                               column of 0 and 1, for nodes of several classes; or targets
--   raw/graph-label.csv.gz      the same for each of many graphs
--   split/NAME/{train,valid,test}.csv.gz    the nodes, or graphs, of each part
--
--   mapping/labelidx2*.csv.gz   below a head, a class and its name; may be absent
--
-- There is no header elsewhere. All of these may be plain .csv as well. Further files are not read;
-- the data set's source names them. The largest graphs have arrays in place of the tables in raw/:
-- see ladies.data.formats.ogb_binary.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local complete = require "ladies.data.complete"
local direction = require "ladies.data.direction"
local npz_labels = require "ladies.data.formats.npz.labels"
local ogb_binary = require "ladies.data.formats.ogb_binary"
local options = require "ladies.base.options"

local ogb = {named_splits = true}

local SPLIT_FILES = {train = "train", val = "valid", test = "test"}

local READ = {["num-node-list"] = true, ["num-edge-list"] = true, edge = true,
  ["node-feat"] = true, ["node-label"] = true, ["graph-label"] = true}

-- Returns the path of the table called `name` below the folder, packed or plain, or nil.
local function find(folder, name)
  for _, ending in ipairs{".csv.gz", ".csv"} do
    local path = ("%s/%s%s"):format(folder, name, ending)
    if core.exists(path) == "file" then return path end
  end
end

--- Tells whether the path is that of such a folder.
function ogb.fits(path)
  return find(path, "raw/edge") ~= nil or ogb_binary.fits(path)
end

--- Tells whether the path is that of such a folder with arrays instead of tables.
function ogb.is_binary(path)
  return ogb_binary.fits(path) and not find(path, "raw/edge")
end

-- Reads the columns of a table that must be there; messages call it by its path, as `part`. Numbers
-- may be missing where `missing` is true.
local function read(context, name, part, columns, n_ids, missing)
  local path = find(context.where, name)
  if not path then checks.fail(context, "%s.csv.gz is missing", name) end
  if part then context.keys[part] = path:sub(#context.where + 2) end
  return core.text.read(path, {columns = columns, header = false, n_ids = n_ids,
    missing = missing})
end

-- Reads how many nodes or edges each graph has.
local function read_counts(context, name)
  return read(context, name, nil, {"id"}) - 1 -- what is read as an id counts from 1
end

-- Reads the labels or targets of n nodes or graphs, `unit`: one column of classes becomes an Index,
-- more of 0 and 1 a Tensor. Their number is checked right here, since a wrong number of nodes could
-- make the program allocate any amount of memory.
local function read_labels(context, fields, n, unit, asked)
  local cells = read(context, ("raw/%s-label"):format(unit), "labels", {"numbers"}, nil, true)
  checks.length(context, "labels", cells.n_rows, n, "one for each " .. unit)
  if cells.n_cols > 1 then
    npz_labels.add_matrix(context, fields, context.keys.labels, cells, asked)
  else
    npz_labels.add(context, fields, context.keys.labels, cells:reshape(n):to_table(), asked)
  end
end

-- Reads the names of the classes in mapping/labelidx2*.csv, a header and lines of a class and its
-- name in any order; nil where there is no such file, or more than one.
local function read_class_names(context)
  local found
  for _, file in ipairs(core.files(context.where .. "/mapping")) do
    local name = file:match "^(labelidx2.*)%.csv$" or file:match "^(labelidx2.*)%.csv%.gz$"
    if name and found then return nil end
    found = name or found
  end
  if not found then return nil end
  local path, texts, names = find(context.where, "mapping/" .. found), core.text.names(), {}
  local ids, which = core.text.read(path, {columns = {"id", texts}, header = true})
  context.keys.class_names = path:sub(#context.where + 2)
  for i = 1, #ids do
    if names[ids[i]] or ids[i] > #ids then
      checks.fail(context, "%s: class %d must stand there once, and be below %d",
        context.keys.class_names, ids[i] - 1, #ids)
    end
    names[ids[i]] = texts[which[i]]
  end
  return names
end

-- Returns the folder of the split for which the user asks, or of the only one.
local function split_folder(context, asked)
  local found = {}
  for _, name in ipairs(core.files(context.where .. "/split")) do
    if find(("%s/split/%s"):format(context.where, name), "train") then
      if name == asked then return "split/" .. name end
      found[#found + 1] = name
    end
  end
  if asked then
    checks.fail(context, 'no split "%s"%s', asked, options.hint(asked, found, "there are"))
  elseif asked == nil and #found > 1 then
    checks.fail(context, "several splits: %s; {split = NAME} takes one", table.concat(found, ", "))
  end
  return found[1] and "split/" .. found[1]
end

local function read_split(context, fields, asked, n)
  local folder = split_folder(context, asked)
  for part, file in pairs(folder and SPLIT_FILES or {}) do
    fields[part] = read(context, ("%s/%s"):format(folder, file), part, {"id"}, n)
  end
  return folder
end

-- Returns the names of the tables in raw/ that are not read; `more`: one that is, or nil.
local function others(folder, more)
  local names = {}
  for _, file in ipairs(core.files(folder .. "/raw")) do
    local name = file:match "^(.*)%.csv%.gz$" or file:match "^(.*)%.csv$"
    if name and not READ[name] and name ~= more then names[#names + 1] = name end
  end
  return names
end

local function source_of(folder, n_edges, left)
  return ("OGB folder: %d edges listed; split: %s%s"):format(n_edges, folder or "none",
    #left > 0 and "; not read: " .. table.concat(left, ", ") or "")
end

-- Returns the graph of each node in a data set of many graphs, from the numbers of their nodes. The
-- sum of these is checked first, as a wrong number could make the program allocate any amount of
-- memory.
local function graphs_of(context, fields, sizes, max_ids)
  local total = 0
  for graph, size in ipairs(sizes:to_table()) do
    if size == 0 then
      checks.fail(context, "raw/num-node-list: graph %d has no nodes", graph - 1)
    end
    total = total + size
  end
  if fields.features then
    checks.length(context, "features", fields.features.n_rows, total,
      "as many as raw/num-node-list counts nodes")
  elseif total > complete.most_columns(#sizes, max_ids) then
    checks.fail(context, "raw/num-node-list counts %d nodes; --max-ids (in Lua max_ids) allows so "
      .. "many", total)
  end
  context.keys.graph_of = "raw/num-node-list"
  return sizes:repeated()
end

-- Turns the ends of edges, which count from 1 in each graph, into nodes of the union of all graphs.
-- sizes: the number of nodes of each graph.
local function of_union(context, sizes, sources, targets)
  local edges = read_counts(context, "raw/num-edge-list")
  if #edges ~= #sizes then
    checks.fail(context, "raw/num-edge-list has %d graphs, raw/num-node-list %d", #edges, #sizes)
  end
  local first, total, counted = {}, 0, 0
  for graph, size in ipairs(sizes:to_table()) do
    first[graph], total, counted = total, total + size, counted + edges[graph]
  end
  if counted ~= #sources then
    checks.fail(context, "raw/num-edge-list counts %d edges, %s has %d", counted,
      context.keys.adjacency, #sources)
  end
  local graph_of = edges:repeated()
  local most, before = sizes[graph_of], core.index(first)[graph_of]
  for _, ends in ipairs{sources, targets} do
    local wrong = ends:above(most):positions()
    if #wrong > 0 then
      checks.fail(context, "%s: line %d: node %d of graph %d, which has %d nodes",
        context.keys.adjacency, wrong[1], ends[wrong[1]] - 1, graph_of[wrong[1]] - 1,
        most[wrong[1]])
    end
  end
  return before + sources, before + targets
end

-- Adds labels, features and edges to the fields, as ogb_binary.read does. Returns how many units
-- have a place in the split, how many edges are listed, and what is not read.
local function read_tables(context, fields, opts)
  local sizes = read_counts(context, "raw/num-node-list")
  local are_many = #sizes ~= 1 or find(context.where, "raw/graph-label") ~= nil
  local units = are_many and #sizes or sizes[1]
  if are_many and not find(context.where, "raw/graph-label") then
    checks.fail(context, "raw/num-node-list.csv.gz has %d graphs, and there is no raw/graph-label",
      #sizes)
  end
  if find(context.where, "raw/node-feat") then
    fields.features = read(context, "raw/node-feat", "features", {"numbers"})
  end
  read_labels(context, fields, units, are_many and "graph" or "node", opts.labels_as)
  local n = units
  local sources, targets = read(context, "raw/edge", "adjacency", {"id", "id"},
    not are_many and n or nil)
  if are_many then
    fields.graph_of = graphs_of(context, fields, sizes, opts.max_ids)
    n = #fields.graph_of
    sources, targets = of_union(context, sizes, sources, targets)
  end
  local has_features = find(context.where, "raw/edge-feat") ~= nil
    and (are_many or opts.parallel ~= nil)
  if has_features or opts.parallel then
    local edges = {n = n, sources = sources, targets = targets}
    if has_features then
      edges.features = read(context, "raw/edge-feat", nil, {"numbers"})
    end
    fields.edge_list, context.keys.edges = edges, {features = "raw/edge-feat"}
  else
    fields.adjacency, fields.merged = direction.matrix(n, sources, targets)
  end
  return units, #sources, others(context.where, has_features and "edge-feat")
end

--- Reads the fields of the data set, and the context of messages, as ladies.data.complete takes
-- them; {split = NAME} takes one of several splits, {split = false} any.
function ogb.read(path, opts)
  local context = {where = path, shift = -1, keys = {adjacency = "raw/edge"}}
  local fields = {path = path, name = path:match "[^/]*$", notes = {}}
  local read_raw = find(path, "raw/edge") and read_tables or ogb_binary.read
  local units, n_edges, left = read_raw(context, fields, opts)
  ogb.read_rest(context, fields, opts, {units = units, edges = n_edges, left = left})
  return fields, context
end

--- Adds class names, split and source to the fields of a data set. found: {units = how many nodes
-- or graphs may be in the split, edges =, left = the names of what is not read}.
function ogb.read_rest(context, fields, opts, found)
  fields.class_names = read_class_names(context)
  local folder = read_split(context, fields, opts.split, found.units)
  fields.source = source_of(folder, found.edges, found.left)
end

return ogb
