--- Arrays in files: what NumPy wrote (fixtures/make_npz.py), and what we write and read again.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local malformed = require "tools.malformed"
local message_of = require "tools.message_of"
local fixture = require "reference.fixture"

local npz, npy, file = ladies.npz, ladies.npy, ladies.file
local tests = {}
local scratch = os.tmpname()

function tests.tearDown() os.remove(scratch) end

local function open_fixture(name) return fixture.open("numpy_" .. name) end

local function write_raw(text) files.write(scratch, text) end

-- Writes arrays and opens the result.
local function rewritten(arrays, options)
  npz.write(scratch, arrays, options)
  return npz.open(scratch)
end

local LIMITS = {
  bool = {0, 0, 1, 1},
  int8 = {-128, 0, 1, 127}, uint8 = {0, 0, 1, 255},
  int16 = {-32768, 0, 1, 32767}, uint16 = {0, 0, 1, 65535},
  int32 = {-2147483648, 0, 1, 2147483647}, uint32 = {0, 0, 1, 4294967295},
  int64 = {math.mininteger, 0, 1, math.maxinteger}, uint64 = nil,  -- its largest has no Lua integer
  float32 = {-0x1.fffffep127, 0, 1, 0x1.fffffep127},
  float64 = {-0x1.fffffffffffffp1023, 0, 1, 0x1.fffffffffffffp1023},
}
local TYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
  "float32", "float64"}

local function table_of(dtype)
  return dtype == "bool" and {{0, 1, 1}, {1, 1, 1}} or {{0, 1, 2}, {3, 4, 5}}
end

function tests.test_numbers_of_numpy()
  local f = open_fixture "types"
  for _, dtype in ipairs(TYPES) do
    local kind = dtype:find "float" and "float" or "integer"
    lu.assertEquals(f:dtype(dtype .. "_table"), dtype)
    lu.assertEquals(f:shape(dtype .. "_table"), {2, 3})
    lu.assertEquals(f:shape(dtype .. "_limits"), {4})
    lu.assertEquals(f:shape(dtype .. "_scalar"), {})
    lu.assertEquals(f:shape(dtype .. "_empty"), {0})
    lu.assertEquals(f:shape(dtype .. "_no_columns"), {2, 0})
    if LIMITS[dtype] then lu.assertEquals(f:numbers(dtype .. "_limits"), LIMITS[dtype]) end
    lu.assertEquals(f:numbers(dtype .. "_table"), table_of(dtype))
    lu.assertEquals(f:numbers(dtype .. "_fortran"), table_of(dtype))
    lu.assertEquals(f:numbers(dtype .. "_scalar"), 1)
    lu.assertEquals(math.type(f:numbers(dtype .. "_scalar")), kind)
    lu.assertEquals(f:numbers(dtype .. "_empty"), {})
    lu.assertEquals(f:numbers(dtype .. "_no_columns"), {})
  end
  lu.assertStrContains(message_of(f.numbers, f, "uint64_limits"),
    "element 4 is 18446744073709551615, above 2^63 - 1")
end

function tests.test_tensors_of_numpy()
  local f = open_fixture "types"
  for _, dtype in ipairs(TYPES) do
    lu.assertEquals(f:tensor(dtype .. "_table"):to_table(), table_of(dtype))
    lu.assertEquals(f:tensor(dtype .. "_fortran"):to_table(), table_of(dtype))
    lu.assertEquals(f:tensor(dtype .. "_scalar"):to_table(), {1})
    lu.assertEquals(f:tensor(dtype .. "_empty").n_rows, 0)
    local none = f:tensor(dtype .. "_no_columns")
    lu.assertEquals({none.n_rows, none.n_cols}, {2, 0})
  end
  lu.assertEquals(f:tensor("float32_limits"):to_table(), LIMITS.float32)
  lu.assertEquals(f:tensor("uint64_limits"):to_table(), {0, 0, 1, 2.0^64})
  local special = f:tensor("special"):to_table()
  lu.assertNotEquals(special[1], special[1])
  lu.assertEquals({special[2], special[3], 1 / special[4]}, {math.huge, -math.huge, -math.huge})
end

function tests.test_indices_of_numpy()
  local f = open_fixture "types"
  lu.assertEquals(f:index("uint8_limits"):to_table(), {1, 1, 2, 256})
  lu.assertEquals(f:index("int64_empty"):to_table(), {})
  for _, dtype in ipairs{"int32", "int64", "uint32", "uint64"} do
    lu.assertStrContains(message_of(f.index, f, dtype .. "_limits"),
      "ids must lie in -1..2147483646")
  end
  local row = f:numbers("int8_table")[2]
  for i, x in ipairs(row) do row[i] = x + 1 end
  lu.assertEquals(f:index("int8_table"):slice(4, 6):to_table(), row)
  local trues = {}
  for i, x in ipairs(f:numbers "bool_limits") do if x == 1 then trues[#trues + 1] = i end end
  lu.assertEquals(f:index("bool_limits"):to_table(), trues)
  lu.assertStrContains(message_of(f.index, f, "float32_limits"), "float32, integers expected")
end

function tests.test_texts_of_numpy()
  local f = open_fixture "types"
  local texts = {{"", "plain", "Grüße"}, {"日本語", "\u{1d11e}", "a\0b"}}
  lu.assertEquals(f:strings "texts", texts[1])
  lu.assertEquals(f:strings "texts_table", texts)
  lu.assertEquals(f:strings "texts_fortran", texts)
  lu.assertEquals(f:strings "text", "one")
  lu.assertEquals(f:strings "bytes", {"", "one", "\xff\0z"})
  lu.assertEquals({f:dtype "texts", f:dtype "bytes"}, {"<U5", "|S3"})
  lu.assertEquals(f:numbers "größe", {1.5})
  lu.assertStrContains(message_of(f.numbers, f, "text"), "dtype is <U3, numbers expected")
  lu.assertStrContains(message_of(f.strings, f, "int8_table"), "dtype is int8, texts (U or S)")
end

function tests.test_stored_members_of_version_2()
  local f <close> = open_fixture "stored"
  lu.assertEquals(f:names(), {"n", "v"})
  lu.assertEquals({f:has "v", f:has "readme.txt", f:has "V"}, {true, false, false})
  lu.assertEquals(f:tensor("v"):to_table(), {1.5, -2.5})
  lu.assertEquals(f:index("n"):to_table(), {1, 2, 3, 4})
  lu.assertStrContains(message_of(f.tensor, f, "w"), 'has no array "w"; it has: n, v')
end

--- From 2 GiB on Python adds zip64 records to numbers that would still fit.
function tests.test_members_of_gigabytes()
  local f <close> = open_fixture "gib"
  lu.assertEquals(f:names(), {"n", "v"})
  lu.assertEquals({f:numbers "v", f:numbers "n"}, {{1.5, -2.5}, {0, 1, 2, 3}})
end

--- An array is read from behind a hole of more than 2 GiB (3 GiB of zeros, which take no room on
-- the disk).
function tests.test_offsets_of_gigabytes()
  local zeros = 3 << 30
  local header = malformed.header("<f8", ("(%d,)"):format((zeros - 128) // 8))
  local first = malformed.npy(header .. (" "):rep(117 - #header) .. "\n")
  lu.assertEquals(#first, 128)
  local last = malformed.npy(malformed.header("<f8", "(2,)"), ("<dd"):pack(1, 2))
  local function member(name, data, size, position)
    local crc = malformed.crc32(data)
    local near = ("<I4I2I2I2I4I4I4I4I2I2"):pack(0x04034B50, 45, 0, 0, 0, crc, 0xFFFFFFFF,
      0xFFFFFFFF, #name, 20) .. name .. ("<I2I2I8I8"):pack(1, 16, size, size)
    local far = ("<I4I2I2I2I2I4I4I4I4I2I2I2I2I2I4I4"):pack(0x02014B50, 45, 45, 0, 0, 0, crc,
      0xFFFFFFFF, 0xFFFFFFFF, #name, 28, 0, 0, 0, 0, 0xFFFFFFFF) .. name
      .. ("<I2I2I8I8I8"):pack(1, 24, size, size, position)
    return near .. data, far
  end
  local near, far = member("x.npy", first, zeros, 0)
  local next_one = #near - #first + zeros
  local near2, far2 = member("y.npy", last, #last, next_one)
  local directory, start = far .. far2, next_one + #near2
  local stream = assert(io.open(scratch, "wb"))
  stream:write(near)
  stream:seek("set", next_one)
  stream:write(near2, directory,
    ("<I4I8I2I2I4I4I8I8I8I8"):pack(0x06064B50, 44, 45, 45, 0, 0, 2, 2, #directory, start),
    ("<I4I4I8I4"):pack(0x07064B50, 0, start + #directory, 1),
    ("<I4I2I2I2I2I4I4I2"):pack(0x06054B50, 0, 0, 2, 2, #directory, start, 0))
  stream:close()
  local f <close> = npz.open(scratch)
  lu.assertEquals(f:names(), {"x", "y"})
  lu.assertEquals(f:numbers "y", {1, 2})
end

--- A message lists as many names as have room.
function tests.test_many_names()
  local arrays, names = {}, {}
  for i = 1, 40 do
    names[i] = ("array%02d"):format(i)
    arrays[names[i]] = ladies.ones(1)
  end
  npz.write(scratch, arrays)
  local f <close> = npz.open(scratch)
  lu.assertStrContains(message_of(f.tensor, f, "x"),
    ("has no array \"x\"; it has: %s, ..."):format(table.concat(names, ", ", 1, 21)))
end

function tests.test_refused_arrays_are_named()
  local f = open_fixture "refused"
  lu.assertEquals(f:index("fine"):to_table(), {1, 2, 3})
  lu.assertEquals({f:dtype "half", f:tensor("half"):to_table()}, {"float16", {0, 0}})
  for name, complaint in pairs{
    object = "dtype is object (pickled Python), ", big_endian = '">f4" is big-endian',
    cube = "has 3 dimensions; 0 to 2 are read", record = "dtype is a record",
    complex = '"<c16" is not read', dates = '"<M8[D]" is not read',
    too_large = "element 2 is 1e+39, too large for float32",
  } do
    local message = message_of(f.tensor, f, name)
    lu.assertStrContains(message, ('numpy_refused.npz: member "%s.npy": '):format(name))
    lu.assertStrContains(message, complaint)
  end
  lu.assertStrContains(message_of(f.index, f, "far"), "element 2 is 2147483647, ids must lie in")
  lu.assertStrContains(message_of(f.index, f, "negative"), "element 3 is -2, ids must lie in -1..")
end

function tests.test_round_trip_of_numbers()
  for _, compress in ipairs{true, false} do
    for _, dtype in ipairs(TYPES) do
      local limits = LIMITS[dtype] or {0, 1, math.maxinteger}
      local make = npz[dtype]
      local f <close> = rewritten({limits = make(limits), table = make(table_of(dtype)),
        scalar = make(1), empty = make{}}, {compress = compress})
      lu.assertEquals(f:dtype "limits", dtype)
      lu.assertEquals(f:numbers "limits", limits)
      lu.assertEquals(f:numbers "table", table_of(dtype))
      lu.assertEquals(f:numbers "scalar", 1)
      lu.assertEquals({f:numbers "empty", f:shape "empty"}, {{}, {0}})
    end
  end
end

function tests.test_round_trip_of_our_objects()
  local matrix, ids = ladies.tensor{{1, 2.5}, {-3, 1e-30}}, ladies.index{3, 1, 0, 2^31 - 1}
  local f = rewritten{
    matrix = matrix, vector = ladies.tensor{1, 2}, view = matrix:slice(2, 2), ids = ids,
    none = ladies.index{}, no_columns = ladies.zeros(3, 0), small = npz.int16(ladies.index{1, 0}),
    half = npz.float64(matrix), counts = npz.uint8(ladies.tensor{1, 255}), text = "any\0 bytes\xff",
    empty_text = "", scalar = 7, fraction = 0.5, whole = {1, 2}, mixed = {1, 2.5},
    rows = {{1, 2, 3}, {4, 5, 6}}, nothing = {}, words = {"", "Grüße", "\u{10ffff}"},
    bytes = npz.bytes{"a", "", "\xff\0b"}, no_words = {""},
  }
  lu.assertEquals(f:tensor("matrix"):hash(), matrix:hash())
  lu.assertEquals(f:tensor("vector"):to_table(), {1, 2})
  lu.assertEquals(f:tensor("view"):to_table(), {{-3, matrix:get(2, 2)}})
  lu.assertTrue(f:index "ids" == ids)
  lu.assertEquals(f:numbers "ids", {2, 0, -1, 2^31 - 2})
  lu.assertEquals(#f:index "none", 0)
  lu.assertEquals(f:shape "no_columns", {3, 0})
  lu.assertEquals({f:dtype "small", f:numbers "small"}, {"int16", {0, -1}})
  lu.assertEquals({f:dtype "half", f:tensor("half"):hash()}, {"float64", matrix:hash()})
  lu.assertEquals(f:numbers "counts", {1, 255})
  lu.assertEquals({f:text "text", f:dtype "text"}, {"any\0 bytes\xff", "uint8"})
  lu.assertEquals(f:text "empty_text", "")
  lu.assertEquals({f:numbers "scalar", f:dtype "scalar", f:shape "scalar"}, {7, "int64", {}})
  lu.assertEquals({f:numbers "fraction", f:dtype "fraction"}, {0.5, "float64"})
  lu.assertEquals({f:dtype "whole", f:dtype "mixed"}, {"int64", "float64"})
  lu.assertEquals(f:numbers "rows", {{1, 2, 3}, {4, 5, 6}})
  lu.assertEquals({f:numbers "nothing", f:dtype "nothing"}, {{}, "float64"})
  lu.assertEquals({f:strings "words", f:dtype "words"}, {{"", "Grüße", "\u{10ffff}"}, "<U5"})
  lu.assertEquals({f:strings "bytes", f:dtype "bytes"}, {{"a", "", "\xff\0b"}, "|S3"})
  lu.assertEquals(f:strings "no_words", {""})
end

-- Arrays of more elements than a chunk has are right across the seams.
function tests.test_large_arrays()
  local n = 100003
  local numbers = {}
  for i = 1, n do numbers[i] = i * 3 end
  local f = rewritten{ids = ladies.range(1, n), numbers = numbers}
  lu.assertTrue(f:index "ids" == ladies.range(1, n))
  lu.assertEquals(f:numbers("numbers")[n], 3 * n)
  lu.assertEquals(f:tensor("numbers")[n], 3 * n)
end

-- NumPy's names of types -> how string.pack writes one: numbers are converted some hundred at a
-- time.
local PACKED = {["<i1"] = "<i1", ["<i2"] = "<i2", ["<i4"] = "<i4", ["<i8"] = "<i8", ["<u1"] = "<I1",
  ["<u2"] = "<I2", ["<u4"] = "<I4", ["<f4"] = "<f", ["<f8"] = "<d"}

-- The elements as bytes of this type.
local function bytes_as(dtype, list)
  local bytes = {}
  for i, x in ipairs(list) do bytes[i] = PACKED[dtype]:pack(x) end
  return table.concat(bytes)
end

-- Checks an array read as numbers and as a tensor, element by element, since a difference of whole
-- arrays would fill pages.
local function check_long(dtype, rows, rounded)
  local numbers = npy.read(scratch, {as = "numbers"})
  local floats = npy.read(scratch, {as = "tensor"}):reshape(#rounded):to_table()
  lu.assertEquals({#numbers, #floats}, {#rows, #rounded}, dtype)
  for i, row in ipairs(rows) do lu.assertEquals(numbers[i], row, dtype) end
  for i, x in ipairs(rounded) do lu.assertEquals(floats[i], x, dtype) end
end

--- Arrays of every type, in both byte orders, are right across the seams.
function tests.test_every_type_in_long_arrays()
  local n_rows, n_cols = 769, 2
  for dtype in pairs(PACKED) do
    local size = tonumber(dtype:sub(3))
    local bits = dtype:find "u" and 8 * size or dtype == "<f4" and 24 or math.min(8 * size - 1, 53)
    local list, by_column, rows, rounded, ids = {}, {}, {}, {}, {}
    for i = 0, n_rows * n_cols - 1 do
      local x = (i * 0x9E3779B97F4A7C15 >> 7) % (1 << bits)
      list[i + 1] = dtype:find "[if]" and i % 3 == 0 and -x or x
      rounded[i + 1] = ("<f"):unpack(("<f"):pack(list[i + 1]))
      ids[i + 1] = i % 2 == 0 and i % 100 or dtype:find "i" and -1 or 0
    end
    for r = 1, n_rows do
      rows[r] = {list[n_cols * r - 1], list[n_cols * r]}
      by_column[r], by_column[n_rows + r] = rows[r][1], rows[r][2]
    end
    local shape = ("(%d, %d)"):format(n_rows, n_cols)
    write_raw(malformed.npy(malformed.header(dtype, shape), bytes_as(dtype, list)))
    check_long(dtype, rows, rounded)
    write_raw(malformed.npy(malformed.header(dtype, shape):gsub("False", "True"),
      bytes_as(dtype, by_column)))
    check_long(dtype, rows, rounded)
    if not dtype:find "f" then
      local header = malformed.header(dtype, ("(%d,)"):format(#ids))
      write_raw(malformed.npy(header, bytes_as(dtype, ids)))
      local read = npy.read(scratch, {as = "index"}):to_table()
      for i, id in ipairs(ids) do lu.assertEquals(read[i], id + 1, dtype) end
    end
  end
end

--- The error names the place of the first number that is no id, also far behind.
function tests.test_the_place_of_what_is_no_id()
  for dtype, wrong in pairs{["<i1"] = -2, ["<i4"] = 0x7fffffff, ["<i8"] = -1 << 40,
    ["<u4"] = 1 << 31} do
    local list = {}
    for i = 1, 1300 do list[i] = i > 1000 and i % 7 == 0 and wrong or i % 5 end
    write_raw(malformed.npy(malformed.header(dtype, "(1300,)"), bytes_as(dtype, list)))
    lu.assertStrContains(message_of(npy.read, scratch, {as = "index"}),
      ("element 1001 is %d, ids must lie in -1..2147483646"):format(wrong))
  end
end

function tests.test_values_that_do_not_fit()
  for complaint, make in pairs{
    ["npz.int8: element 2 is 128, which int8 cannot hold"] = function() npz.int8{0, 128} end,
    ["npz.uint8: element 1 is -1, which uint8 cannot hold"] = function()
      npz.uint8(ladies.index{0})
    end,
    ["npz.bool: element 1 is 2, which bool cannot hold"] = function() npz.bool{2} end,
    ["npz.int32: element 1 is 0.5, which int32 cannot hold"] = function() npz.int32(0.5) end,
    ["npz.int64: element 1 is inf, which int64 cannot hold"] = function()
      npz.int64(ladies.tensor{math.huge})
    end,
    ["npz.float32: element 1 is 1e+39, which float32 cannot hold"] = function()
      npz.float32{1e39}
    end,
    ["npz.int8: element 2 must be a number, got a string"] = function() npz.int8{1, "2"} end,
  } do
    lu.assertEquals(message_of(make), complaint)
  end
end

function tests.test_what_cannot_be_written()
  local function write(value, name)
    return message_of(npz.write, scratch, {[name or "x"] = value})
  end
  lu.assertEquals(write{1, {2}}, 'npz.write: "x": element 2 must be a number, got a table')
  lu.assertEquals(write{{1, 2}, {3}},
    'npz.write: "x": row 2 must be a table of 2 elements, like the first')
  lu.assertEquals(write{"a", 1}, 'npz.write: "x": element 2 must be a string, got a number')
  lu.assertEquals(write{"a\xff"}, 'npz.write: "x": element 1 is not UTF-8')
  lu.assertEquals(write{"\xed\xa0\x80"}, 'npz.write: "x": element 1 is not UTF-8')
  lu.assertEquals(write{"a", "b\0"},
    'npz.write: "x": element 2 ends in a zero byte, which the format would lose')
  lu.assertStrContains(write(true),
    'npz.write: "x": a Tensor, Index, Rows, string, number or table of')
  -- An object or a table of keys would be an empty array.
  lu.assertStrContains(write{a = 1}, "table of numbers or strings expected, got table")
  for _, arrays in ipairs{{1}, {["a\0b"] = 1}} do
    lu.assertStrContains(message_of(npz.write, scratch, arrays),
      "names of arrays must be strings without zero bytes, got ")
  end
  lu.assertStrContains(message_of(npz.write, scratch, {}, {compres = 1}), 'did you mean "compress"')
  for _, name in ipairs{"", "../x", "/x", "a\\b", "a\nb", ("x"):rep(300)} do
    lu.assertStrContains(write(1, name), "an array cannot have the name")
  end
end

-- The bytes of a file are a constant: neither the date nor the order of a table gets into it.
function tests.test_equal_arrays_give_equal_bytes()
  local arrays = {b = ladies.tensor{{1, 2}, {3, 4}}, a = ladies.index{1, 2}, ["ü"] = {"x"}}
  npz.write(scratch, arrays, {compress = false})
  local bytes = files.read(scratch)
  lu.assertEquals({#bytes, malformed.crc32(bytes)}, {694, 3002490056})
  npz.write(scratch, arrays)
  local packed = files.read(scratch)
  npz.write(scratch, {a = arrays.a, ["ü"] = arrays["ü"], b = arrays.b})
  lu.assertTrue(files.read(scratch) == packed)
end

function tests.test_npy()
  local matrix = ladies.tensor{{1, 2}, {3, 4}}
  npy.write(scratch, matrix)
  lu.assertEquals(files.read(scratch), malformed.npy(
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" .. (" "):rep(58) .. "\n",
    ("<ffff"):pack(1, 2, 3, 4)))
  lu.assertEquals(npy.read(scratch):hash(), matrix:hash())
  lu.assertEquals(npy.read(scratch, {as = "numbers"}), {{1, 2}, {3, 4}})
  npy.write(scratch, ladies.index{5, 0})
  lu.assertEquals(npy.read(scratch):to_table(), {5, 0})
  npy.write(scratch, {"a", "bc"})
  lu.assertEquals(npy.read(scratch), {"a", "bc"})
  npy.write(scratch, "text")
  lu.assertEquals(npy.read(scratch, {as = "text"}), "text")
  lu.assertStrContains(message_of(npy.read, scratch, {as = "word"}), 'as must be "tensor", "index"')
end

function tests.test_gzip()
  local whole = malformed.npy(malformed.header("<i4", "(3,)"), ("<i4i4i4"):pack(4, 5, 6))
  write_raw(malformed.gzip(whole))
  lu.assertEquals(npy.read(scratch):to_table(), {5, 6, 7})
  local parts = {malformed.gzip(whole:sub(1, 20)), malformed.gzip "", malformed.gzip(whole:sub(21))}
  write_raw(table.concat(parts))
  lu.assertEquals(npy.read(scratch):to_table(), {5, 6, 7})
  lu.assertTrue(file.read(scratch) == whole)
  write_raw(malformed.gzip(whole) .. "more")
  lu.assertStrContains(message_of(npy.read, scratch), "the compressed data is damaged")
  write_raw(malformed.gzip(whole .. "more"))
  lu.assertStrContains(message_of(npy.read, scratch), "bytes follow the end of its data")
end

function tests.test_files()
  for _, size in ipairs{0, 1, 65535, 65536, 65537, 200000} do
    local text = ("x"):rep(size)
    file.write(scratch, text)
    lu.assertTrue(file.read(scratch) == text)
    lu.assertTrue(files.read(scratch) == text)
  end
  lu.assertStrContains(message_of(file.read, scratch, {limit = 1000}), "more than the limit")
  write_raw(malformed.gzip(("x"):rep(70000)))
  lu.assertEquals(#file.read(scratch), 70000)
  lu.assertStrContains(message_of(file.read, scratch, {limit = 69999}), "more than the limit")
end

function tests.test_archives_without_arrays()
  lu.assertEquals(rewritten({}):names(), {})
  lu.assertStrContains(message_of(npz.open(scratch).tensor, npz.open(scratch), "x"), "has no array")
end

--- A name that a message quotes stays in its line.
function tests.test_names_in_messages()
  local message = message_of(npz.write, scratch, {["\n\27[2J"] = {1, "b"}})
  lu.assertStrContains(message, [[npz.write: "\n\x1b[2J": element 2 must be a number]])
end

function tests.test_archives_close()
  npz.write(scratch, {x = 1})
  local f = npz.open(scratch)
  lu.assertStrContains(tostring(f), ", 1 array")
  f:close()
  f:close()
  lu.assertEquals(tostring(f), "Npz, closed")
  lu.assertStrContains(message_of(f.names, f), "the Npz is closed")
  lu.assertStrContains(message_of(function() return f.name end), 'did you mean "names"?')
end

return tests
