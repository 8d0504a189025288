--- doc/optimizers.md: every file that the page shows is written as it is there, and every command
-- runs on them.

local lu = require "luaunit"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

function tests.test_every_listing()
  local folder <close> = shell.folder()
  local output = page_commands(root .. "/doc/optimizers.md", folder.path)
  for _, name in ipairs{"groups", "sam"} do
    lu.assertStrContains(output("ladies ./" .. name .. ".lua"), "test micro-F1")
  end
  for _, command in ipairs{"ladies train ./graph.npz --layers 2 --optimizer sgd",
    "ladies train ./graph.npz --layers 2 --optimizer lion.lua",
    "ladies train --resume runs/lion"} do
    lu.assertStrContains(output(command), "test micro-F1")
  end
end

return tests
