--- A folder with the files of a data set by the names under which ladies.data.export writes them:
-- edges and labels, and where there are such, features, split, node_names, class_names and
-- feature_names. Each may be .csv, .tsv or .txt, packed with gzip or not; edges and features also
-- .mtx, .npz of SciPy's save_npz or, the features, .npy. ladies.data.from_files reads them, with
-- its options ids and classes; labels of more than two columns, or with one called class_0 behind
-- the node, have a column for each class.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local from_files = require "ladies.data.formats.from_files"

local table_folder = {}

local TABLES = {".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"}
local MATRICES = {".mtx", ".mtx.gz", ".npz"}

local FILES = {
  edges = {TABLES, MATRICES}, features = {TABLES, MATRICES, {".npy"}}, labels = {TABLES},
  split = {TABLES}, node_names = {{".txt"}}, class_names = {{".txt"}}, feature_names = {{".txt"}},
}

-- The file for this part in the folder, or nil; an error if there are several.
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

-- The folder that a path stands for: itself, or that of the file of edges.
local function folder_of(path)
  if core.exists(path) == "folder" then return path end
  local folder, file = path:match "^(.*)/([^/]*)$"
  folder, file = folder or ".", file or path
  return file:find "^edges%." and core.exists(path) == "file" and folder or nil
end

--- Whether the path is such a folder, or that of its file of edges.
function table_folder.fits(path)
  local folder = folder_of(path)
  return folder ~= nil and find(folder, "edges") ~= nil and find(folder, "labels") ~= nil
end

--- What a folder with edges lacks to be such a folder, in words, or nil.
function table_folder.missing(path)
  if core.exists(path) ~= "folder" or not find(path, "edges") then return nil end
  return "has edges but no labels.csv, with a class for each node; see doc/data.md"
end

--- The fields of the data set, and the context of messages, as ladies.data.complete takes them;
-- with `piece` in place of the adjacency, third, what ladies.data.formats.from_files gives last.
function table_folder.read(path, opts, piece)
  path = folder_of(path)
  local given = {name = path:match "[^/]*$", source = "a folder of tables", max_ids = opts.max_ids,
    ids = opts.ids, classes = opts.classes}
  for part in pairs(FILES) do given[part] = find(path, part) end
  local titles = core.text.fields(given.labels)
  if not given.classes and (#titles > 2 or titles[2] == "class_0") then
    given.classes = "columns"
  end
  local fields, context, _, edges = from_files.read(given, piece)
  fields.path, context.where = path, path
  return fields, context, edges
end

return table_folder
