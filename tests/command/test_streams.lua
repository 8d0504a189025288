--- Standard output that does not arrive: the program says so, and so does its exit status.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

local TOLD = "ladies: a part of standard output could not be written"

-- Runs a line of bash in which $L is the program; output, errors, status.
local function bash(line)
  return shell.run({"bash", "-c", line}, {env = {"L=" .. shell.ladies}})
end

local run
local function finished_run()
  if not run then
    run = temporary.path "run"
    shell.silent(shell.run_ladies{"train", "--dataset", toy_study.dataset, "--layers=2",
      "--hidden=8", "--batch-size=20", "--max-batches=4", "--eval-every=2", "--quiet", "--out",
      run})
  end
  return run
end

--- The status tells of output that did not arrive from commands, scripts and options, however the
-- program ends.
function tests.test_full_disk()
  if not core.exists "/dev/full" then lu.skip "there is no /dev/full" end
  local script = temporary.path "prints.lua"
  ladies.file.write(script, "print(1)")
  for _, words in ipairs{
    {"info", toy_study.dataset}, {"predict", finished_run()}, {"evaluate", finished_run()},
    {"help"}, {"train", "--help"}, {"--help"}, {"-v"}, {script}, {"-e", "io.write '1'"},
    {"-e", "io.write '1' os.exit(0)"}, {"-e", "io.write '1' os.exit(true, true)"},
    {"-e", "io.write(('1'):rep(1e6))"},
  } do
    for i, word in ipairs(words) do words[i] = shell.quote(word) end
    local _, err, status = bash(('"$L" %s >/dev/full'):format(table.concat(words, " ")))
    lu.assertEquals(status, 1, words[1])
    lu.assertStrMatches(err, TOLD .. "[^\n]*\n", nil, nil, words[1])
  end
  local _, err = bash [["$L" -e 'io.write(1)' >/dev/full]]
  lu.assertStrContains(err, TOLD .. ": No space left on device")
end

--- An error goes out in one write, so that what others print stands before or behind it; a long
-- one in several, of whole lines.
function tests.test_errors_at_once()
  local function read_once(message)
    local line = [[python3 %s "$L" -e 'error(%s, 0)']]
    return bash(line:format(shell.quote(here .. "/tools/first_write.py"), message))
  end
  for _ = 1, 5 do
    local out, shown = read_once '("\\27"):rep(900)', ("\\x1b"):rep(900)
    lu.assertTrue(out == "ladies: " .. shown .. "\n")
  end
  local out = read_once '(("y"):rep(998) .. "\\n"):rep(9)'
  lu.assertTrue(#out > 3000 and #out <= 4096)
  lu.assertEquals(out:gsub(("y"):rep(998) .. "\n", ""), "ladies: ")
end

--- A limit on the size of files is a disk that is full: no signal ends the program without a word.
function tests.test_limit_on_files()
  local path = temporary.path "limited.csv"
  local _, err, status = bash(('ulimit -f 1; "$L" predict %s >%s'):format(finished_run(), path))
  lu.assertEquals(status, 1)
  lu.assertStrMatches(err, TOLD .. "[^\n]*\n")
  _, err, status = bash(('ulimit -f 1; "$L" predict %s --out %s'):format(run, path .. ".csv"))
  lu.assertEquals(status, 1)
  lu.assertStrMatches(err, "ladies predict: [^\n]*cannot be written: File too large\n")
  lu.assertFalse(core.exists(path .. ".csv"))
end

--- Files, and the folder that a new one is brought to the disk with, are closed again.
function tests.test_files_are_closed()
  local script = ("for i = 1, 60 do require 'ladies'.file.write('%s', '') end"):format(
    temporary.path "again")
  lu.assertEquals({bash(('ulimit -n 50; "$L" -e "%s"'):format(script))}, {"", "", 0})
end

--- Where no file can be opened for the folder, the old file stays.
function tests.test_folder_that_cannot_be_opened()
  local path = temporary.path "crowded"
  ladies.file.write(path, "old")
  local script = ([[
    local open = {}
    repeat
      local file = io.open "/dev/null"
      open[#open + 1] = file
    until not file
    open[#open]:close()
    print(pcall(require "ladies".file.write, "%s", "new"))]]):format(path)
  local out = bash(('ulimit -n 50; "$L" -e %s'):format(shell.quote(script)))
  lu.assertStrMatches(out, "false[^\n]*crowded[^\n]*: cannot be written: Too many open files\n")
  lu.assertEquals(ladies.file.read(path), "old")
end

--- A reader that takes only the first lines causes no complaint.
function tests.test_reader_that_leaves()
  local out, err = bash [["$L" -e 'for i = 1, 1e6 do print(i) end' | head -1]]
  lu.assertEquals({out, err}, {"1\n", ""})
  out, err = bash(('"$L" info %s | head -1'):format(toy_study.dataset))
  lu.assertEquals({out, err}, {"toy\n", ""})
end

--- A standard stream that is closed is not taken for the next file that is opened.
function tests.test_closed_streams()
  local path = temporary.path "opened"
  local script = ([[local file = io.open('%s', 'w') print 'astray' file:close()]]):format(path)
  local _, err, status = bash(('"$L" -e "%s" >&-'):format(script))
  lu.assertEquals({ladies.file.read(path), status}, {"", 1})
  lu.assertStrContains(err, TOLD)
  _, _, status = bash(('"$L" -e "%s" <&- 2>&- >/dev/null'):format(script))
  lu.assertEquals({ladies.file.read(path), status}, {"", 0})
end

return tests
