--- doc/laboratory.md: every file that the page shows is written as it is there, and every command
-- runs on them.

local lu = require "luaunit"
local ladies = require "ladies"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

function tests.test_every_listing()
  local folder <close> = shell.folder()
  local output = page_commands(root .. "/doc/laboratory.md", folder.path)
  local mine = output "ladies lab mine.lua"
  lu.assertStrContains(mine, "mine (64), LADIES (64), FastGCN (64) on ")
  lu.assertStrContains(mine, "the rows of the blocks sum to one, those of P do not")
  local fair = output "ladies lab fair.lua"
  lu.assertStrContains(fair, "fair (64), mine (64), GraphSAGE (5) on ")
  lu.assertNil(fair:match "^.-\n\n(fair.-)\n\n":find "weights")
  for _, file in ipairs{"runs/fair/lab.html", "runs/fair/lab.json", "runs/prompt/lab.md"} do
    lu.assertStrContains(ladies.file.read(folder.path .. "/" .. file), "fair")
  end
  lu.assertStrContains(output "ladies lab mine.lua --same-as", "do not tell it from LADIES (64)")
  lu.assertStrContains(output "ladies lab fair.lua graphsage", "equal numbers of distinct nodes")
  lu.assertStrContains(output "ladies lab fair.lua ladies", "test micro-F1 less that of fair (64)")
  lu.assertStrContains(((output "ladies lab fair.lua --task"):gsub("%s+", " ")),
    "The task is link prediction: seeds are the nodes")
  lu.assertStrContains(output "ladies lab fair.lua --model", "A model gatv2 of 2 layers")
  lu.assertStrContains(output "ladies ./prompt.lua", "embedding.error\t")
  lu.assertStrContains(output "ladies ./own.lua", "largest weight")
end

return tests
