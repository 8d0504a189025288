--- A locale with a decimal comma, whatever chose it: numbers are read and written with a point, in
-- files and in what is shown, and all else of the locale is as it was asked for.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local shell = require "tools.shell"

local tests = {}

-- A locale of that name in a folder, made of its numbers and times alone.
local SOURCE = [[
comment_char %
escape_char /
LC_NUMERIC
decimal_point ","
thousands_sep ""
grouping -1
END LC_NUMERIC
LC_TIME
abday "so";"mo";"di";"mi";"do";"fr";"sa"
day "sonntag";"montag";"dienstag";"mittwoch";"donnerstag";"freitag";"samstag"
abmon "jan";"feb";"mrz";"apr";"mai";"jun";"jul";"aug";"sep";"okt";"nov";"dez"
mon "jan";"feb";"mrz";"apr";"mai";"jun";"jul";"aug";"sep";"okt";"nov";"dez"
d_t_fmt "%%T"
d_fmt "%%T"
t_fmt "%%T"
am_pm "";""
t_fmt_ampm ""
END LC_TIME
]]

-- Runs a script with the locale "comma" at hand, as `program` does; returns what it prints.
local function run(text, program)
  local folder <close> = shell.folder()
  if not core.process.exists "localedef" then lu.skip "localedef is not there" end
  local source = files.write(folder.path .. "/source", SOURCE)
  shell.run{"localedef", "-c", "-i", source, folder.path .. "/comma"}
  if core.exists(folder.path .. "/comma/LC_NUMERIC") ~= "file" then
    lu.skip "localedef makes no locale here"
  end
  local script = files.write(folder.path .. "/script.lua", text)
  local words = {program or shell.ladies, script, folder.path}
  -- glibc itself leaks the path that it makes of LOCPATH.
  return shell.silent(shell.run(words,
    {env = {"LOCPATH=" .. folder.path, "ASAN_OPTIONS=detect_leaks=0"}}))
end

function tests.test_numbers()
  lu.assertEquals(run [[
    local core = require "ladies_core"
    assert(os.setlocale "comma" == "comma" and os.setlocale(nil, "numeric") == "comma")
    print(1.5, ("%g %.3f %.17g"):format(2.5, 1 / 3, 0.25), tonumber "0.5", tonumber "0,5",
      load "return 1.25"(), os.date("!%A", 0))
    io.write(0.75, "\n")
    print(require "ladies.base.json".encode{x = 0.1}, (core.tensor{1.5, 0.1}))
    os.setlocale("C")
    print(1.5, os.date("!%A", 0))
  ]], table.concat({"1.5\t2.5 0.333 0.25\t0.5\tnil\t1.25\tdonnerstag", "0.75",
    '{"x":0.1}\tTensor 2: 1.5 0.1', "1.5\tThursday", ""}, "\n"))
end

--- A locale that was chosen before the library came counts as little.
function tests.test_chosen_before()
  lu.assertEquals(run([[
    assert(os.setlocale "comma")
    local before = tostring(1.5)
    require "ladies"
    print(before, 1.5)
  ]]):match "\t(.*)\n", "1.5")
end

--- The files of a run, tables and matrices are the same as without the locale.
function tests.test_files()
  local script = [[
    local folder = ...
    local ladies = require "ladies"
    local file = folder .. "/e.txt"
    local found = {}
    for _, locale in ipairs{"C", "comma"} do
      assert(os.setlocale(locale))
      local data = ladies.generate.power_law{nodes = 200, entries = 2000, features = 4, classes = 3,
        seed = 3}
      local P = data.graph:normalize "sym"
      local out = folder .. "/run-" .. locale
      ladies.train{data = data, sampler = ladies.samplers.ladies(P, {samples = {20, 20}}),
        model = ladies.nn.gcn{inputs = 4, outputs = 3, layers = 2}, batch_size = 20, epochs = 2,
        workers = 1, quiet = true, out = out}
      local run = ladies.saved_run(out, {data = data})
      ladies.mtx.write(out .. "/P.mtx", P)
      local lines = {}
      for i = 1, 20000 do lines[i] = ("%d %d %.9g"):format(i % 50, i % 70, i / 7) end
      ladies.file.write(file, table.concat(lines, "\n") .. "\n0 1 1e-40\n")
      local _, _, column = ladies.text.read(file, {columns = {"id", "id", "number"}})
      found[#found + 1] = {run:logits(run:units "all"):hash(),
        ladies.mtx.read(out .. "/P.mtx"):hash(), column:hash(), ladies.file.read(out .. "/P.mtx"),
        (ladies.file.read(out .. "/log.jsonl"):gsub('"%a+_ms":[%d.]+,', ""):gsub('"bytes":%d+', "")
          :gsub('"seconds":[%d.]+', ""))}
    end
    for i = 1, #found[1] do
      if found[1][i] ~= found[2][i] then print(i, found[1][i], found[2][i]) end
    end]]
  lu.assertEquals(run(script), "")
end

return tests
