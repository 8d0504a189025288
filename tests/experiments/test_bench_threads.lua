--- `ladies bench threads`: the model of a training step and its parts, and what the command shows.
local lu = require "luaunit"
local shell = require "tools.shell"
local threads = require "experiments.bench.threads"
local toy_study = require "tools.toy_study"

local tests = {}

local SETTINGS = {dataset = toy_study.dataset, method = "ladies", samples = 16, hidden = 32,
  batch_size = 20, model = "gcn", layers = 2}

--- The parts of a step are what its loops and the rest of it take, and no number of threads makes
-- them faster than that rest.
function tests.test_model()
  local sampling, training = threads.model(threads.step(SETTINGS), 3)
  lu.assertTrue(training.loops.tile.calls > 0 and training.loops.spmm_by_rows.calls > 0)
  lu.assertNil(sampling.loops.tile)
  for _, part in ipairs{sampling, training} do
    local sum = part.serial
    for name, loop in pairs(part.loops) do
      lu.assertEquals(loop.name, name)
      lu.assertTrue(loop.chunks >= loop.calls)
      sum = sum + loop.seconds
    end
    lu.assertAlmostEquals(threads.seconds(part), sum, 1e-12)
    local slower = sum
    for _, p in ipairs(threads.WIDTHS) do
      local seconds = threads.seconds(part, p)
      lu.assertTrue(seconds <= slower and seconds > part.serial)
      slower = seconds
    end
  end
end

function tests.test_measured()
  local found = threads.measured(threads.step(SETTINGS), 2, 3, 2)
  lu.assertTrue(found.low > 0 and found.low <= found.median and found.median <= found.high)
end

--- The shares of a step that the command shows add up to all of it.
function tests.test_command()
  local out = shell.silent(shell.run_ladies{"bench", "threads", "--work", "wordnet", "--steps", "2",
    "--rounds", "1"})
  local sum, whole = 0, nil
  for line in out:gmatch "[^\n]+" do
    local share = tonumber(line:match "([%d.]+) %%")
    if line:find "^the step" then
      whole = share
    elseif share and not line:find "^sampled ahead" then
      sum = sum + share
    end
  end
  lu.assertEquals(whole, 100)
  lu.assertAlmostEquals(sum, 100, 1)
  lu.assertStrContains(out, "measured with 2 threads: ")
  lu.assertStrContains(out, "spmm_by_rows")
end

--- A step whose data set is not there is reported, and the others are measured.
function tests.test_absent()
  local folder <close> = shell.folder()
  local out = shell.succeeded(shell.run_ladies({"bench", "threads", "--work", "pubmed"},
    {env = {"HOME=" .. folder.path, "XDG_CACHE_HOME=" .. folder.path,
      "LADIES_DATA=" .. folder.path}}))
  lu.assertStrContains(out, "LADIES (64), PubMed: there is no data set pubmed here")
end

return tests
