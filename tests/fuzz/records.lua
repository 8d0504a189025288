--- Reads a text as a registry, and as the record of a data set in the cache, for fuzz_records.c.

local core = require "ladies_core"
local ladies = require "ladies"
local cache = require "ladies.data.store.cache"
local json = require "ladies.base.json"
local promises = require "fuzz.promises"

local REGISTRY = "ladies.data.store.registry"

-- The data set that the records are of.
local function store()
  local data = ladies.data.from_arrays{edges = {{1, 2}}, labels = {1, 2},
    features = ladies.ones(2, 1)}
  return cache.store("toy", data, {origin = "a test"})
end

-- Fails unless an entry is of a data set and has files that stay below a folder.
local function check_entry(entry)
  assert(entry.archive and entry.kind == "dataset")
  for _, file in ipairs(entry.files) do
    assert(not file.path:find "^/" and not ("/" .. file.path .. "/"):find("/../", 1, true),
      "a file outside of its folder")
  end
end

local function read_registry()
  package.loaded[REGISTRY] = nil -- it is read once
  local registry = require(REGISTRY)
  for _, name in ipairs(registry.names()) do
    local entry = registry.find(name)
    check_entry(entry)
    registry.origin(entry.archive)
  end
end

-- A record may say anything: it is believed where it fits the file.
local function read_record(path)
  local record = cache.record "toy"
  local names = cache.names()
  assert(#names == (record and 1 or 0) and (cache.find "toy" ~= nil) == (record ~= nil))
  assert(not record or type(cache.is_whole "toy") == "boolean")
  if record then ladies.data.load "toy" end
  json.decode(core.file.read(path), path)
end

local READ = {registry = read_registry, record = read_record}

store()

return function(path, kind)
  local ok, message = pcall(READ[kind], path)
  if not ok then promises.check_message(kind, message) end
end
