--- doc/guide/: every file that its pages show is written as it is there, and every command runs.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local files = require "tools.files"
local ladies = require "ladies"
local outputs = require "tools.outputs"
local page_blocks = require "tools.page_blocks"
local page_commands = require "tools.page_commands"
local rooms_picture = require "tools.rooms_picture"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local transcripts = require "tools.transcripts"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

local function run(page, folder, changed)
  return page_commands(("%s/doc/guide/%s"):format(root, page), folder.path, changed)
end

-- A command of first-sampler.md in small, on another graph than WordNet.
local function in_small(command)
  return (command:gsub(" %-%-seconds %d+", ""):gsub("wordnet", "./graph.npz"):gsub("512", "32")
    :gsub("hidden 64", "hidden 16")
    :gsub("%-%-precision 1", "%0 --seconds 0.2 --hidden 16"):gsub("(%-%-max%-batches) %d+", "%1 20")
    :gsub("(%-%-runs) %d+", "%1 2"))
end

-- Returns the warnings and remedies in a text of the laboratory, without numbers.
local function remarks_of(text)
  local remarks, open = {}, false
  for line in text:gmatch "[^\n]+" do
    if line:find "^ +%l+: " or not line:find "^ " then
      open = line:find "^ +warning: " or line:find "^ +remedy: "
      if open then remarks[#remarks + 1] = "" end
    end
    if open then remarks[#remarks] = remarks[#remarks] .. line end
  end
  return tables.map(remarks, function(one)
    return (one:gsub("%s+", " "):gsub("%d[%d.]*", "#"))
  end)
end

--- The page's commands print outputs of the form that it shows, and the laboratory's remarks are in
-- its words; the prompt answers as the page does.
function tests.test_first_sampler()
  local folder <close> = shell.folder()
  ladies.data.save(ladies.generate.power_law{nodes = 600, entries = 4000, features = 16,
    classes = 3, signal = 0.5}, folder.path .. "/graph.npz")
  local page = files.read(root .. "/doc/guide/first-sampler.md")
  local output_of = run("first-sampler.md", folder, in_small)
  local _, small = outputs.filled(page, output_of)
  local shown = {}
  for _, block in ipairs(page_blocks(page)) do
    if block.language == "output" then shown[#shown + 1] = block.text end
  end
  lu.assertEquals(#small, #shown)
  lu.assertTrue(#small > 3)
  for i, text in ipairs(small) do
    lu.assertEquals(text:match "^[^%s(]+", shown[i]:match "^[^%s(]+")
    lu.assertEquals(select(2, shown[i]:gsub("\n", "")), select(2, (text .. "\n"):gsub("\n", "")))
  end
  local said = {}
  for _, start in ipairs{"ladies lab first", "ladies lab ladies"} do
    for _, remark in ipairs(remarks_of(output_of(start))) do said[remark] = true end
  end
  local held = 0
  for _, text in ipairs(shown) do
    for _, remark in ipairs(remarks_of(text)) do
      -- The cause and the size of a layer's bias depend on the graph.
      if not remark:find "layer # is off by" and not remark:find "remedy: look at the weights" then
        lu.assertTrue(said[remark], remark)
        held = held + 1
      end
    end
  end
  lu.assertEquals(held, 6)
  local filled, typed = transcripts.filled(page)
  lu.assertTrue(typed > 15)
  lu.assertEquals(filled, page,
    "ladies tests/tools/fill_transcripts.lua doc/guide/first-sampler.md makes it")
end

function tests.test_how_to()
  local folder <close> = shell.folder()
  local output = run("how-to.md", folder)
  lu.assertStrContains(output "ladies ./data.lua", "2 train, 2 val, 2 test")
  lu.assertEquals(output "ladies ./files.lua", "3\tblue\ntrue\n")
  lu.assertStrContains(output "ladies info ./people.npz", "classes    2: red, blue")
  lu.assertStrContains(output "ladies ./focal.lua", "\ntrue\t")
  for _, name in ipairs{"loss", "metric", "schedule", "large"} do
    lu.assertStrContains(output(("ladies ./%s.lua"):format(name)), "test micro-F1")
  end
  lu.assertStrContains(output "ladies ./metric.lua", "validation worst")
  local batches = output "ladies ./callback.lua":match "^(%d+) batches"
  lu.assertTrue(tonumber(batches) < 200)
  lu.assertStrContains(output "ladies train ./graph.npz --method rare.lua", "rare (32)")
  lu.assertStrContains(output "ladies compare", "| rare (32)")
end

--- The page's Python was run once, by fixtures/make_python_page.py; its Lua finds about as much on
-- the same graph.
function tests.test_pyg_and_dgl()
  local listings = {}
  for _, block in ipairs(page_blocks(files.read(root .. "/doc/guide/pyg-dgl.md"))) do
    if block.language == "python" then listings[#listings + 1] = block.text end
  end
  local made <close> = ladies.npz.open(here .. "/fixtures/pyg_dgl_page.npz")
  lu.assertEquals(made:text "listings", table.concat(listings),
    "the page's Python has changed: run tests/fixtures/make_python_page.py")
  local theirs = {}
  for f1 in made:text "printed":gmatch "[%d.]+" do theirs[#theirs + 1] = tonumber(f1) end
  local folder <close> = shell.folder()
  local output = run("pyg-dgl.md", folder)
  for i, name in ipairs{"full", "sage"} do
    lu.assertAlmostEquals(tonumber(output(("ladies ./%s.lua"):format(name))), theirs[i], 0.03)
  end
end

--- The picture in doc/tour.md is of the rooms that there are, and of what they need.
function tests.test_rooms()
  local picture = rooms_picture(root)
  lu.assertTrue(files.read(root .. "/doc/guide/rooms.svg") == picture,
    "run: ladies tests/tools/draw_rooms.lua")
  lu.assertStrContains(picture, ">sampling</text>")
end

return tests
