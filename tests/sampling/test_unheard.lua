--- Seeds that no sampled path joins to the features: how many there are, and who is told.
local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"
local unheard = require "ladies.experiment.unheard"

local tests = {}

-- A sampler of one fixed mini-batch: four seeds over three nodes over two. Seed 1 has a way down,
-- seed 2 hears a node that hears nobody, seed 3 nobody at all, seed 4 one of each.
local function fixed(more)
  local lower = ladies.sparse(ladies.tensor{{1, 0}, {0, 0}, {0, 0}})
  local upper = ladies.sparse(ladies.tensor{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {0.5, 0.5, 0}})
  return function(seeds)
    local batch = {blocks = {{adj = lower, dst = ladies.range(1, 3), src = ladies.range(1, 2)},
      {adj = upper, dst = seeds, src = ladies.range(1, 3)}}, input = ladies.range(1, 2),
      output = seeds}
    for key, value in pairs(more or {}) do batch[key] = value end
    return batch
  end
end

function tests.test_share()
  local seeds = ladies.range(1, 4)
  lu.assertEquals(unheard.share(fixed(), seeds), 0.5)
  lu.assertNil(unheard.share(fixed{after_step = print}, seeds))
  lu.assertNil(unheard.share(fixed{readout = seeds}, seeds))
end

-- The share of unheard seeds is that of an enumeration of paths, one seed after the other.
function tests.test_share_of_ladies()
  local data = ladies.generate.power_law{nodes = 400, entries = 1600, features = 4, classes = 2,
    train = 0.2}
  local P, seeds = data.graph:normalize "sym", data.train
  local sampler = ladies.samplers.ladies(P, {samples = {16, 16, 16}})
  local sum = 0
  for i = 1, 4 do
    local batch = sampler(seeds, ladies.rng(1):fork(i))
    local heard = {}
    for node = 1, #batch.input do heard[node] = true end
    for _, block in ipairs(batch.blocks) do
      local dense, above = block.adj:to_dense():to_table(), {}
      for row, values in ipairs(dense) do
        for column, value in ipairs(values) do
          above[row] = above[row] or value ~= 0 and heard[column]
        end
      end
      heard = above
    end
    for row = 1, #seeds do sum = sum + (heard[row] and 0 or 1) end
  end
  lu.assertTrue(sum > 0)
  lu.assertAlmostEquals(unheard.share(sampler, seeds), sum / (4 * #seeds), 1e-6)
end

--- The command and ladies.train tell it, where nothing was said of self nodes, and train the same.
function tests.test_who_is_told()
  local folder <close> = shell.folder()
  local LINE = "of the seeds of a mini-batch hear no features"
  ladies.data.save(ladies.generate.power_law{nodes = 600, entries = 2400, features = 4,
    classes = 2, train = 0.2}, folder.path .. "/g.npz")
  local function told(...)
    local words = {"train", "./g.npz", "--max-batches", "2", "--hidden", "4", "--quiet", ...}
    local _, err = shell.succeeded(shell.run_ladies(words, {folder = folder.path}))
    return err:find(LINE, 1, true) ~= nil
  end
  lu.assertTrue(told("--samples", "16", "--out", "a"))
  lu.assertFalse(told("--samples", "16", "--self-nodes", "none", "--out", "b"))
  lu.assertFalse(told("--samples", "16", "--self-nodes", "previous"))
  lu.assertFalse(told("--samples", "600"))
  lu.assertFalse(told("--samples", "16", "--preset", "paper"))
  lu.assertFalse(told("--method", "fastgcn", "--samples", "16"))
  local a, b = ladies.file.read(folder.path .. "/a/model.npz"),
    ladies.file.read(folder.path .. "/b/model.npz")
  lu.assertTrue(a == b)
  local script <close> = shell.file [[
    local ladies = require "ladies"
    ladies.train{data = arg[1], samples = 16, max_batches = 2, hidden = 4, quiet = true}
  ]]
  local _, err = shell.succeeded(shell.run{shell.ladies, script.path, folder.path .. "/g.npz"})
  lu.assertStrContains(err, LINE)
end

return tests
