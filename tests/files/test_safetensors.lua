--- Tests weights in .safetensors files: reads those that Python's library wrote
-- (fixtures/make_safetensors.py), compares with them those that we write, and refuses damaged ones.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local malformed = require "tools.malformed"
local message_of = require "tools.message_of"

local npz, safetensors = ladies.npz, ladies.safetensors
local tests = {}
local scratch = os.tmpname()

function tests.tearDown() os.remove(scratch) end

local function fixture(name) return here .. "/fixtures/" .. name .. ".safetensors" end

local TYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64"}
local ODD_NAME = "größe \"\\\n\t\1\u{1d11e}"

local function table_of(dtype)
  return dtype == "bool" and {{0, 1, 1}, {1, 1, 1}} or {{0, 1, 2}, {3, 4, 5}}
end

function tests.test_reads_what_python_wrote()
  local f <close> = safetensors.open(fixture "written")
  lu.assertEquals(f:metadata(), {["made by"] = 'Grüße "\2"'})
  lu.assertEquals(#f:names(), 4 * #TYPES + 2)
  for _, dtype in ipairs(TYPES) do
    lu.assertEquals(f:dtype(dtype .. "_table"), dtype)
    lu.assertEquals(f:shape(dtype .. "_table"), {2, 3})
    lu.assertEquals(f:shape(dtype .. "_scalar"), {})
    lu.assertEquals(f:shape(dtype .. "_empty"), {0, 3})
    lu.assertEquals(f:numbers(dtype .. "_table"), table_of(dtype))
    lu.assertEquals(f:numbers(dtype .. "_scalar"), 1)
    lu.assertEquals(f:numbers(dtype .. "_empty"), {})
    lu.assertEquals(f:tensor(dtype .. "_table"):to_table(), table_of(dtype))
  end
  lu.assertEquals(f:index("int64_vector"):to_table(), {4, 5, 6})
  lu.assertEquals(f:index("bool_vector"):to_table(), {1, 2, 3})
  lu.assertEquals(f:text "uint8_vector", "\3\4\5")
  lu.assertEquals(f:shape "attention", {1, 2, 4})
  lu.assertEquals(f:tensor("attention"):to_table(), {{0, 1, 2, 3}, {4, 5, 6, 7}})
  lu.assertEquals(f:tensor(ODD_NAME):to_table(), {1.5})
  lu.assertEquals({f:has(ODD_NAME), f:has "größe", f:has "__metadata__"}, {true, false, false})
  lu.assertStrContains(message_of(f.tensor, f, "none"), 'has no tensor "none"; it has: attention, ')
end

--- Numbers in float16 and bfloat16, of every kind, are read as the float32 that they stand for.
function tests.test_reads_half_precision()
  local f <close> = safetensors.open(fixture "other")
  lu.assertEquals({f:dtype "half", f:dtype "brain"}, {"float16", "bfloat16"})
  lu.assertEquals(f:numbers "half", {0, 1, -2.5, 65504, 2.0^-24, math.huge})
  lu.assertEquals(f:tensor("half"):to_table(), f:numbers "half")
  local x = f:numbers("half_nan")[1]
  lu.assertNotEquals(x, x)
  local brain = f:numbers "brain"
  lu.assertEquals({brain[1], brain[2], brain[3], brain[6]}, {0, 1, -2.5, -math.huge})
  lu.assertAlmostEquals(brain[4] / 3e38, 1, 2.0^-8)
  lu.assertAlmostEquals(brain[5] / 1e-40, 1, 0.1)
end

function tests.test_names_what_it_does_not_read()
  local f <close> = safetensors.open(fixture "other")
  for name, complaint in pairs{
    cube = "has 3 dimensions; 0 to 2 are read", deep = "has 5 dimensions",
    eight = "dtype F8_E4M3 is not read; F16 BF16",
    too_large = "element 2 is 1e+39, too large for float32",
  } do
    local message = message_of(f.tensor, f, name)
    lu.assertStrContains(message, ('other.safetensors: tensor "%s"'):format(name))
    lu.assertStrContains(message, complaint)
  end
  lu.assertStrContains(message_of(f.index, f, "far"), "element 2 is 2147483647, ids must lie in")
  lu.assertStrContains(message_of(f.index, f, "half"), "float16, integers expected")
  lu.assertStrContains(message_of(f.text, f, "half"), "float16, uint8 expected")
end

-- The tensors of the fixture "written", as we would write them.
local function arrays()
  local list = {[ODD_NAME] = ladies.tensor{1.5}}
  for _, dtype in ipairs(TYPES) do
    local rows = table_of(dtype)
    list[dtype .. "_table"], list[dtype .. "_vector"] = npz[dtype](rows), npz[dtype](rows[2])
    list[dtype .. "_scalar"] = npz[dtype](1)
    list[dtype .. "_empty"] = npz[dtype](ladies.zeros(0, 3))
  end
  list.attention = npz.float32(ladies.range(1, 8):to_tensor() - 1, {shape = {1, 2, 4}})
  return list
end

--- Our file has the same bytes as that of Python's library, so that library reads what we write.
function tests.test_writes_what_python_writes()
  safetensors.write(scratch, arrays(), {metadata = {["made by"] = 'Grüße "\2"'}})
  lu.assertTrue(files.read(scratch) == files.read(fixture "written"))
end

function tests.test_writes_our_own_types_and_several_texts()
  safetensors.write(scratch, {x = ladies.tensor{{1, 2}}, i = ladies.index{1, 0}, s = "ab"},
    {metadata = {b = "2", a = ""}})
  local f <close> = safetensors.open(scratch)
  lu.assertEquals({f:dtype "x", f:dtype "i", f:dtype "s"}, {"float32", "int32", "uint8"})
  lu.assertEquals(f:index("i"):to_table(), {1, 0})
  lu.assertEquals({f:text "s", f:metadata()}, {"ab", {a = "", b = "2"}})
  lu.assertStrContains(files.read(scratch), '{"__metadata__":{"a":"","b":"2"},"x":{"dtype":"F32"')
  lu.assertEquals(tostring(f), "Safetensors " .. scratch .. ", 3 tensors")
  f:close()
  lu.assertEquals(tostring(f), "Safetensors, closed")
  lu.assertStrContains(message_of(f.names, f), "closed")
end

function tests.test_refuses_what_cannot_be_written()
  for complaint, call in pairs{
    ["the format has no <U1"] = {{t = {"a"}}},
    ['cannot have the name "__metadata__"'] = {{__metadata__ = ladies.ones(1)}},
    ["cannot have the name"] = {{["\xff"] = ladies.ones(1)}},
    ["names of arrays must be strings without zero bytes"] = {{["a\0b"] = ladies.ones(1)}},
    ["names of arrays must be strings without zero bytes, got 1"] = {{ladies.ones(1)}},
    ["values of metadata must be strings"] = {{}, {metadata = {a = 1}}},
    ["metadata must be a table of strings"] = {{}, {metadata = 5}},
    ['metadata "a" is not UTF-8'] = {{}, {metadata = {a = "\xff"}}},
  } do
    lu.assertStrContains(message_of(safetensors.write, scratch, table.unpack(call)), complaint)
  end
  for _, shape in ipairs{{2}, {2, 2, 1}, {1, 1, 1, 1, 4}, {-4, -1}, {2, 2.0}, {1 << 62, 8}, 4} do
    lu.assertStrContains(message_of(npz.float32, {1, 2, 3, 4}, {shape = shape}),
      "npz.float32: shape must be a table of at most 4 sizes of 4 elements together")
  end
end

--- Numbers may be written as an array of another shape than they were given in, in .npz files too.
function tests.test_shapes_in_npz()
  npz.write(scratch, {a = npz.int16({1, 2, 3}, {shape = {1, 1, 1, 3}}), b = ladies.ones(2),
    c = npz.int64(ladies.index{1, 2, 3, 4}, {shape = {2, 2}}), d = npz.uint8({5}, {shape = {}})})
  local f <close> = npz.open(scratch)
  lu.assertEquals({f:shape "a", f:shape "b"}, {{1, 1, 1, 3}, {2}})
  lu.assertEquals({f:numbers "a", f:numbers "c", f:numbers "d"}, {{{1, 2, 3}}, {{0, 1}, {2, 3}}, 5})
  lu.assertEquals(f:tensor("a"):to_table(), {{1, 2, 3}})
end

function tests.test_large_tensors_are_mapped()
  local x = ladies.zeros(3000, 100):normal_(1, ladies.rng(1))
  local i = ladies.sampling.permutation(300000, ladies.rng(2))
  safetensors.write(scratch, {x = x, i = i, odd = ladies.ones(3)})
  local f <close> = safetensors.open(scratch, {mapped = true})
  collectgarbage()
  local before = ladies.memory()
  local mapped, ids = f:tensor "x", f:index "i"
  local after = ladies.memory()
  lu.assertTrue(after.tensor - before.tensor + after.index - before.index < 10000)
  lu.assertEquals({mapped:hash(), ids:hash()}, {x:hash(), i:hash()})
  local bytes = files.read(scratch)
  mapped:fill_(7)
  lu.assertTrue(files.read(scratch) == bytes)
end

-- A file with any header.
local function file_of(header, data, length)
  files.write(scratch, ("<I8"):pack(length or #header) .. header .. (data or ""))
end

local function one(fields) return '{"x":{' .. fields .. "}}" end

local FOUR = ("\0"):rep(4)

--- Damaged files, as {header, bytes behind it, the error}.
local REFUSED = {
  {"", "", "{ expected at byte 0"},
  {"[]", "", "{ expected at byte 0"},
  {" {}", "", "{ expected at byte 0"},
  {"{}x", "", "the end expected at byte 2"},
  {"{}\0", "", "the end expected at byte 2"},
  {"{", "", "a name expected at byte 1"},
  {"{}", "a", "1 bytes follow the header, its tensors have 0"},
  {'{"x"', "", "a colon expected"},
  {'{"x":1}', "", "{ expected at byte 5"},
  {'{"x', "", "a character of UTF-8 or a quote expected at byte 3"},
  {'{"\xff":1}', "", "a character of UTF-8 or a quote expected at byte 2"},
  {'{"\\x":1}', "", "a character of UTF-8 or a quote expected at byte 2"},
  {'{"\\u0000":1}', "", "a character of UTF-8"}, {'{"\\ud800":1}', "", "a character of UTF-8"},
  {'{"\\ud800\\u0041":1}', "", "a character of UTF-8"}, {'{"\\udc00":1}', "", "a character of"},
  {'{"\\u00g0":1}', "", "a character of UTF-8"}, {'{"\\', "", "a character of UTF-8"},
  {one '"dtype":"F32","shape":[1]', FOUR, "lacks one of dtype, shape, data_offsets"},
  {one '"dtype":"F32","shape":[1],"data_offsets":[0,4],"shape":[1]', FOUR,
    'key "shape" is unknown or occurs twice'},
  {one '"type":"F32"', FOUR, 'key "type" is unknown'},
  {one '"dtype":"F31","shape":[1],"data_offsets":[0,4]', FOUR, 'dtype "F31" is unknown'},
  {one '"dtype":"F32","shape":[2],"data_offsets":[0,4]', FOUR,
    "has 4 bytes, which its shape and F32 do not give"},
  {one '"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]', FOUR, "do not give"},
  {one '"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]', "", "do not give"},
  {one '"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]', FOUR,
    "a number below 2^63 expected"},
  {one '"dtype":"F32","shape":[-1],"data_offsets":[0,4]', FOUR, "a whole number expected"},
  {one '"dtype":"F32","shape":[01],"data_offsets":[0,4]', FOUR, "a whole number expected"},
  {one '"dtype":"F32","shape":[1.0],"data_offsets":[0,4]', FOUR, "a comma or ] expected"},
  {one '"dtype":"F32","shape":[1,],"data_offsets":[0,4]', FOUR, "a whole number expected"},
  {one '"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]', FOUR,
    "a list of at most 8 numbers expected"},
  {one '"dtype":"F32","shape":[1],"data_offsets":[4,0]', FOUR, "must be where it begins and where"},
  {one '"dtype":"F32","shape":[1],"data_offsets":[0]', FOUR, "must be where it begins and where"},
  {one '"dtype":"F32","shape":[1],"data_offsets":[4,8]', FOUR .. FOUR,
    "begins at byte 4 of the data, must begin at 0"},
  {one '"dtype":"F32","shape":[1],"data_offsets":[0,4]', FOUR .. "x",
    "5 bytes follow the header, its tensors have 4"},
  {one '"dtype":"F32","shape":[1],"data_offsets":[0,4]', "", "0 bytes follow the header"},
  {'{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},'
    .. '"y":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}', FOUR .. "ab",
    'tensor "y" begins at byte 2 of the data, must begin at 4'},
  {'{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},'
    .. '"x":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}', FOUR, '"x" occurs twice'},
  {'{"__metadata__":{"a":1}}', "", "a string expected"},
  {'{"__metadata__":{"a":"1","a":"2"}}', "", '"a" occurs twice'},
  {'{"__metadata__":{},"__metadata__":{}}', "", "__metadata__ occurs twice"},
}

function tests.test_refuses_headers_that_lie()
  for _, case in ipairs(REFUSED) do
    file_of(case[1], case[2])
    local message = message_of(safetensors.open, scratch)
    lu.assertStrContains(message, "safetensors: " .. scratch .. ": ")
    lu.assertStrContains(message, case[3], nil, nil, case[1])
  end
  for _, length in ipairs{3, 100000001, math.maxinteger, -1} do
    file_of("{}", "", length)
    lu.assertStrContains(message_of(safetensors.open, scratch),
      "is not a safetensors file, or is cut off: its header would have ")
  end
end

-- All that is in the file, in one text.
local function everything(path)
  local f <close> = safetensors.open(path)
  local parts = {}
  for _, name in ipairs(f:names()) do
    parts[#parts + 1] = name .. f:dtype(name) .. f:tensor(name):hash()
  end
  for key, text in pairs(f:metadata()) do parts[#parts + 1] = key .. text end
  table.sort(parts)
  return table.concat(parts)
end

--- A file that is cut off anywhere is refused; one with a changed byte is refused, or is one with
-- another name, text or number.
function tests.test_cut_off_and_changed_files()
  safetensors.write(scratch, {v = ladies.tensor{1.5, 2.5}, i = npz.uint8{3}},
    {metadata = {k = "t"}})
  local bytes, whole = files.read(scratch), everything(scratch)
  for length, short in malformed.truncated(bytes) do
    files.write(scratch, short)
    lu.assertStrContains(message_of(everything, scratch), "safetensors: ", nil, nil, length)
  end
  local refused = 0
  for position, changed in malformed.flipped(bytes) do
    files.write(scratch, changed)
    local ok, result = pcall(everything, scratch)
    refused = refused + (ok and 0 or 1)
    if not ok then lu.assertStrContains(result, "safetensors: ", nil, nil, position) end
    lu.assertFalse(ok and result == whole, position)
  end
  lu.assertTrue(refused > #bytes * 4, refused)
end

--- Where a part may have been written half, the writer does not go on, even with what would fit.
function tests.test_pieces_after_a_failure()
  files.write(scratch, "old")
  local rows = ladies.ones(1100, 1000)                   -- more than are converted at a time
  local bad = ladies.ones(1100, 1000)
  bad:slice(1099, 1099):fill_(1e30)
  local A = ladies.sparse(ladies.ones(2, 2))
  for text, use in pairs{
    ['tensor "t": element 1098001 is 1e+30, which float16 cannot hold'] = function(w)
      w:rows("t", "float16", 1100, 1000)
      w:add_rows(bad)
    end,
    ['there is a tensor "a_shape" already'] = function(w)
      w:put("a_shape", npz.int64{2, 2})
      w:csr("a", 2, 2)
    end,
  } do
    local w <close> = safetensors.writer(scratch)
    lu.assertStrContains(message_of(use, w), text)
    for _, call in ipairs{function() w:add_rows(rows) end, function() w:add_csr(A) end,
      function() w:put("x", "x") end, function() w:commit() end} do
      lu.assertStrContains(message_of(call), scratch .. ": writing it failed before")
    end
  end
  lu.assertEquals(files.read(scratch), "old")
end

return tests
