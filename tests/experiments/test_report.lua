--- experiments.paper.report, which puts the sections of all studies together, and what sections
-- are made of.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local csv = require "ladies.report.csv"
local paper = require "experiments.paper"
local json = require "ladies.base.json"
local plot = require "ladies.report.plot"
local provenance = require "ladies.report.provenance"
local by_preset = require "experiments.paper.table3.by_preset"
local Report = require "ladies.report"
local Table = require "ladies.report.table"
local temporary = require "reference.temporary"

local tests = {}

function tests.test_provenance()
  local study = {seconds = function() return 65 end}
  local record = {machine = "X, 2 cores", jobs = 2, threads = 1}
  lu.assertEquals(provenance.runs(study, {record, record}),
    "2 runs on X, 2 cores; 2 runs side by side, 1 thread each. The study has taken 1:05 so far.")
  lu.assertStrContains(provenance.runs(study, {record}), "1 run on X, 2 cores; one run at a time, ")
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

-- ---------------------------------------------------------------- tables and reports

--- A table as a reader and as a program has it.
function tests.test_table()
  local scores = Table.new{"method", {"F1 %", csv = {"f1", "f1_sd"}}, {csv = {"runs"}},
    {"held", csv = {}}, "batches"}
  scores:add{'say "x", y', Table.deviation({76, 78}, "%.1f"), 2, Table.number(2.5, "%.2f"), 7}
  scores:add{"one", Table.interval({5}, "%.1f"), 1, Table.number(nil, "%.2f"), "-"}
  scores:add{"none", Table.interval({}, "%.1f"), 0, "-", 0}
  lu.assertEquals(scores:texts(), {{"method", "F1 %", "held", "batches"},
    {'say "x", y', "77.0 ± 1.4", "2.50", "7"}, {"one", "5.0", "-", "-"}, {"none", "-", "-", "0"}})
  lu.assertEquals(scores:numbers(), {{"method", "f1", "f1_sd", "runs", "batches"},
    {'say "x", y', 77, math.sqrt(2), 2, 7}, {"one", 5, "", 1, "-"}, {"none", "", "", 0, 0}})
  lu.assertEquals(csv.text{{"a", "b"}, {'say "x", y', 2}}, 'a,b\n"say ""x"", y",2\n')
end

--- A report has headings, texts and tables in their order, and the notes below them; CSV goes on
-- with further rows.
function tests.test_files_of_a_report()
  local path, numbers = temporary.path "whole", Table.new{"a", "b"}
  core.folder.make(path)
  local report = Report.new("costs", path, "Costs")
  numbers:add{"x", 1}
  report:heading "One"
  report:note("first", "last")
  report:text "* of two lines\n* and `code`"
  report:table(numbers)
  report:csv(numbers)
  report:csv(numbers)
  lu.assertIs(report:write(), report)
  lu.assertEquals(ladies.file.read(path .. "/costs.md"), "## Costs\n\n### One\n\n"
    .. "* of two lines\n* and `code`\n\n| a |  b |\n| - | -: |\n| x |  1 |\n\nfirst\n\nlast\n")
  lu.assertEquals(ladies.file.read(path .. "/costs.csv"), "a,b\nx,1\nx,1\n")
  lu.assertEquals(tostring(report),
    "One\n\n* of two lines\n* and `code`\n\n| a |  b |\n| - | -: |\n| x |  1 |")
  lu.assertEquals({report.files, report.notes, report.tables},
    {{"costs.csv", "costs.md"}, {"first", "last"}, {{{"a", "b"}, {"x", "1"}}}})
end

--- A picture is drawn, shown by the section, and in the terminal on request. Its file has a name
-- that `ladies report` finds.
function tests.test_pictures_of_a_report()
  local path = temporary.path "pictures"
  core.folder.make(path .. "/costs-1")
  local report = Report.new("costs", path .. "/costs-1", "Costs")
  local drawing = {title = "a [b]", series = {{name = "s", points = {{1, 1}, {2, 2}}}}}
  report:picture("a b", drawing, true)
  report:picture("plain", drawing)
  ladies.file.write(report.folder .. "/results.jsonl", "")      -- as that of a study
  report:write()
  local text = tostring(report)
  lu.assertEquals(select(2, text:gsub("a %[b%]", "")), 1)
  local files = {"results.jsonl", "costs.csv", "costs.md"}
  for _, name in ipairs{"a_20b", "plain"} do
    table.insert(files, name .. ".svg")
    if plot.available() then table.insert(files, name .. ".png") end
  end
  lu.assertEquals(report.files, files)
  lu.assertStrContains(ladies.file.read(path .. "/costs-1/costs.md"),
    "\n![a \\[b\\]](a_20b.svg)\n\n![a \\[b\\]](plain.svg)\n")
  paper.report{runs = path, out = path .. "/document.md"}
  lu.assertEquals(core.exists(path .. "/document/costs-1-a_20b.svg"), "file")
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
    ladies.file.write(("%s/table3-%s-1/table3.md"):format(runs, name),
      ("## Table 3, %s\n\n| a |\n\n![cora](cora.svg)\n"):format(name))
    ladies.file.write(("%s/table3-%s-1/cora.svg"):format(runs, name), "picture " .. name)
  end
  ladies.file.write(runs .. "/costs-1/costs.md", "No heading.\n")
  local n, missing = paper.report{runs = runs, out = out}
  lu.assertEquals({n, missing}, {3, {"sweep", "ablate", "figures", "variance"}})
  local text = ladies.file.read(out)
  lu.assertStrContains(text, "## Table 3, default\n\n| a |\n\n"
    .. "![cora](reproduction/table3-default-1-cora.svg)\n\n## Table 3, paper\n")
  lu.assertStrMatches(text,
    ".*%.svg%)\n\n## Table 2, measured: time and memory of a batch\n\nNo heading.\n")
  lu.assertEquals(ladies.file.read(temporary.path "made/reproduction/table3-paper-1-cora.svg"),
    "picture paper")
  -- Text that was written by hand stays, at the top; all else is made anew.
  local found = "\n\n## What was found\n\n* Much.\n\n* More.\n\n## What is done otherwise"
  local edited = text:gsub("\n\n## What is done otherwise", found):gsub("No head", "A head")
  ladies.file.write(out, edited)
  paper.report{runs = runs, out = out}
  local kept = ladies.file.read(out)
  lu.assertEquals(kept, (text:gsub("\n\n## What is done otherwise", found)))
  ladies.file.write(out, "## What was found\n\nNothing.\n")
  paper.report{runs = runs, out = out}
  lu.assertStrContains(ladies.file.read(out),
    "\n\n## What was found\n\nNothing.\n\n## What is done")
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
  local results, above, below = by_preset{default = default, code = code}
  lu.assertEquals(results:texts(), {
    {"data set", "method", "paper", "default", "code", "nearest"},
    {"cora", "LADIES (64)", "77.6 ± 1.0", "81.0 ± 2.5", "77.0 ± 5.0", "code *"},
  })
  lu.assertEquals({above, below}, {{}, {}})
  results, above, below = by_preset{default = default,
    code = table3_folder("higher", "LADIES (64)", {80, 81, 82})}
  lu.assertEquals({#results.rows, above, below}, {1, {"cora LADIES (64)"}, {}})
  local low = table3_folder("lower", "LADIES (64)", {60, 61, 62})
  lu.assertEquals({select(2, by_preset{default = low, code = low})}, {{}, {"cora LADIES (64)"}})
  -- A single run has no interval by which it could be below.
  local single = table3_folder("single", "LADIES (64)", {60})
  lu.assertEquals({select(2, by_preset{default = low, code = single})}, {{}, {}})
  lu.assertNil(by_preset{default = default})
end

return tests
