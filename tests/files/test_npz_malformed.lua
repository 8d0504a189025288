--- Files that are cut off, damaged or made to deceive: one clear error each, no crash, no leak and
-- nothing half-written.
local lu = require "luaunit"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local malformed = require "tools.malformed"
local message_of = require "tools.message_of"
local shell = require "tools.shell"

local npz, npy, file = ladies.npz, ladies.npy, ladies.file
local tests = {}
local scratch = os.tmpname()

function tests.tearDown() os.remove(scratch) end

local function write_raw(text) files.write(scratch, text) end

-- The arrays of these names, or all, in one table.
local function read_all(path, names)
  local f <close> = npz.open(path)
  local all = {}
  for _, name in ipairs(names or f:names()) do
    local dtype = f:dtype(name)
    local kind = dtype:find "[US]" and "strings" or dtype == "int32" and "index" or "numbers"
    local value = f[kind](f, name)
    all[name] = kind == "index" and value:to_table() or value
  end
  return all
end

-- A small archive of every kind of member, as bytes, and what it holds.
local function sample(compress)
  npz.write(scratch, {v = npz.float32{1.5, 2.5}, i = ladies.index{3, 0}, s = {"ab", "c"}},
    {compress = compress})
  return files.read(scratch), read_all(scratch)
end

local function zip64_sample(ending)
  local one = malformed.npy(malformed.header("<f8", "(2,)"), ("<dd"):pack(1, 2))
  local bytes = malformed.zip({{name = "one.npy", data = one, zip64 = true},
    {name = "two.npy", data = one, method = 8, zip64 = true}}, {zip64 = ending or true})
  write_raw(bytes)
  return bytes, read_all(scratch)
end

function tests.test_zip64_reads()
  local _, values = zip64_sample()
  lu.assertEquals(values, {one = {1, 2}, two = {1, 2}})
  local _, beside = zip64_sample "beside"
  lu.assertEquals(beside, values)
end

local function check_truncations(bytes)
  for length, short in malformed.truncated(bytes) do
    write_raw(short)
    local message = message_of(read_all, scratch)
    lu.assertStrMatches(message, "npz: .*", nil, nil, ("at %d bytes: %s"):format(length, message))
  end
end

function tests.test_archives_cut_off_at_every_byte()
  check_truncations((sample(true)))
  check_truncations((sample(false)))
  check_truncations((zip64_sample()))
  check_truncations((zip64_sample "beside"))
end

-- A damaged file gives either an error or the same values.
local function check_flips(bytes, values, sparsely)
  local names, refused = {}, 0
  for name in pairs(values) do names[#names + 1] = name end
  for position, changed in malformed.flipped(bytes, sparsely) do
    write_raw(changed)
    local ok, result = pcall(read_all, scratch, names)
    if ok then
      lu.assertEquals(result, values, ("byte %d changed unnoticed"):format(position))
    else
      refused = refused + 1
      message_of(error, result)
    end
  end
  local each = sparsely and 2 or 9
  lu.assertTrue(refused > 0.77 * each * #bytes, "most changes must be noticed")
end

function tests.test_archives_with_a_byte_changed()
  local function check(sparsely, bytes, values) check_flips(bytes, values, sparsely) end
  check(true, sample(true))
  check(true, sample(false))
  check(true, zip64_sample())
  check(false, zip64_sample "beside")                  -- which has every field that others have
end

-- Nothing protects the elements of a bare .npy file, so a changed one may read as something else.
function tests.test_npy_cut_off_or_changed()
  npy.write(scratch, {{1, 2}, {3, 4}})
  local bytes = files.read(scratch)
  for _, short in malformed.truncated(bytes) do
    write_raw(short)
    lu.assertStrContains(message_of(npy.read, scratch), "npy: ")
  end
  write_raw(bytes .. "x")
  lu.assertStrContains(message_of(npy.read, scratch), "bytes follow the end of its data")
  for _, changed in malformed.flipped(bytes) do
    write_raw(changed)
    local ok, message = pcall(npy.read, scratch)
    if not ok then message_of(error, message) end
  end
end

function tests.test_gzip_cut_off_or_changed()
  local numbers = ("<i4i4i4"):pack(4, 5, 6)
  local bytes = malformed.gzip(malformed.npy(malformed.header("<i4", "(3,)"), numbers))
  for _, short in malformed.truncated(bytes) do
    write_raw(short)
    lu.assertStrContains(message_of(npy.read, scratch), "npy: ")
  end
  for position, changed in malformed.flipped(bytes) do
    write_raw(changed)
    local ok, result = pcall(npy.read, scratch)
    if ok then
      lu.assertEquals(result:to_table(), {5, 6, 7}, ("byte %d"):format(position))
    else
      message_of(error, result)
    end
  end
end

local HEADER = malformed.header("<f8", "(2,)")
local ARRAY = malformed.npy(HEADER, ("<dd"):pack(1, 2))

-- Opens and reads an archive with one member, which `changes` spoil.
local function complaint_about(changes, ending)
  local member = {name = "x.npy", data = ARRAY}
  for key, value in pairs(changes) do member[key] = value end
  write_raw(malformed.zip({member}, ending))
  return message_of(read_all, scratch)
end

function tests.test_members_that_lie()
  local packed = malformed.deflate(ARRAY)
  local bomb = malformed.deflate(("\0"):rep(70000))
  local member = 'member "x.npy": '
  for _, case in ipairs{
    {{crc = 1}, member .. "CRC is %x+, 00000001 expected"},
    {{method = 8, crc = 1}, member .. "CRC is %x+, 00000001 expected"},
    {{size = #ARRAY + 1}, 'member "x.npy" declares %d+ bytes, which its %d+ bytes in the'},
    {{method = 8, size = 1 << 31}, "declares 2147483648 bytes, which its %d+ bytes in the"},
    {{method = 8, zip64 = true, size = 1 << 62}, "declares %d+ bytes, which its %d+ bytes in the"},
    {{method = 8, zip64 = true, size = -1}, "declares 18446744073709551615 bytes, which its"},
    {{method = 8, size = #ARRAY + 8}, member .. "8 bytes follow the end of its data"},
    {{method = 8, size = #ARRAY - 8}, member .. "2 of float64 is more than the 8 bytes that"},
    {{method = 8, packed = malformed.deflate(ARRAY .. "more")},
      member .. "inflates to more than the %d+ bytes declared"},
    {{method = 8, packed = malformed.deflate(ARRAY:sub(1, -5))},
      member .. "inflates to %d+ bytes, %d+ declared"},
    {{method = 8, packed = packed .. "more"}, member .. "inflates to more than"},
    {{method = 8, packed = packed:sub(1, -5)}, member .. "the compressed data ends too early"},
    {{method = 8, packed = "\7" .. packed}, member .. "the compressed data is damaged: invalid"},
    {{method = 8, packed = bomb, size = 100}, member .. "is not an npy array"},
    {{data = ARRAY .. "12345678"}, member .. "8 bytes follow the end of its data"},
    {{data = ARRAY:sub(1, -9)}, member .. "2 of float64 is more than the 8 bytes that follow"},
    {{data = ""}, member .. "ends 8 bytes too early"},
    {{method = 12}, member .. "has compression method 12; stored %(0%) and deflated"},
    {{flags = 1}, member .. "is encrypted"},
    {{near = {name = "y.npy"}}, "has a local header that disagrees with the directory"},
    {{near = {size = 5}}, "has a local header that disagrees with the directory"},
    {{near = {packed_size = 5}}, "has a local header that disagrees with the directory"},
    {{near = {crc = 5}}, "has a local header that disagrees with the directory"},
    {{near = {method = 8}}, "has a local header that disagrees with the directory"},
    {{near = {flags = 2}}, "has a local header that disagrees with the directory"},
    {{near = {size = 5}, zip64 = true}, "has a local header that disagrees with the directory"},
    {{header = 1}, "lies outside of the archive"},
    {{header = 1 << 31}, "lies outside of the archive"},
    {{header = -1, zip64 = true}, "lies outside of the archive"},
    {{packed_size = 1 << 31, size = 1 << 31}, "lies outside of the archive"},
    {{packed_size = -1, zip64 = true}, "lies outside of the archive"},
    {{extra = "\1\0\8\0"}, "its directory is damaged"},
    {{extra = "\1"}, "its directory is damaged"},
    {{size = 0xFFFFFFFF}, "its directory is damaged"},
    {{name = "../x.npy"}, "a path out of the archive"},
    {{name = "/x.npy"}, "a path out of the archive"},
    {{name = "a/../x.npy"}, "a path out of the archive"},
    {{name = "a\\x.npy"}, "a path out of the archive"},
    {{name = "a\0x.npy"}, "a path out of the archive"},
    {{name = "a\27x.npy"}, "a path out of the archive"},
    {{name = ""}, "a path out of the archive"},
    {{name = ("x"):rep(256)}, "a path out of the archive"},
  } do
    lu.assertStrMatches(complaint_about(case[1]), ".*" .. case[2] .. ".*")
  end
end

function tests.test_directories_that_lie()
  for _, case in ipairs{
    {{count = 2}, "is not where it should end"}, {{count = 0}, "has more than the 0 members"},
    {{count = 9}, "is not where it should end"}, {{size = 1}, "is not where it should end"},
    {{position = 1}, "is not where it should end"},
    {{position = 0xFFFFFFFF}, "its zip64 record is missing"},
    {{count = 0xFFFF}, "its zip64 record is missing"},
    {{position = -1, zip64 = true}, "is not where it should end"},
    {{size = -1, zip64 = true}, "is not where it should end"},
    {{count = 1 << 60, zip64 = true}, "is not where it should end"},
    {{position = 1, zip64 = "beside"}, "is not where it should end"},
  } do
    lu.assertStrContains(complaint_about({}, case[1]), case[2])
  end
  for offset, changed in pairs{[12] = "size", [16] = "position"} do
    local bytes = malformed.zip({{name = "x.npy", data = ARRAY}}, {zip64 = "beside"})
    local at = #bytes - 22 + offset + 1
    write_raw(bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ 1) .. bytes:sub(at + 1))
    lu.assertStrContains(message_of(npz.open, scratch), "its zip64 record is damaged", nil, nil,
      changed)
  end
  write_raw(malformed.zip({{name = "x.npy", data = ARRAY}}, {comment = ("c"):rep(65535)}))
  lu.assertEquals(read_all(scratch), {x = {1, 2}})
  local one, two = {name = "x.npy", data = ARRAY}, {name = "y.npy", data = ARRAY, header = 0}
  write_raw(malformed.zip{one, one})
  lu.assertStrContains(message_of(npz.open, scratch), 'member "x.npy" occurs twice')
  write_raw(malformed.zip{one, two})
  lu.assertStrContains(message_of(read_all, scratch), 'member "y.npy" has a local header that')
  write_raw(malformed.zip{one, {name = "y.npy", data = "", header = 0, packed_size = #ARRAY,
    size = #ARRAY}})
  lu.assertStrContains(message_of(npz.open, scratch), 'member "y.npy" overlaps others')
end

function tests.test_headers_that_lie()
  local function header(descr, shape) return malformed.npy(malformed.header(descr, shape)) end
  local function dictionary(text) return malformed.npy(text) end
  for _, case in ipairs{
    {header("<f4", "(3, 4)"), "3 x 4 of float32 is more than the 0 bytes that follow"},
    {header("<f4", "(4611686018427387904,)"), "is more than the 0 bytes"},
    {header("<f4", "(4294967296, 4294967296)"), "is more than the 0 bytes"},
    {header("<f4", "(9223372036854775807,)"), "a dimension below 2^63 expected"},
    {header("<f4", "(99999999999999999999,)"), "a dimension below 2^63 expected"},
    {header("<f4", "(-1,)"), "a dimension below 2^63 expected"},
    {header("<f4", "(3)"), "a comma expected"}, {header("<f4", "3"), "a shape expected"},
    {header("<f4", "(,)"), "a dimension below 2^63 expected"},
    {header("<f4", "(1 2)"), "a comma expected"}, {header("<f4", "(1,"), "a dimension below 2^63"},
    {header("<f4", "(2,1,1)"), "has 3 dimensions; 0 to 2 are read, and 4 where all before the"},
    {header("<f4", "(1,1,1,1,1)"), "has 5 dimensions"},
    {header("<f4", "__import__('os').system('ls')"), "a shape expected"},
    {header("|O", "(1,)"), "dtype is object"}, {header("<O8", "(1,)"), "dtype is object"},
    {header(">i8", "(1,)"), "is big-endian"}, {header("=f4", "(1,)"), "is not read"},
    {header("|f4", "(1,)"), "is not read"}, {header("<f16", "(1,)"), "is not read"},
    {header("<i3", "(1,)"), "is not read"}, {header("<f", "(1,)"), "is not read"},
    {header("<", "(1,)"), "is not read"}, {header("", "(1,)"), '"" is not read'},
    {header("<f4x", "(1,)"), "is not read"}, {header("<U0", "(1,)"), "is not read"},
    {header("<U99999999999", "(0,)"), "is not read"}, {header("|S0", "(1,)"), "is not read"},
    {header("<f4\27[31m", "(1,)"), '"<f4?[31m" is not read'},
    {header("<f4", "(2147483648, 0)"), "a dimension must be 0 to 2147483647"},
    {dictionary("{}\n"), "all of descr, fortran_order and shape expected"},
    {dictionary("{'descr': '<f4', 'shape': (1,)}\n"), "all of descr, fortran_order and shape"},
    {dictionary("{'descr': '<f4', 'descr': '<f4'}\n"), 'key "descr" is unknown or occurs twice'},
    {dictionary("{'dtype': '<f4'}\n"), 'key "dtype" is unknown'},
    {dictionary("{'descr': [('a', '<f4')]}\n"), "dtype is a record"},
    {dictionary("{'descr': open('x')}\n"), "a dtype expected at byte 10"},
    {dictionary("{'descr' '<f4'}\n"), "a colon expected"},
    {dictionary("{'descr': '<f4' 'shape': (1,)}\n"), "a comma or } expected"},
    {dictionary("{'fortran_order': 1}\n"), "True or False expected"},
    {dictionary("{'descr': '<f4}\n"), "a dtype expected"}, {dictionary("{descr: 1}\n"), "a key"},
    {dictionary(""), "{ expected at byte 0"}, {dictionary("\n"), "{ expected"},
    {dictionary((HEADER:gsub("\n", ""))), "a newline that ends it expected"},
    {dictionary(HEADER:gsub("\n", "") .. "; import os\n"), "a newline that ends it expected"},
    {dictionary(HEADER .. "\n"), "a newline that ends it expected"},
    {dictionary(HEADER:gsub("\n", "\0\n")), "a newline that ends it expected"},
    {dictionary((" "):rep(10001)), "npy header of 10001 bytes; at most 10000 are read"},
    {malformed.npy(HEADER, "", 4), "npy version 4.0 is unknown"},
    {"\x93NUMPY\2\0\xff\xff\xff\xff", "npy header of 4294967295 bytes; at most 10000"},
    {"\x93NUMPZ\1\0", "is not an npy array"}, {"", "ends 8 bytes too early"},
  } do
    write_raw(case[1])
    lu.assertStrContains(message_of(npy.read, scratch), case[2])
  end
  write_raw(malformed.npy(malformed.header("<U1", "(2,)"), ("<I4I4"):pack(97, 0x110000)))
  lu.assertStrContains(message_of(npy.read, scratch),
    "element 2 holds 0x110000, which is not a character")
end

-- Headers are read that NumPy does not write but that mean the same.
function tests.test_headers_written_differently()
  local data = ("<dd"):pack(1, 2)
  for _, text in ipairs{
    "{'descr': '<f8', 'fortran_order': True, 'shape': (2L,)}\n",
    '{"shape":(2,),"fortran_order":False,"descr":"<f8"}   \n',
    " { 'descr' : '<f8' , 'fortran_order' : False , 'shape' : ( 2 , ) , } \n",
  } do
    for version = 1, 3 do
      write_raw(malformed.npy(text, data, version))
      lu.assertEquals(npy.read(scratch):to_table(), {1, 2})
    end
  end
end

-- 12 MB of zeros in 12 KB, which both headers call 1000 bytes: nothing beyond that is inflated.
function tests.test_a_member_that_inflates_to_much()
  npz.write(scratch, {x = ladies.zeros(3000000)})
  local honest, lie = ("<I4"):pack(128 + 12000000), ("<I4"):pack(1000)
  local bytes, count = files.read(scratch):gsub(honest:gsub("%W", "%%%0"), (lie:gsub("%%", "%%%%")))
  lu.assertEquals(count, 2)
  write_raw(bytes)
  core.memory_trim()
  local live = core.memory().total
  local f = npz.open(scratch)
  lu.assertStrContains(message_of(f.tensor, f, "x"), "is more than the 872 bytes that follow")
  lu.assertStrContains(message_of(f.numbers, f, "x"), "is more than the 872 bytes that follow")
  lu.assertTrue(core.memory().peak - live < 1 << 20)
end

function tests.test_paths()
  local folder <close> = shell.folder()
  local missing = folder.path .. "/none.npz"
  lu.assertEquals(message_of(npz.open, missing),
    ("npz: %s: cannot be opened: No such file or directory"):format(missing))
  lu.assertEquals(message_of(npz.open, folder.path), ("npz: %s: is a folder"):format(folder.path))
  lu.assertEquals(message_of(npy.read, folder.path), ("npy: %s: is a folder"):format(folder.path))
  lu.assertEquals(message_of(file.read, "/dev/null"), "file: /dev/null: is not a regular file")
  local speed = "/sys/class/net/lo/speed"            -- a file that cannot be read, even by root
  if core.exists(speed) then
    lu.assertStrMatches(message_of(file.read, speed), "file: " .. speed .. ": cannot be read: .*")
  end
  lu.assertStrContains(message_of(npz.write, folder.path, {}), folder.path .. ": is a folder")
  lu.assertEquals(message_of(npz.write, "/dev/full", {}), "npz: /dev/full: is not a regular file")
  local nowhere = folder.path .. "/no/x.npz"
  lu.assertEquals(message_of(npz.write, nowhere, {x = 1}),
    ("npz: %s: cannot be created: No such file or directory"):format(nowhere))
  local long = folder.path .. ("/" .. ("long"):rep(50)):rep(5) .. ".npz"
  lu.assertStrMatches(message_of(npz.open, long), "npz: %.%.%.[long/]+%.npz: cannot be opened: .*")
end

-- A limit on the size of files stands for a full disk.
function tests.test_full_disk()
  local folder <close> = shell.folder()
  local old = folder.path .. "/old.npz"
  npz.write(old, {x = 1})
  local bytes = files.read(old)
  local script = ([[
    local ladies = require "ladies"
    local big = ladies.zeros(100000)
    for name, write in pairs{
      ["old.npz"] = function(path) ladies.npz.write(path, {x = big}, {compress = false}) end,
      ["new.npz"] = function(path) ladies.npz.write(path, {x = big}, {compress = false}) end,
      ["new.npy"] = function(path) ladies.npy.write(path, big) end,
      ["new.txt"] = function(path) ladies.file.write(path, ("x"):rep(100000)) end,
    } do
      local ok, message = pcall(write, %q .. "/" .. name)
      local expected = name .. ": cannot be written: File too large"
      assert(not ok and message:find(expected, 1, true), message)
    end]]):format(folder.path)
  local code <close> = shell.file(script)
  local command = ("trap '' XFSZ; ulimit -f 8; exec %s %s"):format(shell.quote(shell.ladies),
    shell.quote(code.path))
  shell.silent(shell.run{"sh", "-c", command})
  lu.assertTrue(files.read(old) == bytes)
  lu.assertEquals(shell.run{"ls", folder.path}, "old.npz\n")
end

--- A writer whose write failed does not go on: what is missing would be missed in silence.
function tests.test_writer_that_failed()
  local folder <close> = shell.folder()
  local old, made = folder.path .. "/old.txt", folder.path .. "/new.safetensors"
  file.write(old, "old")
  local script = ([[
    local ladies = require "ladies"
    local function refused(text, call, ...)
      local ok, message = pcall(call, ...)
      assert(not ok and message:find(text, 1, true), message)
    end
    local again = ": writing it failed before"
    local w <close> = ladies.file.writer(%q)
    refused("old.txt: cannot be written: File too large", w.add, w, ("b"):rep(100000))
    refused("old.txt" .. again, w.add, w, "")
    refused("old.txt" .. again, w.commit, w)
    local s <close> = ladies.safetensors.writer(%q)
    local big = ladies.ones(100, 1000)
    s:rows("t", "float32", 100, 1000)
    refused("new.safetensors: cannot be written: File too large", s.add_rows, s, big)
    refused("new.safetensors" .. again, s.add_rows, s, big)
    refused("new.safetensors" .. again, s.put, s, "x", "x")
    refused("new.safetensors" .. again, s.commit, s)]]):format(old, made)
  local code <close> = shell.file(script)
  local command = ("trap '' XFSZ; ulimit -f 64; exec %s %s"):format(shell.quote(shell.ladies),
    shell.quote(code.path))
  shell.silent(shell.run{"sh", "-c", command})
  lu.assertEquals({files.read(old), core.files(folder.path)}, {"old", {"old.txt"}})
end

--- A folder that cannot be read can be written to, though not brought to the disk; root reads it
-- all the same.
function tests.test_folder_that_cannot_be_read()
  local folder <close> = shell.folder()
  shell.run{"chmod", "0333", folder.path}
  local _ <close> = setmetatable({}, {__close = function()
    shell.run{"chmod", "0700", folder.path}
  end})
  file.write(folder.path .. "/x", "text")
  lu.assertEquals(files.read(folder.path .. "/x"), "text")
end

function tests.test_every_allocation_may_fail()
  local folder <close> = shell.folder()
  local path, single = folder.path .. "/x.npz", folder.path .. "/x.npy"
  local arrays = {v = npz.float32{1, 2}, i = ladies.index{1}, s = {"a", "b"}, n = {1, 2}, t = "x"}
  lu.assertTrue(every_allocation(function() npz.write(path, arrays) end) > 2)
  lu.assertTrue(every_allocation(function() npy.write(single, arrays.i) end) > 1)
  lu.assertTrue(every_allocation(function()
    local f <close> = npz.open(path)
    return f:tensor "v", f:tensor "n", f:index "i", f:numbers "n", f:strings "s", f:text "t"
  end) > 20)
  lu.assertTrue(every_allocation(function() npy.read(single) end) > 3)
  write_raw(malformed.gzip(files.read(single)))
  lu.assertTrue(every_allocation(function() npy.read(scratch) end) > 5)
  lu.assertEquals(shell.run{"ls", folder.path}, "x.npy\nx.npz\n")
end

return tests
