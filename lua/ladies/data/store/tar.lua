--- Reads tar archives from untrusted sources: the old form, ustar (POSIX.1-1988), pax
-- (POSIX.1-2001) and GNU's long names. An archive is an object like that of zip.open: members(),
-- unpack(name, path), close().
--
-- A member is a block of 512 bytes, its header, and its bytes in further blocks. Everything is
-- checked: a header must have its checksum, a member must end before the file does, and the archive
-- must end with a block of zeros. Only files and folders are taken: links, devices, pipes, files
-- with holes and all else that a header may be are refused, and so are names that lead out of a
-- folder. Here in Lua a wrong number can be refused or be an error, and no more.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local Tar = {__name = "ladies.Tar"}
Tar.__index = Tar

local BLOCK = 512
local MOST_MEMBERS, LONGEST_NAME = 100000, 255
local MOST_TEXT = 1 << 16          -- of a long name, or of pax records
local PIECE = 1 << 16              -- bytes that are copied at a time

-- The type letters in headers.
local FILES = {["0"] = true, ["\0"] = true, ["7"] = true}
local FOLDER, PAX, PAX_GLOBAL, LONG_NAME, LONG_LINK = "5", "x", "g", "L", "K"
local OTHERS = {["1"] = "a link", ["2"] = "a symbolic link", ["3"] = "a device", ["4"] = "a device",
  ["6"] = "a pipe", S = "a file with holes"}

local function fail(tar, text, ...)
  errors.fail(("%s: %s"):format(tar.path, text:format(...)))
end

-- Returns the text of a field up to its first zero byte.
local function text_of(field) return field:match "^[^\0]*" end

-- Parses a number in octal digits, or in GNU's form for large ones; nil for anything else.
local function number_of(field)
  if field:byte() == 0x80 then
    local high, low = (">I4i8"):unpack(field)
    return high == 0x80 << 24 and low >= 0 and low or nil
  end
  local digits = field:match "^ *([0-7]*)[ \0]*$"
  if not digits then return nil end
  return digits == "" and 0 or tonumber(digits, 8)
end

-- Returns the checksum of a header, the sum of its bytes with blanks in place of the stored
-- checksum.
local function checksum(block)
  local sum = 8 * (" "):byte()
  for i = 1, BLOCK do
    if i < 149 or i > 156 then sum = sum + block:byte(i) end
  end
  return sum
end

--- Tells whether the first 512 bytes of a file are a header of a tar archive.
function Tar.is_header(block)
  return #block == BLOCK and block:byte() ~= 0 and number_of(block:sub(149, 156)) == checksum(block)
end

-- Parses the fields of a header.
local function parse(tar, block, position)
  if not Tar.is_header(block) then
    fail(tar, "no header of a member at byte %d: the archive is damaged", position)
  end
  local name, prefix = text_of(block:sub(1, 100)), text_of(block:sub(346, 500))
  if block:sub(258, 263) == "ustar\0" and prefix ~= "" then name = prefix .. "/" .. name end
  return {name = name, size = number_of(block:sub(125, 136)), kind = block:sub(157, 157)}
end

local function blocks_of(size) return (size + BLOCK - 1) // BLOCK * BLOCK end

-- Reads the text that follows a header which describes the next one.
local function read_text(tar, header, position)
  if header.size > MOST_TEXT then
    fail(tar, "a name or record of %d bytes at byte %d", header.size, position)
  end
  return tar.file:read(header.size)
end

-- Parses the records of a pax header, "LENGTH KEY=VALUE\n" each.
local function parse_records(tar, text)
  local records, at = {}, 1
  while at <= #text do
    local digits, start = text:match("^(%d%d?%d?%d?%d?) ()", at)
    local last = digits and at + tonumber(digits) - 1
    local key, value = (last and text:sub(start, last) or ""):match "^([^=]+)=(.*)\n$"
    if not key or last > #text then fail(tar, "a pax record is damaged") end
    if key:find "^GNU%.sparse" then fail(tar, "a member is a file with holes") end
    records[key], at = value, last + 1
  end
  return records
end

local function whole_number(tar, text)
  return text:find "^-?%d+$" and math.tointeger(tonumber(text))
    or fail(tar, "a pax record is damaged")
end

-- Returns a member's name if it is a valid relative path; fails otherwise.
local function check_name(tar, name)
  local fit = #name > 0 and #name <= LONGEST_NAME and not name:find "[%c\\]"
    and name:sub(1, 1) ~= "/" and not ("/" .. name .. "/"):find("/../", 1, true)
  if not fit then
    fail(tar, "the name of a member is empty, too long, or a path out of the archive: %q",
      name:sub(1, 80))
  end
end

local function add(tar, header, position)
  check_name(tar, header.name)
  if header.kind == FOLDER then return end
  if not FILES[header.kind] then
    fail(tar, "member %q is %s; only files are taken", header.name,
      OTHERS[header.kind] or ("of the unknown type %q"):format(header.kind))
  elseif header.name:find "/$" then
    return                              -- a folder of the old form
  elseif tar.by_name[header.name] then
    fail(tar, "member %q occurs twice", header.name)
  elseif #tar.list == MOST_MEMBERS then
    fail(tar, "has more than %d members", MOST_MEMBERS)
  end
  local member = {name = header.name, size = header.size, position = position}
  tar.by_name[member.name], tar.list[#tar.list + 1] = member, member
end

-- Reads the header at `position`; returns nil at the archive's end.
local function next_header(tar, position)
  tar.file:seek("set", position)
  local block = tar.file:read(BLOCK) or ""
  if block == ("\0"):rep(BLOCK) then return nil end
  if #block < BLOCK then fail(tar, "is cut off: no end of the archive at byte %d", position) end
  return parse(tar, block, position)
end

local function read_members(tar, bytes)
  local position, long, records = 0, nil, {}
  while true do
    local header = next_header(tar, position)
    if not header then return end
    local describes = header.kind == PAX or header.kind == PAX_GLOBAL or header.kind == LONG_NAME
      or header.kind == LONG_LINK
    if not describes then
      header.name = records.path or long or header.name
      if records.size then header.size = whole_number(tar, records.size) end
    end
    position = position + BLOCK
    if not header.size or header.size < 0 or header.size > bytes - position then
      fail(tar, "member %q lies outside of the archive", header.name)
    end
    if not describes then
      add(tar, header, position)
      long, records = nil, {}
    elseif header.kind == LONG_NAME then
      long = text_of(read_text(tar, header, position))
    elseif header.kind == PAX then
      records = parse_records(tar, read_text(tar, header, position))
    end
    position = position + blocks_of(header.size)
  end
end

--- Opens the tar archive at `path`, which is not packed, and reads its headers.
function Tar.open(path)
  local file, message = io.open(path, "rb")
  if not file then errors.fail(message) end
  local tar = setmetatable({path = path, file = file, list = {}, by_name = {}}, Tar)
  local ok, failure = pcall(read_members, tar, file:seek "end")
  if not ok then
    tar:close()
    error(failure, 0)
  end
  table.sort(tar.list, function(a, b) return a.name < b.name end)
  return tar
end

--- Returns the files in the archive, sorted by name, as tables with `name` and `size`, in bytes.
function Tar:members() return self.list end

--- Writes a member to a new file; returns its SHA-256. A file that cannot be written whole is
-- removed.
function Tar:unpack(name, path)
  local member = self.by_name[name]
  if not member then fail(self, "has no member %q", name) end
  local out, message = io.open(path, "wb")
  if not out then fail(self, "%s", message) end
  self.file:seek("set", member.position)
  local left, ok = member.size, true
  while left > 0 and ok do
    local piece = self.file:read(math.min(left, PIECE))
    ok, message = out:write(piece or "")
    ok, left = ok and piece, left - #(piece or "")
  end
  local closed, why = out:close()
  if not (ok and closed) then
    os.remove(path)
    fail(self, "member %q cannot be written to %s: %s", name, path, message or why or "cut off")
  end
  return core.zip.sha256(path)
end

--- Closes the archive.
function Tar:close()
  if io.type(self.file) == "file" then self.file:close() end
end

Tar.__close, Tar.__gc = Tar.close, Tar.close

return Tar
