--- `ladies bench papers`, at sizes that take seconds: what it prints and keeps, and that nothing is
-- left of its graphs.
local lu = require "luaunit"
local core = require "ladies_core"
local json = require "ladies.base.json"
local papers = require "experiments.bench.papers"
local shell = require "tools.shell"

local tests = {}

local function bench(folder, ...)
  return shell.run_ladies{"bench", "papers", "--fits", "1500", "--batches", "3", "--layers", "2",
    "--threads", "1", "--folder", folder, ...}
end

function tests.test_curve()
  local folder <close> = shell.folder()
  local path = folder.path .. "/papers.json"
  local out = shell.silent(bench(folder.path, "--nodes", "2000,4000", "--edges", "4", "--memory",
    "10M", "--out", path))
  lu.assertEquals(core.files(folder.path), {"papers.json"})
  local kept = json.decode(core.file.read(path))
  lu.assertEquals(#kept.results, 2)
  for i, n in ipairs{2000, 4000} do
    local result = kept.results[i]
    lu.assertEquals({result.nodes, result.opened.nodes}, {n, n})
    -- Offsets, columns (with a loop for each node), labels, split and halves of the features.
    local most = n * (8 + 4 * 9 + 4 + 4 + 2 * papers.FEATURES)
    lu.assertTrue(result.made.bytes > n * (8 + 4 * 9 + 4 + 2 * papers.FEATURES), n)
    lu.assertTrue(result.made.bytes < most + (1 << 14) + 1000, n)
    for _, method in ipairs(papers.METHODS) do
      local one, base = result.trained[method[1]], kept.fits[method[1]]
      for _, times in ipairs{one.cold, one.warm, base.warm} do
        lu.assertTrue(times.mean > 0 and times.median > 0 and times.first > 0)
      end
      lu.assertTrue(one.validation.f1 >= 0 and one.validation.f1 <= 1)
      lu.assertStrMatches(out, (".*\n +%d  %s +[%%d.]+ .* %.4f +[%%d.]+ exact\n.*"):format(n,
        method[1], one.validation.f1))
    end
  end
  lu.assertNotStrContains(out, "sampled")
end

--- An epoch has every training node once, and no second pass.
function tests.test_an_epoch()
  local folder <close> = shell.folder()
  local path = folder.path .. "/papers.json"
  local out = shell.silent(bench(folder.path, "--nodes", "4000", "--edges", "4", "--memory",
    "10M", "--epoch", "--out", path))
  local kept = json.decode(core.file.read(path))
  lu.assertEquals(kept.settings, {"an epoch", "memory " .. (10 << 20), "edges 4",
    "workers 1", "layers 2", "fits 1500"})
  for _, method in ipairs(papers.METHODS) do
    local one = kept.results[1].trained[method[1]]
    lu.assertEquals({one.cold.batches, one.warm}, {2, nil})     -- 1024 nodes, 512 a mini-batch
    lu.assertEquals(kept.fits[method[1]].warm.batches, 4)
    lu.assertStrMatches(out, (".*\n +4000  %s .* +%%-  +%%- .*"):format(method[1]))
    lu.assertStrMatches(out, (".*\n4000 nodes: an epoch of %s is 2 mini%%-batches, "
      .. "which took %%d+ s\n.*"):format(method[1]))
  end
end

--- The F1 is the same where activations do not fit in the memory that they may have, and that of
-- fewer nodes where they do not fit on the disk either.
function tests.test_validation()
  local folder <close> = shell.folder()
  local file = folder.path .. "/graph.safetensors"
  papers.make{file = file, nodes = 40000, edges = 4}
  local given = {file = file, method = "ladies", samples = 64, layers = 2, batches = 2, workers = 0}
  local found = {}
  local _ <close> = setmetatable({real = core.folder.free}, {__close = function(kept)
    core.folder.free = kept.real
  end})
  for i, memory in ipairs{1 << 30, 1 << 20, 1 << 20} do
    if i == 3 then core.folder.free = function() return 1e6 end end
    given.memory = memory
    found[i] = papers.train(given).validation
  end
  lu.assertEquals({found[1].f1, found[1].way, found[1].lacking}, {found[2].f1, "exact"})
  lu.assertEquals({found[3].way, found[3].nodes}, {"sampled", 102})
  lu.assertStrContains(found[3].lacking, "MB of disk for what it computes, and " .. folder.path)
  lu.assertNotStrContains(found[3].lacking, "helps")
end

function tests.test_failures_are_told()
  local folder <close> = shell.folder()
  local _, err, status = bench(folder.path .. "/none", "--nodes", "2000")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "/none")
  _, err, status = bench(folder.path, "--nodes", "2000", "--memory", "1K")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "of memory are too few")
  _, err, status = bench(folder.path, "--nodes", "1000", "--epoch")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "--epoch is for graphs of 1026 nodes or more, got 1000")
  lu.assertEquals(core.files(folder.path), {})
end

--- Ctrl-C and SIGTERM leave nothing either, whatever the process of a stage was at.
function tests.test_an_end_leaves_nothing()
  local program = require "ladies_host".program
  for _, signal in ipairs{"INT", "TERM"} do
    local folder <close> = shell.folder()
    local _, _, status = shell.run{"timeout", "-s", signal, "1", program, "bench", "papers",
      "--nodes", "2000000", "--fits", "2000000", "--folder", folder.path, "--memory", "100M"}
    lu.assertEquals(status, 124)
    lu.assertEquals(core.files(folder.path), {})
  end
end

--- The system tells how much memory belongs to no file, where it has /proc.
function tests.test_anonymous_memory()
  local before = papers.anonymous()
  if not before then lu.skip "the system does not say" end
  local held = core.full(1 << 24, 1)
  lu.assertTrue(papers.anonymous() - before > 60e6)
  held:release()
end

--- A file that the system was told to drop from memory is read as before.
function tests.test_forget()
  local folder <close> = shell.folder()
  local path = folder.path .. "/x"
  core.file.write(path, ("x"):rep(100000))
  core.file.forget(path)
  lu.assertEquals(#core.file.read(path), 100000)
  lu.assertErrorMsgContains("none: cannot be opened", core.file.forget, folder.path .. "/none")
end

return tests
