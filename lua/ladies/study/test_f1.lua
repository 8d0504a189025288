--- Computes the test F1s in percent of variants that ladies.study.repeated has trained, and
-- differences between variants, seed by seed.

local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"

local test_f1 = {}

--- Returns the test F1s of a variant in percent, by seed; a run that failed leaves a hole, which is
-- false. Without a variant there are none.
function test_f1.of(variant)
  return statistics.column(variant and variant.by_seed or {}, "test_f1", 100)
end

--- Returns by how much a variant's test F1 is above that of another one, for seeds that both have.
function test_f1.differences(variant, other)
  return statistics.differences(test_f1.of(variant), test_f1.of(other))
end

--- Returns the table cell with the mean of a variant's test F1s and its 95 % interval.
function test_f1.cell(variant)
  return Table.interval(statistics.present(test_f1.of(variant)), "%.1f")
end

--- Returns the table cell with the mean difference of two variants' test F1s and its interval.
function test_f1.difference_cell(variant, other)
  return Table.interval(test_f1.differences(variant, other), "%+.1f")
end

return test_f1
