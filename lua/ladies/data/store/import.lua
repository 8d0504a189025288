--- Imports a data set that the user has, as a folder or an archive, into the cache.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local cache = require "ladies.data.store.cache"
local collection = require "ladies.data.store.collection"
local complete = require "ladies.data.complete"
local errors = require "ladies.base.errors"
local fetch = require "ladies.data.store.fetch"
local options = require "ladies.base.options"
local planetoid = require "ladies.data.formats.planetoid"
local readers = require "ladies.data.formats.readers"
local registry = require "ladies.data.store.registry"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"
local unpack = require "ladies.data.store.unpack"

local WHERE = "ladies import"

local function fail(text, ...) errors.fail(("%s: %s"):format(WHERE, text:format(...))) end

-- Returns the data sets in a tree of folders, as paths that the readers take; files below a data
-- set belong to it.
local function candidates(root)
  local found, whole = {}, {}
  for _, folder in ipairs(unpack.folders(root)) do
    local inside = whole[folder:match "^(.*)/"]
    whole[folder] = inside or readers.fits(folder)
    if whole[folder] and not inside then found[#found + 1] = folder end
    for _, name in ipairs(whole[folder] and {} or planetoid.names(folder)) do
      found[#found + 1] = folder .. "/ind." .. name
    end
    for _, file in ipairs(whole[folder] and {} or core.files(folder)) do
      if file:find "%.npz$" or array_file.is_safetensors(file) then
        found[#found + 1] = folder .. "/" .. file
      end
    end
  end
  return found
end

local function name_of(path)
  return (path:gsub("/+$", ""):match "[^/]*$":gsub("^ind%.", ""):gsub("%.gz$", "")
    :gsub("%.%a+$", ""))
end

-- Chooses the only data set in a tree of folders, or the one of this name.
local function choose(path, root, name)
  local found, names = candidates(root), {}
  if #found == 1 then return found[1] end
  local chosen, place = nil, {}
  for i, candidate in ipairs(found) do
    names[i] = name_of(candidate)
    local inside, other = candidate:sub(#root + 2), place[names[i]]
    if other then
      fail("%s: has two data sets called %s: %s and %s; unpack it and import one", path, names[i],
        other, inside)
    end
    place[names[i]] = inside
    if names[i] == name then chosen = candidate end
  end
  if chosen then return chosen end
  if #found == 0 then
    fail("%s: there is no data set in it of a form that is known; see doc/data.md", path)
  end
  fail("%s: which of them? --name NAME; there are %s", path, table.concat(names, ", "))
end

-- The kinds of archives that unpack.kind recognizes but that cannot be read.
local UNREAD = {bzip2 = true, xz = true, zstd = true, ["7z"] = true, rar = true}

-- Returns the file to read, or nil and the folder or archive in which it is.
local function open(path, work)
  if core.exists(path) == "folder" then return nil, path end
  local kind = unpack.kind(path)
  if kind == "gzip" then
    path = unpack.gzip(path, work .. "/unpacked")
    kind = unpack.kind(path)
  end
  if UNREAD[kind] then
    fail("%s is packed with %s, which is not read; unpack it and import what was in it",
      path:match "[^/]*$", kind)
  elseif kind == "tar" or kind == "zip" and not path:find "%.npz$" then
    return nil, path
  end
  return path
end

-- Fails if the name already finds a data set outside the cache, or one in the cache that `replace`
-- does not allow to be replaced.
local function check_free(name, replace)
  local path, cached = collection.find(name)
  if path and not cached then
    fail("%s is the name of %s, which would be found first; choose another one with --name", name,
      path)
  elseif path and not replace then
    fail("there is a data set %s, %s; --replace (in Lua replace = true) puts this one in its place",
      name, path)
  end
end

local function convert(path, work, name, replace, opts)
  local file, container = open(path, work)
  local entry = name and registry.find(name)
  local origin = path:match "[^/]+/?$"
  if entry and container then
    return fetch.convert(entry, unpack.known(container, entry, work .. "/files"), {origin = origin})
  end
  if container then
    local root = container
    if core.exists(container) == "file" then root = unpack.all(container, work .. "/files") end
    file = choose(path, root, name)
  end
  local data = readers.load(file, opts, function(fields, context)
    if not name then
      name = fields.name ~= "files" and fields.name or name_of(path)
      cache.check_name(WHERE, name)
      check_free(name, replace)
    end
    fields.name, fields.path, context.where = name, nil, origin
    fields.source = fields.source or origin
  end)
  return cache.store(name, data, {origin = origin})
end

--- Reads the data set at `path`, a folder, a zip archive (as wheels are), a tar archive or a file
-- that a reader knows, both plain or packed with gzip, and stores it in the cache; returns its path
-- there. Options: `name`, under which it is found later, `replace`, to put it in the place of the
-- cached one of this name, and those of ladies.data.load. Where the name is one of the registry,
-- the files must be the published ones, which are read as they are.
return function(path, given)
  options.value(WHERE, "the path", path, "string")
  if path == "" then fail "the path is empty" end
  local opts = options.check(WHERE, given, tables.merged(complete.SPEC,
    {name = "string or nil", replace = {"boolean", false}}))
  if opts.name then cache.check_name(WHERE, opts.name) end
  local there = core.exists(path)
  if not there or there == "other" then
    fail(there and "%s is neither a file nor a folder" or "%s does not exist", path)
  end
  local title = opts.name or name_of(path)
  cache.check_name(WHERE, title)
  local _ <close> = cache.lock(title, function()
    tell("%s: another process is at %s; waiting for it", WHERE, title)
  end)
  if opts.name then check_free(opts.name, opts.replace) end
  local work <close> = cache.workplace(title)
  return convert(path, work.path, opts.name, opts.replace, complete.options_of(opts))
end
