--- Manages the user's cache of data sets, which has an .npz file for each and beside it a record of
-- where it came from.
--
-- The record is written last, with the size and the SHA-256 of the file, so a data set counts as
-- cached from the moment when all of it is there. Files appear whole or not at all.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local npz_layout = require "ladies.data.formats.npz.layout"
local own_folder = require "ladies.base.own_folder"

local cache = {}

--- Returns the cache's folder: LADIES_CACHE, or ladies/ in XDG_CACHE_HOME, or in ~/.cache.
cache.folder = require("ladies.base.paths").cache_folder

--- Returns the cache's folder, after creating it if it does not exist.
function cache.make_folder()
  local folder = cache.folder()
  if not folder then errors.fail("there is no place for a cache: set LADIES_CACHE or HOME") end
  own_folder.at(folder):make "cache"
  return folder
end

--- Fails unless a data set's name can be used as the name of a file.
function cache.check_name(where, name)
  if not name:find "^[%w_][%w._+-]*$" or #name > 100 then
    errors.fail(("%s: %q cannot be the name of a data set: letters, digits and ._+- can"):format(
      where, name))
  end
end

local function path_of(name, ending) return ("%s/%s.%s"):format(cache.folder(), name, ending) end

--- Returns the record of a cached data set, or nil where there is none of this name: a table with
-- origin, archive_sha256, licence, cite, date, version (of this program), size and sha256.
function cache.record(name)
  if not cache.folder() or core.exists(path_of(name, "npz")) ~= "file"
    or core.exists(path_of(name, "json")) ~= "file" then
    return nil
  end
  local ok, record = errors.try(json.decode, core.file.read(path_of(name, "json")))
  return ok and type(record) == "table" and record.sha256 and record or nil
end

--- Returns the path of a cached data set, or nil where there is none of this name.
function cache.find(name)
  return cache.record(name) and path_of(name, "npz")
end

--- Tells whether a cached file still has the content that was written to it.
function cache.is_whole(name)
  local record, path = cache.record(name), path_of(name, "npz")
  return record ~= nil and core.folder.bytes(path) == record.size
    and core.zip.sha256(path) == record.sha256
end

--- Returns the names of the cached data sets, sorted.
function cache.names()
  local names = {}
  for _, file in ipairs(cache.folder() and core.files(cache.folder()) or {}) do
    local name = file:match "^(.*)%.json$"
    if name and cache.find(name) then names[#names + 1] = name end
  end
  return names
end

--- Stores a data set under a name, not compressed, so that it is mapped instead of unpacked when it
-- is loaded, and returns its path. `record` is completed.
function cache.store(name, data, record)
  local path = path_of(name, "npz")
  npz_layout.write(path, data, {compress = false})
  record.name, record.version, record.date = name, core.version, os.date "!%Y-%m-%dT%H:%M:%SZ"
  record.size, record.sha256 = core.folder.bytes(path), core.zip.sha256(path)
  core.file.write(path_of(name, "json"), json.encode(record, "  ") .. "\n")
  return path
end

-- Returns the temporary folder in which the process that holds a data set's lock prepares it.
local function work_folder(name)
  return own_folder.at(("%s/.%s.work"):format(cache.make_folder(), name))
end

--- Takes the lock for changing a data set in the cache, to be kept in a <close> variable, which
-- releases it. Removes files that killed processes have left half written or half removed.
function cache.lock(name, on_wait)
  local path = ("%s/.%s.lock"):format(cache.make_folder(), name)
  own_folder.at(cache.folder()):sweep()
  local lock = core.folder.lock(path)
  if not lock then
    on_wait()
    lock = core.folder.lock(path, math.huge)
  end
  work_folder(name):remove_left "work"
  return lock
end

--- Makes a new, empty folder beside the cached files, for the holder of the lock; it is removed at
-- the end of the scope of a <close> variable.
function cache.workplace(name)
  local folder = work_folder(name)
  local lock = folder:take "work"
  return setmetatable({path = folder.path}, {__close = function()
    local _ <close> = lock
    folder:remove_taken()
  end})
end

return cache
