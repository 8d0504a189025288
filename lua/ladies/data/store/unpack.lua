--- Unpacks the files of a data set from an untrusted archive or folder into a folder of this
-- program.
--
-- Archives are read by the core (zip) and ladies.data.store.tar, which refuse members that are
-- damaged, encrypted, duplicate or would be written outside the folder; this module decides which
-- members become which files, and limits their size.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local Tar = require "ladies.data.store.tar"

local unpack = {}

-- The limit on unpacked sizes: what is larger than PLENTY bytes must not be more than RATIO times
-- the size of the archive.
local PLENTY, RATIO = 1 << 30, 100
local MOST_MEMBERS = 100000
local DEEPEST = 6                                 -- folders within folders that are looked through

local function folder_of(path) return path:match "^(.*)/" end

local function make_room(path)
  core.folder.make(folder_of(path))
  return path
end

-- Tells whether all files of `entry` are below `prefix`; has(path) tells whether a file exists.
local function is_base(prefix, entry, has)
  for _, file in ipairs(entry.files) do
    if not has(prefix .. file.path) then return false end
  end
  return true
end

local function check_digest(where, file, sha256)
  if file.sha256 and sha256 ~= file.sha256 then
    errors.fail(("%s: %s is not the published one: its SHA-256 is %s, %s expected"):format(where,
      file.path, sha256, file.sha256))
  end
end

local function fail_incomplete(path, entry)
  local names = {}
  for i, file in ipairs(entry.files) do names[i] = file.path end
  errors.fail(("%s has not all the files of %s: %s"):format(path, entry.name,
    table.concat(names, ", ")))
end

-- Returns the folders of the tree at `path`, the outer ones first; links out of the tree are not
-- followed.
local function folders_below(path)
  local list, depth = {path}, {0}
  local i = 1
  while list[i] do
    for _, name in ipairs(depth[i] < DEEPEST and core.files(list[i]) or {}) do
      local inner = list[i] .. "/" .. name
      if core.exists(inner) == "folder" and #list < MOST_MEMBERS then
        list[#list + 1], depth[#depth + 1] = inner, depth[i] + 1
      end
    end
    i = i + 1
  end
  return list
end

local function known_from_folder(path, entry)
  for _, folder in ipairs(folders_below(path)) do
    local prefix = folder .. "/"
    if is_base(prefix, entry, function(file) return core.exists(file) == "file" end) then
      for _, file in ipairs(entry.files) do
        if file.sha256 then check_digest(path, file, core.zip.sha256(prefix .. file.path)) end
      end
      return folder
    end
  end
  fail_incomplete(path, entry)
end

-- Opens the archive at `path`, whatever its form, with the methods of an archive of zip.open.
local function open(path)
  return (unpack.kind(path) == "tar" and Tar or core.zip).open(path)
end

local function known_from_archive(path, entry, target)
  local archive <close> = open(path)
  local has, prefixes = {}, {""}
  for _, member in ipairs(archive:members()) do
    has[member.name] = true
    local prefix = member.name:match "^(.*/)"
    if prefix and prefix ~= prefixes[#prefixes] then prefixes[#prefixes + 1] = prefix end
  end
  table.insert(prefixes, 1, entry.base and entry.base .. "/" or "")
  for _, prefix in ipairs(prefixes) do
    if is_base(prefix, entry, function(name) return has[name] end) then
      for _, file in ipairs(entry.files) do
        check_digest(path, file, archive:unpack(prefix .. file.path,
          make_room(target .. "/" .. file.path)))
      end
      return target
    end
  end
  fail_incomplete(path, entry)
end

--- Finds the files of a data set of the registry in the folder or archive at `path`, and compares
-- them with what the registry says about them. Returns the folder where they are: below `path`, or
-- `target`.
function unpack.known(path, entry, target)
  local find = core.exists(path) == "folder" and known_from_folder or known_from_archive
  return find(path, entry, target)
end

-- Returns a member's name in its simplest form: "a/./b" and "a//b" become "a/b".
local function plain(name)
  local parts = {}
  for part in name:gmatch "[^/]+" do
    if part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

local function check_members(path, members)
  local total, seen = 0, {}
  for _, member in ipairs(members) do
    local file = plain(member.name)
    if seen[file] and not member.name:find "/$" then
      errors.fail(("%s: members %q and %q are the same file"):format(path, seen[file],
        member.name))
    end
    seen[file] = member.name
    if member.name:find "^%a:" then
      errors.fail(("%s: member %q has the letter of a drive"):format(path, member.name))
    end
    total = total + member.size
  end
  local packed = core.folder.bytes(path)
  if #members > MOST_MEMBERS then
    errors.fail(("%s: has %d members; at most %d are unpacked"):format(path, #members,
      MOST_MEMBERS))
  elseif total > PLENTY and total // RATIO > packed then
    errors.fail(("%s: would unpack to %d bytes, more than %d times its size"):format(path, total,
      RATIO))
  end
end

--- Unpacks all members of the archive at `path` into the folder `target`.
function unpack.all(path, target)
  local archive <close> = open(path)
  local members = archive:members()
  check_members(path, members)
  for _, member in ipairs(members) do
    if not member.name:find "/$" then
      archive:unpack(member.name, make_room(target .. "/" .. member.name))
    end
  end
  return target
end

-- The bytes with which archives of each kind begin.
local KINDS = {["PK\3"] = "zip", ["PK\5"] = "zip", ["\31\139"] = "gzip", ["BZh"] = "bzip2",
  ["\xfd7zXZ"] = "xz", ["\x28\xb5\x2f\xfd"] = "zstd", ["7z\xbc\xaf"] = "7z", ["Rar!"] = "rar"}

--- Returns the kind of a file by its first bytes: "zip", "gzip", "tar", another kind of archive,
-- which cannot be read, or nil.
function unpack.kind(path)
  local file <close> = assert(io.open(path, "rb"))
  local head = file:read(512) or ""
  for start, kind in pairs(KINDS) do
    if head:sub(1, #start) == start then return kind end
  end
  return (Tar.is_header(head) or head:sub(258, 262) == "ustar") and "tar" or nil
end

--- Unpacks the gzip file at `path` into the folder `target`; returns the unpacked file.
function unpack.gzip(path, target)
  core.folder.make(target)
  local name = path:match "([^/]*)$":gsub("%.gz$", "")
  local to = target .. "/" .. name
  core.zip.gunzip(path, to, math.max(PLENTY, RATIO * core.folder.bytes(path)))
  return to
end

--- Returns the folders of a tree, the outer ones first.
unpack.folders = folders_below

return unpack
