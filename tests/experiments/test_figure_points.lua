--- Tests the points of figures that are made of records.
local lu = require "luaunit"
local points = require "experiments.paper.figures.points"

local tests = {}

local ROOT = math.sqrt(0.5)

-- The list without the runs' own values, which are checked apart.
local function numbers(list)
  local rows = {}
  for i, at in ipairs(list) do rows[i] = ("%.6g %.6g %.6g %.6g"):format(table.unpack(at)) end
  return rows
end

local RECORDS = {
  {test_f1 = 0.5, trace = {{batch = 10, seconds = 1, test = 0.25},
    {batch = 20, seconds = 3, test = 0.5}, {batch = 30, seconds = 5, test = 0.75}}},
  {test_f1 = 0.75, trace = {{batch = 10, seconds = 2, test = 0.75},
    {batch = 20, seconds = 4, test = 1}}},
}

--- Curves go as far as all runs went, and the spread is the standard deviation.
function tests.test_traces()
  local list = points.of_traces(RECORDS, "test", "batch")
  local spread = 50 * ROOT
  lu.assertEquals(numbers(list), numbers{{10, 50, 50 - spread, 50 + spread},
    {20, 75, 75 - spread, 75 + spread}})
  lu.assertEquals({list[1].values, list[2].values}, {{25, 75}, {50, 100}})
  lu.assertEquals(numbers(points.of_traces(RECORDS, "test", "seconds")),
    numbers{{1.5, 50, 50 - spread, 50 + spread}, {3.5, 75, 75 - spread, 75 + spread}})
  lu.assertEquals(numbers(points.of_traces({RECORDS[1]}, "test", "batch")),
    {"10 25 25 25", "20 50 50 50", "30 75 75 75"})
  lu.assertEquals(points.of_traces(RECORDS, "val", "batch"), {})
  lu.assertEquals(points.of_traces({}, "test", "batch"), {})
  lu.assertEquals(points.of_traces({RECORDS[1], {trace = {}}}, "test", "batch"), {})
end

--- One point, with the 95 % interval.
function tests.test_kept()
  local at = points.of_kept(RECORDS, 7)
  local half = 12.7062047364 * 25 * ROOT / math.sqrt(2)
  lu.assertEquals(numbers{at}, numbers{{7, 62.5, 62.5 - half, 62.5 + half}})
  lu.assertEquals(at.values, {50, 75})
  lu.assertEquals(numbers{points.of_kept({RECORDS[2]}, 1)}, {"1 75 75 75"})
  lu.assertNil(points.of_kept({{}}, 1))
  lu.assertNil(points.of_kept({}, 1))
end

function tests.test_by_method()
  local function case(method, depth, record)
    return {method = method, depth = depth, records = {record}}
  end
  local series = points.by_method({case("a", 2, RECORDS[1]), case("b", 2, {}),
    case("b", 3, RECORDS[2]), case("a", 4, RECORDS[2])}, "depth",
    function(one) return one.method end)
  lu.assertEquals({#series, series[1].name, series[2].name}, {2, "a", "b"})
  lu.assertEquals(numbers(series[1].points), {"2 50 50 50", "4 75 75 75"})
  lu.assertEquals(numbers(series[2].points), {"3 75 75 75"})
end

function tests.test_range()
  lu.assertEquals(points.x_range{{points = {{3}, {1}}}, {points = {}}, {points = {{2}, {5}}}},
    {1, 5})
  lu.assertEquals(points.x_range{{points = {{4}}}}, {4, 4})
  lu.assertNil(points.x_range{{points = {}}})
end

return tests
