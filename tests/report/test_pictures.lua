--- Pictures as programs that know no themes draw them: rsvg-convert renders, pixels are counted.
local lu = require "luaunit"
local ladies = require "ladies"
local bench_picture = require "experiments.bench.picture"
local core = require "ladies_core"
local json = require "ladies.base.json"
local curve = require "ladies.training.record.curve"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local ROOT = os.getenv "LADIES_SOURCE" .. "/"
local TOOLS = ROOT .. "tests/tools/"

-- Renders a picture with its texts and without; returns the counts of pixels of both.
local function rendered(svg)
  local words = {"python3", TOOLS .. "png_pixels.py"}
  for i, text in ipairs{svg, (svg:gsub("<text.->.-</text>", ""))} do
    local base = temporary.path("picture" .. i)
    ladies.file.write(base .. ".svg", text)
    shell.silent(shell.run{"rsvg-convert", "--width", "280", "--keep-aspect-ratio",
      "--output", base .. ".png", base .. ".svg"})
    words[i + 2] = base .. ".png"
  end
  local out = shell.succeeded(shell.run(words))
  local with, without = out:match "([^\n]*)\n([^\n]*)"
  return json.decode(with, "pixels"), json.decode(without, "pixels")
end

-- Fails unless a picture is legible on paper: it has a white ground, is not black, not of one
-- colour alone, and its texts are seen.
local function check_legible(svg, name)
  local picture, without = rendered(svg)
  local n_colours, dark, white = 0, 0, picture.colours.ffffff or 0
  for colour, count in pairs(picture.colours) do
    n_colours = n_colours + 1
    local red, green, blue = colour:match "(..)(..)(..)"
    local sum = tonumber(red, 16) + tonumber(green, 16) + tonumber(blue, 16)
    if sum < 120 then dark = dark + count end
  end
  lu.assertTrue(white > 0.15 * picture.n, name .. ": no white ground")
  lu.assertTrue(dark < 0.2 * picture.n, name .. ": it is black")
  lu.assertTrue(n_colours >= 8, name .. ": few colours")
  lu.assertTrue(without.changed > 60, name .. ": no text is seen")
  return picture
end

local function skip_without()
  if not (core.process.exists "rsvg-convert" and core.process.exists "python3") then
    lu.skip "needs rsvg-convert and python3"
  end
end

--- Every kind of figure, and in the colours of its series.
function tests.test_figures()
  skip_without()
  local plot = ladies.plot
  local A = ladies.sparse(ladies.tensor{{0, 1, 1}, {1, 0, 0}, {1, 0, 0}})
  local two = {{name = "one", points = {{1, 1, 0.5, 2}, {2, 3, 2, 4}, {3, 2, 1, 3}}},
    {name = "two", points = {{1, 3}, {2, 1}, {3, 1}}, style = "both"}}
  local values = ladies.zeros(20, 50):uniform_(0, 1, ladies.rng(1))
  for name, figure in pairs{
    lines = plot.figure{title = "lines", x = "x", y = "y", series = two},
    bars = plot.bars(ladies.tensor{{1, 2}, {3, 1}}, {names = {"a", "b"}, series = {"one", "two"}}),
    histogram = plot.histogram(values),
    scatter = plot.scatter(ladies.tensor{{0, 0}, {1, 1}, {2, 0}}, {classes = {1, 2, 1}}),
    network = plot.network(A, {classes = {1, 2, 2}, labels = {"a", "b", "c"}}),
    cells = plot.heat_map(ladies.tensor{{0, 1}, {-1, 0.5}}, {title = "cells"}),
    spy = plot.spy(A),
    curve = curve.figure({{batch = 1, value = 0.1, loss = 3}, {batch = 9, value = 0.6, loss = 1}},
      "a run", "micro-F1"),
  } do
    local picture = check_legible(figure:svg(), name)
    if name ~= "cells" and name ~= "spy" then      -- whose colours are more or less opaque
      lu.assertTrue((picture.colours["0072b2"] or 0) >= 2, name .. ": the first series is not blue")
      lu.assertTrue(name == "histogram" or (picture.colours["d55e00"] or 0) >= 2, name)
    end
  end
  check_legible(bench_picture("Bars", {{name = "a", median = 90, low = 80, high = 99},
    {name = "b", median = 40, low = 30, high = 45}}), "bench")
end

--- The pictures of the documentation are legible.
function tests.test_committed_pictures()
  skip_without()
  local paths = shell.run{"find", ROOT .. "doc", "-name", "*.svg"}
  local n = 0
  for path in paths:gmatch "[^\n]+" do
    n = n + 1
    -- Some of the studies' suffice, which one program has drawn.
    if n % 8 == 0 or not path:find "/reproduction/" then
      check_legible(ladies.file.read(path), path)
    end
  end
  lu.assertTrue(n > 0)
end

--- A PDF has its texts as text, in fonts of its own.
function tests.test_pdf()
  skip_without()
  local path = temporary.path "x.pdf"
  lu.assertTrue(ladies.plot.lines({1, 3, 2}, {title = "three", names = {"a"}}):save(path))
  local pdf = ladies.file.read(path)
  lu.assertEquals(pdf:sub(1, 5), "%PDF-")
  lu.assertStrContains(pdf, "/Font")
end

return tests
