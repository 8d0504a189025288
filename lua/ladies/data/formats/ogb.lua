--- Reads a folder of the Open Graph Benchmark (Hu et al., 2020) with one graph for node prediction,
-- such as ogbn_arxiv, ogbn_products and ogbn_proteins, as it comes out of its archive:
--
--   raw/num-node-list.csv.gz    the number of nodes
--   raw/edge.csv.gz             source, target
--   raw/node-feat.csv.gz        a row for each node; may be absent
--   raw/node-label.csv.gz       the class of each node, empty or nan for none; or more than one
--                               column of 0 and 1, for nodes of several classes; or targets
--   split/NAME/{train,valid,test}.csv.gz    the nodes of each part
--
--   mapping/labelidx2*.csv.gz   below a head, a class and its name; may be absent
--
-- There is no header elsewhere. All of these may be plain .csv as well. Features of edges and
-- further files are not read; the data set's source names them. The largest graphs have arrays in
-- place of the tables in raw/: see ladies.data.formats.ogb_binary.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local direction = require "ladies.data.direction"
local npz_labels = require "ladies.data.formats.npz.labels"
local ogb_binary = require "ladies.data.formats.ogb_binary"
local options = require "ladies.base.options"

local ogb = {named_splits = true}

local SPLIT_FILES = {train = "train", val = "valid", test = "test"}

local READ = {["num-node-list"] = true, ["num-edge-list"] = true, edge = true,
  ["node-feat"] = true, ["node-label"] = true}

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

local function read_n_nodes(context)
  local numbers = read(context, "raw/num-node-list", nil, {"id"})
  if #numbers ~= 1 then
    checks.fail(context, "raw/num-node-list.csv.gz has %d graphs, must have one", #numbers)
  end
  return numbers[1] - 1 -- what is read as an id counts from 1
end

-- Reads the labels or targets: one column of classes becomes an Index, more of 0 and 1 a Tensor.
-- Their number is checked right here, since a wrong number of nodes could make the program allocate
-- any amount of memory.
local function read_labels(context, fields, n, asked)
  local cells = read(context, "raw/node-label", "labels", {"numbers"}, nil, true)
  checks.length(context, "labels", cells.n_rows, n, "one for each node")
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

-- Returns the names of the tables in raw/ that are not read.
local function others(folder)
  local names = {}
  for _, file in ipairs(core.files(folder .. "/raw")) do
    local name = file:match "^(.*)%.csv%.gz$" or file:match "^(.*)%.csv$"
    if name and not READ[name] then names[#names + 1] = name end
  end
  return names
end

local function source_of(folder, n_edges, left)
  return ("OGB folder: %d edges listed; split: %s%s"):format(n_edges, folder or "none",
    #left > 0 and "; not read: " .. table.concat(left, ", ") or "")
end

-- Adds labels, features and adjacency to the fields, as ogb_binary.read does.
local function read_tables(context, fields, opts)
  local n = read_n_nodes(context)
  read_labels(context, fields, n, opts.labels_as)
  local sources, targets = read(context, "raw/edge", "adjacency", {"id", "id"}, n)
  fields.adjacency, fields.merged = direction.matrix(n, sources, targets)
  if find(context.where, "raw/node-feat") then
    fields.features = read(context, "raw/node-feat", "features", {"numbers"})
  end
  return n, #sources, others(context.where)
end

--- Reads the fields of the data set, and the context of messages, as ladies.data.complete takes
-- them; {split = NAME} takes one of several splits, {split = false} any.
function ogb.read(path, opts)
  local context = {where = path, shift = -1, keys = {adjacency = "raw/edge"}}
  local fields = {path = path, name = path:match "[^/]*$", notes = {}}
  local read_raw = find(path, "raw/edge") and read_tables or ogb_binary.read
  local n, n_edges, left = read_raw(context, fields, opts)
  ogb.read_rest(context, fields, opts, {nodes = n, edges = n_edges, left = left})
  return fields, context
end

--- Adds class names, split and source to the fields of a data set. found: {nodes =, edges =, left =
-- the names of what is not read}.
function ogb.read_rest(context, fields, opts, found)
  fields.class_names = read_class_names(context)
  local folder = read_split(context, fields, opts.split, found.nodes)
  fields.source = source_of(folder, found.edges, found.left)
end

return ogb
