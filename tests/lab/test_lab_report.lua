--- The reports of a laboratory: text, HTML, JSON, Markdown and CSV have the same numbers, each with
-- its interval, and hostile names only appear as text.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local chart_of = require "ladies.report.chart"
local charts = require "ladies.lab.report.charts"
local html_elements = require "tools.html_elements"
local json = require "ladies.base.json"
local made_up = require "reference.made_up_laboratory"
local message_of = require "tools.message_of"
local report = require "ladies.lab.report"
local shell = require "tools.shell"
local svg = require "ladies.report.svg"
local temporary = require "reference.temporary"
local view = require "ladies.lab.report.view"
local wrap = require "ladies.base.wrap"

local tests = {}

local LAB = made_up.new{"mine (8)", "LADIES (16)", "FastGCN (24)"}

local function find(text, part, from)
  local place = text:find(part, from or 1, true)
  lu.assertNotNil(place, part .. " is not in\n" .. text)
  return place
end

-- Counts how often a text is in another.
local function count(text, part)
  local n, at = 0, 1
  while true do
    local first, last = text:find(part, at, true)
    if not first then return n end
    n, at = n + 1, last + 1
  end
end

-- ---------------------------------------------------------------- numbers

function tests.test_numbers()
  local percent = {format = "%.2f %%", scale = 100}
  lu.assertEquals(view.number(percent, 0.125), "12.50 %")
  lu.assertEquals(view.number({}, 0.0012345), "0.001234")
  lu.assertEquals(view.number({format = "%.3g"}, 1234.5), "1230")
  lu.assertEquals(view.number({format = "%.3g"}, -123456), "-123000")
  lu.assertEquals(view.number({format = "%.3g"}, 1.5e9), "1.5e+09")
  lu.assertEquals(view.interval{format = "%.2f", mean = 1, low = 0.5, high = 1.5, n = 9},
    "0.50 to 1.50")
  lu.assertEquals(view.interval{format = "%.2f", mean = 1, low = 1, high = 1, n = 1}, "exact")
  lu.assertEquals(view.interval{format = "%.2f", mean = 1, low = 1, high = 1, n = 9},
    "1.00 to 1.00")
  lu.assertEquals(view.interval{format = "%.1f %%", scale = 100, mean = 0.1, low = 0.05,
    high = 0.15, n = 9}, "5.0 to 15.0 %")
  lu.assertEquals(view.spread(percent, {mean = 0.5, low = 0.4877, high = 0.5123, n = 9}),
    "50.00 ± 1.2 %")
  lu.assertEquals(view.spread({format = "%.2f ms"}, {mean = 5, low = 4, high = 8, n = 9}),
    "5.00 (4.00 to 8.00) ms")
  lu.assertEquals(view.spread({format = "%.0f"}, {mean = 64, low = 64, high = 64, n = 1}), "64")
end

--- Sections come in their order, whatever the order of the findings; empty ones do not.
function tests.test_sections()
  local keys = {}
  for i, section in ipairs(view.sections(LAB.examinations[1])) do keys[i] = section.key end
  lu.assertEquals(keys, {"contract", "layers", "gradient", "cost", "own"})
end

--- A ratio to a number that may be zero is none.
function tests.test_ratios()
  local comparison = view.comparison(LAB)
  lu.assertEquals(comparison.names, {"mine (8)", "LADIES (16)", "FastGCN (24)"})
  lu.assertEquals({#comparison.rows, comparison.rows[1].key, comparison.rows[2].key},
    {3, "gradient.error", "gradient.bias"})
  lu.assertEquals(comparison.rows[1].ratios[1], false)
  lu.assertEquals(comparison.rows[1].ratios[3].mean, 3)
  lu.assertEquals(comparison.rows[2].ratios, {false, false, false})
end

function tests.test_wrap()
  lu.assertEquals(wrap("  one two  three ", 7), {"one two", "three"})
  lu.assertEquals(wrap("äöü äöü", 7), {"äöü äöü"})
  lu.assertEquals(wrap("a verylongword b", 4), {"a", "verylongword", "b"})
  lu.assertEquals(wrap("a verylöngword b", 4, true), {"a", "very", "löng", "word", "b"})
  lu.assertEquals(wrap("öööö", 2, true), {"öö", "öö"})
  lu.assertEquals(wrap("", 4), {""})
end

-- ---------------------------------------------------------------- text

function tests.test_text()
  local text = report.text(LAB)
  local verdict = find(text, "mine (8): Close to unbiased.")
  local fault = find(text, "fault: the weights are upside down.")
  find(text, "remedy: divide & rule")
  find(text, "note: too little time")
  local section = find(text, "mine (8): One layer at a time")
  local row = text:find "layer 1: error / signal +0%.5 +0%.48 to 0%.52\n"
  lu.assertNotNil(text:find "neighbour +12%.50 %% +11%.50 to 13%.50 %%\n")
  local last = find(text, "Comparison. Compared at equal numbers of samples, ")
  local order = {section, row, last, verdict, fault}
  for i = 2, #order do lu.assertTrue(order[i - 1] < order[i], i) end
  find(text, "times that of", last)
  lu.assertEquals(count(text, "FastGCN (24)"), 3)        -- title, verdict, comparison
  find(text, "A typical estimate is off by a lot.", row)
  lu.assertNil(text:find("A sentence of one parameter", 1, true))
end

--- Every line keeps to 100 columns, with many samplers and long names too, and the first one stands
-- in every part of the comparison.
function tests.test_width_of_text()
  local titles = {"first"}
  for i = 2, 9 do
    titles[i] = ("sampler with a name of some length %d "):format(i):rep(i % 3 + 1)
  end
  titles[10] = ("x"):rep(200)
  titles[11] = made_up.HOSTILE
  local text = report.text(made_up.new(titles))
  for line in text:gmatch "[^\n]+" do lu.assertTrue(utf8.len(line) <= 100, line) end
  lu.assertNil(text:find "[\1-\9\11-\31]")
  local heads = 0
  local after = text:sub(find(text, "Comparison."))
  for line in after:gmatch "[^\n]+" do
    if line:find "^ +first " then heads = heads + 1 end
  end
  lu.assertTrue(heads >= 3, after)
  lu.assertNil(report.text(made_up.new{"alone"}):find "Comparison")
end

-- ---------------------------------------------------------------- HTML

function tests.test_html()
  local page = report.html(LAB)
  local counts = html_elements(page)
  lu.assertEquals({counts.article, counts.details, counts.figure, counts.style}, {3, 3, 2, 1})
  for _, one in ipairs(LAB.examinations) do
    find(page, "<p>" .. svg.text(one.verdict) .. "</p>")
    for _, fault in ipairs(one.faults) do
      lu.assertEquals(count(page, "<p>" .. svg.text(fault.proof) .. "</p>"), 1)
      local remedies = count(page, "<p>Remedy: " .. svg.text(fault.remedy or "") .. "</p>")
      lu.assertEquals(remedies, fault.remedy and 1 or 0)
    end
    for _, finding in ipairs(one.findings) do
      find(page, ("<td>%s</td><td>%s</td>"):format(view.number(finding, finding.mean),
        view.interval(finding)))
    end
  end
  -- A bar for every number, and for each of the comparison.
  lu.assertEquals(count(page, '<svg class="bar'), 3 * 8 + 3 * 3)
  find(page, "Compared at equal numbers of samples, ")
  find(page, "So it is &lt;b&gt;off&lt;/b&gt; &amp; away.")
  find(page, '<div class="fault"><strong>fault: the weights are upside down.</strong>')
  find(page, '<div class="warning"><strong>warning: rows lose their mass.</strong>')
end

--- The page needs nothing else: no scripts, links, or files.
function tests.test_the_page_stands_alone()
  local hostile = made_up.new{made_up.HOSTILE, 'a" onload="x', "it's"}
  hostile.data = "</title><script>"
  hostile.examinations[1].series[1].title = "</svg><img src=x>"
  hostile.examinations[1].series[1].lines[1].name = made_up.HOSTILE
  hostile.examinations[1].findings[1].label = made_up.HOSTILE
  for _, page in ipairs{report.html(LAB), report.html(hostile)} do
    local counts = html_elements(page)
    for _, name in ipairs{"script", "img", "link", "iframe", "a", "object", "use", "image"} do
      lu.assertNil(counts[name], name)
    end
    for markup in page:gsub("<style>.-</style>", ""):gmatch "<[^<>]*>" do
      local attributes = markup:gsub('="[^"]*"', "")
      for _, name in ipairs{"src", "href", "on%a+"} do
        lu.assertNil(attributes:find("%f[%a]" .. name .. "%f[%A]"), markup)
      end
    end
    lu.assertNil(page:find "url%(")
    lu.assertNil(page:find "https?:")
    lu.assertNil(page:find "[\1-\9\11-\31]")
  end
  find(report.html(hostile), "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;")
end

function tests.test_light_and_dark()
  local page = report.html(LAB)
  find(page, "prefers-color-scheme: dark")
  find(page, 'name="viewport" content="width=device-width')
  -- Colours that are defined for one scheme are defined for the other.
  local light, dark = page:match ":root (%b{}).-:root (%b{})"
  local function names(block)
    local list = {}
    for name in block:gmatch "(%-%-[%w-]+):" do list[#list + 1] = name end
    table.sort(list)
    return list
  end
  lu.assertTrue(#names(light) > 15)
  lu.assertEquals(names(light), names(dark))
  for name in page:gmatch "var%((%-%-[%w-]+)%)" do find(light, name .. ":") end
end

-- ---------------------------------------------------------------- pictures

--- One picture of all samplers, or one of each where there would be too many lines.
function tests.test_pictures()
  local list = charts.of(LAB)
  lu.assertEquals({#list, list[1].name, list[2].name}, {2, "lab-degree", "lab-samples"})
  lu.assertEquals({list[1].plot.log, list[2].plot.log}, {"x", "xy"})
  lu.assertEquals(#list[1].plot.series, 3)
  lu.assertEquals(list[1].plot.series[2].name, "LADIES (16)")
  local titles = {}
  for i = 1, 9 do titles[i] = "s" .. i end
  list = charts.of(made_up.new(titles))
  lu.assertEquals({#list, list[1].name, list[9].name, list[9].plot.title},
    {18, "lab-degree-1", "lab-degree-9", "Error by degree: s9"})
end

--- A chart shows samplers as points of cost and variance where costs were measured.
function tests.test_cost_and_variance()
  local laboratory = made_up.new{"a", "b", "c"}
  lu.assertEquals(#charts.of(laboratory), 2)
  for i, one in ipairs(laboratory.examinations) do
    if i ~= 2 then
      one.findings[#one.findings + 1] = {key = "gradient.variance", section = "gradient",
        label = "variance", mean = 1 / i, low = 0.9 / i, high = 1.1 / i, n = 9}
    end
  end
  local list = charts.of(laboratory)
  local plot = list[3].plot
  lu.assertEquals({#list, list[3].name, plot.x, #plot.series},
    {3, "lab-cost", "sampling and step of a mini-batch, median, in ms", 2})
  lu.assertEquals({plot.series[2].name, plot.series[2].colour}, {"c", 3})
  lu.assertEquals(plot.series[2].points, {{0.003 * 1e3, 1 / 3, 0.9 / 3, 1.1 / 3}})
end

--- Numbers that differ a hundredfold have a logarithmic axis; zero, which it cannot show, does not
-- ask for one.
function tests.test_wide_pictures()
  local laboratory = made_up.new{"a", "b"}
  laboratory.examinations[2].series[1].lines[1].points[1][2] = 100
  lu.assertEquals(charts.of(laboratory)[1].plot.log, "xy")
  laboratory.examinations[2].series[1].lines[1].points[1][2] = 0
  lu.assertEquals(charts.of(laboratory)[1].plot.log, "x")
end

--- The fitted curve of points on y = 3 x^-1.5 is that.
function tests.test_fits()
  local series = charts.of(LAB)[2].plot.series
  lu.assertEquals(#series, 6)
  lu.assertEquals({series[1].style, series[2].style, series[2].name, series[2].colour},
    {"points", "dashed", "", 1})
  for _, p in ipairs(series[2].points) do
    lu.assertAlmostEquals(p[2] / (3 * p[1] ^ -1.5), 1, 1e-9)
  end
  lu.assertEquals({series[2].points[1][1], series[2].points[25][1]}, {4, 64})
end

-- The numbers at the ticks of a chart's axes: those along the left edge, and the others.
local function ticks_of(points, log)
  local chart = chart_of{series = {{name = "a", points = points}}, log = log}
  local y, x = {}, {}
  for place, number in chart:gmatch '<text class="tick" x="([%d.]+)"[^>]*>([%d.e+-]+)</text>' do
    table.insert(place == "68" and y or x, tonumber(number))
  end
  return x, y
end

function tests.test_ticks()
  local x, y = ticks_of({{1, 0.3}, {4, 2.1}}, "none")
  lu.assertEquals(x, {1, 2, 3, 4})
  lu.assertEquals(y, {0, 0.5, 1, 1.5, 2})
  x, y = ticks_of({{1, 0.001}, {300, 20}}, "xy")
  lu.assertEquals(x, {1, 10, 100})
  lu.assertEquals(y, {0.001, 0.01, 0.1, 1, 10})
  x, y = ticks_of({{16, 2}, {60, 3}}, "xy")
  lu.assertEquals(x, {20, 30, 40, 50, 60})
  lu.assertEquals(y, {2, 2.5, 3})
  x, y = ticks_of({{5.5, -1}}, "none")
  lu.assertEquals({x, y}, {{5, 5.5, 6}, {-1}})
  x, y = ticks_of({{1, 0.5}, {2, 1}}, "none")
  lu.assertEquals({x, y}, {{1, 2}, {0, 0.5, 1}})
end

-- Points are where their numbers are, and those without a place are left out.
function tests.test_places()
  local function places(points, log)
    local chart = chart_of{series = {{name = "a", points = points, style = "points"}}, log = log}
    local list = {}
    for x, y in (chart or ""):gmatch '<circle cx="([%d.]+)" cy="([%d.]+)"' do
      list[#list + 1] = {tonumber(x), tonumber(y)}
    end
    return list
  end
  local list = places({{1, 1}, {10, 10}, {100, 100}}, "xy")
  lu.assertAlmostEquals(list[2][1], (list[1][1] + list[3][1]) / 2, 0.11)
  lu.assertAlmostEquals(list[2][2], (list[1][2] + list[3][2]) / 2, 0.11)
  lu.assertTrue(list[1][1] < list[3][1] and list[1][2] > list[3][2])
  lu.assertEquals(#places({{1, 1}, {0, 1}, {2, -1}, {3, 0 / 0}, {4, 1 / 0}}, "xy"), 1)
  lu.assertNil(chart_of{series = {{name = "a", points = {{1, -1}}}}, log = "y"})
  lu.assertNil(chart_of{series = {}, log = "none"})
end

function tests.test_bars()
  local bar = svg.bar({mean = 5, low = 0, high = 10}, 0, 10, 9)
  find(bar, 'class="bar c1"')
  find(bar, '<line class="range" x1="4.0" x2="116.0"')
  find(bar, '<circle cx="60.0"')
  find(bar, '<line class="zero" x1="4.0"')
  lu.assertNil(svg.bar({mean = 5, low = 4, high = 6}, 3, 10, 1):find "zero")
  find(svg.bar({mean = 0, low = 0, high = 0}, 0, 0, 1), '<circle cx="60.0"')
  lu.assertEquals(svg.bar({mean = 0 / 0, low = 0, high = 0}, 0, 1, 1), "")
end

-- ---------------------------------------------------------------- files

-- The sorted keys of a table and all within it, with those of lists as one.
local function keys_of(value, prefix, found)
  found = found or {}
  for key, part in pairs(value) do
    local path = (prefix or "") .. "/" .. (math.type(key) and "*" or key)
    found[path] = true
    if type(part) == "table" then keys_of(part, path, found) end
  end
  return found
end

function tests.test_json()
  local text = report.json(LAB)
  local back = json.decode(text)
  lu.assertEquals(back.examinations[1].findings[1].mean, 0.5)
  lu.assertEquals(back.examinations[1].findings[1].low, 0.48)
  lu.assertEquals(back.comparison.rows[3].ratios["gradient.error"].mean, 3)
  lu.assertEquals({back.data, back.comparison.equal, back.settings.seed}, {"toy", "samples", 1})
  lu.assertEquals(back.examinations[2].faults[1].kind, "fault")
  find(text, '"faults": []')
  find(text, '"notes": []')
  lu.assertEquals(report.json(LAB), text)
  local keys = keys_of(back)
  for _, path in ipairs{"/ladies", "/machine", "/examinations/*/verdict",
    "/examinations/*/subject/P_text", "/examinations/*/series/*/lines/*/points",
    "/examinations/*/faults/*/remedy"} do
    lu.assertTrue(keys[path], path)
  end
end

function tests.test_files()
  local folder = temporary.path "lab"
  local written = report.write(made_up.new{"mine", made_up.HOSTILE}, folder)
  local names = {}
  for _, name in ipairs(written.files) do
    names[name] = true
    lu.assertEquals(core.exists(folder .. "/" .. name), "file", name)
  end
  for _, name in ipairs{"lab.html", "lab.json", "lab.md", "lab.csv"} do
    lu.assertTrue(names[name], name)
  end
  lu.assertTrue(names["lab-degree.svg"])
  lu.assertEquals(names["lab-degree.png"], ladies.plot.available() or nil)
  local markdown = ladies.file.read(folder .. "/lab.md")
  find(markdown, "## Laboratory: mine, ")
  find(markdown, "Compared at equal numbers of samples, ")
  find(markdown, "- fault: the weights are upside down. x \\< y. Remedy: divide & rule.")
  find(markdown, "| layer 1: error / signal ")
  lu.assertNil(markdown:find("\27", 1, true))
  lu.assertNil(markdown:gsub("\\<", ""):find("<", 1, true))
  local csv = ladies.file.read(folder .. "/lab.csv")
  find(csv, "sampler,section,key,label,mean,low,high,n\n")
  find(csv, "mine,layers,layers.1.error,layer 1: error / signal,0.5,0.48,0.52,16\n")
  lu.assertEquals(select(2, csv:gsub("\n", "")), 1 + 2 * 8)
  find(ladies.file.read(folder .. "/lab.html"), "<!DOCTYPE html>")
  -- Once more into its own folder, but into nobody else's.
  report.write(LAB, folder)
  find(ladies.file.read(folder .. "/lab.md"), "FastGCN (24)")
  local other = temporary.path "other"
  ladies.folder.make(other)
  ladies.file.write(other .. "/lab.html", "mine")
  lu.assertStrContains(message_of(report.write, LAB, other), "left as they are")
  lu.assertEquals(ladies.file.read(other .. "/lab.html"), "mine")
end

--- Without librsvg the page has its pictures, and the report says that there are no others.
function tests.test_without_librsvg()
  local folder = temporary.path "bare"
  local script <close> = shell.file(([[
    package.path = %q .. package.path
    local made_up = require "reference.made_up_laboratory"
    local report = require "ladies.lab.report"
    local written = report.write(made_up.new{"mine", "other"}, %q)
    print(table.concat(written.files, " "))
    print(written.notes[1])
  ]]):format(package.path:match "^[^;]*;", folder))
  local out = shell.silent(shell.run({shell.ladies, script.path}, {env = {"PATH=/nowhere"}}))
  lu.assertEquals(out, "lab.html lab.json lab.csv lab.md lab-degree.svg lab-samples.svg\n"
    .. "There are no PNG files of the pictures: rsvg-convert is not installed.\n")
  lu.assertEquals(count(ladies.file.read(folder .. "/lab.html"), '<svg class="chart"'), 2)
end

-- ---------------------------------------------------------------- of a real one

function tests.test_a_measured_one()
  local data = ladies.generate.power_law{nodes = 300, entries = 2400, features = 8, classes = 3,
    signal = 0.5}:split("50/20/30")
  local lab = ladies.lab({"ladies:8", "graphsage:3"}, {dataset = data, hidden = 8,
    batch_size = 40, seconds = 0.5, quiet = true})
  local text = tostring(lab)
  find(text, "LADIES (8), GraphSAGE (3) on ")
  find(text, "Comparison.")
  for line in text:gmatch "[^\n]+" do lu.assertTrue(utf8.len(line) <= 100, line) end
  html_elements(report.html(lab))
  local folder = temporary.path "measured"
  local written = lab:write(folder)
  lu.assertEquals(written.files[1], "lab.html")
  local back = json.decode(ladies.file.read(folder .. "/lab.json"))
  lu.assertEquals(#back.examinations[1].findings, #lab.examinations[1].findings)
  lu.assertStrContains(message_of(lab.write, lab, 7), "laboratory:write: the folder")
  back.pictures[1] = "lab-old"
  ladies.file.write(folder .. "/lab.json", json.encode(back))
  for _, name in ipairs{"lab-old.svg", "lab-mine.svg"} do
    ladies.file.write(folder .. "/" .. name, "of an earlier one, and of the user")
  end
  lab:write(folder)
  lu.assertNotEquals(core.exists(folder .. "/lab-old.svg"), "file")
  lu.assertEquals(core.exists(folder .. "/lab-mine.svg"), "file")
end

return tests
