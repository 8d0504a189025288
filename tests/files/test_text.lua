--- Tables in text: every form of number and line, and the one clear error for each that is none.
local lu = require "luaunit"
local core = require "ladies_core"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local files = require "tools.files"
local malformed = require "tools.malformed"

local text = ladies.text
local tests = {}
local scratch = os.tmpname()

function tests.tearDown() os.remove(scratch) end

local function write(content) files.write(scratch, content) end

local function read(content, opts)
  write(content)
  return text.read(scratch, opts)
end

local function ids(content, opts)
  opts = opts or {}
  opts.columns = {"id"}
  return (read(content, opts)):to_table()
end

local function number(content) return (read(content .. "\n", {header = false})):get(1, 1) end

-- The error for `content`, without its file.
local function message_of(content, opts)
  local ok, message = pcall(read, content, opts)
  lu.assertFalse(ok, ("%q must be refused"):format(content:sub(1, 60)))
  if message:find "%c" or #message > 600 then lu.fail("not one clear line: " .. message) end
  local place = ("text: %s: "):format(scratch)
  lu.assertStrContains(message, place)
  return message:match(": text: [^:]*: (.*)$") or message:match("text: [^:]*: (.*)$")
end

local IDS = {columns = {"id", "id"}}

-- ---------------------------------------------------------------- numbers

function tests.test_forms_of_numbers()
  for form, value in pairs{
    ["0"] = 0, ["-1"] = -1, ["+7"] = 7, ["007"] = 7, ["1."] = 1, [".5"] = 0.5, ["-.5e1"] = -5,
    ["1e3"] = 1000, ["1E+3"] = 1000, ["25e-1"] = 2.5, ["1e-400"] = 0, ["0e999999999999"] = 0,
    ["16777217"] = 16777216, ["16777219"] = 16777220, ["3.4028234e38"] = 0x1.fffffep127,
    ["340282350000000000000000000000000000000"] = 0x1.fffffep127, ["1e-45"] = 0x1p-149,
    ["0.0000000000000000000000000000000000000000000014"] = 0x1p-149,
    ["1.17549435e-38"] = 0x1p-126, ["1.17549421e-38"] = 0x1.fffffcp-127,
    ["1.000000059604644775390625"] = 1, ["1.0000000596046447753906250000000000001"] = 1 + 2^-23,
    ["0." .. ("0"):rep(100000) .. "1e100001"] = 1,
    ["1" .. ("0"):rep(100000) .. "e-100000"] = 1,
    ["0." .. ("0"):rep(10000) .. "1e-100000"] = 0,
  } do
    lu.assertEquals(number(form), value, form:sub(1, 60))
  end
  lu.assertEquals(1 / number "-0", -math.huge)
end

function tests.test_no_numbers()
  for _, form in ipairs{"inf", "-inf", "nan", "NaN", "Infinity", "1e", "1e+", "e5", ".", "-", "+",
    "--1", "1.2.3", "0x10", "1_000", "1,5x", "12a", "''", "1 2x", "\0", "1\0"} do
    local message = message_of("1 1\n1 " .. form .. "\n",
      {columns = {"number", "number"}, separator = " ", header = false})
    lu.assertStrMatches(message, "line 2, column %d: found .*, expected .*", nil, nil, form)
  end
  for _, form in ipairs{"1e39", "-1e39", "1e400", "3.4028236e38", ("9"):rep(50),
    "0." .. ("0"):rep(10000) .. "1e100000", "1e99999999999999999999"} do
    lu.assertStrContains(message_of(form, {header = false}), "expected a number that fits float32")
  end
end

-- Our float32 is the number that Lua reads (strtod) and rounds to float32. Rounding twice does no
-- harm but very rarely with at most 17 digits; long mantissas near midpoints are tested above.
function tests.test_random_numbers_are_rounded_as_strtod_does()
  math.randomseed(7)
  local lines, expected = {}, {}
  for i = 1, 20000 do
    local digits, at = {}, math.random(0, 12)
    for k = 1, math.random(1, 17) do digits[k] = math.random(0, 9) end
    local form = table.concat(digits)
    form = form:sub(1, at) .. "." .. form:sub(at + 1)
    if #form == 1 then form = "0." end
    form = (math.random(2) == 1 and "-" or "") .. form
    if math.random(2) == 1 then form = form .. "e" .. math.random(-50, 25) end
    lines[i] = form
    expected[i] = ("<f"):unpack(("<f"):pack(tonumber(form)))
  end
  local got = read(table.concat(lines, "\n"), {columns = {"number"}, header = false}):to_table()
  for i = 1, #lines do lu.assertEquals(got[i], expected[i], lines[i]) end
end

-- Returns the decimal digits of the number half-way between two floats, exactly, and with a digit
-- more or less far behind.
function tests.test_midpoints()
  math.randomseed(8)
  local forms, expected = {}, {}
  local function add(form, value)
    forms[#forms + 1], expected[#expected + 1] = form, value
  end
  for _ = 1, 2000 do
    local m, e = math.random(2^23, 2^24 - 1), math.random(-20, 20)
    local low, high = m * 2.0^e, (m + 1) * 2.0^e
    local exact = ("%.60f"):format((2 * m + 1) * 2.0^(e - 1))
    add(exact, m % 2 == 0 and low or high)
    add(exact .. "01", high)
    local below, last = exact:match "^(.*[.]%d-)([1-9])0*$"
    if below then add(below .. math.tointeger(last - 1) .. ("9"):rep(30), low) end
  end
  local got = read(table.concat(forms, "\n"), {header = false})
  for i = 1, #forms do lu.assertEquals(got:get(i, 1), expected[i], forms[i]) end
end

function tests.test_ids()
  lu.assertEquals(ids "0\n5\n007\n+3\n2147483645\n", {1, 6, 8, 4, 2147483646})
  lu.assertEquals(ids("1\n2\n", {first_id = 1}), {1, 2})
  lu.assertEquals((read("-1\n0\n3\n", {columns = {"label"}})):to_table(), {0, 1, 4})
  lu.assertEquals((read("0\n-1\n3\n", {columns = {"label"}, first_id = 1})):to_table(), {0, 0, 3})
  local one = {columns = {"id"}}
  lu.assertEquals(message_of("0\n-1\n", one),
    'line 2, column 1: found "-1", expected a whole number from 0 on')
  lu.assertEquals(message_of("1.0\n", one),
    'line 1, column 1: found "1.0", expected a whole number from 0 on')
  lu.assertStrContains(message_of("0\n", {columns = {"id"}, first_id = 1}), "number from 1 on")
  lu.assertStrContains(message_of("2147483646\n", one), "expected at most 2147483645")
  lu.assertStrContains(message_of("99999999999999999999999\n", one), "expected at most")
  lu.assertStrContains(message_of("-99999999999999999999999\n", one), "number from 0 on")
  lu.assertEquals(message_of("4\n5\n", {columns = {"id"}, n_ids = 5}),
    'line 2, column 1: found "5", expected at most 4')
  lu.assertEquals(message_of("5\n6\n", {columns = {"id"}, n_ids = 5, first_id = 1}),
    'line 2, column 1: found "6", expected at most 5')
  lu.assertStrContains(message_of("-2\n", {columns = {"label"}}),
    "from 0 on, or -1 or nothing: none")
end

-- ---------------------------------------------------------------- lines and fields

function tests.test_separators()
  for _, content in ipairs{"0,1\n2,3\n", "0\t1\n2\t3\n", "0;1\n2;3\n", "0 1\n2 3\n",
    "  0   1 \n 2 \t 3\n", "0 , 1\n2,\t3 \n", "0 \t 1\n2\t3 \n", "0,1\r\n2,3\r\n", "0,1\n2,3",
    "0,1\n2,3\n\n \n", "# x\n0,1\n % y\n2,3\n#", "\xEF\xBB\xBF0,1\n2,3", "a,b\n0,1\n2,3",
    '"a","b, c"\n0,1\n2,3'} do
    local a, b = read(content, IDS)
    lu.assertEquals({a:to_table(), b:to_table()}, {{1, 3}, {2, 4}}, ("%q"):format(content))
  end
  local a, b = read("0|1\n2|3\n", {columns = {"id", "id"}, separator = "|"})
  lu.assertEquals({a:to_table(), b:to_table()}, {{1, 3}, {2, 4}})
end

--- A blank line may be a row whose only value is missing; behind the last row it is none.
function tests.test_blank_lines()
  for content, line in pairs{["0\n\n2\n"] = 2, ["0\n# x\n \t\n\n2"] = 3, ["\r\n0\r\n"] = 1,
    ["x\n\n0\n"] = 2} do
    lu.assertEquals(message_of(content),
      ("line %d is blank; only lines behind the last row may be"):format(line))
  end
  lu.assertEquals((read "0\n2\n\n \r\n# end\n\n"):to_table(), {{0}, {2}})
end

function tests.test_ragged_rows()
  lu.assertEquals(message_of("0,1\n2\n", IDS),
    'line 2, column 2: found nothing, expected 2 columns as before')
  lu.assertEquals(message_of("0,1\n2,3,4\n", IDS),
    'line 2, column 3: found "4", expected no more than 2 columns')
  lu.assertEquals(message_of("0,1\n2,\n", IDS),
    "line 2, column 2: found nothing, expected a whole number from 0 on")
  lu.assertEquals(message_of("0,1\n2,3,\n", IDS),
    "line 2, column 3: found nothing, expected no more than 2 columns")
  lu.assertEquals(message_of("0,1,2\n", IDS), "line 1: found 3 columns, expected 2")
  lu.assertEquals(message_of("0\n", {columns = {"id", "id", "numbers"}}),
    "line 1: found 1 columns, expected 3 or more")
  lu.assertEquals(message_of("1,2\n3 4,5\n"),
    'line 2, column 1: found "3 4", expected a number')
end

function tests.test_titles()
  local x, titles = read("x,\"the \"\"y\"\"\",\n1,2,3\n", {header = true})
  lu.assertEquals(titles, {"x", 'the "y"', ""})
  lu.assertEquals(x:to_table(), {{1, 2, 3}})
  x, titles = read "a b\n1 2\n"
  lu.assertEquals({x:to_table(), titles}, {{{1, 2}}, {"a", "b"}})
  lu.assertNil((select(2, read "1 2\n")))
  lu.assertStrContains(message_of("a,b\n1,2\n", {header = false}), 'line 1, column 1: found "a"')
  for _, word in ipairs{"nan", "NA", "inf", "Infinity"} do     -- numbers that failed
    lu.assertStrContains(message_of(word .. ",x\n1,2\n"),
      ('line 1, column 1: found "%s"'):format(word))
  end
  lu.assertStrContains(message_of "x,1\n1,2\n", 'line 1, column 1: found "x"')
  lu.assertStrContains(message_of("\"x\n1\n", {header = true}), "expected a closing quote")
end

function tests.test_empty_files()
  for _, content in ipairs{"", "\n", "# only\n\n% comments", "\xEF\xBB\xBF"} do
    lu.assertEquals(message_of(content), "has no lines")
  end
  lu.assertEquals((read("a,b\n", IDS)):to_table(), {})
  lu.assertEquals((read("a,b\n")).n_cols, 2)
end

function tests.test_columns()
  local a, x, m = read("1,skip,0.5,1,2\n2,\"a, b\",1.5,3,4\n",
    {columns = {"id", "skip", "number", "numbers"}})
  lu.assertEquals({a:to_table(), x:to_table(), m:to_table()},
    {{2, 3}, {0.5, 1.5}, {{1, 2}, {3, 4}}})
  lu.assertEquals(text.fields(scratch), {"1", "skip", "0.5", "1", "2"})
end

function tests.test_options()
  write "1,2\n"
  local function refused(opts, expected)
    lu.assertErrorMsgContains(expected, text.read, scratch, opts)
  end
  refused({column = {}}, 'did you mean "columns"?')
  refused({columns = {}}, "columns must not be empty")
  refused({columns = 3}, "columns must be a table, got a number")
  refused({columns = {"ids"}}, 'columns[1] must be "id"')
  refused({columns = {"numbers", "id"}}, 'columns[1] is "numbers", which must be the last')
  refused({separator = "ab"}, "separator must be one character")
  refused({separator = "."}, "separator must be one character")
  refused({first_id = 2}, "first_id must be 0 or 1")
  refused({n_ids = -1}, "n_ids must be")
  refused({progress = 1}, "progress must be a function")
  lu.assertErrorMsgContains("cannot be opened", text.read, scratch .. ".none")
  lu.assertErrorMsgContains("is a folder", text.read, "/")
end

-- ---------------------------------------------------------------- names

function tests.test_names()
  local names = text.names()
  local a, b = read("x,y\nzwölf,\"a, \"\"b\"\"\"\ny, x \n", {columns = {names, names}})
  lu.assertEquals({a:to_table(), b:to_table()}, {{1, 3, 2}, {2, 4, 1}})
  lu.assertEquals({names[1], names[3], names[4], #names}, {"x", "zwölf", 'a, "b"', 4})
  lu.assertErrorMsgContains("[5] of Names of 4: positions are 1 to #x", function()
    return names[5]
  end)
  lu.assertEquals({names:find "y", names:find "none", names:add "y", names:add "new"},
    {2, nil, 2, 5})
  lu.assertEquals(names:lines(), 'x\ny\nzwölf\na, "b"\nnew\n')
  lu.assertEquals(tostring(names), "Names 5")
  lu.assertErrorMsgContains("has no field or method", function() return names.lenght end)
  local two = {columns = {names, names}}
  lu.assertEquals(message_of("a,\n", two), "line 1, column 2: found nothing, expected a name")
  lu.assertStrContains(message_of("a,\0b\n", two), "expected a name")
  lu.assertStrContains(message_of('a,"b\n', two), "expected a closing quote and a separator")
  lu.assertStrContains(message_of('a,"b"c\n', two), "expected a closing quote and a separator")
  local with_empty = text.names()
  lu.assertEquals(with_empty:add "", 1)
  local first, second = read("a,\nb,\"\"\n", {columns = {names, with_empty}})
  lu.assertEquals({#first, second:to_table()}, {2, {1, 1}})
end

function tests.test_many_names()
  local lines, n = {}, 50000
  for i = 1, n do lines[i] = ("node-%d%s"):format(i * 7919 % n, ("x"):rep(i % 20)) end
  local content = table.concat(lines, "\n")
  local names = text.names()
  local first = read(content, {columns = {names}})
  lu.assertTrue(first == ladies.range(1, n))
  lu.assertTrue(read(content, {columns = {names}}) == first)
  for i = 1, n, 997 do
    lu.assertEquals({names[i], names:find(lines[i])}, {lines[i], i})
  end
  local long = ("y"):rep(200000)
  lu.assertEquals((read(long, {columns = {names}})):to_table(), {n + 1})
  lu.assertEquals(names[n + 1], long)
end

-- ---------------------------------------------------------------- size, damage, memory

function tests.test_long_lines()
  local row = ("1,"):rep(300000) .. "2"
  local x = read(row .. "\n" .. row)
  lu.assertEquals({x.n_rows, x.n_cols, x:get(2, 300001)}, {2, 300001, 2})
  lu.assertEquals(message_of(("1"):rep(2^26), {columns = {"id"}}),
    "line 1 is longer than 67108864 bytes")
end

-- Files are right that are larger than all buffers, so that lines lie across their ends.
local function large(n)
  local lines = {}
  for i = 1, n do lines[i] = i .. "," .. i * 31 % n end
  return table.concat(lines, "\n")
end

function tests.test_large_files()
  local n = 100000
  for _, content in ipairs{large(n), malformed.gzip(large(n))} do
    local a, b = read(content, IDS)
    lu.assertTrue(a == ladies.range(2, n + 1))
    for i = 1, n, 9973 do lu.assertEquals(b[i], i * 31 % n + 1) end
  end
  lu.assertEquals(message_of(large(n) .. "\n1,x\n", IDS),
    'line 100001, column 2: found "x", expected a whole number from 0 on')
  local packed = malformed.gzip(large(n))
  lu.assertStrContains(message_of(packed:sub(1, -100), IDS), "ends too early")
end

function tests.test_gzip_cut_off_or_changed()
  local packed = malformed.gzip "0,1\n2,3\n4,5\n"
  lu.assertEquals((read(packed, IDS)):to_table(), {1, 3, 5})
  for length, short in malformed.truncated(packed) do
    local message = message_of(short, IDS)
    lu.assertEquals(message:find "too early" ~= nil, length >= 2, message)
  end
  for _, rest in ipairs{"x", "\0", "xy", packed:sub(1, 1)} do      -- no further member of gzip
    lu.assertNotNil(message_of(packed .. rest, IDS))
  end
  for position, changed in malformed.flipped(packed) do
    write(changed)
    local ok, a, b = pcall(text.read, scratch, IDS)
    if ok then
      lu.assertEquals({a:to_table(), b:to_table()}, {{1, 3, 5}, {2, 4, 6}}, position)
    end
  end
end

-- Nothing protects plain text, but nothing in it may crash the reader or give numbers out of range.
function tests.test_random_bytes()
  math.randomseed(9)
  local alphabet = {"0", "1", "9", "-", "+", ".", "e", ",", " ", "\t", "\n", "\r", '"', "#", "a",
    "\0", "\xff"}
  for _ = 1, 1000 do
    local bytes = {}
    for i = 1, math.random(40) do bytes[i] = alphabet[math.random(#alphabet)] end
    write(table.concat(bytes))
    for _, columns in ipairs{{"id", "number"}, {"numbers"}, {"skip", text.names()}, {"label"}} do
      local ok, result = pcall(text.read, scratch, {columns = columns})
      if ok and columns[1] == "id" and #result > 0 then lu.assertTrue(result:min() >= 1) end
      if ok and columns[1] == "numbers" then lu.assertTrue(result:is_finite()) end
      if not ok and result:find "%c" then lu.fail("not one clear line: " .. result) end
    end
  end
end

function tests.test_progress()
  write(large(100000))
  local last, calls = 0, 0
  text.read(scratch, {columns = {"id", "id"}, progress = function(done, total)
    lu.assertTrue(done >= last and done <= total)
    last, calls = done, calls + 1
  end})
  lu.assertTrue(calls > 1)
  local live = core.memory().total
  lu.assertErrorMsgContains("enough", text.read, scratch,
    {columns = {"id", "id"}, progress = function() error "enough" end})
  collectgarbage()
  collectgarbage()
  lu.assertTrue(core.memory().total <= live)
end

function tests.test_every_allocation_may_fail()
  write(malformed.gzip(large(20000)))
  lu.assertTrue(every_allocation(function()
    local names = text.names()
    text.read(scratch, {columns = {names, "id"}})
    text.read(scratch)
    text.fields(scratch)
  end) > 30)
end

-- Pieces that are moved into the result and given back as they go.
function tests.test_memory_stays_within_twice_the_result()
  local n = 300000
  write(large(n))
  core.memory_trim()
  collectgarbage()
  local before = core.memory().total
  core.memory_trim()
  local a, b = text.read(scratch, IDS)
  lu.assertEquals({#a, #b}, {n, n})
  lu.assertTrue(core.memory().peak - before < 2.5 * 8 * n + 2^21)
end

-- ---------------------------------------------------------------- edges

function tests.test_edges()
  local function edges(content, opts)
    write(content)
    return text.read_edges(scratch, opts)
  end
  local a = edges("s,t\n0,1\n2,1\n0,1\n", IDS)
  lu.assertEquals({a.n_rows, a.nnz, a.values}, {3, 2, nil})
  lu.assertEquals(a:to_dense():to_table(), {{0, 0, 0}, {1, 0, 1}, {0, 0, 0}})
  a = edges("1,2,0.5\n1,2,1\n2,1,-3\n",
    {columns = {"id", "id", "number"}, first_id = 1, n_ids = 4})
  lu.assertEquals(a:to_dense():to_table(), {{0, -3, 0, 0}, {1.5, 0, 0, 0}, {0, 0, 0, 0},
    {0, 0, 0, 0}})
  a = edges("x,1,y,2,0.5\n", {columns = {"skip", "id", "skip", "id", "number"}, n_ids = 3})
  lu.assertEquals(a:to_dense():to_table(), {{0, 0, 0}, {0, 0, 0}, {0, 0.5, 0}})
  a = edges("0.5,1,2,9\n", {columns = {"number", "id", "id", "skip"}})
  lu.assertEquals(a:to_dense():get(3, 2), 0.5)
  local names = text.names()
  a = edges("a b\nc b\n", {columns = {names, names}})
  lu.assertEquals({a:to_dense():to_table(), names[3]}, {{{0, 0, 0}, {1, 0, 1}, {0, 0, 0}}, "c"})
  lu.assertEquals(edges("s,t\n", IDS).nnz, 0)
  for _, columns in ipairs{{"id"}, {"id", "number"}, {"id", "id", "id"}, {"id", "id", "numbers"},
    {"number", "id", "number"}, {"id", "label", "id"}} do
    lu.assertErrorMsgContains("columns must be two of nodes", edges,
      #columns == 1 and "0\n" or #columns == 2 and "0,1\n" or "0,1,2\n", {columns = columns})
  end
  lu.assertErrorMsgContains('found "5", expected at most 4', edges, "5,1\n",
    {columns = {"id", "id"}, n_ids = 5})
end

-- Reading edges and making them go both ways takes at most twice the memory of the matrix, and the
-- blocks of text.
function tests.test_memory_of_edges_stays_within_twice_the_matrix()
  local n, lines = 300000, {}
  for i = 1, n do lines[i] = i % 6000 .. "," .. i // 6000 * 120 + i % 97 end
  write(table.concat(lines, "\n"))
  core.memory_trim()
  collectgarbage()
  collectgarbage()
  local before = core.memory().total
  core.memory_trim()
  local a = text.read_edges(scratch, IDS):symmetrize()
  local peak = core.memory().peak - before
  collectgarbage()
  collectgarbage()
  local final = core.memory().total - before
  lu.assertTrue(a.nnz > 1.8 * n)
  lu.assertTrue(peak <= 2 * final + 2^21, ("%d of %d"):format(peak, final))
end

-- A column is never copied when it is complete, however long it became.
function tests.test_length_is_foreseen()
  local n, packed = 300000, scratch .. ".gz"
  write(large(n))
  text.write(packed, (text.read(scratch)))
  for _, path in ipairs{scratch, packed} do
    collectgarbage()
    collectgarbage()
    core.memory_trim()
    local before = core.memory().total
    local a, b = text.read(path, IDS)
    lu.assertEquals({#a, #b}, {n, n})
    local peak = core.memory().peak - before
    lu.assertTrue(peak < 1.4 * 8 * n + 2^21, ("%d for %d"):format(peak, 8 * n))
  end
  os.remove(packed)
end

function tests.test_numbers_that_text_does_not_hold()
  for form, value in pairs{nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge} do
    local t = ladies.tensor{1, value}
    local matrix = ladies.matrix{n_rows = 2, n_cols = 2, rows = ladies.index{1, 2},
      cols = ladies.index{1, 2}, values = t}
    write "as it was"
    for _, call in ipairs{{text.write, t}, {text.write_edges, matrix}, {ladies.mtx.write, matrix},
      {ladies.mtx.write, t}} do
      lu.assertErrorMsgContains(("a number is %s, which text does not hold"):format(form), call[1],
        scratch, call[2])
      lu.assertEquals(core.file.read(scratch), "as it was")
    end
  end
  text.write(scratch, ladies.tensor{-0.0, 0})
  lu.assertEquals(core.file.read(scratch), "-0\n0\n")
  lu.assertEquals(1 / text.read(scratch):get(1, 1), -math.huge)
end

function tests.test_write()
  local t = ladies.tensor{{1.5, -2}, {0.1, 1e-30}, {3.4028234e38, 16777216}, {1 / 3, 0}}
  for _, path in ipairs{scratch, scratch .. ".gz"} do
    text.write(path, t)
    local back = text.read(path)
    lu.assertEquals(back:hash(), t:hash())
  end
  os.remove(scratch .. ".gz")
  text.write(scratch, t)
  lu.assertStrContains(core.file.read(scratch), "1.5,-2\n0.1,1e-30\n")
end

--- The places behind line ends are those that Lua finds.
function tests.test_line_starts()
  local pieces = {}
  for i = 1, 3000 do pieces[i] = ("name\0ü "):rep(i * 7919 % 13) .. (i % 5 > 0 and "\n" or "\r") end
  for _, s in ipairs{"", "a", "\n", "\n\n", "a\nb", "\na\nbc\n", table.concat(pieces)} do
    local starts = {}
    for start in s:gmatch "\n()" do starts[#starts + 1] = start end
    lu.assertTrue(ladies.text.line_starts(s) == ladies.index(starts))
  end
end

return tests
