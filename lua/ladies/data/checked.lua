--- What is known of large files from the first time that they were read: looking at all of it again
-- would take minutes. It is written in the user's cache, and not in the file itself, where a
-- stranger could have put anything; and it holds for a file of the same identity alone, which every
-- change makes another (see safetensors' f:identity).

local core = require "ladies_core"
local cache_folder = require "ladies.base.cache_folder"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local own_folder = require "ladies.base.own_folder"

local checked = {}

local FORM = 1      -- of the records; those of other forms are not read

-- The path of the record of a file by its identity, which begins with its place on a disk; nil
-- without a cache.
local function path_of(identity)
  local folder = cache_folder()
  local device, node = identity:match "^(%d+):(%d+):"
  return folder and ("%s/checked/%s-%s.json"):format(folder, device, node)
end

--- checked.read(identity): what is known of a file, a table; {} where it was never read, or was
-- changed since.
function checked.read(identity)
  local path = path_of(identity)
  if not path or core.exists(path) ~= "file" then return {} end
  local ok, record = errors.try(function() return json.decode(core.file.read(path)) end)
  if not ok or type(record) ~= "table" or type(record.known) ~= "table" then return {} end
  return record.form == FORM and record.identity == identity and record.known or {}
end

--- Keeps `known`, plain data, of the file at `path`, if that still has this identity: it was not
-- changed while it was looked at. Without a cache that can be written it is looked at again next
-- time.
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
