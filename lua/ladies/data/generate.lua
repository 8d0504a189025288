--- Makes random data sets with planted classes, for tests and for measurements at scale: power_law
-- and block_model put whole data sets together from parts that are made in C (labels, weights,
-- chung_lu, blocks, features). A data set is a function of its options alone, whatever the number
-- of threads.

local core = require "ladies_core"
local by_runs = require "ladies.data.by_runs"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local from_arrays = require "ladies.data.from_arrays"
local options = require "ladies.base.options"
local splits = require "ladies.data.splits"
local tables = require "ladies.base.tables"

-- The parts in C are a plugin; without it, every look-up in this module is an error that says so.
if not core.generate then
  return setmetatable({}, {__index = function(_, name)
    errors.fail(("ladies.generate.%s: this program was built without the plugin that generates "
      .. "graphs (cmake -DLADIES_GENERATE=ON)"):format(name))
  end})
end

local generate = core.generate

-- The random streams of the parts of a data set, one for each, so that changing one part leaves the
-- others as they are.
local SHARES, LABELS, WEIGHTS, EDGES, MEANS, NOISE, OVERLAP = 1, 2, 3, 4, 5, 6, 7

-- The options that both kinds of data sets have.
local COMMON = {
  nodes = "positive integer", classes = {"positive integer", 10},
  features = {"positive integer", 64}, signal = {"non-negative number", 0.15},
  overlap = {"number in [0, 1]", 0},
  train = {"number in [0, 1]", 0.1}, val = {"number in [0, 1]", 0.1},
  seed = {"non-negative integer", 1},
}

local POWER_LAW = {
  entries = "non-negative integer", exponent = {"positive number", 2.3},
  inside = {"number in [0, 1]", 0.75},
}

-- The further options of a data set that is written to a file.
local FILE = {
  memory = "string or positive integer or nil", dtype = {"float16|bfloat16|float32", "float32"},
  self_loops = {"boolean", false},
}

local function check(where, given, own)
  return options.check(where, given, tables.merged(COMMON, own))
end

-- Draws the shares of the classes, as unequal as in practice, from a Dirichlet distribution with
-- parameter 3: each share is a gamma variate (the sum of three exponential ones), divided by the
-- sum of all.
local function class_shares(n, rng)
  local shares = {}
  for i = 1, n do shares[i] = -math.log(rng:uniform() * rng:uniform() * rng:uniform()) end
  return core.tensor(shares)
end

-- Draws which classes the nodes of each class have, as rows of 0 and 1: their own, and each other
-- one with probability `overlap`.
local function class_sets(n, overlap, rng)
  local sets = (overlap - core.zeros(n, n):uniform_(0, 1, rng)):above(0)
  for class = 1, n do sets:set_(class, class, 1) end
  return sets
end

-- Returns the call that makes the data set as text, which becomes its `source`.
local function source_of(where, opts)
  local words = tables.map(tables.sorted_keys(opts), function(name)
    return ("%s = %s"):format(name, opts[name])
  end)
  return ("made by %s{%s}"):format(where, table.concat(words, ", "))
end

-- Makes the parts of a data set besides its edges: rng, labels, sets and means, and the functions
-- `split()` and `features(labels, first)`, which make the large parts when they are needed.
local function parts_of(name, opts)
  local where = "ladies.generate." .. name
  if opts.classes > opts.nodes then
    errors.fail(("%s: %d classes for %d nodes"):format(where, opts.classes, opts.nodes))
  elseif opts.train + opts.val > 1 then
    errors.fail(where .. ": train + val must be at most 1")
  end
  local rng = core.rng(opts.seed)
  local parts = {rng = rng}
  parts.labels = generate.labels(opts.nodes, class_shares(opts.classes, rng:fork(SHARES)),
    rng:fork(LABELS))
  parts.means = core.zeros(opts.classes, opts.features):normal_(opts.signal, rng:fork(MEANS))
  parts.sets = opts.overlap > 0 and class_sets(opts.classes, opts.overlap, rng:fork(OVERLAP))
  function parts.split()
    return splits.random_split(opts.nodes, {train = opts.train, val = opts.val, seed = opts.seed})
  end
  -- Makes the features of the nodes from `first` on, which have these labels.
  function parts.features(labels, first)
    return generate.features(labels, parts.means, rng:fork(NOISE), first)
  end
  return parts
end

-- Makes the data set with the options `opts`, whose graph edges_of(labels, rng) returns.
local function dataset(name, opts, edges_of)
  local parts = parts_of(name, opts)
  local labels, train, val, test = parts.labels, parts.split()
  return from_arrays{
    name = name, source = source_of("ladies.generate." .. name, opts),
    graph = edges_of(labels, parts.rng),
    labels = parts.sets and parts.sets:gather(labels) or labels,
    features = parts.features(labels, 1), train = train, val = val, test = test,
  }
end

--- ladies.generate.power_law{nodes =, entries =, classes =, features =, ...} -> Dataset: a data set
-- whose degrees follow a power law (Chung and Lu 2002), with classes that edges favour.
--
--   ladies.generate.power_law{
--     nodes    = 20000,
--     entries  = 200000,      -- stored entries, exactly; even, as an edge is two
--     classes  = 10,          -- of random sizes
--     features = 64,          -- columns of the features: class mean + standard normal noise
--     signal   = 0.15,        -- standard deviation of the class means
--     overlap  = 0,           -- above 0 labels are a matrix of 0 and 1: with this probability all
--                             -- nodes of a class have a certain other one as well
--     exponent = 2.3,         -- of the weights' tail: the share above w falls as w^(1 - exponent)
--     inside   = 0.75,        -- probability that an edge is drawn within a class; otherwise among
--                             -- all nodes, where chance may still bring it there
--     train = 0.1, val = 0.1, -- shares of the nodes; the others are for testing
--     seed     = 1,
--   }
--
-- At its peak the graph takes twice its final memory (8 bytes an entry) and 64 bytes a node.
function generate.power_law(given)
  local opts = check("ladies.generate.power_law", given, POWER_LAW)
  return dataset("power_law", opts, function(labels, rng)
    local weights = generate.weights(opts.nodes, opts.exponent, rng:fork(WEIGHTS))
    return generate.chung_lu(weights, labels, opts.entries, opts.inside, rng:fork(EDGES))
  end)
end

-- ---------------------------------------------------------------- larger than memory

-- Writes the graph in bounded memory, by sorting its edges on the disk of the file (see
-- ladies.data.by_runs).
local function write_graph(writer, path, parts, opts)
  local n, folder = opts.nodes, by_runs.folder_of(path)
  local runs <close> = by_runs.new(folder, n)
  local dropped <close> = by_runs.new(folder, n)
  local weights = generate.weights(n, opts.exponent, parts.rng:fork(WEIGHTS))
  generate.chung_lu_runs(runs, dropped, weights, parts.labels, opts.entries, opts.inside,
    opts.memory, parts.rng:fork(EDGES))
  by_runs.write(writer, "adj", n, runs,
    {memory = opts.memory, without = dropped, loops = opts.self_loops})
end

-- Calls f(first, labels) for pieces of the nodes that fit in `memory` with so many numbers for each
-- node.
local function by_pieces(labels, numbers, memory, f)
  local size = math.max(1, by_runs.piece(memory) // numbers)
  for first = 1, #labels, size do
    f(first, labels:slice(first, math.min(#labels, first + size - 1)))
  end
end

local function write_labels(writer, parts, opts)
  if not parts.sets then return writer:put("labels", parts.labels) end
  writer:rows("labels", "float32", opts.nodes, opts.classes)
  by_pieces(parts.labels, opts.classes, opts.memory, function(_, labels)
    writer:add_rows(parts.sets:gather(labels))
  end)
end

local function write_split(writer, train, val, test)
  for i, ids in ipairs{train, val, test} do
    if #ids > 0 then writer:put("idx_" .. checks.SPLIT[i], ids) end
  end
end

--- ladies.generate.power_law_file(path: string, {nodes =, entries =, memory =, dtype = "float32",
-- self_loops = false, ...}): the data set of ladies.generate.power_law, of any size, written to a
-- .safetensors file, which ladies.data.load uses where it lies.
-- memory        about what is in memory meanwhile, beside 48 bytes for each node: a number of
--               bytes, or a text such as "4G" (by default a quarter of the machine's)
-- dtype         of the features: "float16" and "bfloat16" take half the bytes of "float32"
-- self_loops    gives every node an edge to itself, so that A + I is the file itself
-- The other options are those of ladies.generate.power_law. The disk of `path` must have room for
-- 10 bytes for each entry beside the file, which are free again before the features are written.
function generate.power_law_file(path, given)
  local where = "ladies.generate.power_law_file"
  options.value(where, "the path", path, "string")
  local opts = check(where, given, tables.merged(POWER_LAW, FILE))
  by_runs.check_path(where, path)
  local settings = tables.merged(opts)
  for key in pairs(FILE) do settings[key] = nil end
  opts.memory = by_runs.memory(where, opts.memory)
  local parts = parts_of("power_law_file", opts)
  local writer <close> = core.safetensors.writer(path)
  write_graph(writer, path, parts, opts)
  write_labels(writer, parts, opts)
  write_split(writer, parts.split())
  writer:rows("attr_matrix", opts.dtype, opts.nodes, opts.features)
  by_pieces(parts.labels, opts.features, opts.memory, function(first, labels)
    writer:add_rows(parts.features(labels, first))
  end)
  writer:put("source", source_of("ladies.generate.power_law", settings))
  writer:commit()
end

--- ladies.generate.block_model{nodes =, classes =, p_inside =, p_outside =, ...} -> Dataset: a
-- data set of the stochastic block model (Holland, Laskey and Leinhardt 1983): two nodes of one
-- class are joined with probability p_inside, two of different classes with p_outside.
--
--   ladies.generate.block_model{nodes = 10000, classes = 10, p_inside = 0.01, p_outside = 0.001}
--
-- The other options are those of ladies.generate.power_law, without entries, exponent and inside.
function generate.block_model(given)
  local opts = check("ladies.generate.block_model", given,
    {p_inside = "number in [0, 1]", p_outside = "number in [0, 1]"})
  return dataset("block_model", opts, function(labels, rng)
    local p = {}
    for a = 1, opts.classes do
      p[a] = {}
      for b = 1, opts.classes do p[a][b] = a == b and opts.p_inside or opts.p_outside end
    end
    return generate.blocks(labels, core.tensor(p), rng:fork(EDGES))
  end)
end

return generate
