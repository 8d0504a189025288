--- Tar archives: every form that is read, what programs write, and traps.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local Tar = require "ladies.data.store.tar"
local unpack = require "ladies.data.store.unpack"
local shell = require "tools.shell"
local tar = require "tools.tar"

local tests = {}
local folder, path

function tests.setUp()
  folder = shell.folder()
  path = folder.path .. "/x.tar"
end
function tests.tearDown() getmetatable(folder).__close() end

local function write(members)
  files.write(path, type(members) == "string" and members or tar.archive(members))
end

-- The names and contents of the files in the archive.
local function contents(members)
  write(members)
  lu.assertEquals(unpack.kind(path), "tar")
  local archive <close> = Tar.open(path)
  local found = {}
  for i, member in ipairs(archive:members()) do
    archive:unpack(member.name, folder.path .. "/out")
    local content = ladies.file.read(folder.path .. "/out")
    lu.assertEquals(#content, member.size)
    found[i] = {member.name, content}
  end
  return found
end

local function refused(members, text)
  write(members)
  local ok, message = pcall(function()
    local archive = Tar.open(path)
    return archive
  end)
  lu.assertFalse(ok, text)
  lu.assertStrMatches(message, "[^:]*test_tar.lua:%d+: [^\n]*")
  lu.assertStrContains(message, text)
end

local LONG = ("long/"):rep(40) .. "name.csv"      -- 208 bytes
local FINE = {name = "fine", data = "x"}

function tests.test_forms()
  local big = ("0123456789"):rep(20000)
  lu.assertEquals(contents{{name = "b/two", data = big}, {name = "b/", kind = "5"},
    {name = "a", data = ""}}, {{"a", ""}, {"b/two", big}})
  lu.assertEquals(contents{{name = "old", data = "x", magic = ("\0"):rep(8), kind = "\0"},
    {name = "folder/", magic = ("\0"):rep(8), kind = "\0"}}, {{"old", "x"}})
  lu.assertEquals(contents{{name = "file", prefix = "before", data = "x"}}, {{"before/file", "x"}})
  lu.assertEquals(contents{{name = "file", prefix = "no", magic = "ustar  \0", data = "x"}},
    {{"file", "x"}})
  lu.assertEquals(contents{{name = "f", data = "abc", number = "\x80" .. (">I3I8"):pack(0, 3)}},
    {{"f", "abc"}})
  lu.assertEquals(contents{{name = "g", kind = "g", data = tar.record("comment", "x")},
    {name = "x", kind = "x", data = tar.record("path", LONG) .. tar.record("size", "3")},
    {name = "short", size = 0, data = "abc"}, {name = "next", data = "n"}},
    {{LONG, "abc"}, {"next", "n"}})
  lu.assertEquals(contents{{name = "././@LongLink", kind = "L", data = LONG .. "\0"},
    {name = LONG:sub(1, 100), data = "abc"}}, {{LONG, "abc"}})
end

function tests.test_what_tar_writes()
  if not os.execute "command -v tar >/dev/null" then lu.skip "there is no tar" end
  local source = folder.path .. "/s/" .. LONG:match "^(.*)/"
  os.execute("mkdir -p " .. source)
  ladies.file.write(folder.path .. "/s/" .. LONG, "long")
  ladies.file.write(folder.path .. "/s/short.csv", "short")
  for _, form in ipairs{"ustar", "pax", "gnu"} do
    local _, err, status = shell.run({"tar", "--format=" .. form, "-cf", path, "s"},
      {folder = folder.path})
    if status == 0 then                              -- another tar may not know the option
      local out = folder.path .. "/out-" .. form
      unpack.all(path, out)
      lu.assertEquals(ladies.file.read(out .. "/s/" .. LONG), "long")
      lu.assertEquals(ladies.file.read(out .. "/s/short.csv"), "short")
    else
      lu.assertStrContains(err, "format")
    end
  end
end

function tests.test_traps()
  for _, name in ipairs{"../x", "/etc/x", "a/../../x", "..", "a\\b", "a\tb"} do
    local text = "a path out of the archive"
    refused({FINE, {name = name, data = "x"}}, text)
    refused({{name = "x", kind = "x", data = tar.record("path", name)}, FINE}, text)
    refused({{name = "L", kind = "L", data = name .. "\0"}, FINE}, text)
  end
  refused({{name = "up", prefix = "..", data = "x"}}, "a path out of the archive")
  refused({{name = "", data = "x"}}, "no header of a member")
  refused({{name = "L", kind = "L", data = ("x"):rep(256) .. "\0"}, FINE}, "too long")
  for kind, what in pairs{["1"] = "a link", ["2"] = "a symbolic link", ["3"] = "a device",
    ["6"] = "a pipe", S = "a file with holes", V = 'of the unknown type "V"'} do
    refused({FINE, {name = "odd", kind = kind}}, 'member "odd" is ' .. what)
  end
  refused({FINE, FINE}, 'member "fine" occurs twice')
end

function tests.test_numbers_that_lie()
  local outside = 'member "f" lies outside of the archive'
  refused({FINE, {name = "f", data = "x", sum = 1}}, "no header of a member at byte 1024")
  for _, number in ipairs{"77777777777\0", "\x80" .. (">I3I8"):pack(0, 1 << 62),
    "\x80" .. ("\xff"):rep(11), "\xff" .. ("\xff"):rep(11), "-0000000001\0", "00000000009\0"} do
    refused({{name = "f", data = "x", number = number}}, outside)
  end
  for _, size in ipairs{"-1", "9999", "9223372036854775807"} do
    refused({{name = "x", kind = "x", data = tar.record("size", size)}, {name = "f", data = "x"}},
      outside)
  end
  local function pax(data, text) refused({{name = "x", kind = "x", data = data}, FINE}, text) end
  pax("99 path=x\n", "a pax record is damaged")
  pax("path=x\n", "a pax record is damaged")
  pax("00000 path=x\n", "a pax record is damaged")
  pax(tar.record("GNU.sparse.major", "1"), "with holes")
  pax(tar.record("size", "much"), "a pax record is damaged")
  pax(("x"):rep(70000), "a name or record of 70000 bytes")
end

--- An archive that ends anywhere is refused, wherever it ends.
function tests.test_cut_off()
  local whole = tar.archive({{name = "a", data = ("x"):rep(700)}, {name = "b", data = "y"}}, "")
  for length = 0, #whole, 64 do
    write(whole:sub(1, length))
    lu.assertErrorMsgContains(path .. ": ", Tar.open, path)
  end
end

--- A spoiled byte of a header or record gives an error, or a file.
function tests.test_spoiled()
  local whole = tar.archive{{name = "x", kind = "x", data = tar.record("path", LONG)},
    {name = "a", data = "x"}}
  for at = 1, 1536 do
    write(whole:sub(1, at - 1) .. string.char(whole:byte(at) ~ 0x41) .. whole:sub(at + 1))
    local ok, archive = pcall(Tar.open, path)
    if ok then
      lu.assertEquals(#archive:members(), 1)
      archive:close()
    else
      lu.assertStrContains(archive, path .. ": ")
    end
  end
end

return tests
