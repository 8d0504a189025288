--- Studies kept run by run, comparisons of methods, and their numbers.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local Graph = require "ladies.graph"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local message_of = require "tools.message_of"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

local SETTINGS = {
  layers = 2, hidden = 8, batch_size = 20, lr = 0.02, max_batches = 20, eval_every = 10,
}

local function compare(out, methods, given)
  return ladies.compare(tables.merged({methods = methods, settings = SETTINGS, out = out,
    quiet = true, runs = 2, data = toy.new(true)}, given))
end

local PARTITION = ladies.have_metis and "metis" or "random"
local METHODS = {"ladies:7", "fastgcn:40", "graphsage", "vrgcn:2", "clustergcn", "full"}

-- The settings of `own` over those of all.
local function settings_with(own)
  return tables.merged(SETTINGS, own)
end

-- The models of the records of a study.
local function models_of(out)
  local list = {}
  for line in io.lines(out .. "/results.jsonl") do
    list[#list + 1] = line:match '"model":"(%w+)"'
  end
  return list
end

--- All methods train one network: the preset's, or one that each of them can train.
function tests.test_same_network()
  local own = {settings = settings_with{max_batches = 2}, runs = 1}
  local out = temporary.path "with histories"
  compare(out, {"ladies:7", "vrgcn:2"}, own)
  lu.assertEquals(models_of(out), {"gcn", "gcn"})
  out = temporary.path "without histories"
  compare(out, {"ladies:7", "full"}, own)
  lu.assertEquals(models_of(out), {"gcnii", "gcnii"})
end

-- The cell of a table's row below a head.
local function cell(rows, i, head)
  for column, name in ipairs(rows[1]) do
    if name == head then return rows[i + 1][column] end
  end
end

--- A setting in which the methods differ by default stands in the table, and no other.
function tests.test_what_is_not_the_same()
  local own = {settings = settings_with{max_batches = 2}, runs = 1}
  local function compared(name, given)
    local result = compare(temporary.path(name), {"ladies:7", "graphsage:2", "full"},
      tables.merged(own, given))
    local text = table.concat(result.notes, "\n"):gsub("%s+", " ")
    return result.rows, text:match "Not the same for all: ([^.]*)%."
  end
  local rows, text = compared "own p"
  lu.assertEquals({cell(rows, 1, "P"), cell(rows, 2, "P"), cell(rows, 3, "P")},
    {"sym", "row", "sym"})
  lu.assertEquals({cell(rows, 1, "patience"), cell(rows, 3, "patience")}, {"600", "200"})
  lu.assertEquals(text, "P, patience")
  lu.assertStrContains(files.read(temporary.path "own p/compare.md"), "holds for all; --same-p "
    .. "gives all the P of the first.")
  lu.assertStrContains(ladies.file.read(temporary.path "own p/compare.csv"), ",normalize,patience")
  for name, given in pairs{["same p"] = {same_p = true}, ["set"] = {settings = settings_with{
      max_batches = 2, normalize = "sym"}}} do
    rows, text = compared(name, given)
    lu.assertEquals({cell(rows, 1, "P"), text}, {nil, "patience"})
    lu.assertStrContains(files.read(temporary.path(name) .. "/compare.md"), "sym, holds for all.")
    for line in io.lines(temporary.path(name) .. "/results.jsonl") do
      lu.assertStrContains(line, '"normalize":"sym"')
    end
  end
  own.settings.patience = 7
  lu.assertEquals({select(2, compared("all alike", {same_p = true}))}, {})
end

--- The table has the difference to the first method, by seeds, with its interval; a note says what
-- is behind ±.
function tests.test_difference()
  local out = temporary.path "difference"
  local result = compare(out, {"full", "ladies:3"}, {runs = 3})
  local f1 = {}
  for i, line in ipairs(files.lines(out .. "/results.jsonl")) do
    f1[i] = tonumber(line:match '"test_f1":([^,]+)')
  end
  local list = {}
  for seed = 1, 3 do list[seed] = 100 * (f1[2 * seed] - f1[2 * seed - 1]) end
  local mean = (list[1] + list[2] + list[3]) / 3
  local squares = 0
  for seed = 1, 3 do squares = squares + (list[seed] - mean) ^ 2 end
  local half = 4.302652729749464 * math.sqrt(squares / 2) / math.sqrt(3)   -- t of 0.975, 2
  lu.assertEquals({cell(result.rows, 1, "difference"), cell(result.rows, 2, "difference")},
    {"-", ("%+.2f ± %.2f"):format(mean, half)})
  local text = table.concat(result.notes, "\n"):gsub("%s+", " ")
  lu.assertStrContains(text, "Behind ± is the standard deviation over the runs of a method")
  lu.assertStrContains(text, '"difference" is by how much the test F1 is above that of full batch, '
    .. "in points, over runs of the same seed: the mean ± half of its 95 % interval")
  result = compare(temporary.path "one", {"full"}, {runs = 1})
  text = table.concat(result.notes, "\n")
  lu.assertNil(cell(result.rows, 1, "difference"))
  lu.assertStrContains(text, "One run of each: nothing tells")
  lu.assertNotStrContains(text, "±")
end

--- A line says so where the paper does not count the memory of a model.
function tests.test_what_memory_is_counted()
  local function notes_of(name, model)
    local result = compare(temporary.path(name), {"full"},
      {settings = settings_with{max_batches = 2, model = model}, runs = 1})
    return table.concat(result.notes, "\n")
  end
  local note = '"memory MB" is the paper\'s count, of GCNs alone'
  lu.assertStrContains(notes_of("memory of gcnii", "gcnii"), note)
  lu.assertNotStrContains(notes_of("memory of gcn", "gcn"), note)
end

-- ---------------------------------------------------------------- studies

local function run_of(seed)
  local config = tables.merged({seed = seed, method = "full"}, SETTINGS)
  return {key = "run " .. seed, config = config}
end

--- A study that was cut off anywhere does the missing runs, those alone, and ends with the same
-- numbers.
function tests.test_a_study_goes_on()
  local path, data = temporary.path "study", toy.new()
  local study = Study.open(path, "three runs")
  study:run({run_of(1), run_of(2), run_of(3)}, {quiet = true, data = data})
  local results = path .. "/results.jsonl"
  local whole = ladies.file.read(results)
  local first = whole:find "\n"
  local f1 = study:record "run 2".test_f1
  for _, keep in ipairs{0, first // 2, first, first + 10} do
    ladies.file.write(results, whole:sub(1, keep))
    local again = Study.open(path, "three runs")
    lu.assertEquals(again:record "run 1" ~= nil, keep >= first)
    lu.assertNil(again:record "run 2")
    again:run({run_of(1), run_of(2), run_of(3)}, {quiet = true, data = data})
    lu.assertEquals(again:record "run 2".test_f1, f1)
    lu.assertEquals(#files.lines(results), 3)
  end
end

function tests.test_another_study_in_the_folder()
  local path = temporary.path "other"
  Study.open(path, "this")
  lu.assertErrorMsgContains("holds another study (this)", Study.open, path, "that")
end

function tests.test_damaged_results_are_told()
  local path = temporary.path "damaged"
  Study.open(path, "this")
  ladies.file.write(path .. "/results.jsonl", "{nonsense}\n")
  lu.assertErrorMsgContains("byte 0 begins no JSON", Study.open, path, "this")
end

function tests.test_find_takes_the_folder_of_the_same_study()
  local base = temporary.path "numbered"
  lu.assertEquals(Study.find(base, "a").folder.path, base .. "-1")
  lu.assertEquals(Study.find(base, "b").folder.path, base .. "-2")
  lu.assertEquals(Study.find(base, "a").folder.path, base .. "-1")
end

-- ---------------------------------------------------------------- comparisons

function tests.test_table_and_files()
  local out = temporary.path "compared"
  local result = compare(out, {"ladies:5", "full"})
  lu.assertEquals({#result.rows, result.rows[2][1], result.rows[3][1]},
    {3, "LADIES (5)", "full batch"})
  local f1 = {}
  for i, line in ipairs(files.lines(out .. "/results.jsonl")) do
    f1[i] = tonumber(line:match '"test_f1":([^,]+)')
  end
  lu.assertEquals(#f1, 4)                    -- seed by seed: LADIES, full, LADIES, full
  lu.assertEquals(result.rows[2][2], Table.deviation({100 * f1[1], 100 * f1[3]}, "%.2f").text)
  lu.assertEquals(result.rows[3][2], Table.deviation({100 * f1[2], 100 * f1[4]}, "%.2f").text)
  lu.assertStrContains(ladies.file.read(out .. "/compare.md"),
    ("## Methods on %s\n\n%s\n\n"):format(toy.new(true).name, result))
  lu.assertEquals(files.lines(out .. "/compare.csv")[3]:match "^[^,]*,[^,]*,[^,]*",
    ("full batch,2,%s"):format(50 * (f1[2] + f1[4])))
  lu.assertStrMatches(result.notes[1], "4 runs on .*one run at a time, .*")
  local text = tostring(result)
  lu.assertEquals(tostring(compare(out, {"ladies:5", "full"})), text)   -- nothing anew
end

--- Another data set of one's own is another comparison, and the same one goes on.
function tests.test_own_data_is_part_of_the_comparison()
  local out = temporary.path "data"
  local first = tostring(compare(out, {"full"}, {runs = 1}))
  lu.assertEquals(tostring(compare(out, {"full"}, {runs = 1})), first)
  for _, field in ipairs{"features", "labels", "train", "val", "graph"} do
    local other = toy.new(true)
    if field == "features" then
      other.features = other.features:scale_rows(ladies.full(toy.NODES, 2))
    elseif field == "labels" then
      local labels = other.labels:to_table()
      labels[1] = labels[1] % toy.CLASSES + 1
      other.labels = ladies.index(labels)
    elseif field == "graph" then
      other.graph = Graph.new(other.graph.adjacency:add_diag(1))
    else
      other[field] = other[field]:slice(2, #other[field])
    end
    lu.assertErrorMsgContains("holds another study", compare, out, {"full"},
      {runs = 1, data = other})
  end
end

--- The content of a file is part of the comparison: another content at the same path is another
-- one.
function tests.test_the_file_is_part_of_the_comparison()
  local path, out = temporary.path "mine.npz", temporary.path "of_file"
  local function run(runs)
    return ladies.compare{methods = {"full"}, runs = runs, out = out, quiet = true,
      settings = settings_with{dataset = path}}
  end
  ladies.data.save(toy.new(true), path)
  run(1)
  local other = toy.new(true)
  other.features = other.features:scale_rows(ladies.full(toy.NODES, 2))
  ladies.data.save(other, path)
  lu.assertErrorMsgContains("holds another study", run, 1)
  lu.assertErrorMsgContains("holds another study", run, 2)
  lu.assertEquals(#files.lines(out .. "/results.jsonl"), 1)
end

--- A comparison of every method gives each of them the settings that it takes.
function tests.test_all_methods()
  local out = temporary.path "all"
  local result = compare(out, METHODS, {runs = 1,
    settings = settings_with{self_nodes = "previous", parts = 9, clusters = 2, cvd = false,
      partition = PARTITION}})
  local titles = {}
  for i = 1, #METHODS do
    titles[i] = result.rows[i + 1][1]
    for column = 2, 9 do lu.assertStrMatches(result.rows[i + 1][column], "%d[%d.]*") end
  end
  lu.assertEquals(titles, {"LADIES (7)", "FastGCN (40)", "GraphSAGE (5)", "VR-GCN (2)",
    "Cluster-GCN", "full batch"})
  lu.assertStrContains(files.lines(out .. "/results.jsonl")[5], '"parts":9')
end

--- With equal nodes the batches of all that draw samples come near those of the first method, as
-- far as their neighbours go; the others keep theirs.
function tests.test_equal_nodes_of_all_methods()
  local function rows(names, equal)
    local result = compare(temporary.path("equal" .. equal .. #names), names, {equal = equal,
      runs = 1, settings = settings_with{max_batches = 6,
        partition = #names > 2 and PARTITION or nil}})
    local list = {}
    for i = 1, #names do list[i] = tonumber(result.rows[i + 1][9]:match "^%d+") end
    return list
  end
  local given, equal = rows(METHODS, "samples"), rows(METHODS, "nodes")
  for i = 2, 4 do
    lu.assertTrue(math.abs(equal[i] - equal[1]) <= math.max(0.25 * equal[1], 1)
      or equal[i] > equal[1], METHODS[i] .. " " .. equal[i])       -- one neighbour may be too many
    lu.assertNotEquals(equal[i], given[i])
  end
  lu.assertEquals({equal[5], equal[6]}, {given[5], given[6]})
  local of_full = rows({"full", "graphsage:1"}, "nodes")            -- all neighbours, and no more
  lu.assertTrue(of_full[2] <= of_full[1])
end

--- A run gives the same numbers alone as in a comparison, whose runs share nothing.
function tests.test_runs_are_those_of_an_experiment()
  local out = temporary.path "alone"
  compare(out, {"full", "ladies:5"})
  local config = tables.merged({method = "ladies", samples = 5, seed = 2}, SETTINGS)
  local result = ladies.experiment.run(ladies.experiment.configure(config), toy.new(true),
    {quiet = true})
  local line = files.lines(out .. "/results.jsonl")[4]
  lu.assertEquals(tonumber(line:match '"test_f1":([^,]+)'), result.test_f1)
end

--- A run's folder in this one is not taken for a method, and how to name it is told.
function tests.test_a_folder_without_a_slash()
  local folder <close> = shell.folder()
  shell.silent(shell.run{"mkdir", folder.path .. "/mine"})
  ladies.file.write(folder.path .. "/mine/summary.json", "{}")
  lu.assertStrContains(shell.refused(shell.run_ladies({"compare", "--methods", "full,mine",
    "--dataset", toy_study.dataset}, {folder = folder.path})),
    'no method is called "mine"; for the run in this folder write ./mine')
end

--- Where finished runs were computed by other instructions, the notes say by which each was.
function tests.test_finished_runs_computed_elsewhere()
  local folder = temporary.path "elsewhere"
  ladies.train(settings_with{data = toy.new(true), method = "ladies", samples = 5, max_batches = 2,
    quiet = true, out = folder})
  local function note_of(out)
    local result = compare(temporary.path(out), {"full", folder}, {runs = 1})
    return table.concat(result.notes, "\n"):match "Computed by [^\n]*"
  end
  lu.assertNil(note_of "here")
  local path = folder .. "/summary.json"
  local changed, n = ladies.file.read(path):gsub('"numerics": *"', "%0an abacus, ")
  lu.assertEquals(n, 1)
  ladies.file.write(path, changed)
  lu.assertStrContains(note_of "there", " and by an abacus, ")
end

--- A setting that is left open is the same as what it amounts to, where that is named.
function tests.test_open_settings_that_are_named()
  local folders = {}
  for i, own in ipairs{{}, {monitor = "micro-F1", optimizer = "adam"},
    {task = "node_classification", model = "gcn"},
    {input_dropout = 0, precision = "float32", accumulate = 1}, {optimizer = "adamw"},
    {decoupled_decay = 0.01, monitor = "macro-F1"}} do
    folders[i] = temporary.path("open " .. i)
    ladies.train(tables.merged(SETTINGS, {preset = "paper", max_batches = 10, samples = 5,
      data = toy.new(true), quiet = true, out = folders[i]}, own))
  end
  local result = compare(temporary.path "named", table.move(folders, 1, 4, 1, {}))
  lu.assertNotStrContains(table.concat(result.notes, "\n"), "Not the same")
  result = compare(temporary.path "named otherwise", {folders[1], folders[5], folders[6]})
  lu.assertTableContains(result.notes,
    "Not the same for all: optimizer, decoupled decay, monitor.")
  lu.assertEquals({cell(result.rows, 1, "optimizer"), cell(result.rows, 3, "optimizer")},
    {"adam", "adamw"})
  lu.assertEquals({cell(result.rows, 1, "monitor"), cell(result.rows, 3, "monitor")},
    {"micro-F1", "macro-F1"})
end

--- What a network of one's own has of settings that it does not take is not known.
function tests.test_open_settings_of_ones_own()
  local file <close> = shell.file(([[return function(settings)
    return require "ladies".nn.gcn{inputs = %d, outputs = %d, layers = settings.layers, norm = true}
  end]]):format(toy.FEATURES, toy.new(true).classes))
  local folders = {}
  for i, own in ipairs{{model = "gcn", norm = true}, {model = file.path}} do
    folders[i] = temporary.path("own " .. i)
    ladies.train(tables.merged(SETTINGS, {preset = "paper", max_batches = 10, samples = 5,
      data = toy.new(true), quiet = true, out = folders[i]}, own))
  end
  local result = compare(temporary.path "named own", folders)
  lu.assertEquals({cell(result.rows, 1, "norm"), cell(result.rows, 2, "norm")}, {"true", "-"})
end

--- A finished run stands beside others only where it was tested as they are; what else of its task
-- differs has a column.
function tests.test_finished_runs_of_links()
  local folder, common = temporary.path "links", settings_with{task = "link_prediction",
    max_batches = 2}
  ladies.train(tables.merged(common, {data = toy.new(true), method = "graphsage", samples = 3,
    quiet = true, out = folder}))
  local function beside(name, own)
    return compare(temporary.path(name), {"ladies:5", folder}, {runs = 1,
      settings = tables.merged(common, own)})
  end
  local result = beside("alike", {negatives = "degree"})
  lu.assertEquals({cell(result.rows, 1, "negatives"), cell(result.rows, 2, "negatives")},
    {"degree", "uniform"})
  lu.assertStrContains(table.concat(result.notes, "\n"), "holds for all that are trained here.")
  local other = temporary.path "other links"
  ladies.train(tables.merged(common, {data = toy.new(true), method = "ladies", samples = 5,
    negatives = "degree", quiet = true, out = other}))
  result = compare(temporary.path "finished", {folder, other}, {settings = common})
  lu.assertTableContains(result.notes, "Not the same for all: P, negatives.")
  for text, own in pairs{["its edge split seed is 1, and 4 here"] = {edge_split_seed = 4},
    ["its edge split is 85/5/10, and 80/10/10 here"] = {edge_split = "80/10/10"},
    ["its corrupt is both, and to here"] = {corrupt = "to"}} do
    lu.assertErrorMsgContains(("the run in %s was tested otherwise: %s"):format(folder, text),
      beside, "other", own)
  end
end

--- With equal nodes the batches of the second method are as large as those of the first.
function tests.test_equal_nodes()
  local settings = settings_with{self_nodes = "none"}
  local result = compare(temporary.path "nodes", {"ladies:7", "ladies:50"},
    {equal = "nodes", settings = settings, runs = 1})
  lu.assertEquals(result.rows[3][1], "LADIES (7)")
  lu.assertEquals(result.rows[3][9], result.rows[2][9])
  lu.assertNotStrContains(files.read(temporary.path "nodes/compare.md"), "Not equal")
end

--- The notes name methods whose numbers of nodes cannot be made equal.
function tests.test_nodes_that_are_not_equal()
  local result = compare(temporary.path "unequal", {"ladies:2", "full"},
    {equal = "nodes", runs = 1})
  local ratio = tonumber(result.rows[3][9]) / tonumber(result.rows[2][9])
  lu.assertTrue(ratio > 2)
  local text = files.read(temporary.path "unequal/compare.md"):gsub("%s+", " ")
  lu.assertStrContains(text, "Not equal: full batch comes no nearer than ")
  lu.assertStrContains(text, " times the rows a batch of LADIES (2).")
end

function tests.test_equal_seconds()
  local settings = tables.merged(SETTINGS)
  settings.max_batches = nil
  local out = temporary.path "seconds"
  compare(out, {"ladies:5", "full"}, {equal = "seconds", seconds = 0.05, runs = 1,
    settings = settings})
  for _, line in ipairs(files.lines(out .. "/results.jsonl")) do
    lu.assertStrContains(line, '"stopped":"max_seconds"')
    local seconds = tonumber(line:match '"seconds":([^,]+)')
    lu.assertTrue(seconds >= 0.05 and seconds < 30, line)
  end
  lu.assertNotStrContains(files.read(out .. "/compare.md"), "Not equal")
  out = temporary.path "too few batches"
  compare(out, {"ladies:5"}, {equal = "seconds", seconds = 60, runs = 1})
  lu.assertStrMatches(files.read(out .. "/compare.md"):gsub("%s+", " "), ".*Not equal: LADIES "
    .. "%(5%) trained for [%d.]+ of 60 seconds, as its runs ended by other bounds.*")
end

function tests.test_wrong_input()
  local out = temporary.path "wrong"
  lu.assertErrorMsgContains('did you mean "ladies"?', compare, out, {"lades"})
  lu.assertErrorMsgContains("full takes no number of samples", compare, out, {"full:3"})
  lu.assertErrorMsgContains("samples of ladies must be a positive integer", compare, out,
    {"ladies:0"})
  lu.assertErrorMsgContains("name at least one method", compare, out, {})
  lu.assertErrorMsgContains('equal = "seconds" needs seconds', compare, out, {"full"},
    {equal = "seconds"})
  lu.assertErrorMsgContains('seconds need equal = "seconds"', compare, out, {"full"}, {seconds = 3})
  lu.assertErrorMsgContains("no method has parts", compare, out, {"full", "ladies"},
    {settings = {parts = 3}})
  lu.assertErrorMsgContains("settings.method is not taken: see the option methods", compare, out,
    {"ladies"}, {settings = {method = "full"}})
end

--- A method that is misspelt, or that the common model cannot train, is refused with a hint.
function tests.test_methods_that_cannot_be_compared()
  local function refusal(method)
    return message_of(ladies.compare, {methods = {"ladies", method}, settings = {dataset = "none"}})
  end
  lu.assertStrContains(refusal "fastgnc", 'did you mean "fastgcn"?')
  lu.assertStrContains(refusal "none", "does not go with the method none: ")
  lu.assertStrContains(refusal "none", "models that do: embedding, mlp")
end

return tests
