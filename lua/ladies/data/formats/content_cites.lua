--- Reads citation graphs in the format in which LINQS published them (Sen et al., 2008), two tables
-- of text:
--
--   NAME.content    a line for each paper: its id, its features, its class
--   NAME.cites      a line for each citation: the paper that is cited, the paper that cites it
--
-- Ids and classes are texts and are kept. Citations of, or by, papers that NAME.content does not
-- have are dropped and counted. There is no split.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local direction = require "ladies.data.direction"
local errors = require "ladies.base.errors"
local file_pair = require "ladies.data.formats.file_pair"

local content_cites = {}

-- Returns the common beginning of the names of both files, or nil.
local function base_of(path)
  return file_pair.base(path, ".content", ".cites")
end

--- Tells whether the path is FOLDER/NAME, that of either file, or a folder with one pair of such
-- files.
function content_cites.fits(path) return base_of(path) ~= nil end

-- Reads NAME.content: sparse features and labels. The names of papers and classes go into `papers`
-- and `classes`.
local function read_content(context, path, papers, classes)
  local n_features = #core.text.fields(path) - 2
  if n_features < 1 then
    checks.fail(context, "content: the first line must have an id, features and a class")
  end
  local columns = {papers}
  for i = 1, n_features do columns[i + 1] = "number" end
  columns[n_features + 2] = classes
  local read = table.pack(core.text.read(path, {columns = columns, header = false}))
  local ids, labels = read[1], read[n_features + 2]
  local ok, twice = errors.try(ids.check_unique, ids)
  if not ok then
    checks.fail(context, "content: a paper stands there twice: %s", errors.message(twice))
  end
  local by_column = core.zeros(n_features, #ids)
  for i = 1, n_features do by_column[i]:copy_(read[i + 1]) end
  return core.sparse(by_column):transpose(), labels
end

-- Reads NAME.cites: the citations between papers 1 .. n as two Indexes, and how many others there
-- are.
local function read_cites(path, papers, n)
  local cited, citing = core.text.read(path, {columns = {papers, papers}, header = false})
  if #papers == n then return cited, citing, 0 end
  local kept_cited, kept_citing = {}, {}
  local all_citing = citing:to_table()
  for i, paper in ipairs(cited:to_table()) do
    if paper <= n and all_citing[i] <= n then
      kept_cited[#kept_cited + 1], kept_citing[#kept_citing + 1] = paper, all_citing[i]
    end
  end
  return core.index(kept_cited), core.index(kept_citing), #cited - #kept_cited
end

local function texts(names)
  local list = {}
  for i = 1, #names do list[i] = names[i] end
  return list
end

--- Reads the fields of the data set, and the context of messages, as ladies.data.complete takes
-- them. An edge goes from the paper that cites to the one that is cited.
function content_cites.read(path)
  local base = base_of(path)
  local context = {where = base, shift = -1, keys = setmetatable({adjacency = "cites"},
    {__index = function() return "content" end})}
  local papers, classes = core.text.names(), core.text.names()
  local features, labels = read_content(context, base .. ".content", papers, classes)
  local n, node_names = features.n_rows, papers:lines()
  local cited, citing, unknown = read_cites(base .. ".cites", papers, n)
  local adjacency, merged = direction.matrix(n, citing, cited)
  return {
    path = base, name = base:match "[^/]*$", features = features, labels = labels,
    adjacency = adjacency, merged = merged,
    node_names = node_names, class_names = texts(classes),
    source = ("content and cites: %d citations, of papers without content dropped: %d"):format(
      #cited + unknown, unknown),
  }, context
end

return content_cites
