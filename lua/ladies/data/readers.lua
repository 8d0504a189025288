--- The readers of data sets that describe themselves: which one a path is for, and its errors.
--
-- A reader is a table with fits(path), whether the path may be in its format, and read(path), the
-- fields of the data set and the context of messages, as ladies.data.dataset takes them.

local core = require "ladies_core"
local options = require "ladies.options"
local npz_layout = require "ladies.data.npz_layout"
local planetoid = require "ladies.data.planetoid"

local readers = {}

-- The first that fits is taken; npz_layout fits every file.
local LIST = {planetoid, npz_layout}

-- Calls a reader. The errors of core name the file and what is wrong in it, but blame the line in
-- there that called it.
local function call(read, path)
  local ok, fields, context = pcall(read, path)
  if ok then
    fields.name = fields.name or path:match "([^/]*)%.npz$" or path:match "[^/]*$"
    return fields, context
  end
  local message = type(fields) == "string" and (fields:match "%.lua:%d+: (npz: .*)$"
    or fields:match "%.lua:%d+: (pickle: .*)$" or fields:match "%.lua:%d+: (file: .*)$")
  if message then options.fail(message) end
  error(fields, 0)
end

--- Whether there is a reader for the folder, or for what has files of names that begin with `path`.
function readers.fits(path)
  for _, reader in ipairs(LIST) do
    if reader.fits(path) then return true end
  end
  return false
end

--- Reads the data set at `path` with the reader that it fits.
function readers.read(path)
  for _, reader in ipairs(LIST) do
    if reader.fits(path) then return call(reader.read, path) end
  end
  options.fail(("ladies.data.load: %s %s"):format(path,
    core.exists(path) and "is in no format that is known; see doc/data.md" or "does not exist"))
end

return readers
