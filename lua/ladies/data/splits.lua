--- Splits of the nodes for training, validation and test, where the source has none.

local core = require "ladies_core"
local label_kinds = require "ladies.labels"
local options = require "ladies.options"

local splits = {}

--- A random split of the nodes 1 .. n: three ascending Indexes with the shares `train` and `val` of
-- the nodes, and the others. A function of n, the shares and the seed alone. A data set in place of
-- n has its labelled nodes split.
function splits.random_split(n, opts)
  local nodes
  if options.class_of(n) == "Dataset" then
    nodes = label_kinds.labelled(n.labels)
    n = #nodes
  end
  options.value("ladies.data.random_split", "n", n, "positive integer")
  opts = options.check("ladies.data.random_split", opts, {
    train = {"number in [0, 1]", 0.1}, val = {"number in [0, 1]", 0.1},
    seed = {"non-negative integer", 1},
  })
  if opts.train + opts.val > 1 then
    options.fail("ladies.data.random_split: train + val must be at most 1")
  end
  local order = core.sampling.permutation(n, core.rng(opts.seed))
  if nodes then order = nodes[order] end
  local a = math.floor(n * opts.train + 0.5)
  local b = math.min(n, a + math.floor(n * opts.val + 0.5))
  return order:slice(1, a):sort(), order:slice(a + 1, b):sort(), order:slice(b + 1, n):sort()
end

--- A random split in the manner of Planetoid's: three ascending Indexes, of `per_class` nodes of
-- each class (all of a smaller one), and of `val` and `test` others. Where fewer are left these are
-- divided in proportion. Nodes without a label are in none. `given` is a data set or the Index of
-- its labels; the split is a function of these, the numbers and the seed alone.
--
--   data.train, data.val, data.test =
--     ladies.data.class_split(data, {per_class = 20, val = 500, test = 1000, seed = 1})
function splits.class_split(given, opts)
  local where = "ladies.data.class_split"
  local labels = options.class_of(given) == "Dataset" and given.labels or given
  options.value(where, "the labels", labels, "Index")
  opts = options.check(where, opts, {
    per_class = {"positive integer", 20}, val = {"non-negative integer", 500},
    test = {"non-negative integer", 1000}, seed = {"non-negative integer", 1},
  })
  local train, rest, taken = {}, {}, {}
  for _, node in ipairs(core.sampling.permutation(#labels, core.rng(opts.seed)):to_table()) do
    local class = labels[node]
    if class > 0 and (taken[class] or 0) < opts.per_class then
      taken[class] = (taken[class] or 0) + 1
      train[#train + 1] = node
    elseif class > 0 then
      rest[#rest + 1] = node
    end
  end
  local n_val, n_test = opts.val, opts.test
  if #rest < n_val + n_test then
    n_val = #rest * n_val // (n_val + n_test)
    n_test = #rest - n_val
  end
  local others = core.index(rest)
  return core.index(train):sort(), others:slice(1, n_val):sort(),
    others:slice(n_val + 1, n_val + n_test):sort()
end

return splits
