--- Remembers which large files have been checked, since checking them each time would take minutes.
-- The records are in the user's cache and not in the files, which anybody may have written; a
-- record is only valid for a file with the same identity, which every change to the file changes
-- (see safetensors' f:identity).

local core = require "ladies_core"
local cache_folder = require("ladies.base.paths").cache_folder
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local own_folder = require "ladies.base.own_folder"

local checked = {}

local FORM = 1      -- of the records; those of other forms are not read

-- Returns the path of the record of a file from its identity, which begins with its place on a
-- disk; nil without a cache.
local function path_of(identity)
  local folder = cache_folder()
  local device, node = identity:match "^(%d+):(%d+):"
  return folder and ("%s/checked/%s-%s.json"):format(folder, device, node)
end

--- checked.read(identity): returns the record of a file, a table; {} if it was never read, or was
-- changed since.
function checked.read(identity)
  local path = path_of(identity)
  if not path or core.exists(path) ~= "file" then return {} end
  local ok, record = errors.try(function() return json.decode(core.file.read(path)) end)
  if not ok or type(record) ~= "table" or type(record.known) ~= "table" then return {} end
  return record.form == FORM and record.identity == identity and record.known or {}
end

--- Stores the record `known`, plain data, of the file at `path`, if that still has this identity,
-- which shows that it was not changed while it was checked. Without a writable cache the file is
-- checked again next time.
function checked.write(path, identity, known)
  local record = path_of(identity)
  errors.try(function()
    local file <close> = core.safetensors.open(path)
    if file:identity() ~= identity then return end
    own_folder.at(cache_folder()):make "cache"
    core.folder.make(record:match "^(.*)/")
    core.file.write(record, json.encode{form = FORM, identity = identity, known = known})
  end)
end

return checked
