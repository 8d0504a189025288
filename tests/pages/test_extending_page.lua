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
  lu.assertStrContains(output "ladies train ./graph.npz --method mine.lua", "mine (32)")
  lu.assertStrContains(output "ladies train --help", "--mix X")
  lu.assertStrContains(output "ladies sweep --vary mix", "mix 0.5")
  lu.assertStrContains(output "ladies variance", "| mine")
  lu.assertStrContains(output "ladies ./compare.lua", "| everything")
  lu.assertStrMatches(output "ladies ./compose.lua", "2\ntrue\tinput 1 %(%d, 1%): .*")
end

return tests
