--- ladies_paper.report, which puts the sections of all studies together, and what sections are made
-- of.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local paper = require "ladies_paper"
local json = require "ladies.base.json"
local provenance = require "ladies.report.provenance"
local by_preset = require "ladies_paper.table3.by_preset"
local section = require "ladies.report.section"
local temporary = require "reference.temporary"

local tests = {}

function tests.test_provenance()
  local study = {seconds = function() return 65 end}
  local record = {machine = "X, 2 cores", jobs = 2, threads = 1}
  lu.assertEquals(provenance.runs(study, {record, record}),
    "2 runs on X, 2 cores; 2 runs side by side, 1 thread each. The study has taken 1:05 so far.")
  lu.assertStrContains(provenance.runs(study, {record, {machine = "X, 2 cores", jobs = 1,
    threads = 2}}), "one run at a time, 2 threads each. The study has taken 1:05 so far. Times of "
    .. "runs that shared the machine differently do not compare.")
end

--- Runs of other versions, vector units or BLAS are told from each other, once.
function tests.test_numerics()
  local study = {seconds = function() return 65 end}
  local function record(numerics)
    return {machine = "X", jobs = 1, threads = 1, seconds = 1, numerics = numerics}
  end
  lu.assertNil(provenance.numerics{record "A", record "A"})
  local note = "Computed by A and by B: the same settings and seed may give other bits by each."
  local mixed = {record "A", record "B", record "A"}
  lu.assertEquals(provenance.numerics(mixed), note)
  for _, text in ipairs{provenance.runs(study, mixed), provenance.measurements(mixed)} do
    lu.assertEquals(select(2, text:gsub(note, "")), 1, text)
  end
end

function tests.test_csv()
  local path = temporary.path "x.csv"
  section.write_csv(path, {{"a", "b"}, {'say "x", y', 2}})
  lu.assertEquals(ladies.file.read(path), 'a,b\n"say ""x"", y",2\n')
end

function tests.test_report()
  local runs, out = temporary.path "runs", temporary.path "made/reproduction.md"
  core.folder.make(temporary.path "made")
  lu.assertErrorMsgContains("out must end in .md", paper.report, {runs = runs, out = "x"})
  lu.assertErrorMsgContains("there are no results in", paper.report, {runs = runs, out = out})
  for _, name in ipairs{"costs-1", "table3-paper-1", "table3-default-1", "tables", "ablate-1"} do
    core.folder.make(runs .. "/" .. name)
  end
  for _, name in ipairs{"default", "paper"} do
    section.write(("%s/table3-%s-1/table3.md"):format(runs, name),
      {"## Table 3, " .. name, {{"a"}, {"1"}}, "![cora](cora.svg)"})
    ladies.file.write(("%s/table3-%s-1/cora.svg"):format(runs, name), "picture " .. name)
  end
  ladies.file.write(runs .. "/costs-1/costs.md", "No heading.\n")
  local n, missing = paper.report{runs = runs, out = out}
  lu.assertEquals({n, missing}, {3, {"sweep", "ablate", "figures", "variance"}})
  local text = ladies.file.read(out)
  lu.assertStrContains(text, "## Table 3, default\n\n| a |\n| - |\n| 1 |\n\n"
    .. "![cora](reproduction/table3-default-1-cora.svg)\n\n## Table 3, paper\n")
  lu.assertStrMatches(text,
    ".*%.svg%)\n\n## Table 2, measured: time and memory of a batch\n\nNo heading.\n")
  lu.assertEquals(ladies.file.read(temporary.path "made/reproduction/table3-paper-1-cora.svg"),
    "picture paper")
end

-- A folder of table 3 with such test F1s of a method on Cora.
local function table3_folder(name, method, f1s)
  local lines = {}
  for seed, f1 in ipairs(f1s) do
    lines[seed] = json.encode{key = ("cora, %s, seed %d"):format(method, seed), test_f1 = f1 / 100}
  end
  core.folder.make(temporary.path(name))
  ladies.file.write(temporary.path(name) .. "/results.jsonl", table.concat(lines, "\n") .. "\n")
  return temporary.path(name)
end

--- F1 by preset: the paper has 77.6 for LADIES (64) and 76.5 in full. A run that was made anew
-- counts once.
function tests.test_by_preset()
  local default = table3_folder("default", "LADIES (64)", {80, 81, 82})
  local code = table3_folder("code", "LADIES (64)", {75, 77, 79})
  local path = code .. "/results.jsonl"
  ladies.file.write(path, '{"key":"cora, LADIES (64), seed 1","test_f1":0.1}\n'
    .. '{"key":"cora, full batch, seed 1","test_f1":0.7}\n' .. ladies.file.read(path))
  local rows, above, below = by_preset{default = default, code = code}
  lu.assertEquals(rows, {
    {"data set", "method", "paper", "default", "code", "nearest"},
    {"cora", "LADIES (64)", "77.6 ± 1.0", "81.0 ± 2.5", "77.0 ± 5.0", "code *"},
  })
  lu.assertEquals({above, below}, {{}, {}})
  rows, above, below = by_preset{default = default,
    code = table3_folder("higher", "LADIES (64)", {80, 81, 82})}
  lu.assertEquals({#rows, above, below}, {2, {"cora LADIES (64)"}, {}})
  local low = table3_folder("lower", "LADIES (64)", {60, 61, 62})
  lu.assertEquals({select(2, by_preset{default = low, code = low})}, {{}, {"cora LADIES (64)"}})
  lu.assertNil(by_preset{default = default})
end

return tests
