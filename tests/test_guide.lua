--- doc/guide/: every file that its pages show is written as it is there, and every command runs.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

local lu = require "luaunit"
local files = require "tools.files"
local page_commands = require "tools.page_commands"
local rooms_picture = require "tools.rooms_picture"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE" or here .. "/.."

local function run(page, folder)
  return page_commands(("%s/doc/guide/%s"):format(root, page), folder.path)
end

function tests.test_how_to()
  local folder <close> = shell.folder()
  local output = run("how-to.md", folder)
  lu.assertStrContains(output "ladies ./data.lua", "2 train, 2 val, 2 test")
  for _, name in ipairs{"loss", "metric", "schedule", "large"} do
    lu.assertStrContains(output(("ladies ./%s.lua"):format(name)), "test micro-F1")
  end
  lu.assertStrContains(output "ladies ./metric.lua", "validation recall")
  local batches = output "ladies ./callback.lua":match "^(%d+) batches"
  lu.assertTrue(tonumber(batches) < 200)
  lu.assertStrContains(output "ladies train ./graph.npz --method rare.lua", "rare (32)")
  lu.assertStrContains(output "ladies compare", "| rare (32)")
end

function tests.test_pyg_and_dgl()
  local folder <close> = shell.folder()
  local output = run("pyg-dgl.md", folder)
  for _, name in ipairs{"full", "sage"} do
    local f1 = tonumber(output(("ladies ./%s.lua"):format(name)))
    lu.assertTrue(f1 > 0.8 and f1 < 1, f1)
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
