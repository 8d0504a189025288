--- doc/training.md: every listing runs; the loop by hand is short, may be killed, and has the bits
-- of ladies.train.

local lu = require "luaunit"
local ladies = require "ladies"
local page_blocks = require "tools.page_blocks"
local shell = require "tools.shell"
local toy = require "reference.toy_data"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local blocks = page_blocks(ladies.file.read(root .. "/doc/training.md"))

-- Runs the text of a listing on the toy data in a folder; returns what shell.run_ladies does.
local function run(folder, text)
  ladies.data.save(toy.new(), folder .. "/toy.npz")
  ladies.file.write(folder .. "/listing.lua", (text:gsub('"cora"', '"toy.npz"')))
  return shell.run_ladies({"listing.lua"}, {folder = folder})
end

local function read(folder, name)
  return ladies.file.read(folder .. "/" .. name)
end

local by_hand = blocks[#blocks].text

function tests.test_every_listing()
  local folder <close> = shell.folder()
  for _, block in ipairs(blocks) do
    lu.assertEquals(block.language, "lua")
    local out = shell.succeeded(run(folder.path, block.text))
    lu.assertStrContains(out, "test micro-F1")
    lu.assertStrContains(out, "after batch ")
  end
  lu.assertEquals(#blocks, 4)
  local log = read(folder.path, "runs/opened/log.jsonl")
  lu.assertStrContains(log, '"smooth_loss":')
  lu.assertStrMatches(log, '.*"validation":{"accuracy":[%d.]+,"loss":[%d.]+}.*')
end

function tests.test_the_loop_is_short()
  local _, lines = by_hand:gsub("\n", "\n")
  lu.assertTrue(lines <= 40, lines)
end

--- Killed between two checkpoints and run again, it ends as if nothing had been, and as
-- ladies.train does.
function tests.test_the_loop_by_hand()
  local whole <close> = shell.folder()
  local killed <close> = shell.folder()
  local out = shell.silent(run(whole.path, by_hand))
  local deadly, count = by_hand:gsub("\n  step:close%(%)\n", '%0  if at.number == 47 then '
    .. 'io.popen("kill -KILL $PPID"):close() end\n')
  lu.assertEquals(count, 1)
  lu.assertEquals(select(3, run(killed.path, deadly)), 137)
  lu.assertEquals({select(2, run(killed.path, by_hand))}, {"", 0})
  lu.assertTrue(read(killed.path, "runs/by-hand/best.npz")
    == read(whole.path, "runs/by-hand/best.npz"))
  local _, batches = read(killed.path, "runs/by-hand/log.jsonl"):gsub('"loss"', "")
  lu.assertStrMatches(out, (".* %d\n.*"):format(batches))
  -- Run once more, it has nothing to do.
  lu.assertStrMatches(run(whole.path, by_hand), (".* %d\n.*"):format(batches))

  local data = toy.new()
  local model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, layers = 2}
  local sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {64, 64}})
  local result = ladies.train{data = data, model = model, sampler = sampler, lr = 0.01,
    batch_size = 64, epochs = 500, patience = 200, quiet = true}
  lu.assertEquals(result.batches, batches)
  lu.assertStrContains(out, ("after batch %d: "):format(result.best_batch))
  local same = ladies.load_model(whole.path .. "/runs/by-hand/best.npz")
  for i, parameter in ipairs(model:parameters()) do
    lu.assertEquals(same:parameters()[i]:hash(), parameter:hash())
  end
end

return tests
