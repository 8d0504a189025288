--- Hostile names and texts in data, in a registry or in the current folder: none of them runs
-- anything, adds a line to what is printed, or controls a terminal.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local fake = require "tools.fake_sources"
local markdown = require "ladies.report.markdown"
local Report = require "ladies.report"
local run_folder = require "ladies.training.record.run_folder"
local shell = require "tools.shell"
local Table = require "ladies.report.table"
local temporary = require "reference.temporary"

local tests = {}

local function is_there(path) return core.exists(path) ~= false end

-- ---------------------------------------------------------------- what is shown

function tests.test_printable()
  for text, shown in pairs{
    [""] = "", ["Übung 1 %s"] = "Übung 1 %s", ["a\nb\tc\r"] = "a\\nb\\tc\\r",
    ["\27[2J\7\0\127"] = "\\x1b[2J\\x07\\x00\\x7f", ["\u{9b}31m"] = "\\xc2\\x9b31m",
    ["txt.\u{202e}gpj"] = "txt.\\xe2\\x80\\xaegpj", ["\x9b31m\xff\xc3"] = "\\x9b31m\\xff\\xc3",
    ["\u{d7ff}\u{10ffff}"] = "\u{d7ff}\u{10ffff}", ["\xed\xa0\x80"] = "\\xed\\xa0\\x80",
  } do
    lu.assertEquals(core.printable(text), shown)
  end
  lu.assertEquals(core.printable("a\n\tb\r", true), "a\n\tb\\r")
  lu.assertEquals(#core.printable(("\27"):rep(100000)), 400000)
end

function tests.test_errors()
  for _, words in ipairs{{"info", "x\27[2J/y"}, {"x\27[2J.lua"}, {"train", "--x\27[2J"},
    {"-e", "error('\27[2J', 0)"}} do
    local _, err, status = shell.run_ladies(words)
    lu.assertNotEquals(status, 0)
    lu.assertNil(err:find "\27", nil, err)
    lu.assertStrContains(err, "[2J")
  end
end

-- Would clear the screen, in two ways, and turn what follows round; and then ends a line.
local HOSTILE = "\27[2J\u{9b}2J\u{202e}x\n  test micro-F1 1.0"

-- A data set of such names.
local function hostile_data()
  local n, edges = 40, {}
  for i = 1, n do edges[i] = {i, i % n + 1} end
  local labels, names = {}, {}
  for i = 1, n do
    labels[i] = i % 2 + 1
    names[i] = ("node %d %s"):format(i, HOSTILE:gsub("\n", " "))
  end
  return ladies.data.from_arrays{name = HOSTILE, edges = edges, features = ladies.ones(n, 1),
    labels = labels, class_names = {HOSTILE, "two"}, source = HOSTILE, node_names = names,
    feature_names = {HOSTILE}, train = ladies.range(1, 20), val = ladies.range(21, 30),
    test = ladies.range(31, 40)}
end

-- Fails unless a terminal would only print this text, which has `n_lines` lines where that is
-- given.
local function assert_readable(text, n_lines)
  lu.assertEquals(core.printable(text, true), text)
  lu.assertNil(text:find "\n  test micro%-F1 1.0", text)
  if n_lines then lu.assertEquals(select(2, text:gsub("\n", "")) + 1, n_lines, text) end
end

function tests.test_what_values_say_of_themselves()
  local data = hostile_data()
  assert_readable(tostring(data), 1)
  assert_readable(ladies.show(data))
  assert_readable(data:describe(), 9)
  assert_readable(require("ladies.data.about.description").full(data, 80))
  for _, node in ipairs{1, data.node_names[2]} do
    assert_readable(require("ladies.data.about.node").text(data, node))
  end
  assert_readable(select(2, data:find_node(HOSTILE)), 1)
  local typed = ladies.data.from_arrays{edges = {{1, 2}, {2, 1}}, edge_types = {HOSTILE, "knows"},
    directed = "keep", features = ladies.ones(2, 1), labels = {1, 1}, train = {1}}
  assert_readable(tostring(typed.edges), 1)
  assert_readable(tostring(typed.graph.relations), 1)
  assert_readable(tostring(ladies.summary{method = HOSTILE, stopped = HOSTILE, numerics = HOSTILE,
    monitor = HOSTILE, best_value = 1, best_batch = 1}), 6)
end

--- Commands print readable text of hostile names in a pipe as on a terminal, because it is for
-- people.
function tests.test_what_commands_print()
  local folder <close> = shell.folder()
  local place = ("%s/%s"):format(folder.path, HOSTILE)
  core.mkdir(place)
  local path, run = place .. "/x.npz", place .. "/run"
  ladies.data.save(hostile_data(), path)
  for _, words in ipairs{{"info", path}, {"info", place .. "/none"}, {"info", place},
    {"train", path, "--out", run, "--max-batches", "3", "--method", "full", "--patience", "9"},
    {"train", path, "--out", run}, {"train", "--resume", run, "--max-batches", "4"},
    {"train", "--resume", place}, {"evaluate", run}, {"evaluate", place}, {"view", place},
    {"predict", run, "--out", place .. "/p.pdf"}} do
    local out, err = shell.run_ladies(words)
    for _, text in ipairs{out, err} do assert_readable(text) end
  end
  lu.assertNil(shell.talk([[
    expect \\x1b[2J
    expect node 40
    exit 0
  ]], {"predict", run}))
  local raw = shell.run_ladies{"predict", run}                     -- no terminal: for programs
  lu.assertStrContains(raw, "node 40 \27[2J")
end

function tests.test_markdown()
  lu.assertEquals(markdown.table{{"a|±", "±±±±±"}, {"<b>\n\xff", "\\|"}},
    "| a\\|±         | ±±±±± |\n| ------------ | ----: |\n| \\<b>\\\\n\\\\xff |  \\\\\\| |")
end

--- Wherever a report shows a name, it is no HTML, link or picture, and no end of a line or a cell.
function tests.test_reports()
  local path = temporary.path "report"
  core.folder.make(path)
  local hostile = "<b>[x](javascript:y)|![z](/etc/passwd)\27[2J"
  local report, names = Report.new("sweep", path, hostile), Table.new{hostile}
  names:add{hostile}
  report:heading(hostile)
  report:text(hostile)
  report:table(names)
  report:csv(names)
  report:note(hostile)
  report:picture(hostile .. "/../../x", {title = hostile, series = {{name = hostile,
    points = {{1, 1}, {2, 2}}}}}, true)
  report:write()
  lu.assertNil(tostring(report):find "\27")
  -- The link to the picture is meant to be one, so only its title is looked at.
  local text = ladies.file.read(path .. "/sweep.md")
    :gsub("\n!%[([^\n]*)%]%([%w_.+-]+%)\n", "\n%1\n")
  lu.assertNil(text:find "\27")
  lu.assertNil(text:gsub("\\.", ""):find "[<%[]")
  for _, file in ipairs(core.files(path)) do lu.assertStrMatches(file, "[%w_.+-]+") end
end

function tests.test_names_of_data_sets()
  for path, plain in pairs{
    ["x/cora.npz"] = "cora", ["reddit-scale"] = "reddit-scale", ["a b/Ü_1.x+y"] = "Ü_1.x+y",
    ["<b>`x`\n## y"] = "_b__x__n__ y", ["$(x)'\"\\|;&"] = "__x_______", ["x/y///"] = "y",
  } do
    lu.assertEquals(run_folder.plain(path), plain)
  end
end

-- ---------------------------------------------------------------- plots

-- Texts that would run `touch MARK` if a program that draws or a shell read them as more than text.
local function acting(mark)
  local touch = "touch " .. mark
  return {
    "x\n!" .. touch, "x'\n!" .. touch .. "\n'", "';!" .. touch .. ";'", "x'; system '" .. touch,
    "`" .. touch .. "`", "$(" .. touch .. ")", "@act", "x\\\n!" .. touch, "x\r!" .. touch,
    "\"\n!" .. touch .. "\n\"", "back\\", "100 %d {/Symbol a}_b^c", "\27]2;x\7", "\xff\xfe", "-",
    "x.01'2",
  }
end

--- Hostile texts are harmless in every place of a plot that takes a text, and as the name of its
-- file.
function tests.test_plots()
  if not ladies.plot.available() then return end
  local folder <close> = shell.folder()
  local out, mark = folder.path .. "/out", folder.path .. "/mark"
  core.mkdir(out)
  for i, text in ipairs(acting(mark)) do
    local path = ("%s/%d%s.svg"):format(out, i, text:gsub("/", "_"))
    local given = {title = text, x = text, y = text, series = {
      {name = text, points = {{1, 1}, {2, 2}}}, {name = text, axis = 2, points = {{1, 3}, {2, 2}}},
    }}
    local figure = ladies.plot.figure(given)
    lu.assertTrue(figure:save(path))
    lu.assertTrue(figure:save(path:gsub("svg$", "png")), text)
    lu.assertTrue(is_there(path))
    lu.assertFalse(is_there(mark), text)
    local shown = core.printable(text):gsub("[&<>\"']", {["&"] = "&amp;", ["<"] = "&lt;",
      [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;"})
    -- Title, two axes, the second of y, and the key of two series.
    local _, count = ladies.file.read(path):gsub(shown:gsub("%p", "%%%0"), "")
    lu.assertTrue(count >= 6, text)
    local bars = ladies.plot.bars({1}, {names = {text}, title = text})
    local cells = ladies.plot.heat_map({{1}}, {rows = {text}, columns = {text}, title = text})
    for k, one in ipairs{figure, bars, cells} do
      lu.assertNil(one:text():find "[%z\1-\9\11-\31]")
      lu.assertTrue(one:save(("%s/%d.png"):format(folder.path, k)), text)
    end
    lu.assertFalse(is_there(mark), text)
  end
  lu.assertEquals(#core.files(out), 2 * #acting(mark))
  local _, complaint = ladies.plot.figure{series = {}}:save(folder.path .. "/none/x.svg")
  lu.assertEquals(complaint, "there is nothing to draw")
  lu.assertErrorMsgContains("x_range must be {low, high}, two numbers", ladies.plot.figure,
    {x_range = {"1]\n!touch x", 2}, series = {{name = "x", points = {{1, 1}}}}})
end

function tests.test_html_in_a_picture()
  local svg = ladies.plot.figure{title = "<script>alert(1)</script>",
    series = {{name = "<b>&", points = {{1, 1}}}}}:svg()
  lu.assertNil(svg:find "<script>alert")
  lu.assertNil(svg:find "<b>")
end

-- ---------------------------------------------------------------- the current folder

local ACT = "io.open('%s', 'w'):close() return {}"

--- Neither a module that the library needs nor a program is taken from the current folder.
function tests.test_modules_that_lie_around()
  local folder <close> = shell.folder()
  local mark = folder.path .. "/acted"
  for _, name in ipairs{"cjson", "ladies", "ladies_core", "ladies_host"} do
    fake.write(("%s/%s.lua"):format(folder.path, name), ACT:format(mark))
  end
  fake.write(folder.path .. "/own.lua", "return 'own'")
  fake.write(folder.path .. "/script.lua", "print((require 'ladies' and require 'own'))")
  for _, words in ipairs{{"help"}, {"info", "--help"}, {"./script.lua"}, {"script.lua"},
    {"-e", "print((require 'own'))"}, {"-l", "own", "script.lua"}} do
    local out = shell.silent(shell.run_ladies(words, {folder = folder.path}))
    lu.assertFalse(is_there(mark), words[1])
    if words[1] ~= "help" and words[1] ~= "info" then lu.assertEquals(out, "own\n") end
  end
end

--- Commands look for modules in absolute folders alone, as is printed when their state is closed.
function tests.test_paths_of_commands()
  local env = {"LUA_PATH=./?.lua;/opt/x/?.lua;?.lua;;", "LUA_CPATH=./?.so;/opt/x/?.so",
    "LUA_INIT=held = setmetatable({}, {__gc = function() print(package.path, package.cpath) end})"}
  local out = shell.run_ladies({"info", "--help"}, {env = env})
  local path, cpath = out:match "([^\n\t]*)\t([^\n\t]*)\n$"
  lu.assertStrContains(path, "/opt/x/?.lua;")
  lu.assertEquals(cpath, "/opt/x/?.so")
  for place in path:gmatch "[^;]+" do lu.assertStrMatches(place, "/.*") end
  out = shell.run_ladies({"-e", "print(package.path)"}, {env = env})
  lu.assertStrContains(out, ";./?.lua;")                  -- a script's own modules are found
end

function tests.test_programs_that_lie_around()
  local world <close> = fake.world()
  local mark = world.path .. "/acted"
  local script = ("#!/bin/sh\n/usr/bin/touch '%s'\n"):format(mark)
  for _, name in ipairs{"curl", "pip", "pip3", "rsvg-convert"} do
    fake.write(world.path .. "/" .. name, script)
    os.execute("chmod +x " .. shell.quote(world.path .. "/" .. name))
  end
  for _, path in ipairs{"", ".", ":", "/nonexistent:", ".:/nonexistent", "../" ..
    world.path:match "[^/]*$"} do
    for name, missing in pairs{toy = "curl", ["toy-wheel"] = "pip"} do
      shell.refuses("the program " .. missing .. " is missing", shell.run_ladies({"fetch", name},
        {env = world:env{"PATH=" .. path, "LD_LIBRARY_PATH="}, folder = world.path}))
      lu.assertFalse(is_there(mark))
    end
  end
end

--- A wheel is downloaded by python3 -I -m pip where there is no pip: without -I that would run
-- ./pip.py.
function tests.test_pip_of_python()
  local world <close> = fake.world()
  local pip = fake.read(world.path .. "/bin/pip")
  os.execute(("cd %s/bin && rm pip curl"):format(shell.quote(world.path)))
  fake.write(world.path .. "/bin/python3",
    (pip:gsub("^#!/bin/sh\n", "%0PATH=/usr/bin:/bin\n")))
  os.execute(("chmod +x %s/bin/python3"):format(shell.quote(world.path)))
  shell.silent(world:run({"fetch", "toy-wheel"}, {"PATH=" .. world.path .. "/bin"}))
  lu.assertStrMatches(fake.read(world.path .. "/words"), "%-I %-m pip download .* %-%- toy==1%.0\n")
end

-- ---------------------------------------------------------------- the registry

function tests.test_fields_of_a_registry()
  local world <close> = fake.world()
  local from = world.registry
  for _, case in ipairs{
    {"zip      https://example.org/toy.zip", "zip      -K/etc/passwd", "zip"},
    {"zip      https://example.org/toy.zip", "zip      file:///etc/passwd", "zip"},
    {"zip      https://example.org/toy.zip", "zip      https://-K/x y", "zip"},
    {"wheel    toy 1.0 any 3.8", "wheel    --index-url=http://x 1.0 any 3.8", "wheel"},
    {"wheel    toy 1.0 any 3.8", "wheel    toy 1.0;x any 3.8", "wheel"},
    {"wheel    toy 1.0 any 3.8", "wheel    toy@file:///x 1.0 any 3.8", "wheel"},
    {"wheel    toy 1.0 any 3.8", "wheel    toy 1.0 --pre 3.8", "wheel"},
    {"wheel    toy 1.0 any 3.8", "wheel    toy 1.0 any -3", "wheel"},
    {"wheel    toy 1.0 any 3.8", "wheel    toy 1.0 any", "wheel"},
    {"about    a toy", "about    a \27[2Jtoy", "about"},
    {"base     inner/toy", "base     ../toy", "base"},
    {"read     toy.npz", "read     /etc/passwd", "read"},
    {"read     toy.npz", "read     x//y", "read"},
    {"from     box", "from     ../box", "from"},
    {"expect   nodes 180, classes 3", "expect   nodes -1", "expect"},
    {"sha256   ", "sha256   0", "sha256"},
    {"size     ", "size     -", "size"},
    {"dataset toy\n", "dataset ../toy\n", "the name of a data set"},
    {"archive box\n", "archive -x\n", "the name of an archive"},
  } do
    local at, stop = from:find(case[1], 1, true)
    local _, lines = from:sub(1, at):gsub("\n", "")
    world.registry = from
    world:edit(from:sub(at, stop), case[2])
    local err = shell.refused(world:run{"fetch", "toy"})
    lu.assertStrMatches(err, "[^\n\27]*registry: [^\n\27]*/registry%.txt: line %d+: [^\n\27]*\n")
    lu.assertStrContains(err, ("line %d: "):format(lines + 1))
    lu.assertStrContains(err, case[3])
    lu.assertEquals(world:runs(), 0)
  end
end

return tests
