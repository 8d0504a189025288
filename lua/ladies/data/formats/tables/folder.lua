--- Reads a folder with the files of a data set by the names under which ladies.data.export writes
-- them: edges and labels or targets, and if there are any, features, graph_of, split, node_names,
-- class_names and feature_names. Each may be .csv, .tsv or .txt, packed with gzip or not; edges and
-- features also .mtx, .npz of SciPy's save_npz or, features and targets, .npy.
-- ladies.data.from_files reads them, with its options ids and classes; labels of more than two
-- columns, or with one called class_0 behind the node, have a column for each class.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local FileReader = require "ladies.data.formats.tables.file_reader"
local from_files = require "ladies.data.formats.tables.from_files"

local table_folder = {is_of_tables = true}

local TABLES = {".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"}
local MATRICES = {".mtx", ".mtx.gz", ".npz"}

local FILES = {
  edges = {TABLES, MATRICES}, features = {TABLES, MATRICES, {".npy"}}, labels = {TABLES},
  targets = {TABLES, {".npy"}}, graph_of = {TABLES}, split = {TABLES}, node_names = {{".txt"}},
  class_names = {{".txt"}}, feature_names = {{".txt"}},
}

-- Returns the file for this part in the folder, or nil; fails if there are several.
local function find(folder, part)
  local found
  for _, endings in ipairs(FILES[part]) do
    for _, ending in ipairs(endings) do
      local path = ("%s/%s%s"):format(folder, part, ending)
      if core.exists(path) == "file" then
        if found then
          checks.fail({where = folder}, "has both %s and %s", found:match "[^/]*$",
            path:match "[^/]*$")
        end
        found = path
      end
    end
  end
  return found
end

-- Returns the folder for which a path stands: the path itself, or the folder of a file of edges.
local function folder_of(path)
  if core.exists(path) == "folder" then return path end
  local folder, file = path:match "^(.*)/([^/]*)$"
  folder, file = folder or ".", file or path
  return file:find "^edges%." and core.exists(path) == "file" and folder or nil
end

--- Tells whether the path is that of such a folder, or of its file of edges.
function table_folder.fits(path)
  local folder = folder_of(path)
  local edges = folder and find(folder, "edges")
  if not edges then return false end
  return (find(folder, "labels") or find(folder, "targets") or find(folder, "features")) ~= nil
    or core.exists(path) == "folder" and not FileReader.is_matrix(edges)
end

-- The reason, for messages, why a folder with nothing but edges is no data set.
local LACKING = "has edges but no labels.csv, with a class for each node, no targets.csv and no "
  .. "features; for tasks of edges, such as link_prediction, --make-features (in Lua "
  .. "make_features) identity makes some for a table; see doc/data.md"

--- Says what is missing in a folder that has edges but is no such folder; nil for others.
function table_folder.missing(path)
  if core.exists(path) ~= "folder" or not find(path, "edges") then return nil end
  return LACKING
end

-- Fails for a folder of edges alone where no features are to be made.
local function check_parts(path, given, opts)
  if given.labels or given.targets or given.features or opts.make_features then return end
  checks.fail({where = path}, "%s", LACKING)
end

--- Reads the fields of the data set, and the context of messages, as ladies.data.complete takes
-- them. With `piece` the edges are not read but returned third, in pieces, as by
-- ladies.data.formats.tables.from_files.
function table_folder.read(path, opts, piece)
  path = folder_of(path)
  local given = {name = path:match "[^/]*$", source = "a folder of tables", max_ids = opts.max_ids,
    ids = opts.ids, classes = opts.classes, labels_as = opts.labels_as, parallel = opts.parallel,
    make_features = opts.make_features}
  for part in pairs(FILES) do given[part] = find(path, part) end
  check_parts(path, given, opts)
  local titles = given.labels and core.text.fields(given.labels) or {}
  if not given.classes and opts.labels_as ~= "targets"
    and (#titles > 2 or titles[2] == "class_0") then
    given.classes = "columns"
  end
  local fields, context, _, edges = from_files.read(given, piece)
  fields.path, context.where = path, path
  return fields, context, edges
end

-- ---------------------------------------------------------------- a table alone

--- The reader for a single table: the edges of a graph whose features are made. Without those it is
-- no data set, and its error says what else one needs.
table_folder.lone = {is_of_tables = true}

local ENDINGS = {csv = true, tsv = true, txt = true, mtx = true, edges = true, edgelist = true}

--- Tells by its name whether the path is that of a text file, packed or not.
function table_folder.lone.fits(path)
  local ending = path:gsub("%.gz$", ""):match "%.([^./]*)$"
  return core.exists(path) == "file" and ENDINGS[ending] == true
end

--- Reads the table as table_folder.read does a folder, or raises the error that says what else a
-- data set needs.
function table_folder.lone.read(path, opts, piece)
  if opts.make_features then
    local fields, context, _, edges = from_files.read({name = path:match "[^/]*$":gsub("%..*$", ""),
      source = "a table of edges", edges = path, ids = opts.ids, max_ids = opts.max_ids,
      parallel = opts.parallel, make_features = opts.make_features}, piece)
    fields.path, context.where = path, path
    return fields, context, edges
  end
  checks.fail({where = path}, "is one table, and nothing says the class of each node: make a "
    .. "folder with it as edges.csv, labels.csv and, if there are any, features.csv; or, for tasks "
    .. "of edges, add --make-features (in Lua make_features) identity; see doc/data.md")
end

return table_folder
