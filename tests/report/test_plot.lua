--- Figures of every kind, and training curves: the table from a log, and the picture.
local lu = require "luaunit"
local ladies = require "ladies"
local curve = require "ladies.training.record.curve"
local graphics = require "ladies.report.graphics"
local layout = require "ladies.report.layout"
local own_folder = require "ladies.base.own_folder"
local plot = ladies.plot
local shell = require "tools.shell"
local svg = require "ladies.report.svg"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"

local tests = {}

local LOG = [[
{"batch":1,"epoch":1,"loss":3,"sampling_ms":1}
{"batch":2,"epoch":1,"loss":2,"sampling_ms":1}
{"batch":2,"epoch":1,"validation":{"micro-F1":0.5},"seconds":0.250}
{"batch":3,"epoch":1,"loss":1,"sampling_ms":1}
{"batch":3,"epoch":1,"validation":{"micro-F1":0.75},"seconds":0.500}
]]

-- A run's folder with this log.
local runs = 0
local function folder_with(text)
  runs = runs + 1
  local folder = own_folder.at(temporary.path("run" .. runs))
  ladies.folder.make(folder.path)
  ladies.file.write(folder:file "log.jsonl", text)
  return folder
end

function tests.test_rows()
  local files = folder_with(LOG)
  lu.assertEquals(curve.read(files:file "log.jsonl", "micro-F1"), {
    {batch = 2, seconds = 0.25, loss = 2.5, value = 0.5},
    {batch = 3, seconds = 0.5, loss = 1, value = 0.75},
  })
end

function tests.test_files()
  local files = folder_with(LOG)
  local name = curve.write(files, "it's a title", "micro-F1")
  lu.assertEquals(name, "curve.svg")
  lu.assertEquals(ladies.file.read(files:file "curve.tsv"),
    "batch\tseconds\tloss\tmicro-F1\n2\t0.250\t2.500000\t0.500000\n3\t0.500\t1.000000\t0.750000\n")
  lu.assertStrContains(ladies.file.read(files:file "curve.svg"), ">it&#39;s a title</text>")
end

--- Series take colours and marks in their order, or those of another series.
function tests.test_colours_and_marks()
  local points = {{1, 1}, {2, 2}}
  local picture = plot.figure{series = {{name = "a", points = points},
    {name = "b", points = points}, {name = "c", points = points, colour = 1}}}:svg()
  local classes, marks = {}, {}
  for class, rest in picture:gmatch '<g class="(c%d)">(.-)</g>' do
    classes[#classes + 1] = class
    marks[#marks + 1] = rest:match "<circle" or rest:match "v6%.4h%-6%.4z"
  end
  -- Each series once in the chart and once in the key.
  lu.assertEquals(classes, {"c1", "c2", "c1", "c1", "c2", "c1"})
  lu.assertEquals(marks, {"<circle", "v6.4h-6.4z", "<circle", "<circle", "v6.4h-6.4z", "<circle"})
end

--- Numbers beside the left axis end there, and those beside the right axis begin there.
function tests.test_anchors_of_numbers()
  local picture = plot.figure{series = {{name = "a", points = {{1, 10}, {2, 20}}},
    {name = "b", axis = 2, points = {{1, 300}, {2, 400}}}}}:svg()
  local found = {}
  for anchor, number in picture:gmatch 'text%-anchor="(%a+)"[^>]*>([%d.]+)</text>' do
    found[number] = anchor
  end
  lu.assertEquals({found["10"], found["20"], found["300"], found["400"]},
    {"end", "end", "start", "start"})
end

--- No two of 64 series have both colour and mark in common.
function tests.test_series_differ()
  local seen = {}
  for i = 1, 64 do
    local key = svg.key(i, 0, 0)
    lu.assertNil(seen[key], i)
    seen[key] = true
  end
end

function tests.test_never_validated()
  local files = folder_with '{"batch":1,"epoch":1,"loss":3}\n'
  lu.assertNil(curve.write(files, "", "micro-F1"))
end

--- Lines as text: numbers at their places, a sign for each series, the key, and a second axis.
function tests.test_text()
  local figure = plot.figure{title = "both", x = "batch", series = {
    {name = "F1", points = {{0, 0}, {10, 1}}},
    {name = "loss", points = {{0, 30}, {10, 30}}, axis = 2, style = "points"},
  }}
  lu.assertEquals(figure:text(30, 10), table.concat({
    "  both",
    " 1 | o                 **o | 30",
    "   |              *****    | 20",
    "   |         *****         |",
    "   |    *****              | 10",
    " 0 | ***                   | 0",
    "   +-----------------------+",
    "     0         5        10",
    "             batch",
    "    * F1   o loss",
  }, "\n"))
end

--- Where all series have the right axis, the range that is given is that of this axis.
function tests.test_range_of_the_right_axis()
  local text = plot.figure{y_range = {0, 100}, series = {
    {name = "loss", points = {{0, 20}, {10, 30}}, axis = 2},
  }}:text(30, 10)
  lu.assertStrContains(text, "| 100")
  lu.assertStrContains(text, "| 0\n")
end

local function text_of(given, width, height)
  return plot.figure(given):text(width, height)
end

--- Logarithmic axes, spreads and styles; what has no place on the axes is left out.
function tests.test_log_axes_and_spreads()
  local base = temporary.path "spread"
  local opts = {
    title = "it's", log = "xy", y_range = {1e-3}, series = {
      {name = "a_b", points = {{1, 1, 0.5, 2}, {4, 0.25, -1, 0.5}, {16, 0}, {64, 0 / 0}},
        style = "both"},
      {name = "bound", points = {{1, 9}, {64, 0.1}}, style = "dashed", colour = 1},
      {name = "bars", points = {{1, 2, 1, 3}, {2, math.huge}}, spread = "bars"},
      {name = "empty", points = {}},
    },
  }
  local files, complaint = plot.files(base, opts)
  lu.assertStrContains(ladies.file.read(base .. ".svg"), ">a_b</text>")
  if not plot.available() then
    lu.assertEquals({files, complaint}, {{"spread.svg"}, "rsvg-convert is not installed"})
  else
    lu.assertEquals(files, {"spread.svg", "spread.png"})
    lu.assertEquals(ladies.file.read(base .. ".png"):sub(2, 4), "PNG")
  end
  opts.x_ticks = {1, 7, 64}
  local text = text_of(opts, 60, 15)
  lu.assertStrContains(text, "bound")
  lu.assertStrMatches(text, ".*\n +1 +7 +64 *\n.*")
  lu.assertNotStrContains(text, "arning")
end

-- ---------------------------------------------------------------- the kinds of figures

-- The numbers at the attributes of the elements that begin so.
local function numbers_of(text, element, ...)
  local list = {}
  for attributes in text:gmatch("<" .. element .. "(.-)/?>") do
    local one = {}
    for i, name in ipairs{...} do
      one[i] = tonumber(attributes:match(" " .. name .. '="([^"]*)"'))
    end
    list[#list + 1] = one
  end
  return list
end

--- Tensors, an Index and arrays are the same points.
function tests.test_tensors()
  local expected = plot.lines({3, 1, 2}):svg()
  lu.assertEquals(plot.lines(ladies.tensor{3, 1, 2}):svg(), expected)
  lu.assertEquals(plot.lines(ladies.index{3, 1, 2}):svg(), expected)
  lu.assertEquals(plot.lines(ladies.tensor{{3}, {1}, {2}}):svg(), expected)
  lu.assertEquals(plot.lines({3, 1, 2}, {at = ladies.range(1, 3)}):svg(), expected)
  local points = ladies.tensor{{1, 3, 2, 4}, {2, 1, 0, 2}}
  lu.assertEquals(plot.figure{series = {{points = points}}}.plot.series[1].points,
    {{1, 3, 2, 4}, {2, 1, 0, 2}})
  local two = plot.lines(ladies.tensor{{1, 2}, {3, 4}}, {names = {"a", "b"}}).plot.series
  lu.assertEquals({two[1].points, two[2].points, two[2].name},
    {{{1, 1}, {2, 3}}, {{1, 2}, {2, 4}}, "b"})
end

--- Bars stand on 0 and are as high as their numbers; those of a row stand side by side.
function tests.test_bars()
  local figure = plot.bars({1, -2, 4}, {names = {"one", "<two>", "three"}, title = "t"})
  local bars = numbers_of(figure:svg(), "rect x", "y", "width", "height")
  lu.assertAlmostEquals(bars[2][3] / bars[1][3], 2, 0.02)
  lu.assertAlmostEquals(bars[3][3] / bars[1][3], 4, 0.04)
  lu.assertAlmostEquals(bars[1][1] + bars[1][3], bars[2][1], 0.11)
  lu.assertStrContains(figure:svg(), ">&lt;two&gt;</text>")
  lu.assertEquals(figure:text(34), table.concat({"  t",
    "  one   ███▊ 1", "  <two> -███████▌ -2", "  three ███████████████ 4"}, "\n"))
  local groups = plot.bars(ladies.tensor{{1, 2}, {3, 4}}, {series = {"a", "b"}})
  bars = {}
  for _, bar in ipairs(numbers_of(groups:svg(), "rect", "x", "width")) do
    if bar[1] then bars[#bars + 1] = bar end      -- the others are the ground
  end
  lu.assertEquals(#bars, 4)
  table.sort(bars, function(a, b) return a[1] < b[1] end)
  for i = 1, 3 do lu.assertTrue(bars[i][1] + bars[i][2] <= bars[i + 1][1]) end
  lu.assertEquals(groups.plot.x_names, {"1", "2"})
end

--- A histogram counts every number once, the largest too, but none that is not finite.
function tests.test_histogram()
  local figure = plot.histogram({0, 0.1, 1, 2.9, 3, 4, 0 / 0, 1 / 0}, {bins = 4})
  lu.assertEquals(figure.plot.series[1].points, {{0.5, 2}, {1.5, 1}, {2.5, 1}, {3.5, 2}})
  -- On a logarithmic axis, which has no 0, bars stand on the end of the axis.
  local bars = numbers_of(plot.histogram({1, 1, 1, 3}, {bins = 3, log = "y"}):svg(), "rect x", "y",
    "height")
  lu.assertEquals(#bars, 2)
  lu.assertAlmostEquals(bars[1][1] + bars[1][2], bars[2][1] + bars[2][2], 0.11)
  lu.assertEquals(plot.histogram({5, 5}).plot.series[1].points, {{5, 2}})
  local values = ladies.zeros(20, 50):uniform_(0, 1, ladies.rng(1))
  local sum, points = 0, plot.histogram(values).plot.series[1].points
  for _, point in ipairs(points) do sum = sum + point[2] end
  lu.assertEquals({#points, sum}, {20, 1000})
end

function tests.test_scatter()
  local figure = plot.scatter(ladies.tensor{{0, 0}, {1, 1}, {2, 0}, {3, 3}}, {
    classes = ladies.tensor{2, 0, 2, 9}:to_table(), class_names = {"x", "y"},
    labels = {"p", "q", "r", "s"}})
  local shown = tables.map(figure.plot.series, function(one)
    return {one.name, one.colour, table.concat(one.labels, " ")}
  end)
  lu.assertEquals(shown, {{"no class", 8, "q"}, {"y", 2, "p r"}, {"class 9", 9, "s"}})
  lu.assertErrorMsgContains("there are 2 points and 1 classes", plot.scatter,
    ladies.zeros(2, 2), {classes = {1}})
  lu.assertErrorMsgContains("points must be n x 2", plot.scatter, ladies.zeros(2, 3))
end

--- A plot without cells has nothing to draw, and says so.
function tests.test_no_cells()
  for _, shape in ipairs{{0, 3}, {3, 0}, {0, 0}} do
    local figure = ladies.plot.heat_map(ladies.zeros(shape[1], shape[2]))
    lu.assertEquals({figure:text()}, {nil, "there is nothing to draw"})
    lu.assertEquals({figure:png()}, {nil, "there is nothing to draw"})
    lu.assertNil(figure:svg())
    lu.assertStrContains(tostring(ladies.show(figure)), "cells")
  end
end

--- A cell is more opaque the larger its number is, and has another colour below 0.
function tests.test_heat_map()
  local figure = plot.heat_map(ladies.tensor{{1, -2}, {0, 4}}, {rows = {"a", "b"},
    columns = {"c", "d"}, title = "t"})
  local cells = {}
  for class, opacity in figure:svg():gmatch '<rect class="(c%d)"[^>]* fill%-opacity="([%d.]+)"' do
    cells[#cells + 1] = {class, tonumber(opacity)}
  end
  lu.assertEquals(cells, {{"c1", 0.188}, {"c2", 0.375}, {"c1", 0}, {"c1", 0.75}})
  lu.assertEquals(figure:text(40), "  t\n  a |++##|\n  b |  @@|")
  lu.assertErrorMsgContains("figure:text: the width must be a positive integer", figure.text,
    figure, ladies.ones(2))
  -- Of many rows some share a line, which shows what is farthest from 0, also below it.
  for _, n in ipairs{32, 40} do
    local rows = tables.map(tables.repeated(0, n), function() return {-1, 2, -4} end)
    for line in plot.heat_map(rows):text(40):gmatch "|([^\n]+)|" do
      lu.assertNil(line:find " ", n .. line)
    end
  end
  -- Long names of columns stand askew, in the space that they need.
  local names = tables.repeated("noun.attribute <b>", 6)
  local svg_text = plot.heat_map(ladies.ones(6, 6), {rows = names, columns = names}):svg()
  lu.assertEquals(select(2, svg_text:gsub(">noun.attribute &lt;b&gt;<", "")), 12)
  lu.assertEquals(select(2, svg_text:gsub("rotate%(%-45", "")), 6)
  lu.assertStrContains(svg_text,
    "<title>noun.attribute &lt;b&gt;, noun.attribute &lt;b&gt;: 1</title></rect>")
  lu.assertErrorMsgContains("not Matrix 300 x 300, 0 entries; ladies.plot.spy shows", function()
    plot.heat_map(ladies.sparse(ladies.zeros(300, 300)))
  end)
end

--- A spy plot counts each entry once, at its place; the square roots of counts are shown.
function tests.test_spy()
  local A = ladies.sparse(ladies.zeros(100, 100)):add_diag(1)
  local figure = plot.spy(A, {size = 10})
  for i, row in ipairs(figure.plot.cells) do
    for j, value in ipairs(row) do
      lu.assertAlmostEquals(value and value ^ 2 or 0, i == j and 10 or 0, 1e-9)
    end
  end
  lu.assertEquals(figure.plot.x_range, {0.5, 100.5})
end

--- Joined nodes are nearer each other than other nodes are, and the picture can be repeated.
function tests.test_network()
  local edges, n = {}, 8
  for i = 1, n do edges[i] = {i, i % n + 1} end
  local places = layout(n, edges)
  lu.assertEquals(layout(n, edges), places)
  local function distance(a, b)
    return math.sqrt((places[a][1] - places[b][1]) ^ 2 + (places[a][2] - places[b][2]) ^ 2)
  end
  for i = 1, n do
    lu.assertTrue(distance(i, i % n + 1) < distance(i, (i + 3) % n + 1))
  end
  local A = ladies.sparse(ladies.tensor{{0, 1, 1}, {1, 0, 0}, {1, 0, 0}})
  local figure = plot.network(A, {classes = ladies.index{1, 2, 2}, labels = {"<a>", "b", "c"}})
  lu.assertEquals(#figure.plot.series, 3)
  lu.assertEquals(#figure.plot.series[1].points, 8)
  lu.assertStrContains(figure:svg(), "<title>&lt;a&gt;: ")
  lu.assertErrorMsgContains("square matrices of at most 300 rows", plot.network,
    ladies.sparse(ladies.ones(2, 3)))
end

--- Kitty's protocol: a PNG in pieces that say whether more comes.
function tests.test_terminals()
  lu.assertEquals(graphics.base64 "", "")
  for bytes, text in pairs{f = "Zg==", fo = "Zm8=", foo = "Zm9v", ["\0\xff\x10x"] = "AP8QeA=="} do
    lu.assertEquals(graphics.base64(bytes), text)
  end
  if not plot.available() then return end
  local figure = plot.lines{1, 2}
  local drawn, first = graphics.draw("kitty", figure:svg()), true
  for options, piece in drawn:gmatch "\27_G([^;]*);([^\27]*)\27\\" do
    lu.assertTrue(#piece <= 4096)
    lu.assertEquals(options:find "a=T,f=100," ~= nil, first)
    first = false
  end
  lu.assertStrMatches(drawn, "\27_Ga=T,f=100,m=1;iVBOR.*\27_Gm=0;[^\27]*\27\\")
end

-- A folder with a program img2sixel that says in place of sixels what it was given, and the other
-- programs of this machine, as a word for the environment.
local function fake_sixels(folder)
  ladies.file.write(folder .. "/img2sixel", "#!/bin/sh\n[ \"$1\" = --output ] || exit 3\n"
    .. "printf '\\033Pq%s\\033\\\\' \"$(head -c 4 \"$3\" | tail -c 3)\" > \"$2\"\n")
  lu.assertTrue(os.execute("chmod +x " .. shell.quote(folder .. "/img2sixel")))
  return ("PATH=%s:%s"):format(folder, os.getenv "PATH")
end

--- The prompt shows a figure as the terminal draws it, or as text.
function tests.test_at_the_prompt()
  local figure = "send ladies.plot.bars({1, 2}, {title = 'two bars'})\\r\n"
  local folder <close> = shell.folder()
  local path = fake_sixels(folder.path)
  local function shows(text, graphics_kind, more)
    lu.assertNil(shell.talk(figure .. "expect " .. text .. "\nexpect \\r\\n>\\s\n"
      .. "send \\x04\nexit 0\n", {},
      {"LADIES_GRAPHICS=" .. graphics_kind, more}))
  end
  shows("1 \u{2588}", "none")
  if not plot.available() then return end
  shows("\\e_Ga=T,f=100,m=1;iVBOR", "kitty")
  shows("\\ePqPNG", "sixel", path)
end

function tests.test_wrong_input()
  lu.assertErrorMsgContains('unknown option "nane"; did you mean "name"?', plot.figure,
    {series = {{nane = "x", points = {{1, 1}}}}})
  lu.assertErrorMsgContains("style must be one of lines, points, both, dashed", plot.figure,
    {series = {{name = "x", points = {{1, 1}}, style = "dots"}}})
  lu.assertErrorMsgContains("a plot has either series or cells", plot.figure, {})
  lu.assertErrorMsgContains("row 2 is another", plot.figure, {cells = {{1, 2}, {1}}})
  lu.assertErrorMsgContains("ladies.plot.figure: cells must be numbers, or false; row 2, column 1 "
    .. "is a string", plot.figure, {cells = {{1, 2}, {"1", 2}}})
  lu.assertErrorMsgContains("row 1, column 2 is a table", plot.heat_map, {{1, {}}})
  local changed = plot.heat_map{{1, false}, {0 / 0, 2}}
  lu.assertStrContains(changed:svg(), "<rect")
  changed.plot.cells[2][2] = {}
  for _, name in ipairs{"svg", "png", "text"} do
    lu.assertErrorMsgContains("cells must be numbers, or false; row 2, column 2 is a table",
      changed[name], changed)
  end
  lu.assertErrorMsgContains("must have 2 to 4 columns (x, y, low, high), got 2 x 5", plot.figure,
    {series = {{points = ladies.ones(2, 5)}}})
  local function refused(message, own)
    lu.assertErrorMsgContains("ladies.plot.lines: " .. message, plot.lines, {1, 2}, own)
  end
  refused("y_range of a logarithmic axis must be above 0, got 0", {log = "y", y_range = {0, 2}})
  refused("x_range of a logarithmic axis must be above 0, got -1", {log = "xy", x_range = {-1}})
  refused("y_range must ascend, got 2 to 2", {y_range = {2, 2}})
  refused("x_range must ascend, got 3 to 1", {x_range = {3, 1}})
  for _, bound in ipairs{1 / 0, 0 / 0, 1e17, -1e17, "1"} do
    refused("y_range must be {low, high}, two numbers up to 1e15", {y_range = {bound}})
    refused("x_range must be {low, high}, two numbers up to 1e15", {log = "x", x_range = {bound}})
  end
  refused("there are 2 numbers and 1 of at", {at = {1}})
  lu.assertErrorMsgContains("ladies.plot.bars: there are 3 bars and 1 names", plot.bars, {1, 2, 3},
    {names = {"a"}})
  lu.assertErrorMsgContains("must end in .svg, .png or .pdf", function()
    plot.lines{1, 2}:save "x.gif"
  end)
  local figure = plot.figure{log = "y", series = {{name = "x", points = {{1, 0}}}}}
  lu.assertNil(figure:svg())
  lu.assertEquals({figure:save(temporary.path "none.svg")}, {nil, "there is nothing to draw"})
end

return tests
