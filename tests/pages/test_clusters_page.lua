--- doc/clusters.md: its listing runs alone and by several ranks, to the same bits, and so does its
-- experiment, line by line; its table is what `ladies costs --ranks` prints, of the network that it
-- says.

local lu = require "luaunit"
local files = require "tools.files"
local ladies = require "ladies"
local page_blocks = require "tools.page_blocks"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local toy = require "reference.toy_data"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local page = files.read(root .. "/doc/clusters.md")

-- The listings of a language on the page.
local function blocks_of(language)
  local list = {}
  for _, block in ipairs(page_blocks(page)) do
    if block.language == language then list[#list + 1] = block.text end
  end
  return list
end

function tests.test_loop_by_hand()
  local folder <close> = shell.folder()
  ladies.data.save(toy.new(), folder.path .. "/toy.npz")
  local blocks = blocks_of "lua"
  lu.assertEquals(#blocks, 1)
  files.write(folder.path .. "/listing.lua", (blocks[1]:gsub('"cora"', '"toy.npz"')))
  local alone, err, status = shell.run_ladies({"listing.lua"}, {folder = folder.path})
  lu.assertEquals(status, 0, err)
  lu.assertStrMatches(alone, "0%.%d+\t%x+\n")
  for _, n in ipairs{2, 3} do
    local out, message, code = ranks.run(n, {"listing.lua"}, {folder = folder.path})
    lu.assertEquals(code, 0, message)
    lu.assertEquals(out, alone)
  end
end

-- The listing for the shell in which a text stands.
local function shell_block_with(text)
  for _, block in ipairs(blocks_of "sh") do
    if block:find(text, 1, true) then return block end
  end
  lu.fail("the page has no listing with " .. text)
end

--- The experiment as the page has it: a run that two ranks began ends alone with the model of one
-- that was alone from the beginning.
function tests.test_experiment()
  local folder <close> = shell.folder()
  local out, err, status = ranks.run_shell(shell_block_with "sha256sum", {folder = folder.path})
  lu.assertEquals(status, 0, err)
  lu.assertStrMatches(err, ".*going on after batch %d+ of epoch %d+\n.*")
  local alone, two = out:match "(%x+)  runs/alone/model.npz\n(%x+)  runs/two/model.npz\n$"
  lu.assertEquals({#(alone or out), two}, {64, alone})
end

function tests.test_table()
  local out, err, status = shell.run_ladies{"costs", "--ranks"}
  lu.assertEquals(status, 0, err)
  lu.assertTrue(page:find(out, 1, true) ~= nil, "ladies costs --ranks prints another table")
  -- Two ranks send two slabs a step.
  for features, classes, mib in ("602 41 2.76 128 172 2.10"):gmatch "(%d+) (%d+) ([%d.]+)" do
    local model = ladies.nn.gcn{inputs = tonumber(features), outputs = tonumber(classes)}
    local _, _, slab = ladies.optim.sgd(model:parameters()):sums()
    lu.assertEquals(("%.2f"):format(2 * 4 * slab.n_rows / 2 ^ 20), mib)
    lu.assertStrContains(out, (" |     2 |               4 |      %s | "):format(mib))
  end
end

--- The commands are those of the program.
function tests.test_commands()
  for _, block in ipairs(blocks_of "sh") do
    for command, words in block:gmatch "ladies (%l+) ([^\n]*)" do
      local help = shell.run_ladies{command, "--help"}
      for option in words:gmatch "(%-%-[%l-]+)" do
        lu.assertStrContains(help, "\n  " .. option)
      end
    end
  end
end

return tests
