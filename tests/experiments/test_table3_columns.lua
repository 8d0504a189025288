--- Table 3's columns of known records, and the paper's numbers.
local lu = require "luaunit"
local columns = require "experiments.paper.table3.columns"
local published = require "experiments.paper.table3.published"

local tests = {}

local MIB = 1 << 20

local function row(title, ...)
  return {dataset = "cora", title = title, records = {...}}
end

-- Two runs of LADIES on Cora, one of a method that the paper lacks and without F1, and no run.
local ROWS = {
  row("LADIES (64)",
    {test_f1 = 0.5, best_batch = 100, batches = 900, batch_ms = 20, seconds = 9,
      memory_paper = 3 * MIB, memory_batch = 5 * MIB, memory_parameters = 2 * MIB},
    {test_f1 = 0.75, batches = 300, batch_ms = 10, seconds = 3,
      memory_paper = 5 * MIB, memory_batch = 6 * MIB, memory_parameters = 2 * MIB}),
  row("mine", {batches = 3, batch_ms = 1, seconds = 0.25, memory_paper = MIB, memory_batch = 0,
    memory_parameters = MIB / 4}),
  {dataset = "pubmed", title = "LADIES (64)", records = {}},
}

--- Every column of known records.
function tests.test_columns()
  lu.assertEquals(columns.table(ROWS, "cora"):texts(), {
    {"method", "F1 %", "paper", "total s", "paper", "memory MB", "paper", "batch ms", "paper",
      "batches", "paper", "held MB", "to the end s"},
    {"LADIES (64)", "62.5 ± 17.7", "77.6 ± 1.4", "2.50 ± 0.71", "4.19 ± 1.16", "4.00", "3.13",
      "15.00 ± 7.07", "9.68 ± 0.48", "200 ± 141", "436 ± 118", "7.50 ± 0.71", "6.00 ± 4.24"},
    {"mine", "-", "-", "0.00", "-", "1.00", "-", "1.00", "-", "3", "-", "0.25", "0.25"},
  })
  lu.assertEquals(columns.table(ROWS, "pubmed"):texts()[2], {"LADIES (64)", "-", "76.8 ± 0.8", "-",
    "2.57 ± 0.72", "-", "1.92", "-", "9.43 ± 0.47", "-", "277 ± 82", "-", "-"})
end

-- Cells between commas, numbers with six digits.
local function texts(cells)
  local list = {}
  for i, cell in ipairs(cells) do
    list[i] = type(cell) == "number" and ("%.6g"):format(cell) or cell
  end
  return table.concat(list, ",")
end

function tests.test_columns_as_numbers()
  local head, first, second = table.unpack(columns.table(ROWS, "cora"):numbers())
  local third = columns.table(ROWS, "pubmed"):numbers()[2]
  lu.assertEquals(table.concat(head, ",", 1, 11), "dataset,method,runs,F1_percent,F1_percent_sd,"
    .. "F1_percent_paper,F1_percent_paper_sd,total_s,total_s_sd,total_s_paper,total_s_paper_sd")
  lu.assertEquals(table.concat(head, ",", #head - 3),
    "held_MB,held_MB_sd,to_the_end_s,to_the_end_s_sd")
  lu.assertEquals(texts(first), "cora,LADIES (64),2,62.5,17.6777,77.6,1.4,2.5,0.707107,4.19,1.16,4,"
    .. "1.41421,3.13,,15,7.07107,9.68,0.48,200,141.421,436,118.4,7.5,0.707107,6,4.24264")
  lu.assertEquals(texts(second), "cora,mine,1,,,,,0.003,,,,1,,,,1,,,,3,,,,0.25,,0.25,")
  lu.assertEquals(texts(third), "pubmed,LADIES (64),0,,,76.8,0.8,,,2.57,0.72,,,1.92,,,,9.43,0.47,,,"
    .. "277,82.2,,,,")
end

function tests.test_picture()
  local drawn = columns.picture(ROWS, "cora")
  lu.assertEquals(#drawn.series, 1)                       -- without F1 there is no point
  local x, y, low, high = table.unpack(drawn.series[1].points[1])
  lu.assertEquals({x, y}, {2.5, 62.5})
  lu.assertAlmostEquals(y - low, 17.6776695, 1e-6)
  lu.assertAlmostEquals(high - y, 17.6776695, 1e-6)
end

-- Sums over the paper's rows of a data set: mean and deviation of F1, seconds, memory, ms a batch
-- and batches.
local SUMS = {
  cora = {410.70, 16.40, 18.12, 9.31, 523.05, 0, 132.92, 2.64, 1207.80, 477.40},
  citeseer = {378.30, 23.10, 14.81, 8.47, 726.75, 0, 118.66, 4.28, 1040.40, 466.20},
  pubmed = {446.90, 22.10, 19.48, 8.45, 653.68, 0, 144.60, 2.60, 997.40, 438.50},
  reddit = {494.80, 35.70, 507.91, 93.81, 3701.06, 0, 1740.19, 6.85, 1474.00, 447.60},
}

function tests.test_sums_of_the_paper()
  for name, expected in pairs(SUMS) do
    local sums = {}
    for i, field in ipairs{"test_f1", "seconds", "memory_paper", "batch_ms", "batches"} do
      for part = 1, 2 do
        local sum = 0
        for _, numbers in pairs(published[name]) do sum = sum + (numbers[field][part] or 0) end
        sums[2 * i - 2 + part] = sum
      end
    end
    for i, sum in ipairs(sums) do lu.assertAlmostEquals(sum, expected[i], 1e-9, name) end
  end
end

return tests
