--- Unpacks and imports a file that may be an archive, for fuzz_import.c. The global check_tree, of
-- the harness, tells whether all that was made lies in the cache.

local core = require "ladies_core"
local ladies = require "ladies"
local cache = require "ladies.data.store.cache"
local import = require "ladies.data.store.import"
local unpack = require "ladies.data.store.unpack"
local promises = require "fuzz.promises"

-- The most bytes to which a gzip file in an archive, or an archive in a gzip file, may unpack;
-- larger ones are for the tests of the limits, since they take long.
local MOST = 1 << 22

local ENTRY = {name = "toy", files = {{path = "edges.csv"}, {path = "labels.csv"}}}

local function bytes_of(archive)
  local total = 0
  for _, member in ipairs(archive:members()) do
    -- Declared sizes may be beyond what a number of 64 bits can add up to.
    total = math.min(total, MOST) + math.min(member.size, MOST)
  end
  return total
end

-- Every member is a file of its size, and there are no other files.
local function check_unpacked(path, target)
  local archive <close> = core.zip.open(path)
  local total = 0
  for _, member in ipairs(archive:members()) do
    local file = target .. "/" .. member.name
    if not member.name:find "/$" then
      assert(core.exists(file) == "file" and core.folder.bytes(file) == member.size,
        "a member that is no file of its size")
      total = total + member.size
    end
  end
  assert(core.folder.bytes(target) == total, "files of no member")
end

-- Calls a function that unpacks. It must succeed or fail with one clear line, and all that it made
-- must lie in the cache either way. Returns whether it succeeded, and its result.
local function try(name, f, ...)
  local ok, result = pcall(f, ...)
  if not ok then promises.check_message(name, result) end
  _G.check_tree()
  return ok, result
end

-- Tells whether the archive is small enough to be tried; one that cannot be opened is.
local function is_small(path)
  local ok, archive = pcall(core.zip.open, path)
  if not ok then return true end
  local _ <close> = archive
  return bytes_of(archive) < MOST
end

local function unpack_all(path, work)
  local kind = unpack.kind(path)
  if kind == "gzip" then
    local ok, file = try("gzip", unpack.gzip, path, work .. "/gzip")
    if not ok then
      assert(core.folder.bytes(work) == 0, "a part of a file")
      return true
    end
    path, kind = file, unpack.kind(file)
  end
  if kind ~= "zip" then return true end
  if not is_small(path) then return false end
  if try("all", unpack.all, path, work .. "/all") then check_unpacked(path, work .. "/all") end
  try("known", unpack.known, path, ENTRY, work .. "/known")
  return true
end

-- An import leaves the data set whole in the cache, or not there at all.
local function check_cached(name, path)
  local files = core.files(cache.folder())
  local left = {}
  for _, file in ipairs(files) do
    if file ~= "ladies.json" then left[#left + 1] = file end
  end
  if not path then
    assert(#left == 0, "left in the cache: " .. table.concat(left, ", "))
    return
  end
  table.sort(left)
  assert(table.concat(left, " ") == name .. ".json " .. name .. ".npz", "other files in the cache")
  assert(cache.is_whole(name) and cache.find(name) == path, "what is cached is not whole")
  promises.check_dataset(ladies.data.load(name))
end

return function(path, name)
  local work = cache.folder() .. "/work"
  local small = unpack_all(path, work)
  core.folder.remove(work)
  if not small then return end
  local ok, stored = try("import", import, path, {name = name})
  check_cached(name, ok and stored)
  core.folder.remove(cache.folder())
  core.folder.make(cache.folder())
end
