--- The curve in a terminal while a run trains: `ladies train --plot`, and its parts.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local live_plot = require "ladies.training.record.live_plot"
local progress = require "ladies.base.progress"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

-- Returns the texts that a bar writes when f(bar) is done with it.
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

--- The plot is drawn at most once a second, of all validations and the mean losses between them.
function tests.test_drawings()
  local now, rows = 0, {}
  local plot = live_plot.new{name = "micro-F1", clock = function() return now end}
  local function draw(batch, value)
    rows[#rows + 1] = {batch = batch, value = value, loss = 1 / batch}
    return plot:draw(rows)
  end
  lu.assertNil(draw(2, 0.25))
  local text = draw(4, 0.5)
  lu.assertStrContains(text, "validation micro-F1")
  lu.assertStrContains(text, "training loss")
  lu.assertTrue(select(2, text:gsub("\n", "")) < 16)
  now = 0.9
  lu.assertNil(draw(6, 0.6))
  now = 1
  lu.assertStrContains(draw(8, 0.7), "micro-F1")
end

--- The curve is drawn while a run trains in a terminal alone, and in the end in any case, above the
-- names of the run's files; the model is the same.
function tests.test_command()
  local words = {"train", toy_study.dataset, "--max-batches", "60", "--model", "gcn", "--layers",
    "2", "--samples", "20", "--self-nodes", "previous", "--out"}
  local plain, seen, drawn = temporary.path "plain", temporary.path "seen", temporary.path "drawn"
  words[#words + 1] = plain
  local out = shell.succeeded(shell.run_ladies(words))
  lu.assertNil(out:find("training loss", 1, true))
  words[#words], words[#words + 1] = seen, "--plot"
  local told, err = shell.succeeded(shell.run_ladies(words))
  lu.assertNil(err:find "\27")
  lu.assertStrMatches(told, ".*validation micro%-F1.*training loss.*in [^\n]*curve%.svg.*")
  lu.assertEquals(core.exists(seen .. "/curve.svg"), "file")
  words[#words - 1] = drawn
  lu.assertNil(shell.talk([[
    expect validation micro-F1
    expect \e[J
    expect training loss
    expect test micro-F1
    exit 0
  ]], words))
  for _, folder in ipairs{seen, drawn} do
    local same = ladies.file.read(folder .. "/model.npz") == ladies.file.read(plain .. "/model.npz")
    lu.assertTrue(same, folder)
  end
  words[#words - 1], words[4] = temporary.path "single", "10"
  out, err = shell.run_ladies(words)
  lu.assertEquals(err, "")
  lu.assertStrContains(out, "\nno curve: the run had 1 validation; with a smaller --eval-every it "
    .. "has more\n")
  words[#words - 1], words[4] = temporary.path "each", "1"
  out = shell.run_ladies(table.move({"--eval-every", "1"}, 1, 2, #words + 1, words))
  lu.assertStrContains(out, "\nno curve: the run had 1 validation\n")
  words[#words - 3], words[2] = temporary.path "none", temporary.path "none.npz"
  local data = ladies.generate.power_law{nodes = 40, entries = 160, features = 4, classes = 2}
  local adjacency = data.graph.adjacency
  ladies.data.save(ladies.data.from_arrays{graph = adjacency, features = data.features,
    labels = data.labels, train = data.train, test = data.test}, words[2])
  lu.assertStrContains(shell.run_ladies(words), "\nno curve: there are no validation nodes\n")
end

return tests
