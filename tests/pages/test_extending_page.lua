--- doc/extending.md: every file that the page shows is written as it is there, and every command
-- runs on them.

local lu = require "luaunit"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

function tests.test_every_listing()
  local folder <close> = shell.folder()
  local output = page_commands(root .. "/doc/extending.md", folder.path)
  lu.assertStrContains(output "ladies train ./graph.npz --method sums.lua", "sums (32)")
  local compared = output "ladies compare --methods ladies:32,./own_and_common.lua:5"
  for _, name in ipairs{"LADIES (32)", "own_and_common (5)", "sums (32)"} do
    lu.assertStrContains(compared, "| " .. name)
  end
  lu.assertStrContains(output "ladies variance", "| sums")
  lu.assertStrContains(output "ladies ./compare.lua", "| everything")
  lu.assertStrMatches(output "ladies ./compose.lua", "2\ntrue\tinput 1 %(%d, 1%): .*")
end

return tests
