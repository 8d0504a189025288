--- Tests that the preparation of a data set is recorded in order, kept in files, and carried out
-- again on the same data set or another one.
local lu = require "luaunit"
local ladies = require "ladies"
local hashes_of = require("ladies.data.hashes").of
local json = require "ladies.base.json"
local message_of = require "tools.message_of"
local preparation = require "ladies.data.preparation"
local standardized = require "ladies.data.standardized"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"

local saved = temporary.saved
local tests = {}

-- A ring of 12 nodes with three features; other factors give other features.
local function ring(factor, more)
  local arrays = {edges = {}, labels = {}, features = {}}
  for v = 1, 12 do
    arrays.edges[v] = {v, v % 12 + 1}
    arrays.labels[v] = v % 3 + 1
    arrays.features[v] = {v * factor, v * v % 7, (v % 4) * factor - 2}
  end
  return ladies.data.from_arrays(tables.merged(arrays, more))
end

-- The preparation of a data set as the record of a run has it, read back, with its scale.
local function recorded(data)
  local plan = json.decode(json.encode(preparation.plain(data)))
  for _, step in ipairs(plan.steps) do
    if step.call == "standardized" then step.scale = standardized.scale_of(data) end
  end
  return plan
end

-- Reads the data set of a plan, or another one, and prepares it by the plan.
local function again(plan, other)
  local data = ladies.data.load(other or plan.path, not other and {directed = plan.directed,
    split = plan.split, split_seed = plan.split_seed} or nil)
  return preparation.apply("here", data, plan.steps)
end

local function calls(data)
  return tables.map(data.preparation.steps, function(step) return step.call end)
end

--- All ways of changing a data set are remembered in their order, and by a copy alone.
function tests.test_what_is_remembered()
  local path = saved("ring.npz", ring(1))
  local data = ladies.data.load(path, {directed = "symmetrize"}):split("50/20/30", {seed = 3})
  local copy = ladies.data.shuffled(ladies.data.standardized(ladies.data.row_normalized(data)),
    {what = "labels", seed = 5})
  lu.assertEquals(preparation.plain(copy), {path = path, directed = "symmetrize",
    split = "50/20/30", split_seed = 3, steps = {{call = "row_normalized"},
    {call = "standardized"}, {call = "shuffled", what = "labels", seed = 5}}})
  lu.assertEquals(calls(data), {})
  lu.assertNil(preparation.plain(ring(1)).path)
  data.path = nil
  lu.assertNil(preparation.plain(data).path)
end

--- The recorded preparation gives the same data set, by all its hashes, whatever the order.
function tests.test_again()
  local path = saved("again.npz", ring(1))
  local row, standard = ladies.data.row_normalized, ladies.data.standardized
  for _, change in ipairs{
    function(data) return data end,
    function(data) return standard(row(data)) end,
    function(data) return row(standard(data)) end,
    function(data) return ladies.data.shuffled(standard(data), {what = "both", seed = 2}) end,
  } do
    local data = change(ladies.data.load(path, {split = "50/20/30", split_seed = 4}))
    local same = again(recorded(data))
    lu.assertEquals(hashes_of(same), hashes_of(data))
    lu.assertEquals(preparation.plain(same), preparation.plain(data))
  end
end

--- Degrees of another graph have as many columns; the same degrees in a file are no others.
function tests.test_degrees()
  local function graph(n)
    local arrays = {edges = {}, labels = {}, make_features = "degree"}
    for v = 1, 12 do arrays.labels[v] = 1 end
    for v = 2, n do arrays.edges[v - 1] = {1, v} end
    return arrays
  end
  local data = ladies.data.from_arrays(graph(9))
  local plan = preparation.plain(data)
  lu.assertEquals(plan.make_features, {kind = "degree", columns = 5})
  local smaller = ladies.data.from_arrays(tables.merged(graph(3),
    {make_features = plan.make_features}))
  lu.assertEquals(smaller.features.n_cols, 5)
  for _, ending in ipairs{".npz", ".safetensors"} do
    local read = ladies.data.load(saved("degrees" .. ending, smaller), {make_features = "degree"})
    lu.assertTrue(read.features_are_degrees)
    lu.assertEquals(read.features:hash(), smaller.features:hash())
    -- They are counted anew where some edges are taken away.
    local shuffled = ladies.data.shuffled(read, {what = "edges", seed = 2})
    lu.assertEquals(shuffled.features:hash(),
      ladies.data.shuffled(smaller, {what = "edges", seed = 2}).features:hash())
  end
  lu.assertStrContains(message_of(ladies.data.load, saved("given.npz", ring(1)),
    {make_features = "degree"}), "there are features")
end

--- A file has what was done to its features, as arrays that other programs read, and it is not done
-- again.
function tests.test_files()
  local own = ring(1, {train = {1, 2, 3, 4, 5}})
  local data = ladies.data.standardized(ladies.data.row_normalized(own))
  local scale = data.feature_scale
  for _, ending in ipairs{".npz", ".safetensors"} do
    local path = saved("prepared" .. ending, data)
    local read = ladies.data.load(path)
    lu.assertEquals(read.features:hash(), data.features:hash())
    lu.assertEquals(calls(read), {"row_normalized", "standardized"})
    lu.assertEquals({read.feature_scale.mean:hash(), read.feature_scale.deviation:hash()},
      {scale.mean:hash(), scale.deviation:hash()})
    lu.assertNil(read.features_are_degrees)
    lu.assertEquals(read.notes, {})
    lu.assertStrContains(message_of(ladies.data.standardized, read), "are standardized already")
    -- A run on this file has both steps recorded, and another data set gets both.
    local other = saved("raw" .. ending, ring(3))
    lu.assertEquals(again(recorded(read), other).features:hash(),
      ladies.data.standardized(ladies.data.row_normalized(ring(3)), data).features:hash())
    lu.assertEquals(again(recorded(read)).features:hash(),
      data.features:hash())
    lu.assertEquals(again(recorded(data), path).features:hash(),
      data.features:hash())
  end
  local file <close> = ladies.npz.open(temporary.path "prepared.npz")
  lu.assertEquals(file:strings "feature_steps", {"row_normalized", "standardized"})
  lu.assertEquals({file:dtype "feature_mean", file:shape "feature_deviation"}, {"float32", {3}})
end

--- A data set is refused whose features went through steps that those of the run's data set did
-- not.
function tests.test_what_cannot_be_done_alike()
  local function standard(data) return ladies.data.standardized(data) end
  local row, own = ladies.data.row_normalized, ladies.data.load(saved("plain.npz", ring(1)))
  for text, pair in pairs{
    ["here: the features of a are standardized already, and those of the run's data set as they "
      .. "were given"] = {own, standard(ring(3))},
    ["here: the features of a are row_normalized already, and those of the run's data set "
      .. "standardized"] = {standard(own), row(ring(3))},
    ["here: the features of a are row_normalized, then standardized already, and those of the "
      .. "run's data set row_normalized"] = {row(own), standard(row(ring(3)))},
    ["here: the features of a are standardized already, and those of the run's data set "
      .. "standardized by another mean and deviation"] = {standard(own), standard(ring(3))},
  } do
    lu.assertEquals(message_of(again, recorded(pair[1]),
      saved("a.npz", pair[2])), text)
  end
  lu.assertStrContains(message_of(again, recorded(standard(own)),
    saved("two.npz", ring(1, {features = ladies.ones(12, 2)}))), "has 2 columns of features")
end

--- Arrays of strangers that do not fit are refused in one line.
function tests.test_files_that_are_wrong()
  local path, wrong = saved("right.npz", ladies.data.standardized(ring(1))), temporary.path "w.npz"
  for text, changes in pairs{
    ['feature_steps[0] is "bleached", must be row_normalized or standardized'] =
      {feature_steps = {"bleached"}},
    ["has standardized features, but no feature_mean"] = {feature_mean = false},
    ["feature_deviation has length 2, must have 3, one for each column of the features"] =
      {feature_deviation = ladies.ones(2)},
    ["feature_mean has length -1, must have 3"] = {feature_mean = ladies.ones(3, 3)},
    ["feature_mean must be finite numbers"] = {feature_mean = ladies.tensor{1, 0 / 0, 2}},
    ["feature_deviation must be positive numbers"] = {feature_deviation = ladies.tensor{1, 0, 2}},
  } do
    local file <close> = ladies.npz.open(path)
    local arrays = {}
    for _, name in ipairs(file:names()) do
      local dtype = file:dtype(name)
      arrays[name] = dtype == "float32" and file:tensor(name)
        or dtype:find "U" and file:strings(name) or ladies.npz.int64(file:numbers(name))
    end
    for name, value in pairs(changes) do arrays[name] = value or nil end
    ladies.npz.write(wrong, arrays)
    lu.assertStrContains(message_of(ladies.data.load, wrong), wrong .. ": " .. text)
  end
  -- Features without a column have a scale without an element.
  local none = ladies.data.standardized(ring(1, {features = ladies.zeros(12, 0)}))
  lu.assertEquals(#ladies.data.load(saved("none.npz", none)).feature_scale.mean, 0)
  lu.assertStrContains(message_of(preparation.check, "here", {steps = {{call = "fold"}}}),
    "here: there is no step fold")
  lu.assertStrContains(message_of(preparation.check, "here", {path = 3}), "path must be a string")
end

return tests
