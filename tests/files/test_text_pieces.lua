--- Tables of more than one block: cut into pieces anywhere, with any number of threads, they are
-- what a plain loop over their lines would make of them, and the first line that is wrong is the
-- error.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local malformed = require "tools.malformed"

local text, index = ladies.text, ladies.index
local tests = {}
local scratch = os.tmpname()

local BLOCK, PIECE = 2^18, 2^14   -- bytes of text that are parsed at a time, and in one piece
local BLANK = "line %d is blank; only lines behind the last row may be"

function tests.tearDown() os.remove(scratch) end

-- Reads a text with 1, 2 and 4 threads. Returns what read(path, opts) gives, each result by
-- as_text, or the message without its file; the same with any number of threads.
local function result_of(content, opts, as_text)
  files.write(scratch, content)
  local found
  for _, n in ipairs{1, 2, 4} do
    ladies.threads(n)
    local results = table.pack(pcall(text.read, scratch, opts()))
    local one = results[1] and as_text(table.unpack(results, 2, results.n))
      or results[2]:gsub("^.*text: " .. scratch:gsub("%p", "%%%0") .. ": ", "")
    if found then lu.assertEquals(one, found, n .. " threads") end
    found = one
  end
  return found
end

-- ---------------------------------------------------------------- what is read

-- Lines in every form that is allowed, and the columns that they are: ids, numbers and names.
local function mixed(n, newline, names)
  math.randomseed(31)
  local forms = {"%d,%s,%s", " %d , %s ,\t%s ", '%d,%s,"%s"', "%07d,%s,%s", "+%d,%s,%s",
    "#x,y\n%d,%s,%s", "  %% 1,2\n%d,%s,%s"}
  local ids, numbers, words, lines = {}, {}, {}, {}
  for i = 1, n do
    ids[i], numbers[i] = math.random(70000), math.random(-99, 99) / 8
    words[i] = names and ("n%d"):format(math.random(5000)) or math.random(0, 999)
    local form = forms[math.random(20)] or forms[1]
    if not names and form:find '"' then form = forms[1] end
    lines[i] = form:format(ids[i] - 1, numbers[i], words[i]):gsub("\n", newline)
  end
  return table.concat(lines, newline), ids, numbers, words
end

local function hashes(...)
  local list = {}
  for i, x in ipairs{...} do list[i] = type(x) == "table" and x or x:hash() end
  return list
end

function tests.test_ids_and_numbers()
  for _, newline in ipairs{"\n", "\r\n"} do
    local content, ids, numbers, words = mixed(60000, newline, false)
    lu.assertTrue(#content > 2.5 * BLOCK)
    local expected = hashes(index(ids), ladies.tensor(numbers), ladies.tensor(words))
    local function opts() return {columns = {"id", "number", "number"}, separator = ","} end
    for _, rest in ipairs{"", newline, newline .. "\n \n#end" .. newline} do
      lu.assertEquals(result_of(content .. rest, opts, hashes), expected)
    end
    lu.assertEquals(result_of(malformed.gzip(content), opts, hashes), expected)
    lu.assertEquals(result_of("a,b,c" .. newline .. content, opts, function(a, b, c, titles)
      lu.assertEquals(titles, {"a", "b", "c"})
      return hashes(a, b, c)
    end), expected)
  end
end

--- Names are numbered in the order of the file, not in that in which pieces were parsed.
function tests.test_names()
  local content, ids, _, words = mixed(60000, "\n", true)
  local numbers, count, expected = {}, 0, {}
  for i, word in ipairs(words) do
    if not numbers[word] then
      count = count + 1
      numbers[word] = count
    end
    expected[i] = numbers[word]
  end
  local names
  local function opts()
    names = text.names()
    return {columns = {"id", "skip", names}, separator = ","}
  end
  lu.assertEquals(result_of(content, opts, function(a, b)
    for word, number in pairs(numbers) do lu.assertEquals(names:find(word), number) end
    lu.assertEquals(#names, count)
    return hashes(a, b)
  end), hashes(index(ids), index(expected)))
end

--- Columns that share names number them row by row.
function tests.test_shared_names()
  local lines, first, second, numbers, count = {}, {}, {}, {}, 0
  math.randomseed(32)
  local function number_of(word)
    if not numbers[word] then
      count = count + 1
      numbers[word] = count
    end
    return numbers[word]
  end
  for i = 1, 30000 do
    local a, b = "n" .. math.random(9000), "n" .. math.random(9000)
    lines[i] = ("%s,%d,%s"):format(a, i, b)
    first[i], second[i] = number_of(a), number_of(b)
  end
  local function opts()
    local names = text.names()
    return {columns = {names, "skip", names}}
  end
  lu.assertEquals(result_of(table.concat(lines, "\n"), opts, hashes),
    hashes(index(first), index(second)))
end

--- Rows of a matrix, some of which are longer than a piece, or a block.
function tests.test_long_rows()
  for n_cols, n in pairs{[3] = 50000, [1000] = 200, [20000] = 40, [200000] = 3} do
    local x = ladies.zeros(n, n_cols):normal_(1, ladies.rng(n))
    text.write(scratch, x)
    lu.assertEquals(result_of(files.read(scratch), function() return {header = false} end, hashes),
      {x:hash()})
  end
end

function tests.test_few_lines()
  local function opts() return {columns = {"id", "id"}, header = false} end
  local function tables(a, b) return {a:to_table(), b:to_table()} end
  for _, newline in ipairs{"", "\n", "\r\n"} do
    lu.assertEquals(result_of("3,4" .. newline, opts, tables), {{4}, {5}})
  end
  lu.assertEquals(result_of("\xEF\xBB\xBF3,4\n#\n5,6", opts, tables), {{4, 6}, {5, 7}})
end

--- A reader gives as many rows as are asked for, wherever pieces and blocks end.
function tests.test_reader()
  local content, ids, numbers = mixed(60000, "\n", false)
  files.write(scratch, content)
  for _, n in ipairs{1, 777, 20000, 59999, 60000, 100000} do
    local rows = text.reader(scratch, {columns = {"skip", "number", "skip"},
      separator = ","})
    local at = 0
    for _ = 1, n == 1 and 2000 or 1 << 30 do
      local x = rows:next(n)
      if not x then break end
      lu.assertEquals(#x, math.min(n, #ids - at))
      lu.assertEquals(x[1], numbers[at + 1])
      lu.assertEquals(x[#x], numbers[at + #x])
      at = at + #x
    end
    lu.assertEquals(at, n == 1 and 2000 or #ids)
  end
end

-- ---------------------------------------------------------------- errors

local N = 40000

-- Lines of 16 bytes, so that the borders of blocks and pieces are within and between them; those
-- with a number in `changes` are something else.
local function lines_of_16(changes)
  local lines = {}
  for i = 1, N do lines[i] = changes[i] or ("%7d,%7d\n"):format(i, i * 7 % N) end
  return table.concat(lines)
end

local function refusal(content)
  return result_of(content, function() return {columns = {"id", "id"}, header = false} end,
    function() lu.fail "an error was expected" end)
end

-- Line numbers about the borders of pieces and blocks, and one within each piece of a block.
local function places()
  local list = {1, 2, N - 1, N}
  for _, border in ipairs{PIECE, 2 * PIECE, BLOCK, BLOCK + PIECE, 2 * BLOCK} do
    for shift = -2, 2 do list[#list + 1] = border // 16 + shift end
  end
  for i = 0, BLOCK // PIECE do list[#list + 1] = (i * PIECE + PIECE // 2) // 16 end
  return list
end

--- A reader that has met a wrong line names it each time that it is asked for more.
function tests.test_an_error_of_a_reader()
  for content, message in pairs{["1,2\n3,4\n5,x\n7,8\n"] = 'line 3, column 2: found "x"',
    ["1,2\n3,4\n\n7,8\n"] = "line 3 is blank"} do
    files.write(scratch, content)
    local rows = text.reader(scratch, {columns = {"id", "id"}, header = false})
    for _ = 1, 3 do lu.assertErrorMsgContains(message, rows.next, rows, 9) end
  end
  for _, name in ipairs{"read", "read_edges", "reader"} do
    lu.assertErrorMsgContains(("text.%s: first_id must be 0 or 1, got 3"):format(name), text[name],
      scratch, {columns = {"id", "id"}, first_id = 3})
  end
end

function tests.test_an_error_in_each_piece()
  local content = lines_of_16{}
  local bad = {
    {"      1,      x\n", 'line %d, column 2: found "x", expected a whole number from 0 on'},
    {"      1        \n", "line %d, column 2: found nothing, expected 2 columns as before"},
    {"      1, 2,   3\n", 'line %d, column 3: found "3", expected no more than 2 columns'},
  }
  for i, place in ipairs(places()) do
    local line, message = table.unpack(bad[place == 1 and 1 or i % 3 + 1])
    lu.assertEquals(#line, 16)
    lu.assertEquals(refusal(content:sub(1, 16 * (place - 1)) .. line
      .. content:sub(16 * place + 1)), message:format(place))
  end
end

function tests.test_the_first_error_counts()
  for _, pair in ipairs{{10, 39000}, {20000, 20001}, {1023, 1025}, {16383, 16385}} do
    lu.assertStrContains(refusal(lines_of_16{[pair[1]] = "1,a\n", [pair[2]] = "b,1\n"}),
      ('line %d, column 2: found "a"'):format(pair[1]))
    lu.assertEquals(refusal(lines_of_16{[pair[1]] = "\n", [pair[2]] = "b,1\n"}),
      BLANK:format(pair[1]))
    lu.assertStrContains(refusal(lines_of_16{[pair[1]] = "1,a\n", [pair[2]] = "\n"}),
      ('line %d, column 2: found "a"'):format(pair[1]))
  end
  -- Lines that are no rows count as lines.
  lu.assertStrContains(refusal(lines_of_16{[5] = "#\n%\n1,1\n", [39999] = "1\n"}),
    "line 40001, column 2: found nothing")
end

--- A blank line is an error where a row comes behind it, however far; blank lines and comments may
-- fill whole pieces between them.
function tests.test_blank_lines_across_pieces()
  for _, place in ipairs{3, PIECE // 16, 7000, BLOCK // 16} do
    for _, between in ipairs{"", ("#\n"):rep(PIECE), ("\n#x\n \r\n"):rep(BLOCK // 4)} do
      lu.assertEquals(refusal(lines_of_16{[place] = "\n" .. between .. "1,1\n"}),
        BLANK:format(place))
    end
  end
  local rest = ("\n#x\n \r\n"):rep(BLOCK // 4)
  local function size_of(a) return {#a} end
  lu.assertEquals(result_of(lines_of_16{} .. rest,
    function() return {columns = {"id", "id"}} end, size_of), {N})
  lu.assertEquals(refusal(lines_of_16{} .. rest .. "1,1"), BLANK:format(N + 1))
end

--- The error for an id that is far too large names the line of the largest.
function tests.test_the_largest_id()
  for _, place in ipairs{1, 2, 5000, 17000, N} do
    local far = "99999999,1\n"
    files.write(scratch, lines_of_16{[place] = far, [N] = far})
    local _, message = pcall(text.read_edges, scratch, {columns = {"id", "id"}, header = false})
    lu.assertStrContains(message, ("line %d, column 1: id 99999999 is far beyond"):format(place))
  end
end

return tests
