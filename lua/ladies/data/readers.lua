--- The readers of data sets that describe themselves: which one a path is for, and its errors.
--
-- A reader is a table with fits(path), whether the path may be in its format, and
-- read(path, opts), the fields of the data set and the context of messages, as ladies.data.dataset
-- takes them. `options` is a set of the options that it takes; make_features is for all.

local core = require "ladies_core"
local options = require "ladies.options"
local made_features = require "ladies.data.made_features"
local npz_layout = require "ladies.data.npz_layout"

local readers = {}

local WHERE = "ladies.data.load"

-- The first that fits is taken; npz_layout fits every file.
local LIST = {require "ladies.data.planetoid", require "ladies.data.content_cites",
  require "ladies.data.npz_pair", require "ladies.data.ogb", require "ladies.data.table_folder",
  npz_layout}

local SPEC = {make_features = made_features.OPTION, directed = "boolean or nil",
  split = "string or nil"}

-- What core's messages about files begin with.
local KINDS = {"npz", "pickle", "file", "text"}

-- The message of an error in core without the line in here that called it, which it blames; nil for
-- an error of another kind.
local function message_of(err)
  for _, kind in ipairs(type(err) == "string" and KINDS or {}) do
    local message = err:match("%.lua:%d+: (" .. kind .. ": .*)$")
    if message then return message end
  end
end

local function call(reader, path, opts)
  local ok, fields, context = pcall(reader.read, path, opts)
  if not ok then
    local message = message_of(fields)
    if message then options.fail(message) end
    error(fields, 0)
  end
  fields.name = fields.name or path:match "([^/]*)%.npz$" or path:match "[^/]*$"
  made_features.add(WHERE, fields, opts.make_features, context)
  return fields, context
end

local function check_options(reader, path, given)
  local opts = options.check(WHERE, given, SPEC)
  for name in pairs(opts) do
    if name ~= "make_features" and not (reader.options or {})[name] then
      options.fail(("%s: %s: there is no option %s for this format"):format(WHERE, path, name))
    end
  end
  return opts
end

--- Whether there is a reader for the folder, or for what has files of names that begin with `path`.
function readers.fits(path)
  for _, reader in ipairs(LIST) do
    if reader.fits(path) then return true end
  end
  return false
end

--- Reads the data set at `path` with the reader that it fits.
function readers.read(path, given)
  path = path:gsub("(.)/+$", "%1")   -- a folder may end in a slash
  for _, reader in ipairs(LIST) do
    if reader.fits(path) then return call(reader, path, check_options(reader, path, given)) end
  end
  options.fail(("%s: %s %s"):format(WHERE, path,
    core.exists(path) and "is in no format that is known; see doc/data.md" or "does not exist"))
end

return readers
