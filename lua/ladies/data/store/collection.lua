--- Finds data sets by name: among those that come with the program, in the folder LADIES_DATA, and
-- in the cache.

local core = require "ladies_core"
local cache = require "ladies.data.store.cache"
local home = require "ladies.base.home"
local planetoid = require "ladies.data.formats.planetoid"
local readers = require "ladies.data.formats.readers"

local collection = {}

--- Returns the folders that are searched for a name before the cache.
function collection.folders()
  local list = {home() .. "/datasets"}
  local own = os.getenv "LADIES_DATA"
  for _, part in ipairs(own and own ~= "" and {"/arrays", "/planetoid", "/npz", ""} or {}) do
    list[#list + 1] = own .. part
  end
  return list
end

-- The forms in which a folder can hold a data set of some name.
local PLACES = {
  function(folder, name)
    local path = ("%s/%s.npz"):format(folder, name)
    return core.exists(path) == "file" and path
  end,
  function(folder, name)
    return planetoid.found(folder, name) and ("%s/ind.%s"):format(folder, name)
  end,
  function(folder, name)
    local path = folder .. "/" .. name
    return core.exists(path) == "folder" and readers.fits(path) and path
  end,
}

--- Returns the path of the data set with this name, as its reader takes it, and whether it is in
-- the cache; nil where there is none.
function collection.find(name)
  for _, place in ipairs(PLACES) do
    for _, folder in ipairs(collection.folders()) do
      local path = place(folder, name)
      if path then return path, false end
    end
  end
  return cache.find(name), true
end

--- ladies.data.names() -> string[]: returns the names of all data sets that are found here, each
-- once.
function collection.names()
  local names, seen = {}, {}
  local function add(name)
    if name and not seen[name] then names[#names + 1], seen[name] = name, true end
  end
  for _, folder in ipairs(collection.folders()) do
    for _, file in ipairs(core.files(folder)) do
      local path = folder .. "/" .. file
      add(file:match "^(.*)%.npz$" or core.exists(path) == "folder" and readers.fits(path) and file)
    end
    for _, name in ipairs(planetoid.names(folder)) do add(name) end
  end
  for _, name in ipairs(cache.names()) do add(name) end
  return names
end

return collection
