--- Sorts the data sets that a study asks for by name into those that can be used here and the
-- others, with what to do about these.

local core = require "ladies_core"
local collection = require "ladies.data.store.collection"
local data_sets = require "ladies.data"
local errors = require "ladies.base.errors"
local fetch = require "ladies.data.store.fetch"
local readers = require "ladies.data.formats.readers"
local registry = require "ladies.data.store.registry"
local run_folder = require "ladies.training.record.run_folder"

-- Returns a line that says why a data set cannot be used, or nil when it can. A data set that is
-- downloaded on first use is downloaded here, once for all runs.
local function obstacle(name)
  if readers.is_path(name) then
    -- Data sets of other formats may be named by the common beginning of their files' names.
    local there = core.exists(name) or not name:find "%.npz$" and readers.fits(name)
    return not there and name .. " does not exist" or nil
  end
  if collection.find(name) then return nil end
  if not registry.find(name) then
    return name .. " is not here, and none of the data sets that `ladies fetch` brings"
  elseif not fetch.is_allowed(name) then
    return ("%s is not here: `ladies fetch %s` brings it, and the same command then adds it")
      :format(name, name)
  end
  local ok, message = errors.try(data_sets.load, name)
  return not ok and errors.message(message) or nil
end

--- usable_data(where, names [, made]) -> names, notes: returns the names of the data sets that can
-- be used, and a line about each of the others. The study itself makes those whose names the table
-- `made` has (see Study:place), so these can be used. It is an error, which begins with `where`,
-- when none can be used, or when two would have the same name in tables.
return function(where, names, made)
  local list, notes, called = {}, {}, {}
  for _, name in ipairs(names) do
    local plain = run_folder.plain(name)
    if called[plain] then
      errors.fail(("%s: the data sets %s and %s would both be called %s; rename one"):format(where,
        called[plain], name, plain))
    end
    called[plain] = name
    local problem = not (made and made[name]) and obstacle(name)
    if problem then notes[#notes + 1] = problem else list[#list + 1] = name end
  end
  if #list == 0 then errors.fail(("%s: %s"):format(where, table.concat(notes, "; "))) end
  return list, notes
end
