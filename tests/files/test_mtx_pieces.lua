--- Matrix Market files of more than one block: cut into pieces anywhere, with any number of
-- threads, they are what a plain loop over their lines would make of them.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local files = require "tools.files"
local malformed = require "tools.malformed"
local message_of = require "tools.message_of"

local mtx, index, tensor = ladies.mtx, ladies.index, ladies.tensor
local tests = {}
local scratch = os.tmpname()

local BLOCK = 2^20   -- bytes of text that are parsed at a time

function tests.tearDown() os.remove(scratch) end

local function write(text) files.write(scratch, text) end

local function banner(kind, n_rows, n_cols, count)
  return ("%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n"):format(kind, n_rows, n_cols, count)
end

-- Some blocks of lines in every form that is allowed, and the matrix that they are.
local function mixed(n_rows, n_cols, n)
  math.randomseed(21)
  local forms = {"%d %d %s\n", "%d %d %s\r\n", "  %d\t%d  %s \n", "%d %d %s\n\n",
    "%% %d\n%d %d %s\n", "%09d %d %s\n", "%d +%d %s\n"}
  local rows, cols, values, lines = {}, {}, {}, {}
  for i = 1, n do
    local form = forms[math.random(20)] or forms[1]
    rows[i], cols[i], values[i] = math.random(n_rows), math.random(n_cols), math.random(-99, 99) / 8
    lines[i] = form:find "^%%%%" and form:format(i, rows[i], cols[i], values[i])
      or form:format(rows[i], cols[i], values[i])
  end
  return table.concat(lines), ladies.matrix{n_rows = n_rows, n_cols = n_cols, rows = index(rows),
    cols = index(cols), values = tensor(values)}
end

function tests.test_any_number_of_threads()
  local text, expected = mixed(3000, 70000, 120000)
  lu.assertTrue(#text > 1.5 * BLOCK)
  text = banner("real general", 3000, 70000, 120000) .. text
  for _, content in ipairs{text, text:sub(1, -2), malformed.gzip(text)} do
    write(content)
    for _, n in ipairs{1, 2, 4} do
      ladies.threads(n)
      lu.assertEquals(mtx.read(scratch):hash(), expected:hash(), n)
    end
  end
end

function tests.test_symmetric()
  local lines, n = {}, 100000
  for i = 1, n do
    local row = i % 1000 + 1
    lines[i] = ("%d %d %d\n"):format(row, i // 1000 % row + 1, i)
  end
  local body = table.concat(lines)
  write(banner("integer general", 1000, 1000, n) .. body)
  local lower = mtx.read(scratch)
  local upper = lower:transpose()
  write(banner("integer symmetric", 1000, 1000, n) .. body)
  local both = mtx.read(scratch)
  lu.assertTrue(both:is_symmetric())
  local x = ladies.range(1, 1000)
  local sums = both:row_sums()
  local expected = lower:row_sums() + upper:row_sums()
  for i = 1, #x, 37 do
    local diagonal = lower:slice(index{i}, index{i}):to_dense():item()
    lu.assertAlmostEquals(sums[i], expected[i] - diagonal, 1e-5 * expected[i])
  end
end

-- ---------------------------------------------------------------- errors

-- Lines of 16 bytes, so that the borders of blocks and pieces are within and between them; those
-- with a number in `changes` are something else.
local function lines_of_16(n, changes)
  local lines = {}
  for i = 1, n do
    lines[i] = changes[i] or ("%5d %5d 0.5\n"):format(i % 9999 + 1, i // 9 % 9999 + 1)
  end
  return banner("real general", 9999, 9999, n) .. table.concat(lines)
end

local function refusal(text)
  write(text)
  return (message_of(mtx.read, scratch):gsub("^mtx: " .. scratch:gsub("%p", "%%%0") .. ": ", ""))
end

local N = 150000

local function places()
  local list = {1, 2, N - 1, N}
  for _, border in ipairs{BLOCK / 32, BLOCK / 16, BLOCK, BLOCK + BLOCK / 32, 2 * BLOCK} do
    for shift = -4, 1 do list[#list + 1] = border // 16 + shift end
  end
  return list
end

function tests.test_lines_are_counted_across_pieces()
  local text = lines_of_16(N, {})
  local begin = #text - 16 * N
  for i, place in ipairs(places()) do
    local bad = i % 2 == 0 and "    1 x   1 0.5\n" or "    1 10000 1.5\n"
    ladies.threads(i % 3 + 1)
    local at = begin + 16 * (place - 1)
    lu.assertEquals(refusal(text:sub(1, at) .. bad .. text:sub(at + 17)),
      ('line %d, column 2: found "%s", expected a column from 1 to 9999'):format(place + 2,
        i % 2 == 0 and "x" or "10000"))
  end
end

function tests.test_the_first_error_counts()
  for _, pair in ipairs{{10, 140000}, {70000, 70001}, {65530, 65540}} do
    lu.assertStrContains(refusal(lines_of_16(N, {[pair[1]] = "1 1 nan\n", [pair[2]] = "0 1 1\n"})),
      ('line %d, column 3: found "nan"'):format(pair[1] + 2))
  end
  -- Lines without entries count as lines.
  lu.assertStrContains(refusal(lines_of_16(N, {[5] = "%\n\n \n1 1 1\n", [99999] = "1 1\n"})),
    "line 100004, column 3: found nothing, expected a number")
end

function tests.test_too_many_and_too_few()
  local text = lines_of_16(N, {})
  for _, count in ipairs{0, 1, 2047, 65536, 70000, N - 1} do
    local header = banner("real general", 9999, 9999, count)
    local message = refusal(header .. text:sub(#text - 16 * N + 1))
    lu.assertStrContains(message, ("line %d: found "):format(count + 3))
    lu.assertStrContains(message, ("expected the end after %d entries"):format(count))
  end
  text = banner("real general", 9999, 9999, N + 1) .. text:sub(#text - 16 * N + 1)
  lu.assertEquals(refusal(text), ("ends after %d of %d entries"):format(N, N + 1))
  -- Lines behind the last entry must be empty; any other is an error.
  write(lines_of_16(N, {[N] = "1 1 1\n%\n\n  "}))
  lu.assertTrue(mtx.read(scratch).nnz > 0)
  lu.assertStrContains(refusal(lines_of_16(N, {[N] = "1 1 1\n\nx"})), ("line %d: found \"x\", "
    .. "expected the end after %d entries"):format(N + 4, N))
end

function tests.test_long_comments()
  local comment = "%" .. ("x"):rep(3 * BLOCK) .. "\n"
  write(lines_of_16(1000, {[500] = comment .. "7 7 7\n"}))
  lu.assertEquals(mtx.read(scratch).n_rows, 9999)
  lu.assertStrContains(refusal(lines_of_16(1000, {[500] = comment .. "7 7 x\n"})),
    "line 503, column 3")
end

-- ---------------------------------------------------------------- rows

-- Rows are right that are longer than what is sorted at once, and whose columns and values repeat.
function tests.test_long_rows()
  math.randomseed(22)
  for _, case in ipairs{{1, 1, 3000}, {2, 3, 4000}, {3, 100000, 20000}, {40, 700, 60000},
    {1, 16777216, 5000}} do
    local n_rows, n_cols, n = table.unpack(case)
    for _, weighted in ipairs{true, false} do
      local rows, cols, values, lines = {}, {}, {}, {}
      for i = 1, n do
        rows[i], cols[i], values[i] = math.random(n_rows), math.random(n_cols), math.random(-4, 4)
        lines[i] = weighted and ("%d %d %d\n"):format(rows[i], cols[i], values[i])
          or ("%d %d\n"):format(rows[i], cols[i])
      end
      write(banner(weighted and "real general" or "pattern general", n_rows, n_cols, n)
        .. table.concat(lines))
      local expected = ladies.matrix{n_rows = n_rows, n_cols = n_cols, rows = index(rows),
        cols = index(cols), values = weighted and tensor(values) or nil}
      lu.assertEquals(mtx.read(scratch):hash(), expected:hash())
    end
  end
end

-- ---------------------------------------------------------------- memory

-- Bytes live in core after f, and the most while it ran, beyond those before.
local function memory_of(f)
  collectgarbage()
  collectgarbage()
  core.memory_trim()
  local before = core.memory().total
  local result = f()
  local peak = core.memory().peak - before
  collectgarbage()
  collectgarbage()
  return core.memory().total - before, peak, result
end

function tests.test_memory_stays_within_twice_the_matrix()
  local lines, n = {}, 400000
  for i = 1, n do lines[i] = ("%d %d\n"):format(i * 31 % 5000 + 1, i // 5000 + 1) end
  write(banner("pattern general", 5000, 5000, n) .. table.concat(lines))
  local final, peak, matrix = memory_of(function() return mtx.read(scratch) end)
  lu.assertEquals(matrix.nnz, n)
  lu.assertTrue(peak <= 2 * final + 8 * 2^20, ("%d of %d"):format(peak, final))
end

function tests.test_stopped_in_the_middle()
  write(lines_of_16(N, {}))
  local calls = 0
  local final = memory_of(function()
    lu.assertErrorMsgContains("enough", mtx.read, scratch, {progress = function(done, total)
      lu.assertTrue(done <= total)
      calls = calls + 1
      if calls == 3 then error "enough" end
    end})
  end)
  lu.assertEquals({calls, final <= 0}, {3, true})
end

return tests
