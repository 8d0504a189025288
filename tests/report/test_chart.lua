--- Charts in SVG: their labels, spreads and axes.
local lu = require "luaunit"
local ladies = require "ladies"

local tests = {}
local plot = ladies.plot

-- The numbers that are written along the left axis, in ascending order.
local function axis_numbers(picture)
  local list = {}
  for number in picture:gmatch 'text%-anchor="end"[^>]*>([%d.]+)</text>' do
    list[#list + 1] = tonumber(number)
  end
  table.sort(list)
  return list
end

-- The centres and half widths of the labels in a picture, and the centres of its round marks.
local function places_of(picture)
  local texts, marks = {}, {}
  for x, y, text in picture:gmatch '<text class="label" x="(.-)" y="(.-)".->(.-)</text>' do
    texts[#texts + 1] = {tonumber(x), tonumber(y) - 4, half = 3.3 * #text}
  end
  for x, y in picture:gmatch '<circle cx="(.-)" cy="(.-)"' do
    marks[#marks + 1] = {tonumber(x), tonumber(y)}
  end
  return texts, marks
end

-- The left and the right end of each bar in a picture.
local function bars_of(picture)
  local list = {}
  for x, width in picture:gmatch '</title><rect x="([%d.-]+)" y="[%d.-]+" width="([%d.]+)"' do
    list[#list + 1] = {tonumber(x), tonumber(x) + tonumber(width)}
  end
  return list
end

--- Bars stand within the frame, few or many, also on a logarithmic axis and where numbers are
-- below 0; so they do as text.
function tests.test_bars_are_in_the_frame()
  for _, bins in ipairs{1, 2, 3, 4, 12, 40} do
    for _, case in ipairs{{{1, 2, 2, 3, 7}, "none"}, {{1, 2, 2, 3, 700}, "x"},
      {{-1, 1.2, 5, 9}, "x"}, {{-5, -1, 2}, "none"}} do
      local figure = plot.histogram(case[1], {bins = bins, log = case[2]})
      local bars, what = bars_of(figure:svg()), ("%d, %s"):format(bins, case[2])
      lu.assertTrue(#bars > 0, what)
      for _, bar in ipairs(bars) do lu.assertTrue(bar[1] >= 50 and bar[2] <= 640, what) end
      lu.assertStrContains(figure:text(), "█", what)
    end
  end
end

--- The text over a point has the bounds that it was given, also where a logarithmic axis cannot
-- show them.
function tests.test_given_bounds_are_said()
  local picture = plot.figure{log = "y", series = {{name = "a", style = "points",
    points = {{1, 10, -5, 25}, {2, 12, 11, 13}}}}}:svg()
  lu.assertStrContains(picture, "<title>a: 1, 10, -5 to 25</title>")
  lu.assertStrContains(picture, "<title>a: 2, 12, 11 to 13</title>")
end

--- A bound beyond all that is drawn leaves an axis.
function tests.test_ranges_beside_the_numbers()
  for _, log in ipairs{"none", "y"} do
    for _, range in ipairs{{50}, {false, 0.01}, {2, 3}} do
      local picture = plot.figure{log = log, y_range = range,
        series = {{name = "", points = {{1, 4}, {2, 5}}}}}:svg()
      lu.assertTrue(#axis_numbers(picture) > 0)
      lu.assertNil(picture:find "nan")
    end
  end
end

--- Labels of points that lie close together are moved apart: none lies on another one, on a point
-- that has one, or beyond the picture.
function tests.test_labels()
  local points, labels = {}, {}
  for i = 1, 8 do points[i], labels[i] = {1 + 0.01 * i, 1 + 0.02 * (i * 5 % 8)}, tostring(i) end
  points[9], labels[9] = {1.05, 1.05}, "a long name"
  points[10], labels[10] = {2, 2}, "at the end"
  local texts, marks = places_of(plot.scatter(points, {labels = labels}):svg())
  lu.assertEquals({#texts, #marks}, {10, 10})
  for i, a in ipairs(texts) do
    lu.assertTrue(a[1] - a.half > 0 and a[1] + a.half < 640)
    for j = i + 1, 10 do
      local b = texts[j]
      lu.assertTrue(math.abs(a[1] - b[1]) > a.half + b.half or math.abs(a[2] - b[2]) > 11)
    end
    for _, mark in ipairs(marks) do
      lu.assertTrue(math.abs(a[1] - mark[1]) > a.half or math.abs(a[2] - mark[2]) > 6)
    end
  end
end

--- A label with room stands above its point, without a line to it.
function tests.test_label_alone()
  local picture = plot.scatter({{1, 1}, {2, 2}, {3, 3}}, {labels = {"", "b", ""}}):svg()
  local texts, marks = places_of(picture)
  lu.assertEquals(#texts, 1)
  lu.assertEquals(texts[1][1], marks[2][1])
  lu.assertTrue(texts[1][2] < marks[2][2])
  lu.assertNil(picture:find '<line class="leader"')
end

--- The bars of a series's spread hide no point of another series.
function tests.test_spreads_are_behind()
  local picture = plot.figure{series = {
    {name = "a", points = {{1, 1}}, style = "points"},
    {name = "b", points = {{1, 2, 0, 3}}, style = "points", spread = "bars"},
  }}:svg()
  local spread = picture:find('<line x1="([%d.]+)" x2="%1"')
  lu.assertTrue(spread < picture:find "<circle")
end

--- An axis begins at 0, but not where little of it would be used, except below bars.
function tests.test_zero()
  local function lowest(series) return axis_numbers(plot.figure{series = {series}}:svg())[1] end
  lu.assertEquals(lowest{points = {{1, 20}, {2, 30}}}, 0)
  lu.assertEquals(lowest{points = {{1, 75}, {2, 100}}}, 0)
  lu.assertTrue(lowest{points = {{1, 76}, {2, 100}}} > 0)
  lu.assertEquals(lowest{points = {{1, 80}, {2, 82}}}, 80)
  lu.assertEquals(lowest{points = {{1, 80}, {2, 82}}, style = "bars"}, 0)
  lu.assertEquals(lowest{points = {{1, 5}, {2, 5}}}, 0)
end

return tests
