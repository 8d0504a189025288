--- Training curves: the table from a log, and the picture where gnuplot is.
local lu = require "luaunit"
local ladies = require "ladies"
local curve = require "ladies.training.curve"
local own_folder = require "ladies.base.own_folder"
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
  lu.assertEquals(name, ladies.plot.available() and "curve.svg" or "curve.tsv")
  lu.assertEquals(ladies.file.read(files:file "curve.tsv"),
    "batch\tseconds\tloss\tmicro-F1\n2\t0.250\t2.500000\t0.500000\n3\t0.500\t1.000000\t0.750000\n")
  if ladies.plot.available() then
    lu.assertStrContains(ladies.file.read(files:file "curve.svg"), "<svg")
  end
end

--- Series take the colours in their order, or that of another series.
function tests.test_colours()
  local path = temporary.path "colours.svg"
  local points = {{1, 1}, {2, 2}}
  if not ladies.plot.svg(path, {series = {{name = "a", points = points},
      {name = "b", points = points}, {name = "c", points = points, colour = 1}}}) then
    lu.skip "gnuplot is not installed"
  end
  local colours = {}
  for r, g, b in ladies.file.read(path):gmatch "rgb%( *(%d+), *(%d+), *(%d+)%)" do
    if r ~= g then colours[#colours + 1] = ("%d %d %d"):format(r, g, b) end
  end
  lu.assertEquals(colours, {"0 114 178", "213 94 0", "0 114 178"})
end

function tests.test_never_validated()
  local files = folder_with '{"batch":1,"epoch":1,"loss":3}\n'
  lu.assertNil(curve.write(files, "", "micro-F1"))
end

function tests.test_text()
  local text, reason = ladies.plot.text{
    series = {{name = "F1", points = {{1, 0}, {2, 1}}}}, width = 40, height = 10,
  }
  if ladies.plot.available() then
    lu.assertStrContains(text, "F1")
  else
    lu.assertEquals(reason, "gnuplot is not installed")
  end
end

--- Logarithmic axes, spreads and styles; what has no place on the axes is left out.
function tests.test_log_axes_and_spreads()
  local plot, base = ladies.plot, temporary.path "spread"
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
  if not plot.available() then
    lu.assertEquals({files, complaint}, {{}, "gnuplot is not installed"})
    return
  end
  lu.assertEquals(files, {"spread.svg", "spread.png"})
  local svg = ladies.file.read(base .. ".svg")
  for _, name in ipairs{"a_b", "bound", "bars"} do lu.assertStrContains(svg, name) end
  lu.assertNotStrContains(svg, "empty")
  lu.assertEquals(ladies.file.read(base .. ".png"):sub(2, 4), "PNG")
  opts.width, opts.height = 60, 15
  opts.x_ticks = {1, 7, 64}
  local text = plot.text(opts)
  lu.assertStrContains(text, "bound")
  lu.assertStrMatches(text, ".*\n +1 +7 +64 *\n.*")
  lu.assertNotStrContains(text, "arning")
end

function tests.test_wrong_input()
  local plot = ladies.plot
  lu.assertErrorMsgContains('unknown option "nane"; did you mean "name"?', plot.text,
    {series = {{nane = "x", points = {{1, 1}}}}})
  lu.assertErrorMsgContains("style must be one of lines, points, both, dashed", plot.text,
    {series = {{name = "x", points = {{1, 1}}, style = "dots"}}})
  local none, reason = plot.text{log = "y", series = {{name = "x", points = {{1, 0}}}}}
  lu.assertNil(none)
  lu.assertEquals(reason, "there is nothing to draw")
end

return tests
