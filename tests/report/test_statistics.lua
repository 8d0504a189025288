--- Means, spreads, intervals and fitted powers, in numbers that were computed by hand or elsewhere.
local lu = require "luaunit"
local medians = require "ladies.statistics.medians"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"

local tests = {}

local function close(actual, expected) lu.assertAlmostEquals(actual, expected, 1e-12) end

function tests.test_mean_and_deviation()
  close(statistics.mean{1, 2, 6}, 3)
  lu.assertNil(statistics.mean{})
  close(statistics.deviation{1, 2, 6}, math.sqrt(7))
  lu.assertEquals(statistics.deviation{5}, 0)
end

function tests.test_median()
  lu.assertEquals(medians.of{3, 1, 2}, 2)
  lu.assertEquals(medians.of{4, 1, 3, 2}, 2.5)
  lu.assertNil(medians.of{})
  local list = {3, 1, 2}
  medians.of(list)
  lu.assertEquals(list, {3, 1, 2})
end

--- The places of Table A12 of Conover's Practical Nonparametric Statistics, and others by SciPy.
function tests.test_interval_of_a_median()
  for n, k in pairs{[6] = 1, [8] = 1, [9] = 2, [10] = 2, [12] = 3, [15] = 4, [20] = 6, [25] = 8,
    [40] = 14, [100] = 40, [200] = 86, [1000] = 469, [5000] = 2431} do
    local list = {}
    for i = 1, n do list[i] = (i * 7919) % 10007 end
    local ordered = table.move(list, 1, n, 1, {})
    table.sort(ordered)
    lu.assertEquals({medians.bounds(list)}, {ordered[k], ordered[n + 1 - k]}, n)
  end
  lu.assertEquals({medians.bounds{3, 1, 2}}, {1, 3})
  lu.assertEquals({medians.bounds{5}}, {5, 5})
  lu.assertEquals({medians.bounds({1, 2, 3, 4, 5, 6, 7, 8}, 0.9)}, {2, 7})
  lu.assertEquals(medians.interval{3, 1, 2}, {mean = 2, low = 1, high = 3, n = 3})
end

--- Quartiles are interpolated, as SciPy's are.
function tests.test_spread()
  lu.assertEquals(medians.spread{4, 1, 3, 2}, {median = 2.5, low = 1.75, high = 3.25, from = 1,
    to = 4})
  lu.assertEquals(medians.spread{4, 1, 3, 2, 5}, {median = 3, low = 2, high = 4, from = 1, to = 5})
  lu.assertEquals(medians.spread{7}, {median = 7, low = 7, high = 7, from = 7, to = 7})
  lu.assertEquals(medians.ratio({2, 6, 4}, {1, 2, 4}, 10).median, 20)
  lu.assertEquals(medians.text(medians.spread{1, 2, 4}), "2.00 (1.50 to 3.00)")
  lu.assertEquals(medians.text(medians.spread{1, 2, 4}, "%.0f"), "2 (2 to 3)")
end

function tests.test_texts()
  lu.assertEquals(Table.with_spread(3, 2.65, "%.2f"), "3.00 ± 2.65")
  lu.assertEquals(Table.with_spread(3, 6.572, "%.0f", "%.1f"), "3 ± 6.6")
  lu.assertEquals(Table.with_spread(0.5, nil, "%.2f"), "0.50")
  lu.assertEquals(Table.with_spread(nil, nil, "%.2f"), "-")
end

--- 0.975 quantiles of the t distribution, by SciPy.
function tests.test_half_width()
  for free, quantile in pairs{
    12.706204736432, 4.3026527296961, 3.1824463052843, 2.7764451051978, 2.5705818366147,
    2.4469118511450, [8] = 2.3060041352042, [10] = 2.2281388519650, [20] = 2.0859634472659,
    [40] = 2.0210753829953, [100] = 1.9839715185236,
  } do
    lu.assertAlmostEquals(statistics.half_width_of(3, free + 1), 3 * quantile / math.sqrt(free + 1),
      1e-8)
  end
  lu.assertAlmostEquals(statistics.half_width{1, 2, 6}, 4.3026527296961 * math.sqrt(7 / 3), 1e-8)
  lu.assertEquals(statistics.half_width{3}, 0)
  lu.assertEquals(statistics.half_width_of(2, 1), 0)
end

--- Tails of the distribution are known where they are small.
function tests.test_student_within()
  lu.assertAlmostEquals(statistics.student_within(4.5869, 10), 0.999, 1e-6)
  lu.assertAlmostEquals(statistics.student_within(0, 3), 0, 1e-15)
  lu.assertAlmostEquals(statistics.student_within(1, 1), 0.5, 1e-15)
end

--- Two-sided, by SciPy's ttest_1samp; without deviation it is certain or impossible, but fewer than
-- three numbers prove nothing.
function tests.test_p_value()
  lu.assertAlmostEquals(statistics.p_value({1, 2, 6}, 0), 0.18849732879931, 1e-8)
  lu.assertAlmostEquals(statistics.p_value({1, 2, 6}, 5), 0.32063377951324, 1e-8)
  lu.assertEquals(statistics.p_value({2, 2, 2}, 2), 1)
  lu.assertEquals(statistics.p_value({2, 2, 2}, 3), 0)
  for _, few in ipairs{{}, {2}, {2, 2}, {2, 2.5}} do
    lu.assertEquals(statistics.p_value(few, 3), 1)
  end
end

--- Holm's adjusted p-values never fall from a smaller p-value to a larger one, and are at most 1.
function tests.test_holm()
  local adjusted = statistics.holm{0.04, 0.01, 0.03, 0.5}
  for i, expected in ipairs{0.09, 0.04, 0.09, 0.5} do close(adjusted[i], expected) end
  lu.assertEquals(statistics.holm{0.5, 0.75}, {1, 1})
  lu.assertEquals(statistics.holm{}, {})
end

function tests.test_lists_with_holes()
  lu.assertEquals(statistics.present{false, 1, false, 2}, {1, 2})
  lu.assertEquals(statistics.differences({3, false, 7, 9}, {1, 2, false}), {2})
  lu.assertEquals(statistics.differences({3, 4}, {1, 6}), {2, -2})
end

--- The ratio of means, and by the delta method its error: of above[i] - ratio below[i], over the
-- mean below.
function tests.test_ratio()
  local ratio, half = statistics.ratio({1, 2, 6}, {2, 2, 2})
  close(ratio, 1.5)
  lu.assertAlmostEquals(half, 4.3026527296961 * math.sqrt(7 / 3) / 2, 1e-8)
  ratio, half = statistics.ratio({2, 6}, {1, 3})
  close(ratio, 2)
  close(half, 0)
  ratio, half = statistics.ratio({2, 6, 4}, {1, 3})
  close(ratio, 2)
  lu.assertAlmostEquals(half, 12.706204736175 / 3, 1e-8)
  lu.assertEquals({statistics.ratio({3, 1}, {4})}, {0.5, 0})
  lu.assertNil(statistics.ratio({1, 2}, {1, -1}))
end

function tests.test_power()
  local power, half = statistics.power{{1, 5}, {2, 20}, {4, 80}}
  close(power, 2)
  close(half, 0)
  power, half = statistics.power{{1, 1}, {math.exp(1), 1}, {math.exp(2), math.exp(3)}}
  close(power, 1.5)                                  -- slope of (0, 0), (1, 0), (2, 3)
  -- Rests 0.5, -1, 0.5 and two in xx; one degree of freedom.
  lu.assertAlmostEquals(half, 12.706204736175 * math.sqrt(1.5 / 2), 1e-8)
  power, half = statistics.power{{2, 1}, {8, 0.25}}
  close(power, -1)
  lu.assertNil(half)
end

return tests
