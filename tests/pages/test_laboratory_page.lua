--- doc/laboratory.md: every file that the page shows is written as it is there, and every command
-- runs on them, and on the sampler of doc/guide/first-sampler.md.

local lu = require "luaunit"
local files = require "tools.files"
local ladies = require "ladies"
local page_blocks = require "tools.page_blocks"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

function tests.test_every_listing()
  local folder <close> = shell.folder()
  for _, block in ipairs(page_blocks(files.read(root .. "/doc/guide/first-sampler.md"))) do
    if block.file then files.write(folder.path .. "/" .. block.file, block.text) end
  end
  local output = page_commands(root .. "/doc/laboratory.md", folder.path)
  local alone = output "ladies lab mine.lua --dataset"
  lu.assertStrContains(alone, "mine (64), LADIES (64), FastGCN (64) on ")
  lu.assertStrContains((alone:gsub("%s+", " ")), "the rows of the blocks that have entries sum to "
    .. "one, those of P do not")
  lu.assertNotStrContains(alone:match "\n\n(mine %(64%).-)\n\n", "sum to one")
  for _, file in ipairs{"runs/lab/lab.html", "runs/lab/lab.json", "runs/prompt/lab.md"} do
    lu.assertStrContains(ladies.file.read(folder.path .. "/" .. file), "mine")
  end
  lu.assertStrContains(output "ladies lab first.lua --same-as", "do not tell it from LADIES (64)")
  lu.assertStrContains(output "ladies lab mine.lua graphsage", "equal numbers of distinct nodes")
  lu.assertStrContains(output "ladies lab mine.lua ladies", "test micro-F1 less that of mine (64)")
  lu.assertStrContains(((output "ladies lab mine.lua --task"):gsub("%s+", " ")),
    "The task is link prediction: seeds are the nodes")
  lu.assertStrContains(output "ladies lab mine.lua --model", "A model gatv2 of 2 layers")
  lu.assertStrContains(output "ladies ./prompt.lua", "embedding.error\t")
  lu.assertStrContains(output "ladies ./own.lua", "largest weight")
end

return tests
