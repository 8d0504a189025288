--- Chooses the reader for the path of a data set, among those for sources that describe themselves.
--
-- A reader is a table with the functions fits(path), which tells whether the path may be in its
-- format, and read(path, opts, piece), which returns the fields of the data set and the context of
-- messages, as ladies.data.complete takes them. It is given all options of ladies.data.complete; a
-- `split` that is no way to split is the name of a split of the source, for readers that have
-- `named_splits`, and `ids` and `classes` are for those that have `is_of_tables`. Readers may leave
-- `piece` alone (see readers.read).

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local complete = require "ladies.data.complete"
local errors = require "ladies.base.errors"
local npz_layout = require "ladies.data.formats.npz.layout"
local options = require "ladies.base.options"
local shards = require "ladies.data.formats.large.shards"
local splits = require "ladies.data.splits"
local table_folder = require "ladies.data.formats.tables.folder"
local tables = require "ladies.base.tables"

local readers = {}

local WHERE = "ladies.data.load"

-- All readers, of which the first one that fits is used; npz_layout fits every file.
local LIST = {require "ladies.data.formats.planetoid", require "ladies.data.formats.content_cites",
  require "ladies.data.formats.npz.pair", require "ladies.data.formats.ogb",
  shards, table_folder,
  table_folder.lone, require "ladies.data.formats.node_link", npz_layout}

-- Names of paths that are not used as names of data sets; the folder's real name is used instead.
local DOTS = {["."] = true, [".."] = true}

local function call(reader, path, opts, piece)
  local fields, context, edges = reader.read(path, opts, piece)
  fields.name = fields.name or array_file.base_name(path)
  if DOTS[fields.name] then fields.name = core.real_path(fields.path):match "[^/]*$" end
  return fields, context, edges
end

-- Returns the error message for a path that no reader fits.
local function refusal(path)
  if not core.exists(path) then return "does not exist" end
  local missing = shards.missing(path)
  if missing then return missing end
  for _, file in ipairs(core.files(path)) do
    if file:find "%.npz$" or array_file.is_safetensors(file) then
      return ("is a folder in no format that is known; of the files in it, %s/%s may be a data set")
        :format(path, file)
    end
  end
  return table_folder.missing(path) or "is in no format that is known; see doc/data.md"
end

-- Returns the options for this reader, in which `split` is the name of a split of the source, or
-- false if a new split is made and any will do.
local function options_for(reader, path, opts)
  local own = tables.merged(opts)
  if splits.is_way(opts.split) then
    own.split = false
  elseif opts.split and not reader.named_splits then
    errors.fail(('%s: %s: "%s" is no way to split; there are %s'):format(WHERE, path, opts.split,
      splits.WAYS))
  end
  for _, name in ipairs{"ids", "classes"} do
    if opts[name] and not reader.is_of_tables then
      errors.fail(("%s: %s is of tables, and %s is none"):format(WHERE, name, path))
    end
  end
  return own
end

--- Tells whether a text is a path and not the name of a data set: it has a slash, is "." or "..",
-- or is the name of a file in the current folder and has an ending.
function readers.is_path(text)
  return text:find("/", 1, true) ~= nil or DOTS[text] or text:find "%.npz$" ~= nil
    or array_file.is_safetensors(text)
    or text:find(".", 1, true) ~= nil and core.exists(text) == "file"
end

--- Tells whether a reader fits the path, which may also be the common beginning of files' names.
function readers.fits(path)
  for _, reader in ipairs(LIST) do
    if reader.fits(path) then return true end
  end
  return false
end

--- Reads the fields and the context of the data set at `path` by the reader that it fits. With
-- `piece`, a number of edges, a reader that can do so leaves the adjacency out and returns third an
-- iterator over such pieces of the edges (see ladies.data.formats.tables.from_files).
function readers.read(path, opts, piece)
  path = path:gsub("(.)/+$", "%1")   -- a folder may end in a slash
  local folder = shards.folder_of(path)
  if folder then
    errors.fail(("%s: %s is a part of the data set in shards in the folder %s, whose path is the "
      .. "data set's"):format(WHERE, path, folder))
  end
  for _, reader in ipairs(LIST) do
    if reader.fits(path) then
      return call(reader, path, options_for(reader, path, opts), piece)
    end
  end
  errors.fail(("%s: %s %s"):format(WHERE, path, refusal(path)))
end

--- Loads the data set at `path`, with the options of ladies.data.complete; change(fields, context),
-- if it is given, may change what was read.
function readers.load(path, given, change)
  local opts = options.check(WHERE, given, complete.SPEC)
  local fields, context = readers.read(path, opts)
  if change then change(fields, context) end
  return complete.dataset(WHERE, fields, context, opts)
end

return readers
