--- Matrix Market: what SciPy wrote, what we write, and files whose banner or sizes lie.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local every_allocation = require "tools.every_allocation"
local ladies = require "ladies"
local files = require "tools.files"
local malformed = require "tools.malformed"
local message_of = require "tools.message_of"

local mtx, index, tensor = ladies.mtx, ladies.index, ladies.tensor
local tests = {}
local scratch = os.tmpname()

function tests.tearDown() os.remove(scratch) end

local function write(content) files.write(scratch, content) end

local function fixture(name) return mtx.read(here .. "/fixtures/scipy_" .. name) end

-- A matrix of the kind that a banner's words say.
local function read(kind, body)
  write("%%MatrixMarket matrix " .. kind .. "\n" .. body)
  return mtx.read(scratch)
end

local function dense(kind, body) return read(kind, body):to_dense():to_table() end

-- The error for what has been written to the file, without its name.
local function refusal()
  return (message_of(mtx.read, scratch):gsub("^mtx: " .. scratch:gsub("%p", "%%%0") .. ": ", ""))
end

local function refusal_of(kind, body)
  write("%%MatrixMarket matrix " .. kind .. "\n" .. body)
  return refusal()
end

-- ---------------------------------------------------------------- what is read

function tests.test_files_of_scipy()
  local expected = ladies.text.read(here .. "/fixtures/scipy_real.txt"):to_table()
  lu.assertEquals(fixture("real.mtx"):to_dense():to_table(), expected)
  lu.assertEquals(fixture("integer.mtx"):to_dense():to_table(),
    {{0, 3, 0, 0}, {0, 0, 0, 0}, {-4, 0, 5, 0}})
  local pattern = fixture "pattern.mtx"
  lu.assertNil(pattern.values)
  lu.assertEquals(pattern:with_values(ladies.ones(pattern.nnz)):to_dense():to_table(),
    fixture("pattern.mtx"):to_dense():to_table())
  for r, row in ipairs(pattern:to_dense():to_table()) do
    for c, value in ipairs(row) do lu.assertEquals(value == 1, expected[r][c] ~= 0) end
  end
  local symmetric = {{1.5, 2, 0}, {2, 0, -3}, {0, -3, 4}}
  lu.assertEquals(fixture("symmetric.mtx"):to_dense():to_table(), symmetric)
  lu.assertEquals(fixture("symmetric.mtx.gz"):to_dense():to_table(), symmetric)
  lu.assertEquals(fixture("array.mtx"):to_table(), {{1.5, 2}, {3, -4}, {0, tensor{1e-3}[1]}})
end

function tests.test_kinds()
  lu.assertEquals(dense("coordinate real general", "2 3 2\n1 3 1.5\n2 1 -2e0\n"),
    {{0, 0, 1.5}, {-2, 0, 0}})
  lu.assertEquals(dense("coordinate pattern symmetric", "3 3 3\n1 1\n3 1\n3 2\n"),
    {{1, 0, 1}, {0, 0, 1}, {1, 1, 0}})
  lu.assertEquals(dense("coordinate real skew-symmetric", "2 2 1\n2 1 3\n"), {{0, -3}, {3, 0}})
  lu.assertEquals(dense("coordinate pattern skew-symmetric", "2 2 1\n2 1\n"), {{0, -1}, {1, 0}})
  lu.assertEquals(read("array real symmetric", "2 2\n1\n2\n3\n"):to_table(), {{1, 2}, {2, 3}})
  lu.assertEquals(read("array integer skew-symmetric", "2 2\n5\n"):to_table(), {{0, -5}, {5, 0}})
  lu.assertEquals(read("coordinate real general", "0 0 0\n").nnz, 0)
  lu.assertEquals(tostring(read("Coordinate  REAL general ",
    "%c\n\n% d\n 2\t3  1 \n\n 1  1\t 5 \n%\n")), "Matrix 2 x 3, 1 entries")
  lu.assertEquals(dense("coordinate real general\r", "1 1 1\r\n1 1 5\r\n"), {{5}})
  lu.assertEquals(dense("coordinate real general", "1 1 1\n1 1 5"), {{5}})
end

function tests.test_duplicates()
  lu.assertEquals(dense("coordinate real general", "1 2 3\n1 2 1\n1 1 7\n1 2 2\n"), {{7, 3}})
  local pattern = read("coordinate pattern general", "1 2 2\n1 2\n1 2\n")
  lu.assertEquals({pattern.nnz, pattern.values}, {1, nil})
end

-- The construction in place gives the matrix of ladies.matrix, in rows short and long.
function tests.test_random_matrices()
  math.randomseed(11)
  for _, shape in ipairs{{1, 1, 3}, {5, 7, 30}, {3, 500, 2000}, {300, 4, 900}, {50, 50, 4000},
    {1, 3000, 5000}} do
    local n_rows, n_cols, n = table.unpack(shape)
    local rows, cols, values, lines = {}, {}, {}, {("%d %d %d"):format(n_rows, n_cols, n)}
    for i = 1, n do
      rows[i], cols[i] = math.random(n_rows), math.random(n_cols)
      values[i] = math.random(-8, 8) / 4
      lines[i + 1] = ("%d %d %.2f"):format(rows[i], cols[i], values[i])
    end
    local expected = ladies.matrix{n_rows = n_rows, n_cols = n_cols, rows = index(rows),
      cols = index(cols), values = tensor(values)}
    local got = read("coordinate real general", table.concat(lines, "\n"))
    lu.assertEquals(got:hash(), expected:hash())
    mtx.write(scratch, expected)
    lu.assertEquals(mtx.read(scratch):hash(), expected:hash())
  end
end

-- ---------------------------------------------------------------- what is refused

function tests.test_banners()
  for content, expected in pairs{
    [""] = "line 1: found nothing, expected %%MatrixMarket at the beginning of the file",
    ["1 1 1\n"] = 'line 1: found "1 1 1", expected %%MatrixMarket at the beginning of the file',
    ["%%MatrixMarket vector"] = 'line 1: found "vector", expected "matrix"',
    ["%%MatrixMarket matrix"] = 'line 1: found nothing, expected "coordinate" or "array"',
    ["%%MatrixMarket matrix coordinate complex general"] =
      'line 1: found "complex", expected "real", "integer" or "pattern"',
    ["%%MatrixMarket matrix array pattern general"] =
      'line 1: found "pattern", expected "real" or "integer"',
    ["%%MatrixMarket matrix coordinate real hermitian"] =
      'line 1: found "hermitian", expected "general", "symmetric" or "skew-symmetric"',
    ["%%MatrixMarket matrix coordinate real general"] =
      "line 2: found nothing, expected rows, columns and entries",
  } do
    write(content)
    lu.assertEquals(refusal(), expected)
  end
end

function tests.test_sizes()
  local general = "coordinate real general"
  for body, expected in pairs{
    ["2 2\n"] = 'line 2: found "2 2", expected rows, columns and entries',
    ["2 2 1 1\n"] = 'line 2: found "2 2 1 1", expected rows, columns and entries',
    ["2 -2 1\n"] = 'line 2: found "2 -2 1", expected rows, columns and entries',
    ["2147483647 1 0\n"] = 'line 2: found "2147483647 1 0", expected rows, columns and entries',
    ["1 1 99999999999999\n"] = "line 2: 99999999999999 entries are more than it can hold",
    ["2147483646 1 1\n1 1 1\n"] =
      "line 2: 2147483646 rows or columns are too many for 1 entries",
    ["2 2 3\n1 1 1\n2 2 2\n"] = "ends after 2 of 3 entries",
    ["2 2 1\n1 1 1\n2 2 2\n"] = 'line 4: found "2 2 2", expected the end after 1 entries',
    ["2 2 1\n3 1 1\n"] = 'line 3, column 1: found "3", expected a row from 1 to 2',
    ["2 2 1\n0 1 1\n"] = 'line 3, column 1: found "0", expected a row from 1 to 2',
    ["2 2 1\n1 3 1\n"] = 'line 3, column 2: found "3", expected a column from 1 to 2',
    ["2 2 1\n1 -1 1\n"] = 'line 3, column 2: found "-1", expected a column from 1 to 2',
    ["2 2 1\n1 99999999999999999999 1\n"] =
      'line 3, column 2: found "99999999999999999999", expected a column from 1 to 2',
    ["2+2 1\n1 1 1\n"] = 'line 2: found "2+2 1", expected rows, columns and entries',
    ["2 2 1\n1.5 1 1\n"] = 'line 3, column 1: found "1.5", expected a row from 1 to 2',
    ["2 2 1\n1+1 1\n"] = 'line 3, column 1: found "1+1", expected a row from 1 to 2',
    ["2 2 1\n1 1-1\n"] = 'line 3, column 2: found "1-1", expected a column from 1 to 2',
    ["2 2 1\n1 1\n"] =
      "line 3, column 3: found nothing, expected a number and the end of the line",
    ["2 2 1\n1 1 1 1\n"] =
      'line 3, column 3: found "1 1", expected a number and the end of the line',
    ["2 2 1\n1 1 nan\n"] =
      'line 3, column 3: found "nan", expected a number and the end of the line',
    ["2 2 1\n1 1 1e99\n"] =
      'line 3, column 3: found "1e99", expected a number that fits float32',
  } do
    lu.assertEquals(refusal_of(general, body), expected)
  end
  lu.assertEquals(refusal_of("coordinate pattern general", "2 2 1\n1 1 1\n"),
    'line 3, column 3: found "1", expected the end of the line')
  lu.assertEquals(refusal_of("coordinate real symmetric", "2 3 0\n"),
    'line 2: found "2 3 0", expected as many rows as columns, as the matrix is symmetric')
  lu.assertEquals(refusal_of("coordinate real symmetric", "2 2 1\n1 2 1\n"),
    'line 3: found "1 2 1", expected an entry on or below the diagonal')
  lu.assertEquals(refusal_of("coordinate real skew-symmetric", "2 2 1\n1 1 1\n"),
    'line 3: found "1 1 1", expected an entry below the diagonal')
  lu.assertEquals(refusal_of("array real general", "2 2\n1\n2\n3\n"), "ends after 3 of 4 entries")
  lu.assertEquals(refusal_of("array real general", "1 1\n1\n2\n"),
    'line 4: found "2", expected the end after 1 entries')
  lu.assertEquals(refusal_of("array real general", "2000000000 2000000000\n1\n"),
    "line 2: 4000000000000000000 entries are more than it can hold")
end

function tests.test_cut_off_or_changed()
  local plain = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1.5\n2 1 2\n"
  local packed = malformed.gzip(plain)
  for _, short in malformed.truncated(packed) do
    write(short)
    refusal()
  end
  for _, changed in malformed.flipped(plain) do
    write(changed)
    local ok, result = pcall(mtx.read, scratch)
    if ok then lu.assertTrue(result:to_dense():is_finite()) else refusal() end
  end
end

-- ---------------------------------------------------------------- what is written

local function sample()
  return ladies.matrix{n_rows = 3, n_cols = 3, rows = index{1, 2, 1, 3, 3},
    cols = index{2, 1, 1, 3, 1},
    values = tensor{0.1, 0.1, -2, 1e-9, 1e10}}
end

-- SciPy's mmread of the first gave back these numbers.
function tests.test_text_of_files()
  mtx.write(scratch, sample())
  lu.assertEquals(core.file.read(scratch), "%%MatrixMarket matrix coordinate real general\n3 3 5\n"
    .. "1 1 -2\n1 2 0.1\n2 1 0.1\n3 1 1e+10\n3 3 1e-09\n")
  local ones = ladies.matrix{n_rows = 2, n_cols = 3, rows = index{1, 2}, cols = index{3, 1}}
  mtx.write(scratch, ones)
  lu.assertEquals(core.file.read(scratch),
    "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n")
  lu.assertEquals(mtx.read(scratch):hash(), ones:hash())
  mtx.write(scratch, sample():symmetrize(), {symmetric = true})
  lu.assertStrContains(core.file.read(scratch), "real symmetric\n3 3 4\n1 1 -2\n2 1 0.1\n3 1 ")
  lu.assertEquals(mtx.read(scratch):hash(), sample():symmetrize():hash())
  mtx.write(scratch, tensor{{1, 2}, {3, 4}})
  lu.assertEquals(core.file.read(scratch),
    "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n4\n")
end

function tests.test_scaled_and_packed()
  local p = sample():row_normalize()
  local path <const> = scratch .. ".mtx.gz"
  mtx.write(path, p)
  lu.assertEquals(mtx.read(path):to_dense():to_table(), p:to_dense():to_table())
  os.remove(path)
end

function tests.test_writing_refused()
  lu.assertErrorMsgContains("the matrix is not symmetric", mtx.write, scratch, sample(),
    {symmetric = true})
  lu.assertErrorMsgContains("is for a sparse Matrix", mtx.write, scratch, tensor{1},
    {symmetric = true})
  lu.assertErrorMsgContains("cannot be created", mtx.write, scratch .. "/x", sample())
  lu.assertErrorMsgContains("bad argument #2", mtx.write, scratch, 3)
  lu.assertErrorMsgContains('did you mean "symmetric"?', mtx.write, scratch, sample(),
    {symetric = true})
end

function tests.test_every_allocation_may_fail()
  local a, path = sample():symmetrize(), scratch .. ".gz"
  local function call()
    mtx.write(path, a, {symmetric = true})
    mtx.write(scratch, tensor{1, 2})
    return mtx.read(path), mtx.read(scratch)
  end
  call()
  lu.assertTrue(every_allocation(call) > 20)
  os.remove(path)
end

function tests.test_progress()
  write("%%MatrixMarket matrix coordinate pattern general\n9 9 9\n" .. ("1 1\n"):rep(9))
  local total
  mtx.read(scratch, {progress = function(done, size) total = done == size end})
  lu.assertTrue(total)
  lu.assertErrorMsgContains("enough", mtx.read, scratch, {progress = function() error "enough" end})
end

return tests
