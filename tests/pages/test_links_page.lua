--- doc/links.md: every file that the page shows is written as it is there, and every command runs.

local lu = require "luaunit"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

function tests.test_every_listing()
  local folder <close> = shell.folder()
  local output = page_commands(root .. "/doc/links.md", folder.path)
  lu.assertStrContains(output "ladies train ./graph.npz --task link_prediction --method graphsage",
    "test AUC")
  lu.assertStrContains(output "ladies evaluate runs/links", "test AP")
  lu.assertStrContains(output "ladies train ./graph.npz --task link_prediction --method ladies",
    "test MRR")
  lu.assertStrContains(output "ladies ./hard.lua", "test MRR")
end

return tests
