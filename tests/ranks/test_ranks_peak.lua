--- The most memory that a rank has is what `ladies costs --ranks` computes, with 1, 2 and 4 ranks,
-- and falls with their number as it says.
local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local ladies = require "ladies"
local peak = require "experiments.paper.costs.peak"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

-- A sanitizer has memory of its own: under one the runs are tried, on a small graph, and no more.
local SANITIZED = ({asan = true, tsan = true})[os.getenv "LADIES_BUILD_TYPE"]
local NODES = SANITIZED and 4000 or 100000
local MODEL = {layers = 2, hidden = 256, batch_size = 32, samples = 32}

-- Returns the largest memory of rank 0 of n, in bytes, in training the model on the data set.
local function measured(n, path)
  local out = temporary.path("run of " .. n)
  local words = {"train", path, "--model", "gcn", "--layers", tostring(MODEL.layers), "--hidden",
    tostring(MODEL.hidden), "--batch-size", tostring(MODEL.batch_size), "--samples",
    tostring(MODEL.samples), "--accumulate", "4", "--max-batches", "4", "--validation", "sampled",
    "--shard-optimizer", "--threads", "1", "--quiet", "--out", out}
  if n == 1 then shell.succeeded(shell.run_ladies(words)) else
    shell.succeeded(ranks.run(n, words))
  end
  return json.decode(files.read(out .. "/summary.json")).memory_peak
end

function tests.test_as_computed()
  local path = temporary.path "shards"
  local data = ladies.generate.power_law{nodes = NODES, entries = 8 * NODES, features = 256,
    classes = 4, train = 0.3, val = 0.2, seed = 1}
  ladies.data.to_shards(data, path, {shards = 4, shard_graph = true})
  data = ladies.data.load(path)
  for _, n in ipairs{1, 2, 4} do
    local found, computed = measured(n, path), peak.of(data, n, MODEL)
    local is_near = math.abs(found / computed.total - 1) <= 0.05
    lu.assertTrue(SANITIZED or is_near, ("%d ranks: %.1f MB, computed %.1f")
      :format(n, found / (1 << 20), computed.total / (1 << 20)))
  end
end

return tests
