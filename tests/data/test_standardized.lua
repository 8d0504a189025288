--- The setting features = "standardized": columns of one scale, by the training nodes of the data
-- set that a model was trained on.
local lu = require "luaunit"
local ladies = require "ladies"
local bundle = require "tools.bundle"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local standardized = require "ladies.data.standardized"

local tests = {}
local folder = shell.folder_of_each(tests)

-- Features of six nodes, of which 1, 2 and 4 are for training; the last column is the same for
-- these.
local VALUES = {{1, 500, 7}, {2, 900, 7}, {30, -4, 8}, {6, 100, 7}, {0, 0, 7}, {-3, 2000, 9}}
local TRAIN = {1, 2, 4}

local function dataset(values, train)
  return ladies.data.from_arrays{edges = {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}},
    features = ladies.tensor(values), labels = {1, 2, 1, 2, 1, 2}, train = train,
    val = train and {3}, test = train and {5, 6}}
end

-- Returns what `values` become by the columns of these rows of `by`, in plain arithmetic.
local function expected(values, by, rows)
  local out = {}
  for i = 1, #values do out[i] = {} end
  for j = 1, #values[1] do
    local sum, squares = 0, 0
    for _, v in ipairs(rows) do sum = sum + by[v][j] end
    local mean = sum / #rows
    for _, v in ipairs(rows) do squares = squares + (by[v][j] - mean) ^ 2 end
    local deviation = math.sqrt(squares / #rows)
    for i = 1, #values do
      out[i][j] = (values[i][j] - mean) / (deviation > 0 and deviation or 1)
    end
  end
  return out
end

local function assert_close(found, wanted)
  found = found:to_table()
  lu.assertEquals(#found, #wanted)
  for i, row in ipairs(wanted) do
    for j, value in ipairs(row) do
      lu.assertAlmostEquals(found[i][j], value, 1e-5 * math.max(1, math.abs(value)),
        ("row %d, column %d"):format(i, j))
    end
  end
end

--- Means and deviations are those of the training nodes; the rest is the same data set.
function tests.test_columns_by_the_training_nodes()
  local data = dataset(VALUES, TRAIN)
  local copy = ladies.data.standardized(data)
  assert_close(copy.features, expected(VALUES, VALUES, TRAIN))
  lu.assertEquals(data.features:to_table(), VALUES)
  lu.assertIs(copy.labels, data.labels)
  assert_close(ladies.data.standardized(dataset(VALUES)).features,
    expected(VALUES, VALUES, {1, 2, 3, 4, 5, 6}))
end

--- By the scale of another data set, a value becomes what it would become in that one.
function tests.test_by_another_data_set()
  local other = {{4, 0, 7}, {5, 1, 8}, {6, 2, 7}, {7, 3, 9}, {8, 4, 7}, {9, 5, 7}}
  local copy = ladies.data.standardized(dataset(other, {1, 2}), dataset(VALUES, TRAIN))
  assert_close(copy.features, expected(other, VALUES, TRAIN))
  lu.assertErrorMsgContains("has 3 columns of features", ladies.data.standardized,
    dataset(VALUES, TRAIN), dataset({{1}, {2}, {3}, {4}, {5}, {6}}))
end

--- In a data set of many graphs, the scale is that of the nodes of the training graphs.
function tests.test_by_the_training_graphs()
  local data = ladies.data.from_arrays{edges = {{1, 2}, {3, 4}, {5, 6}},
    features = ladies.tensor(VALUES), graph_of = {1, 1, 2, 2, 3, 3}, labels = {1, 2, 1},
    train = {1, 3}, test = {2}}
  assert_close(ladies.data.standardized(data).features, expected(VALUES, VALUES, {1, 2, 5, 6}))
end

function tests.test_what_cannot_be_standardized()
  local sparse = ladies.data.from_arrays{edges = {{1, 2}}, labels = {1, 2}, train = {1},
    features = ladies.matrix{n_rows = 2, n_cols = 2, rows = ladies.index{1}, cols = ladies.index{2},
      values = ladies.tensor{1}}}
  lu.assertErrorMsgContains("are sparse", ladies.data.standardized, sparse)
  lu.assertErrorMsgContains("too large to be squared", ladies.data.standardized,
    dataset({{1e30}, {-1e30}, {0}, {0}, {0}, {0}}))
  lu.assertErrorMsgContains("must be a Dataset", ladies.data.standardized, {})
end

--- The column that is reported is the one that drowns the others, and none is where all are alike.
function tests.test_the_largest_column()
  local data = dataset({{1, 5e4, 2}, {2, 1, 4}, {3, 9, 1}, {2, 9, 3}, {1, 9, 2}, {1, 9, 7}})
  local column, largest, median = standardized.largest(data)
  lu.assertEquals(column, 2)
  lu.assertAlmostEquals(largest, 20412.4, 0.1)      -- the root of the mean of squares
  lu.assertAlmostEquals(median, math.sqrt(83 / 6), 1e-5)
  -- A column of years hardly spreads, and drowns the others all the same.
  lu.assertEquals(standardized.largest(dataset({{1, 2000}, {2, 2001}, {0, 2003}, {1, 1999},
    {0, 2000}, {2, 2005}})), 2)
  lu.assertNil(standardized.largest(dataset({{1, 50}, {2, 90}, {1, 9}, {2, 8}, {0, 1}, {0, 2}})))
  lu.assertNil(standardized.largest(ladies.data.standardized(data)))
  lu.assertNil(standardized.largest(dataset({{1, 5}, {1, 9}, {1, 9}, {1, 8}, {1, 1}, {1, 2}})))
end

-- Writes a data set as tables into a folder of this name.
local function write_tables(name, scale)
  local features, labels, edges = {}, {}, {}
  for v = 0, 29 do
    features[#features + 1] = ("%g,%d"):format((v % 7 - 3) * scale, (v * 37 % 11) * 1000)
    labels[#labels + 1] = v % 7 > 2 and 1 or 0
    edges[#edges + 1] = ("%d,%d"):format(v, (v + 7) % 30)
  end
  os.execute("mkdir " .. shell.quote(folder.path .. "/" .. name))
  for file, lines in pairs{features = features, labels = labels, edges = edges} do
    bundle.write_file(("%s/%s/%s.csv"):format(folder.path, name, file),
      table.concat(lines, "\n") .. "\n")
  end
end

local function run(...)
  return shell.succeeded(shell.run_ladies({...}, {folder = folder.path}))
end

--- A copy keeps its scale, by which another data set becomes the same as by the original; what is
-- standardized already is not standardized again.
function tests.test_a_copy_gives_its_scale()
  local other = dataset({{4, 0, 7}, {5, 1, 8}, {6, 2, 7}, {7, 3, 9}, {8, 4, 7}, {9, 5, 7}}, {1, 2})
  local own = dataset(VALUES, TRAIN)
  local copy = ladies.data.standardized(own)
  lu.assertEquals(copy.feature_scale.mean:to_table(), {3, 500, 7})
  lu.assertEquals(copy.feature_scale.deviation:to_table()[3], 1)
  lu.assertNil(own.feature_scale)
  lu.assertEquals(ladies.data.standardized(other, copy).features:hash(),
    ladies.data.standardized(other, own).features:hash())
  lu.assertErrorMsgContains("are standardized already", ladies.data.standardized, copy)
  -- Features that were changed again are not those of the scale alone.
  lu.assertNil(ladies.data.row_normalized(copy).feature_scale)
end

--- `ladies train` says that it may help, and does it; a model is evaluated on another data set by
-- the columns of its own, whatever became of these since, and an exported one says so.
function tests.test_a_run_and_another_data_set()
  write_tables("own", 1)
  write_tables("other", 5)
  local few = {"--layers", "2", "--hidden", "4", "--max-batches", "3", "--split", "50/20/30"}
  local _, err = run("train", "./own", "--out", "plain", table.unpack(few))
  lu.assertStrContains(err, "the column 2 (from 1) of its features has values of about ")
  lu.assertStrContains(err, "--features standardized")
  _, err = run("train", "./own", "--out", "run", "--features", "standardized", table.unpack(few))
  lu.assertNotStrContains(err, "standard deviation")
  -- A note that was printed when the data set was read is not printed again by commands that use
  -- the run.
  lu.assertStrContains(err, "go both ways")
  _, err = run("evaluate", "run")
  lu.assertEquals(err, "")
  _, err = run("evaluate", "run", "--dataset", "./other")
  lu.assertStrContains(err, "go both ways")
  local here = folder.path
  lu.assertEquals(json.decode(ladies.file.read(here .. "/run/config.json")).features,
    "standardized")
  local function scores() return (run("evaluate", "run", "--dataset", "./other"):match "\n(.*)") end
  local wanted = scores()                                 -- after the line with the seconds
  bundle.write_file(here .. "/own/features.csv",
    (ladies.file.read(here .. "/own/features.csv"):gsub("^[^\n]*", "100,100")))
  lu.assertEquals(scores(), wanted)
  local out = run("export", "run", "--dataset", "./other")
  lu.assertStrContains(out, 'x = (x - scale["features.mean"]) / scale["features.deviation"]')
  lu.assertStrContains(out, 'scale = numpy.load("run/model.npz")')
  lu.assertNotStrContains((run("export", "plain", "--dataset", "./other")), "standardized")
end

return tests
