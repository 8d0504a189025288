--- Downloads data sets of the registry (ladies.data.store.registry) from where they are published
-- into the cache.
--
-- One process at a time works on a data set, in a folder beside the cache that is removed
-- afterwards. The files that came are compared with the published ones, read by the readers like
-- any file from a stranger, checked, and only then stored. LADIES_OFFLINE=1 keeps the program from
-- fetching on first use.

local cache = require "ladies.data.store.cache"
local download = require "ladies.data.store.download"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local readers = require "ladies.data.formats.readers"
local registry = require "ladies.data.store.registry"
local tell = require "ladies.base.tell"
local unpack = require "ladies.data.store.unpack"

local fetch = {}

local WHERE = "ladies fetch"

-- Runs f, and adds the name of the data set and `advice` to an error of this library, in one line.
local function explain(name, advice, f, ...)
  local results = table.pack(pcall(f, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local e = results[2]
  if type(e) ~= "string" or errors.is_internal(e) then error(e, 0) end
  errors.pass_on(e .. advice, ("%s: %s"):format(WHERE, name))
end

-- Returns advice for the case that an archive cannot be downloaded.
local function advice_for(entry)
  local other = entry.instead and ("; or another form: ladies fetch %s"):format(entry.instead) or ""
  return ("; it needs a network and room in %s; with a copy of the files: ladies import PATH "
    .. "--name %s%s"):format(cache.folder(), entry.name, other)
end

-- Fails unless the data set is what the registry expects.
local function check_expected(entry, data)
  local found = {nodes = data.graph.n_nodes, entries = data.graph.n_edges,
    features = data.features.n_cols, classes = data.classes}
  for _, key in ipairs{"nodes", "entries", "features", "classes"} do
    local expected = (entry.expect or {})[key]
    if expected and found[key] ~= expected then
      errors.fail(("it has %d %s, %d expected"):format(found[key], key, expected))
    end
  end
end

--- Reads a data set of the registry from its files in `folder`, checks it and stores it in the
-- cache; returns its path there. `from` says where it came from.
function fetch.convert(entry, folder, from)
  local path = entry.read and folder .. "/" .. entry.read or folder
  local data = readers.load(path, {}, function(fields, context)
    fields.name, fields.path, context.where = entry.name, nil, entry.name
    fields.source = ("%s; from %s"):format(fields.source or entry.about, from.origin)
  end)
  check_expected(entry, data)
  from.licence, from.cite = entry.licence, entry.cite
  return cache.store(entry.name, data, from)
end

local function bring(entry, opts)
  local work <close> = cache.workplace(entry.name)
  local kept = ("%s/.%s.part"):format(cache.make_folder(), entry.name)
  local archive = explain(entry.name, advice_for(entry), download.get, entry,
    {folder = work.path, kept = kept, title = entry.name, quiet = opts.quiet})
  local from = {origin = registry.origin(entry.archive), archive_sha256 = entry.archive.sha256}
  return explain(entry.name, "", function()
    local folder = unpack.known(archive, entry, work.path .. "/files")
    return fetch.convert(entry, folder, from)
  end)
end

--- Downloads a data set of the registry into the cache and returns its path. Options: `again`, to
-- download it even if it is there and undamaged; `quiet`, without a progress display.
function fetch.run(name, opts)
  opts = options.check(WHERE, opts, {again = {"boolean", false}, quiet = {"boolean", false}})
  local entry = registry.find(name)
  if not entry then
    errors.fail(('%s: there is no data set "%s" to fetch%s'):format(WHERE, name,
      options.hint(name, registry.names(), "there are")))
  end
  local _ <close> = explain(name, "", cache.lock, name, function()
    if not opts.quiet then
      tell("%s: another process is at %s; waiting for it", WHERE, name)
    end
  end)
  if not opts.again and explain(name, "", cache.is_whole, name) then return cache.find(name) end
  return bring(entry, opts)
end

--- Tells whether a data set that is not here may be downloaded on first use.
function fetch.is_allowed(name)
  local offline = os.getenv "LADIES_OFFLINE"
  return (offline == nil or offline == "" or offline == "0") and registry.find(name) ~= nil
end

return fetch
