--- Measures how many fewer distinct nodes LABOR draws than neighbour sampling at equal variance
-- (Balin and Catalyurek, NeurIPS 2023: up to 7 times on Reddit with three layers, 10 neighbours and
-- batches of 1,000 nodes), on a random graph with a power law and Reddit's numbers of nodes and
-- entries.
--
-- P is the mean over the neighbours, D^-1 A, and the estimate is unbiased for both samplers. The
-- variance is that of one layer, P~ H - P H of the batch's rows with standard normal numbers H:
-- where H has equal variances the one of LABOR is by definition that of neighbour sampling with as
-- many neighbours, so that equal fan-outs are equal variances, which is measured as well. Besides,
-- the error of three layers, P~ P~ P~ H.

local core = require "ladies_core"
local carry_out = require "ladies.study.carry_out"
local counted = require("ladies.base.units").counted
local generate = require "ladies.data.generate"
local paper = require "experiments.paper.protocol"
local provenance = require "ladies.report.provenance"
local samplers = require "ladies.samplers"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"

local WHERE = "experiments.followers.labor"

-- The paper's number on Reddit: so many times fewer distinct nodes.
local PUBLISHED = 7

-- Columns of H.
local WIDTH = 8

-- Streams of random numbers.
local NUMBERS, BATCHES, DRAWS = 1, 2, 3

local SAMPLERS = {
  {name = "neighbour sampling", make = samplers.graphsage},
  {name = "LABOR-0", make = samplers.labor, iterations = 0},
  {name = "LABOR-1", make = samplers.labor, iterations = 1},
  {name = "LABOR-*", make = samplers.labor, iterations = "converge"},
}

-- Returns the graph with what is exact: P, H, and P^l H as products[l].
local function world_of(opts)
  local data = generate.power_law{nodes = opts.nodes, entries = opts.entries,
    classes = math.min(paper.REDDIT.classes, opts.nodes), features = 1, seed = opts.seed}
  local rng = core.rng(opts.seed)
  local world = {P = data.graph.adjacency:row_normalize(), products = {}, rng = rng}
  world.H = core.zeros(opts.nodes, WIDTH):normal_(1, rng:fork(NUMBERS))
  local last = world.H
  for l = 1, opts.layers do
    last = world.P:matmul(last)
    world.products[l] = last
  end
  return world
end

-- Returns the mean square of the elements of an error.
local function mean_square(error) return error:square():mean():item() end

-- Measures a mini-batch: the distinct nodes of the input after 1, 2, ... layers, the squared error
-- of the last layer by itself, and that of all layers.
local function look(world, batch)
  local n, nodes = #batch.blocks, {}
  for l = n, 1, -1 do nodes[n - l + 1] = #batch.blocks[l].src end
  local top = batch.blocks[n]
  local one = top.adj:matmul(world.H:rows(top.src)) - world.products[1]:rows(top.dst)
  local all = world.H:rows(batch.input)
  for _, block in ipairs(batch.blocks) do all = block.adj:matmul(all) end
  return {nodes = nodes, one = mean_square(one),
    all = mean_square(all - world.products[n]:rows(batch.output))}
end

-- Returns the draws of a sampler: for each batch the means of what `look` gives.
local function measure(world, sampler, opts)
  local found = {}
  for b = 1, opts.batches do
    local rng = world.rng:fork(BATCHES):fork(b)
    local seeds = core.sampling.uniform(world.P.n_rows, math.min(opts.batch_size, world.P.n_rows),
      {rng = rng})
    local nodes, one, all = tables.repeated(0, opts.layers), 0, 0
    for d = 1, opts.draws do
      local seen = look(world, sampler(seeds, world.rng:fork(DRAWS):fork(b):fork(d)))
      for l, count in ipairs(seen.nodes) do nodes[l] = nodes[l] + count / opts.draws end
      one, all = one + seen.one / opts.draws, all + seen.all / opts.draws
    end
    found[b] = {nodes = nodes, one = one, all = all}
  end
  return found
end

-- Returns the cell of one mean over another, of numbers that belong to the same batches.
local function ratio_cell(above, below)
  local ratio, half = statistics.ratio(above, below)
  return {text = Table.with_spread(ratio, #above > 1 and half, "%.2f"), ratio, half}
end

local function column(record, f) return tables.map(record.batches, f) end

local function table_of(records, opts)
  local columns = {"sampler"}
  for l = 1, opts.layers do
    columns[#columns + 1] = {"nodes, " .. counted(l, "layer"),
      csv = {"nodes_" .. l, "half_width_" .. l}}
    columns[#columns + 1] = {"factor", csv = {"factor_" .. l, "factor_half_width_" .. l}}
  end
  tables.append(columns, {
    {"variance of one layer, as a share", csv = {"variance", "variance_half_width"}},
    {"of all layers", csv = {"variance_all", "variance_all_half_width"}}})
  local results, first = Table.new(columns), records[1]
  for i, record in ipairs(records) do
    local row = {SAMPLERS[i].name}
    for l = 1, opts.layers do
      local function nodes(batch) return batch.nodes[l] end
      tables.append(row, {Table.interval(column(record, nodes), "%.0f"),
        ratio_cell(column(first, nodes), column(record, nodes))})
    end
    for _, what in ipairs{"one", "all"} do
      local function error(batch) return batch[what] end
      row[#row + 1] = ratio_cell(column(record, error), column(first, error))
    end
    results:add(row)
  end
  return results
end

local ABOUT = [[
A random graph of %d nodes and %d entries%s, %.0f neighbours a node on average, whose degrees
follow a power law with exponent 2.3. %d batches of %d nodes, %d draws each, %d neighbours of a
node; 95 %% intervals by Student's t over the batches. "nodes": distinct nodes that the batch needs
below so many layers; "factor": how many times fewer than neighbour sampling; "variance": squared
error of the unbiased estimate over that of neighbour sampling, 1 where they are equal. It is equal
by definition for one layer; that of all layers is larger, since nodes that share their random
numbers err together, and the mean over neighbours in the next layer takes less of it away. The
paper's factor on Reddit, LABOR-* with three layers and 10 neighbours, is up to %d.]]

local LABOR = {
  where = WHERE, name = "labor", title = "LABOR: distinct nodes at equal variance",
  folder = "runs/labor", unit = "sampler",
  identity = {"distinct nodes", "nodes", "entries", "fan_out", "layers", "batch_size", "batches",
    "draws", "seed"},
  options = {
    nodes = {"positive integer", paper.REDDIT.nodes, quick = 20000},
    entries = {"positive integer", paper.REDDIT.entries, quick = 1000000},
    fan_out = {"positive integer", 10}, layers = {"positive integer", 3},
    batch_size = {"positive integer", 1000}, batches = {"positive integer", 8, quick = 3},
    draws = {"positive integer", 2}, seed = {"integer", 1}, quick = {"boolean", false},
  },
}

function LABOR.cases()
  return tables.map(SAMPLERS, function(one) return {key = one.name, sampler = one} end)
end

-- Returns a function that measures a case; all samplers are measured in one world.
function LABOR.measure(opts)
  local world
  return function(case)
    world = world or world_of(opts)
    local own = case.sampler
    local sampler = own.make(world.P, {samples = opts.fan_out, layers = opts.layers,
      form = "unbiased", self_nodes = "previous", iterations = own.iterations})
    local batches = core.no_grad(measure, world, sampler, opts)
    return {batches = batches, degree = world.P.nnz / world.P.n_rows}
  end
end

local function records_of(cases)
  return tables.map(cases, function(case) return case.record end)
end

function LABOR.show(report, cases, opts)
  report:results(table_of(records_of(cases), opts))
end

function LABOR.notes(cases, opts)
  local reddit = opts.nodes == paper.REDDIT.nodes and opts.entries == paper.REDDIT.entries
  return {provenance.measurements(records_of(cases)), ABOUT:format(opts.nodes, opts.entries,
    reddit and " (as many as Reddit has)" or "", cases[1].record.degree, opts.batches,
    opts.batch_size, opts.draws, opts.fan_out, PUBLISHED)}
end

--- experiments.followers.labor{} -> table: distinct nodes and variance of LABOR and of neighbour
-- sampling on a graph of Reddit's size (see the file's header). Returns a report (see
-- ladies.report).
-- nodes, entries   of the graph: Reddit's 232,965 and 114,615,892; it takes 8 bytes an entry, and
--             twice that while it is made
-- fan_out     neighbours of a node (10)
-- layers      3
-- batch_size  1000; batches, draws: how many, and how often each is drawn (8, 2)
-- seed        1
-- quick       20,000 nodes with 1,000,000 entries, three batches, where others are not given
-- out         the folder of the study (runs/labor-1), which goes on where it was stopped
-- quiet       no progress
local function labor(given) return carry_out(LABOR, given) end

return labor
