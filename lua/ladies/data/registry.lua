--- The data sets that can be fetched: datasets/registry.txt, whose opening comment is the format,
-- or the file that LADIES_REGISTRY names.

local core = require "ladies_core"
local options = require "ladies.options"

local registry = {}

local KEYS = {
  archive = {wheel = true, zip = true, files = true, size = true, sha256 = true},
  dataset = {about = true, from = true, base = true, read = true, instead = true, licence = true,
    cite = true, expect = true, file = true},
}

local loaded                                      -- {path =, datasets =, archives =, names =}

local function path_of()
  return os.getenv "LADIES_REGISTRY" or require("ladies").home() .. "/datasets/registry.txt"
end

-- "nodes 19717, classes 3" as a table.
local function parse_expected(text)
  local expected = {}
  for key, value in text:gmatch "(%a+) (%d+)" do expected[key] = math.tointeger(value) end
  return expected
end

-- Adds a line below a heading to its record; false when it is malformed.
local function add(record, key, value)
  if key == "file" then
    local sha256, size, path = value:match "^(%S+) (%S+) (%S+)$"
    if not path or ("/" .. path .. "/"):find("/../", 1, true) or path:find "^/" then
      return false
    end
    table.insert(record.files, {path = path, size = math.tointeger(size),
      sha256 = sha256 ~= "-" and sha256 or nil})
  elseif key == "expect" then
    record.expect = parse_expected(value)
  elseif key == "size" then
    record.size = math.tointeger(value)
    return record.size ~= nil
  else
    record[key] = value
  end
  return true
end

local function parse(path)
  local made = {path = path, archive = {}, dataset = {}, names = {}}
  local record, number = nil, 0
  for line in (core.file.read(path) .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    local kind, name = line:match "^(%l+)%s+(%S+)%s*$"
    local key, value = line:match "^%s+(%w+)%s+(.-)%s*$"
    local fits
    if KEYS[kind] then
      record = {kind = kind, name = name, files = {}}
      made[kind][name] = record
      if kind == "dataset" then made.names[#made.names + 1] = name end
      fits = true
    elseif record and key and KEYS[record.kind][key] then
      fits = add(record, key, value)
    else
      fits = line:find "^%s*$" or line:find "^%s*#"
    end
    if not fits then
      options.fail(("registry: %s: line %d is not understood: %s"):format(path, number,
        line:sub(1, 60)))
    end
  end
  return made
end

local function load()
  local path = path_of()
  if not loaded or loaded.path ~= path then loaded = parse(path) end
  return loaded
end

--- The names of the data sets, in the order of the file.
function registry.names() return load().names end

--- What is known of the data set of this name, or nil: a table with the lines of its entry as
-- fields, `files` an array of {path =, size =, sha256 =}, and `archive`, a table likewise.
function registry.find(name)
  local entry = load().dataset[name]
  if entry and not entry.archive then
    entry.archive = load().archive[entry.from or ""]
    if not entry.archive then
      options.fail(("registry: %s: %s is from an archive that is not there"):format(loaded.path,
        name))
    end
  end
  return entry
end

--- Where an archive comes from, in words.
function registry.origin(archive)
  local name, version = (archive.wheel or ""):match "^(%S+) (%S+)"
  return name and ("the wheel of %s %s"):format(name, version) or archive.zip or archive.files
end

return registry
