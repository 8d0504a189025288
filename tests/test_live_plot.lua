--- The curve in a terminal while a run trains: `ladies train --plot`, and its parts.
local lu = require "luaunit"
local ladies = require "ladies"
local live_plot = require "ladies.training.live_plot"
local progress = require "ladies.base.progress"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

-- What a bar writes when f(bar) is done with it.
local function written(terminal, f)
  local parts, now = {}, 0
  local bar = progress.new{total = 4, terminal = terminal, clock = function() return now end,
    write = function(text) parts[#parts + 1] = text end}
  f(bar)
  return parts
end

--- A picture takes the place of the one before, and goes with the bar; a line stays above it.
function tests.test_pictures_of_a_bar()
  local parts = written(true, function(bar)
    bar:picture "one\ntwo\nthree"
    bar:picture "four"
    bar:line "kept"
    bar:picture "five"
    bar:clear()
    bar:clear()
  end)
  lu.assertEquals(parts, {"one\ntwo\nthree\n", "\r\27[3A\27[J", "four\n", "\r\27[1A\27[J", "kept\n",
    "five\n", "\r\27[1A\27[J"})
  lu.assertEquals(written(false, function(bar) bar:picture "one" end), {})
end

--- It is drawn at most once a second, of all validations and the mean losses between them.
function tests.test_drawings()
  local now = 0
  local plot = live_plot.new{name = "micro-F1", clock = function() return now end}
  plot:loss(3)
  plot:loss(1)
  lu.assertNil(plot:validation(2, 0.25))
  local text = plot:validation(4, 0.5)
  lu.assertStrContains(text, "validation micro-F1")
  lu.assertTrue(select(2, text:gsub("\n", "")) < 16)
  now = 0.9
  lu.assertNil(plot:validation(6, 0.6))
  now = 1
  lu.assertStrContains(plot:validation(8, 0.7), "micro-F1")
  lu.assertEquals({plot.rows[1].loss, plot.rows[2].loss, #plot.rows}, {2, false, 4})
end

--- In a terminal, and not where nobody sees it; the model is the same.
function tests.test_command()
  local words = {"train", toy_study.dataset, "--max-batches", "60", "--model", "gcn", "--layers",
    "2", "--samples", "20", "--plot", "--out"}
  local plain, drawn = temporary.path "plain", temporary.path "drawn"
  words[#words + 1] = plain
  local _, err, status = shell.run_ladies(words)
  lu.assertEquals(status, 0, err)
  lu.assertNil(err:find "\27")
  words[#words] = drawn
  lu.assertNil(shell.talk([[
    expect validation micro-F1
    expect \e[J
    expect test micro-F1
    exit 0
  ]], words))
  lu.assertTrue(ladies.file.read(drawn .. "/model.npz") == ladies.file.read(plain .. "/model.npz"))
end

return tests
