--- A folder of the Open Graph Benchmark (Hu et al., 2020) with one graph for node prediction, such
-- as ogbn_arxiv, ogbn_products and ogbn_proteins, as it comes out of its archive:
--
--   raw/num-node-list.csv.gz    the number of nodes
--   raw/edge.csv.gz             source, target
--   raw/node-feat.csv.gz        a row for each node; may be absent
--   raw/node-label.csv.gz       the class of each node, empty or nan for none; or more than one
--                               column of 0 and 1, for nodes of several classes
--   split/NAME/{train,valid,test}.csv.gz    the nodes of each part
--
--   mapping/labelidx2*.csv.gz   below a head, a class and its name; may be absent
--
-- There is no header elsewhere. All of these may be plain .csv as well. Features of edges and
-- further files are not read; the data set's source names them. The largest graphs have arrays in
-- place of the tables in raw/: see ladies.data.formats.ogb_binary.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local ogb_binary = require "ladies.data.formats.ogb_binary"
local options = require "ladies.base.options"

local ogb = {named_splits = true}

local SPLIT_FILES = {train = "train", val = "valid", test = "test"}

local READ = {["num-node-list"] = true, ["num-edge-list"] = true, edge = true,
  ["node-feat"] = true, ["node-label"] = true}

-- The table called `name` below the folder, packed or plain, or nil.
local function find(folder, name)
  for _, ending in ipairs{".csv.gz", ".csv"} do
    local path = ("%s/%s%s"):format(folder, name, ending)
    if core.exists(path) == "file" then return path end
  end
end

--- Whether the path is such a folder.
function ogb.fits(path)
  return find(path, "raw/edge") ~= nil or ogb_binary.fits(path)
end

--- Whether it is one with arrays, and no tables.
function ogb.is_binary(path)
  return ogb_binary.fits(path) and not find(path, "raw/edge")
end

-- The columns of a table that must be there; its path is known to messages as `part`.
local function read(context, name, part, columns, n_ids)
  local path = find(context.where, name)
  if not path then checks.fail(context, "%s.csv.gz is missing", name) end
  if part then context.keys[part] = path:sub(#context.where + 2) end
  return core.text.read(path, {columns = columns, header = false, n_ids = n_ids})
end

local function read_n_nodes(context)
  local numbers = read(context, "raw/num-node-list", nil, {"id"})
  if #numbers ~= 1 then
    checks.fail(context, "raw/num-node-list.csv.gz has %d graphs, must have one", #numbers)
  end
  return numbers[1] - 1 -- what is read as an id counts from 1
end

-- The classes that the texts of a column stand for, as an Index of a class for each text: 3, "3.0",
-- and "nan" or nothing.
local function classes_of(context, texts)
  local classes = {}
  for i = 1, #texts do
    local text = texts[i]
    local none = text == "" or text:lower() == "nan"
    local class = none and -1 or math.tointeger(tonumber(text))
    if not class or class < -1 then
      checks.fail(context, '%s: found "%s", expected a class from 0 on, or nan for none',
        context.keys.labels, text:sub(1, 40))
    end
    classes[i] = class + 1
  end
  return core.index(classes)
end

-- One column as an Index; more as a Tensor of 0 and 1. Checked here and not with all the rest,
-- since a wrong number of nodes alone could ask for any amount of memory.
local function read_labels(context, n)
  local path = find(context.where, "raw/node-label")
  local several, texts = path and #core.text.fields(path) > 1, core.text.names()
  local labels = read(context, "raw/node-label", "labels", {several and "numbers" or texts})
  checks.length(context, "labels", several and labels.n_rows or #labels, n, "one for each node")
  return several and labels or classes_of(context, texts)[labels]
end

-- The names of the classes in mapping/labelidx2*.csv, lines of a class and its name in any order
-- below a head; nil where there is no such file, or more than one.
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

-- The folder of the split: the one that is asked for, or the only one.
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

-- The names of the tables in raw/ that are left alone.
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
local function read_tables(context, fields)
  local n = read_n_nodes(context)
  fields.labels = read_labels(context, n)
  local sources, targets = read(context, "raw/edge", "adjacency", {"id", "id"}, n)
  -- A target hears its source: rows are destinations.
  fields.adjacency = core.matrix{n_rows = n, n_cols = n, rows = targets, cols = sources}
  if find(context.where, "raw/node-feat") then
    fields.features = read(context, "raw/node-feat", "features", {"numbers"})
  end
  return n, #sources, others(context.where)
end

--- The fields of the data set, and the context of messages, as ladies.data.complete takes them;
-- {split = NAME} says which of several splits to take, {split = false} any.
function ogb.read(path, opts)
  local context = {where = path, shift = -1, keys = {adjacency = "raw/edge"}}
  local fields = {path = path, name = path:match "[^/]*$", notes = {}}
  local read_raw = find(path, "raw/edge") and read_tables or ogb_binary.read
  local n, n_edges, left = read_raw(context, fields, opts)
  fields.merged = n_edges - fields.adjacency.nnz
  ogb.read_rest(context, fields, opts, {nodes = n, edges = n_edges, left = left})
  return fields, context
end

--- Adds class names, split and source to the fields of a data set of so many `nodes` and `edges`;
-- `left` are the names of what is left alone.
function ogb.read_rest(context, fields, opts, found)
  fields.class_names = read_class_names(context)
  local folder = read_split(context, fields, opts.split, found.nodes)
  fields.source = source_of(folder, found.edges, found.left)
end

return ogb
