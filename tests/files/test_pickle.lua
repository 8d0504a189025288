--- Pickles: what Python wrote (fixtures/make_pickles.py), what Python 2 wrote, and what is damaged
-- or made to deceive. Nothing in them is ever run.
local lu = require "luaunit"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local malformed = require "tools.malformed"
local message_of = require "tools.message_of"
local fixture = require "reference.fixture"

local pickle = ladies.pickle
local tests = {}
local scratch = os.tmpname()

function tests.tearDown() os.remove(scratch) end

local fixtures = fixture.open "pickles"

-- Calls check(value) for the fixture in each protocol.
local function each_protocol(name, check)
  for protocol = 0, 5 do
    check(pickle.decode(fixtures:text(("%s_%d"):format(name, protocol))))
  end
end

function tests.test_scalars()
  each_protocol("scalars", function(value)
    lu.assertEquals(value, {true, false, 0, -1, 255, 256, 65535, 65536, 2147483647, -2147483648,
      1 << 40, -(1 << 40), math.maxinteger - 1, math.mininteger + 1, 0.5, -1e300, math.huge})
    lu.assertEquals({math.type(value[3]), math.type(value[15])}, {"integer", "float"})
  end)
end

function tests.test_texts_and_bytes()
  each_protocol("texts", function(value)
    lu.assertEquals(value, {"", "plain", "Grüße", "日本語", "\u{1d11e}", "a\nb\\u0041'\"", "",
      "b\xff\0\n'"})
  end)
  -- Python counts in eight bytes from 4 GiB on.
  local long = "\x8d" .. ("<s8"):pack "ü" .. "\x8e" .. ("<s8"):pack "b\xff" .. "\x86."
  lu.assertEquals(pickle.decode(long), {"ü", "b\xff"})
end

function tests.test_nested()
  each_protocol("nested", function(value)
    lu.assertEquals(value, {a = {1, {2, {3, 4, 5, 6}}, {}}, [5] = {}, [1.5] = pickle.none,
      k = {{}}})
  end)
end

function tests.test_defaultdict()
  each_protocol("factory", function(value)
    lu.assertEquals(value, {[0] = {2}, [2] = {0, 1}})
  end)
end

function tests.test_shared_values_and_cycles()
  each_protocol("shared", function(value)
    lu.assertEquals(value[1], {1})
    lu.assertTrue(rawequal(value[1], value[2]))
  end)
  each_protocol("cycles", function(value)
    lu.assertEquals(value.list[1], 1)
    lu.assertTrue(rawequal(value.list[2], value.list))
    lu.assertTrue(rawequal(value.tuple[1][1], value.tuple))
  end)
end

function tests.test_arrays()
  local types = {bool = "bool", i1 = "int8", i2 = "int16", i4 = "int32", i8 = "int64", u1 = "uint8",
    u2 = "uint16", u4 = "uint32", u8 = "uint64", f4 = "float32", f8 = "float64"}
  each_protocol("arrays", function(value)
    for code, dtype in pairs(types) do
      local array = value[code]
      lu.assertEquals(array:dtype(), dtype)
      lu.assertEquals(array:shape(), {2, 3})
      local expected = code == "bool" and {{0, 1, 1}, {1, 1, 1}} or {{0, 1, 2}, {3, 4, 5}}
      lu.assertEquals(array:numbers(), expected)
      lu.assertEquals(array:tensor():to_table(), expected)
    end
    lu.assertEquals(value.fortran:numbers(), {{0, 1, 2}, {3, 4, 5}})
    lu.assertEquals(value.vector:numbers(), {3, -1, 0})
    lu.assertEquals(value.vector:index():to_table(), {4, 0, 1})
    lu.assertEquals(value.empty:numbers(), {})
    lu.assertEquals(value.texts:strings(), {"a", "Grüße"})
    lu.assertEquals(value.bytes:strings(), {"x", "yz"})
    lu.assertEquals(value.objects, {1, "two", {3}})
    lu.assertEquals({value.scalar:numbers(), value.count:numbers()}, {1.5, 7})
    lu.assertEquals(tostring(value.f4), "PickledArray 2 x 3, float32")
    lu.assertStrContains(message_of(value.f4.index, value.f4), "dtype is float32, integers")
    lu.assertStrContains(message_of(function() return value.f4.tenser end),
      'did you mean "tensor"?')
  end)
end

--- Arrays of protocol 5 are what a call makes of bytes, row by row or column by column.
function tests.test_arrays_of_buffers()
  local function array(order)
    return pickle.decode("cnumpy._core.numeric\n_frombuffer\n(C\16"
      .. ("<i4i4i4i4"):pack(1, 2, 3, 4) .. "cnumpy\ndtype\n(X\2\0\0\0i4tR(K\2K\2tX\1\0\0\0"
      .. order .. "tR.")
  end
  lu.assertEquals(array "C":numbers(), {{1, 2}, {3, 4}})
  lu.assertEquals(array "F":numbers(), {{1, 3}, {2, 4}})
  lu.assertStrContains(message_of(array, "K"),
    '"_frombuffer" has arguments that are not understood')
end

function tests.test_an_array_outlives_its_pickle()
  local array = pickle.decode(fixtures:text "arrays_2").vector
  collectgarbage()
  collectgarbage()
  lu.assertEquals(array:numbers(), {3, -1, 0})
end

function tests.test_matrix()
  each_protocol("matrix", function(value)
    lu.assertEquals(tostring(value), "Matrix 2 x 3, 3 entries")
    lu.assertEquals(value:to_dense():to_table(), {{0, 1.5, 0}, {2, 0, -3}})
  end)
end

function tests.test_forms_of_matrices()
  each_protocol("forms", function(value)
    local count = 0
    for form, matrix in pairs(value) do
      count = count + 1
      lu.assertEquals(tostring(matrix), "Matrix 2 x 3, 3 entries", form)
      lu.assertEquals(matrix:to_dense():to_table(), {{0, 1.5, 0}, {2, 0, -3}}, form)
    end
    lu.assertEquals(count, 7)
  end)
end

--- A str of Python 2 is bytes: these are what its pickle and cPickle write, in which the memo
-- begins with 1 and numbers of `long` end in L.
function tests.test_python_2()
  for text, expected in pairs{
    ["(lp1\nS'caf\\xe9'\np2\naS\"it's\"\np3\na."] = {"caf\xe9", "it's"},
    ["S'\\\\ \\' \\\" \\n\\r\\t\\a\\b\\f\\v \\x41\\x7E \\0 \\101\\12 \\1018\\400.'\n."] =
      "\\ ' \" \n\r\t\a\b\f\v A~ \0 A\n A8\0.",
    ["(dp1\nS'a'\nI1\nsI2\nL3L\ns."] = {a = 1, [2] = 3},
    ["(I01\nI00\nF1.5\nNtp1\n."] = {true, false, 1.5, pickle.none},
    ["\x80\2]q\1(U\3abcq\2T\2\0\0\0dee."] = {"abc", "de"},
    ["(lp1\nVGr\xfc\\u00dfe\np2\na."] = {"Grüße"},
    ["cnumpy.core.multiarray\nscalar\np1\n(cnumpy\ndtype\np2\n(S'f8'\nI0\nI1\ntRp3\n(I3\nS'<'\n"
      .. "NNNI-1\nI-1\nI0\ntbS'\\x00\\x00\\x00\\x00\\x00\\x00\\xf8?'\np4\ntRp5\n."] = 1.5,
  } do
    local value = pickle.decode(text)
    if type(value) == "userdata" then value = value:numbers() end
    lu.assertEquals(value, expected)
  end
end

function tests.test_files_and_archives()
  files.write(scratch, fixtures:text "shared_2")
  lu.assertEquals(pickle.load(scratch), {{1}, {1}})
  lu.assertEquals(message_of(pickle.load, "/none"),
    "pickle: /none: cannot be opened: No such file or directory")
  local objects = fixture.open "numpy_refused"
  lu.assertEquals(objects:dtype "object", "object")
  lu.assertEquals(objects:object "object", {{}, pickle.none})
  lu.assertStrContains(message_of(objects.object, objects, "fine"),
    'member "fine.npy": dtype is int64, object expected')
end

-- ---------------------------------------------------------------- what is refused

function tests.test_refused_by_name()
  for name, expected in pairs{
    code = 'refuses the class "posix.system"', set = 'refuses the class "__builtin__.set"',
    complex = 'refuses the class "__builtin__.complex"', long = "an int of 9 bytes",
    big_endian = "an array is big-endian", record = 'the dtype "V4" is not read',
    cube = "an array has a shape that is not read",
    dia = 'refuses the class "scipy.sparse', dtype = "holds a dtype, which is not data",
    class = "holds a class, which is not data",
    key = "a dict has a tuple as a key", sharing = "its matrices hold more than the file",
    wide = "a sparse matrix of 1073741824 columns is not read",
    tall = "a sparse matrix of 1073741824 rows is not read: its arrays have 0 bytes",
  } do
    lu.assertStrContains(message_of(pickle.decode, fixtures:text("refused_" .. name)),
      "pickle: " .. expected)
  end
end

function tests.test_half_precision()
  local half = pickle.decode(fixtures:text "refused_half")
  lu.assertEquals({half:dtype(), half:tensor():to_table()}, {"float16", {0, 0}})
end

--- Every way in which a pickle can call something, with and without names that are known.
function tests.test_code_never_runs()
  local proof = os.tmpname()
  os.remove(proof)
  local command = ("touch %s"):format(proof)
  for text, expected in pairs{
    [("cos\nsystem\n(S'%s'\ntR."):format(command)] = 'refuses the class "os.system"',
    [("(S'%s'\nios\nsystem\n."):format(command)] = "refuses the opcode INST",
    [("(cos\nsystem\nS'%s'\no."):format(command)] = 'refuses the class "os.system"',
    [("\x80\4\x8c\2os\x8c\6system\x93\x8c%s\x85R."):format(("s1"):pack(command))] =
      'refuses the class "os.system"',
    ["c__builtin__\neval\n(S'1'\ntR."] = 'refuses the class "__builtin__.eval"',
    ["c__builtin__\nlist\n(tR."] = '"list" has arguments that are not understood',
    ["cnumpy\nload\n(S'x'\ntR."] = 'refuses the class "numpy.load"',
    ["cnumpy.core.multiarray\n_reconstruct\n(cnumpy\ndtype\n(I0\ntS'b'\ntR."] =
      '"_reconstruct" has arguments that are not understood',
    ["c__builtin__\nbytes\n(c__builtin__\nlist\ntR."] = '"bytes" has arguments',
    ["ccollections\ndefaultdict\n(c_codecs\nencode\ntR."] = '"defaultdict" has arguments',
    ["ccollections\ndefaultdict\n(cnumpy\nndarray\ntR."] = '"defaultdict" has arguments',
    ["cnumpy.core.multiarray\n_reconstruct\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\n"
      .. "tR."] = '"_reconstruct" has arguments',
    ["c_codecs\nencode\n(Vabc\nVrot13\ntR."] = '"encode" has arguments',
    ["c_codecs\nencode\n(V\\u0100\nVlatin1\ntR."] = '"encode" has arguments',
    ["c_codecs\nencode\n(X\1\0\0\0\xC2\x94Vlatin1\ntR."] = '"encode" has arguments',
    ["P0\n."] = "refuses the opcode PERSID", ["I0\nQ."] = "refuses the opcode BINPERSID",
    ["\x82\1."] = "refuses the opcode EXT1", ["\x83\1\0."] = "refuses the opcode EXT2",
    ["\x84\1\0\0\0."] = "refuses the opcode EXT4", ["\x92."] = "refuses the opcode NEWOBJ_EX",
    ["cos\27[31m\n" .. ("x"):rep(999) .. "\n."] = 'refuses the class "os?[31m.xxx',
  } do
    lu.assertStrContains(message_of(pickle.decode, text), expected)
  end
  lu.assertFalse(core.exists(proof))
end

-- An array of n numbers of a dtype, these bytes, as protocol 0 writes it, up to its state.
local function array_of(code, n, bytes)
  local escaped = bytes:gsub(".", function(c) return ("\\x%02x"):format(c:byte()) end)
  local dtype = ("cnumpy\ndtype\n(S'%s'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"):format(code)
  return "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR",
    ("(I1\n(I%d\nt%sI00\nS'%s'\n"):format(n, dtype, escaped)
end

--- An array has one state, a tuple.
function tests.test_states_of_arrays()
  local array, state = array_of("f4", 2, ("<ff"):pack(1, 2))
  lu.assertEquals(pickle.decode(array .. state .. "tb."):shape(), {2})
  local expected = 'pickle: "ndarray" has arguments that are not understood'
  for _, text in ipairs{state .. "lb.", state .. "tb" .. state .. "tb.", state .. "Ntb."} do
    lu.assertEquals(message_of(pickle.decode, array .. text), expected)
  end
end

--- An error in a matrix names the array of it that is wrong.
function tests.test_wrong_matrices()
  local function csr(column, but)
    local text = "ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\n"
      .. "object\nNtR(dS'_shape'\n(I2\nI2\nts"
    for _, part in ipairs{{"data", "f4", 2, ("<ff"):pack(1, 2)},
        {"indices", "i4", 2, ("<i4i4"):pack(0, column)}, {"indptr", "i4", 3,
        ("<i4i4i4"):pack(0, 1, 2)}} do
      local array, state = array_of(table.unpack(part, 2))
      text = ("%sS'%s'\n%s%stbs"):format(text, part[1] == but and "other" or part[1], array, state)
    end
    return text .. "b."
  end
  lu.assertEquals(tostring(pickle.decode(csr(1))), "Matrix 2 x 2, 2 entries")
  lu.assertStrMatches(message_of(pickle.decode, csr(5)), "pickle: .*out of range.*")
  for _, part in ipairs{"data", "indices", "indptr"} do
    lu.assertEquals(message_of(pickle.decode, csr(1, part)),
      ('pickle: a sparse matrix without the vector "%s"'):format(part))
  end
end

function tests.test_machines_that_are_misused()
  for text, expected in pairs{
    [""] = "ends too early at byte 0", ["N"] = "ends too early", ["."] = "one value is left",
    ["NN."] = "one value is left", ["(N."] = "one value is left", ["N.N"] = "something follows",
    ["t."] = "a mark is missing", ["e."] = "a mark is missing", ["(a."] = "a value is missing",
    ["](Na."] = "a value is missing", ["Na."] = "a value is missing", ["NNa."] = "to append",
    ["(Nd."] = "a key has no value", ["}(Nu."] = "to append", ["}Ns."] = "a value is missing",
    ["0."] = "a value is missing", ["2."] = "a value is missing", ["R."] = "a value is missing",
    ["NNR."] = "a call without class", ["NNb."] = "None cannot have a state",
    ["g0\n."] = "never put", ["h\0."] = "never put", ["gx\n."] = "is not an int",
    ["Nr\xff\xff\xff\x7f."] = "a memo beyond the size", ["Np-1\n."] = "a memo beyond the size",
    ["X\xff\xff\xff\xff."] = "ends too early",
    ["\x8d\xff\xff\xff\xff\xff\xff\xff\xff."] = "ends too early",
    ["S'abc\n."] = "is not a string", ["S'\\q'\n."] = "is not a string", ["S\n."] = "not a string",
    ["V\\u12\n."] = "is not a unicode text", ["V\\ud800\n."] = "is not a unicode text",
    ["I\n."] = "is not an int", ["I1.5\n."] = "is not an int", ["Fx\n."] = "is not a float",
    ["L99999999999999999999L\n."] = "is not an int of 64 bits",
    ["I" .. ("1"):rep(200) .. "\n."] = "is not an int of 64 bits",
    ["F" .. ("1"):rep(200) .. "\n."] = "is not a float",
    ["\x80\9N."] = "protocol 9 is unknown",
    ["\xff."] = "is not a pickle: no opcode 0xff, at byte 0", ["<html>"] = "is not a pickle",
    ["(NNd."] = "a dict has None as a key", ["(Fnan\nNd."] = "a dict has a float as a key",
    ["cscipy.sparse.csr\ncsr_matrix\n)\x81."] = "a sparse matrix without its attributes",
    ["cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR."] = "no elements",
  } do
    lu.assertStrContains(message_of(pickle.decode, text), expected)
  end
end

-- ---------------------------------------------------------------- size

function tests.test_deep_nesting()
  local depth = 300000
  local value = pickle.decode(("]"):rep(depth) .. ("a"):rep(depth - 1) .. ".")
  local n = 0
  while value do value, n = value[1], n + 1 end
  lu.assertEquals(n, depth)
  lu.assertEquals(#pickle.decode(("("):rep(depth) .. ("t"):rep(depth) .. "."), 1)
end

--- A value that is built of twice the one before, thirty times, is thirty tables; text and matrices
-- that are shared are shared still, or refused.
function tests.test_sharing_does_not_multiply()
  local parts = {"]q\0"}
  for i = 1, 30 do
    parts[#parts + 1] = ("(h%sh%slq%s"):format(string.char(i - 1), string.char(i - 1),
      string.char(i))
  end
  local value = pickle.decode("(" .. table.concat(parts) .. "l.")
  lu.assertTrue(rawequal(value[31][1], value[31][2]))
  local long = "X\0\0\1\0" .. ("x"):rep(65536)
  local before = collectgarbage "count"
  local texts = pickle.decode("(" .. long .. "q\0" .. ("h\0"):rep(10000) .. "l.")
  lu.assertEquals(#texts, 10001)
  lu.assertTrue(collectgarbage "count" - before < 4096)
  local matrix = fixtures:text("matrix_2"):sub(1, -2)      -- without its STOP
  lu.assertEquals(#pickle.decode("(" .. matrix .. "q\xf0h\xf0l."), 2)
  local encode = "(Vlatin1\np9\n0" .. long .. "q\0"
    .. ("c_codecs\nencode\n(h\0g9\ntR"):rep(2000) .. "l."
  lu.assertStrContains(message_of(pickle.decode, encode), "its values need more than")
end

-- ---------------------------------------------------------------- damage

-- A fixture of each kind that has every instruction of the protocols.
local DAMAGED = {"nested_0", "texts_0", "factory_1", "texts_2", "nested_2", "matrix_0", "matrix_2",
  "matrix_4", "cycles_2", "shared_4"}

function tests.test_cut_off_at_every_byte()
  for _, name in ipairs(DAMAGED) do
    for length, short in malformed.truncated(fixtures:text(name)) do
      lu.assertStrMatches(message_of(pickle.decode, short), "pickle: .*", nil, nil,
        ("%s at %d bytes"):format(name, length))
    end
  end
end

--- Nothing protects a pickle's bytes, so a changed one may read as something else; never more than
-- a value or a clear error.
function tests.test_a_byte_changed()
  for _, name in ipairs(DAMAGED) do
    for _, changed in malformed.flipped(fixtures:text(name)) do
      local ok, message = pcall(pickle.decode, changed)
      if not ok then message_of(error, message) end
    end
  end
end

--- Whichever allocation fails, nothing is left over.
function tests.test_failing_allocations()
  for _, name in ipairs{"nested_0", "arrays_2", "matrix_2", "texts_4"} do
    local text = fixtures:text(name)
    lu.assertTrue(every_allocation(function() return pickle.decode(text) end) > 4)
  end
  ladies.file.write(scratch, fixtures:text "matrix_1")
  lu.assertTrue(every_allocation(function() return pickle.load(scratch) end) > 4)
  lu.assertTrue(every_allocation(function()
    local archive <close> = fixture.open "numpy_refused"
    return archive:object "object"
  end) > 4)
end

return tests
