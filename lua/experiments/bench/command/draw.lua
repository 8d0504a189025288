-- ladies bench draw: what drawing the nodes of LADIES' layers in two stages saves against scanning
-- the rows above them, on a generated graph of the size of Reddit's: P:draw_cols for 5 layers,
-- batch 512, by either way. They alternate, batch by batch, and meet the same machine and the same
-- caches.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local counted = require("ladies.base.units").counted
local medians = require "ladies.statistics.medians"

local LAYERS, BATCH, WARM_UP = 5, 512, 3

local spec = {
  name = "ladies bench draw",
  about = "Measures P:draw_cols in two stages against the scan: 5 layers, batch 512.",
  {"rounds", "N", "positive integer", default = 31, help = "batches of each way"},
  {"nodes", "N", "positive integer", default = 233000, help = "nodes of the power-law graph"},
  {"entries", "N", "positive integer", default = 115000000, help = "its entries"},
}

-- Milliseconds of the blocks of one batch, weights and normalisation included.
local function time_of(P, way, seeds, size, self_nodes, rng)
  local began, dst = core.clock(), seeds
  for _ = 1, LAYERS do
    local U, src, w = P:draw_cols(dst, size,
      {way = way, always = self_nodes == "batch" and seeds or nil, rng = rng})
    U:scale_cols(w):row_normalize()
    dst = src
  end
  return 1e3 * (core.clock() - began)
end

local function spread(list) return medians.text(medians.spread(list)) end

local function compare(P, size, self_nodes, rounds)
  local scan, stages, ratios = {}, {}, {}
  for i = 1 - WARM_UP, rounds do
    local rng = ladies.rng(i + WARM_UP)
    local seeds = ladies.sampling.uniform(P.n_rows, BATCH, {rng = rng})
    local slow = time_of(P, "scan", seeds, size, self_nodes, rng)
    local fast = time_of(P, "two stages", seeds, size, self_nodes, rng)
    if i > 0 then scan[i], stages[i], ratios[i] = slow, fast, slow / fast end
  end
  print(("%7d  %-10s  %-24s  %-24s  %5.1f"):format(size, self_nodes, spread(scan), spread(stages),
    medians.of(ratios)))
end

cli.main(spec, arg, function(opts)
  local graph = ladies.generate.power_law{nodes = opts.nodes, entries = opts.entries,
    features = 1}.graph
  local P = graph:normalize "sym"
  local began = core.clock()
  P:draw_cols(ladies.index{1}, 1, {way = "two stages", rng = ladies.rng(1)})
  print(("ladies %s, %s; %d nodes, %d entries; the rows' sums, once: %.2f s"):format(
    ladies.version, counted(ladies.threads(), "thread"), opts.nodes, P.nnz, core.clock() - began))
  print(("5 layers, batch 512; ms: median (quartiles) of %s"):format(counted(opts.rounds, "batch",
    "batches")))
  print "samples  self nodes  scan                      two stages                ratio"
  for _, self_nodes in ipairs{"none", "batch"} do
    for _, size in ipairs{64, 512} do compare(P, size, self_nodes, opts.rounds) end
  end
end)
