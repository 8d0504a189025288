--- Compares the numbers that `ladies info` prints of data sets in every layout, and sums over what
-- is read, with those that NumPy, SciPy and pandas count in the same files
-- (fixtures/count_formats.py).
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local bundle = require "tools.bundle"
local json = require "ladies.base.json"
local options = require "ladies.base.options"
local shell = require "tools.shell"
local fixture = require "reference.fixture"

local tests = {}
local expected = json.decode(ladies.file.read(here .. "/fixtures/info_numbers.json"), "numbers")
local collection = os.getenv "LADIES_DATA"

local function number(text) return math.tointeger(tonumber((text:gsub(",", "")))) end

-- The numbers of the output, under the names of the fixture.
local function numbers_of(out)
  local rows = {}
  for key, text in out:gmatch "\n  (%l+) +([^\n]+)" do rows[key] = rows[key] or text end
  local function find(key, pattern)
    local found = rows[key]:match(pattern)
    return found and number(found) or 0
  end
  local dense = rows.features:find ", dense" ~= nil
  local found = {
    nodes = find("nodes", "^[%d,]*%d"), isolated = find("nodes", "([%d,]+) isolated"),
    edges = find("edges", "^[%d,]*%d"), directed = rows.edges:find ", directed" ~= nil,
    self_loops = find("edges", "self%-loops[^:]*: ([%d,]*%d)"),
    merged = find("edges", "given more than once: ([%d,]*%d)"),
    entries = find("entries", "^[%d,]*%d"),
    components = find("components", "^[%d,]*%d"),
    largest = find("components", "largest with ([%d,]+) nodes"),
    columns = find("features", "^[%d,]*%d"), stored = find("features", "sparse: ([%d,]*%d)"),
    density = dense and "100.00" or rows.features:match "([%d.]+) %%",
    unlabelled = find("classes", "unlabelled: ([%d,]*%d)"),
    split = {}, classes = {},
  }
  if found.components == 1 then found.largest = found.nodes end
  if dense then found.stored = found.nodes * found.columns end
  for count, part in rows.split:gmatch "([%d,]*%d) (%l+)" do found.split[part] = number(count) end
  for count in out:match "\nclasses\n(.-)\n\n":gmatch " ([%d,]*%d) *#*%f[\n\0]" do
    found.classes[#found.classes + 1] = number(count)
  end
  local mean, median, most =
    out:match "\ndegrees[%l ,]*: mean ([%d.]+), median ([%d.]+), largest ([%d,]+)"
  found.degree_mean, found.degree_median, found.degree_most = mean, median, number(most)
  return found
end

-- Over the entries, row * (column + 1).
local function entry_sum(matrix)
  local sum, cols = 0, matrix:col_of():to_table()
  for e, row in ipairs(matrix:row_of():to_table()) do sum = sum + row * (cols[e] + 1) end
  return sum
end

local function place_sum(ids)
  local sum = 0
  for place, id in ipairs(ids:to_table()) do sum = sum + place * id end
  return sum
end

-- The sums of a data set under the names of the fixture.
local function sums_of(data)
  local sums = {values = 0, labels = place_sum(data.labels)}
  sums.edges = entry_sum(data.graph.adjacency)
  if options.class_of(data.features) == "Matrix" then sums.features = entry_sum(data.features) end
  for _, sum in ipairs(data.features:row_sums():to_table()) do sums.values = sums.values + sum end
  for _, part in ipairs{"train", "val", "test"} do
    sums[part] = data[part] and place_sum(data[part])
  end
  return sums
end

-- Checks the numbers that `ladies info` prints, and the sums; edges are directed where these were
-- counted so.
local function check(name, path)
  local directed = expected[name].directed and "keep" or "symmetrize"
  local found = numbers_of(shell.succeeded(shell.run_ladies{"info", path, "--directed", directed}))
  found.sums = sums_of(ladies.data.load(path, {directed = directed}))
  local values = expected[name].sums.values
  lu.assertAlmostEquals(found.sums.values, values, 0.006, name)
  found.sums.values = values
  lu.assertEquals(found, expected[name], name)
end

function tests.test_layouts_of_others()
  local folder <close> = shell.folder()
  bundle.write(fixture.path "formats", folder.path, "")
  for _, name in ipairs{"reddit", "ogbn_small", "tables", "papers"} do
    check(name, folder.path .. "/" .. name)
  end
end

-- A test for each of the published ones, so that a skip is counted.
for _, name in ipairs{"planetoid/ind.cora", "planetoid/ind.citeseer", "planetoid/ind.pubmed",
  "npz/coauthor_cs.npz", "npz/amazon_photo.npz"} do
  tests["test_" .. name:gsub("%W", "_")] = function()
    if not collection then lu.skip "LADIES_DATA is not set" end
    check(name, collection .. "/" .. name)
  end
end

return tests
