--- Reads the registry of data sets that can be downloaded: datasets/registry.txt, whose first
-- comment describes the format, or the file that LADIES_REGISTRY names.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local home = require "ladies.base.home"

local registry = {}

-- ---------------------------------------------------------------- the forms of values

-- Values are passed on to pip, curl and paths of files, so each function below checks the form of
-- one kind of value: it returns what is kept of the value, or nil for a wrong form.

local function plain_text(value) return core.printable(value) == value and value or nil end

local function name(value) return value:match "^[%w_][%w._+-]*$" end

local function sha256(value) return #value == 64 and value:match "^%x+$" or nil end

local function size(value) return value:find "^%d+$" and math.tointeger(tonumber(value)) end

local function address(value)
  return plain_text(value) and value:match '^https://[%w.-]+:?%d*/[^%s"<>\\]*$'
end

-- Checks a relative path that stays below its folder.
local function path(value)
  local inner = "/" .. value .. "/"
  return plain_text(value) and not inner:find "//" and not inner:find("/../", 1, true)
    and not inner:find("/./", 1, true) and value or nil
end

-- Parses a Python package, by the rules of PEP 508 and PEP 440, and the tags that its wheel must
-- have.
local function wheel(value)
  local package, version, platform, python = value:match "^(%S+) (%S+) (%S+) (%S+)$"
  return package and package:find "^%w[%w._-]*$" and package:find "%w$"
    and version:find "^%d[%w.!+_-]*$" and platform:find "^%w[%w_]*$"
    and python:find "^%d[%d.]*$" and value or nil
end

-- Parses the facts in a text such as "nodes 19717, classes 3" to a table.
local function facts(value)
  local expected = {}
  for part in (value .. ","):gmatch "%s*([^,]*)," do
    local key, number = part:match "^(%l+) (%d+)$"
    if not key then return nil end
    expected[key] = math.tointeger(number)
  end
  return expected
end

local function file(value)
  local sum, bytes, place = value:match "^(%S+) (%S+) (%S.*)$"
  local known = {path = place and path(place), size = bytes and size(bytes),
    sha256 = sum and sha256(sum)}
  if not known.path or not (known.size or bytes == "-") or not (known.sha256 or sum == "-") then
    return nil
  end
  return known
end

-- The keys of each kind of record, each with a description of its value for messages and the
-- function that checks the value.
local TEXT = {"text of one line", plain_text}
local ADDRESS = {"an address, https://HOST/...", address}
local PATH = {"a path below its folder", path}
local KEYS = {
  archive = {wheel = {"NAME VERSION PLATFORM PYTHON of a package", wheel}, zip = ADDRESS,
    files = ADDRESS, size = {"a number of bytes", size},
    sha256 = {"64 hexadecimal digits", sha256}},
  dataset = {about = TEXT, from = {"the name of an archive", name}, base = PATH, read = PATH,
    instead = {"the name of a data set", name}, licence = TEXT, cite = TEXT,
    expect = {'facts such as "nodes 180, classes 3"', facts},
    file = {"SHA-256 (or -), SIZE (or -) and a path below its folder", file}},
}

-- ---------------------------------------------------------------- the file

local loaded                                      -- {path =, datasets =, archives =, names =}

local function path_of()
  return os.getenv "LADIES_REGISTRY" or home() .. "/datasets/registry.txt"
end

-- Adds the value of a key to its record; returns nil, or a description of what the value should be.
local function add(record, key, value)
  local words, form = table.unpack(KEYS[record.kind][key])
  local kept = form(value)
  if not kept then return words end
  if key == "file" then table.insert(record.files, kept) else record[key] = kept end
end

local function parse(from)
  local made = {path = from, archive = {}, dataset = {}, names = {}}
  local record, number = nil, 0
  for line in (core.file.read(from) .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    local kind, title = line:match "^(%l+)%s+(%S+)%s*$"
    local key, value = line:match "^%s+(%w+)%s+(.-)%s*$"
    local function fail(text, ...)
      errors.fail(("registry: %s: line %d" .. text):format(from, number, ...))
    end
    if KEYS[kind] then
      if not name(title) then
        fail(": letters, digits and ._+- can be the name of %s, got %q",
          kind == "archive" and "an archive" or "a data set", title:sub(1, 60))
      end
      record = {kind = kind, name = title, files = {}}
      made[kind][title] = record
      if kind == "dataset" then made.names[#made.names + 1] = title end
    elseif record and key and KEYS[record.kind][key] then
      local wanted = add(record, key, value)
      if wanted then fail(": %s must be %s, got %q", key, wanted, value:sub(1, 60)) end
    elseif not line:find "^%s*$" and not line:find "^%s*#" then
      fail(" is not understood: %s", line:sub(1, 60))
    end
  end
  return made
end

local function load()
  local from = path_of()
  if not loaded or loaded.path ~= from then loaded = parse(from) end
  return loaded
end

--- Returns the names of the data sets, in the order of the file.
function registry.names() return load().names end

--- Returns the entry of the data set with this name, or nil: a table with the lines of the entry as
-- fields, `files` an array of {path =, size =, sha256 =}, and `archive`, a table of such fields.
function registry.find(wanted)
  local entry = load().dataset[wanted]
  if entry and not entry.archive then
    entry.archive = load().archive[entry.from or ""]
    if not entry.archive then
      errors.fail(("registry: %s: %s is from an archive that is not there"):format(loaded.path,
        wanted))
    end
  end
  return entry
end

--- Tells in words where an archive comes from.
function registry.origin(archive)
  local package, version = (archive.wheel or ""):match "^(%S+) (%S+)"
  return package and ("the wheel of %s %s"):format(package, version) or archive.zip or archive.files
end

return registry
