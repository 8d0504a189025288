--- experiments.paper.variance: the measurement against exact errors by enumeration, the paper's
-- claims as far as they hold, the report, and runs that are taken up again.
local lu = require "luaunit"
local csv_rows = require "tools.csv_rows"
local ladies = require "ladies"
local paper = require "experiments.paper"
local estimators = require "experiments.paper.variance.estimators"
local graphs = require "reference.graphs"
local measure = require "experiments.paper.variance.measure"
local Network = require "experiments.paper.variance.network"
local statistics = require "ladies.statistics"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local variance_tables = require "experiments.paper.variance.tables"

local index = ladies.index

local by_name = {}
for _, one in ipairs(estimators) do by_name[one.name] = one end

local tests = {}

-- A network with random weights over P.
local function network_on(P, seed)
  local rng = ladies.rng(seed)
  local function normal(n_rows, n_cols) return ladies.zeros(n_rows, n_cols):normal_(1, rng) end
  local network = Network.new(P, normal(P.n_rows, 4), nil, normal(4, 3))
  network.history = network.hidden * 0.9
  return network
end

local POWER_LAW = network_on(ladies.generate.power_law{nodes = 600, entries = 3600, features = 1}
  .graph:normalize "sym", 1)

-- Mean and standard error of a list.
local function summary_of(list)
  return statistics.mean(list), statistics.deviation(list) / math.sqrt(#list)
end

-- ---------------------------------------------------------------- by enumeration

-- The matrices of the network as tables of doubles.
local function dense(network)
  return network.P:to_dense():to_table(), network.products:to_table()
end

-- Calls f(draws, probability) for all s independent draws with the probabilities p.
local function each_draw(p, s, f, draws, probability)
  draws, probability = draws or {}, probability or 1
  if #draws == s then return f(draws, probability) end
  for u, share in ipairs(p) do
    if share > 0 then
      draws[#draws + 1] = u
      each_draw(p, s, f, draws, probability * share)
      draws[#draws] = nil
    end
  end
end

-- E ||Z~ - Z||^2 for one row v of P, from all possible draws.
local function exact_row(P, G, v, p, s)
  local total, width = 0, #G[1]
  each_draw(p, s, function(draws, probability)
    local off = 0
    for c = 1, width do
      local z = 0
      for u = 1, #P do z = z - P[v][u] * G[u][c] end
      for _, u in ipairs(draws) do z = z + P[v][u] * G[u][c] / (s * p[u]) end
      off = off + z ^ 2
    end
    total = total + probability * off
  end)
  return total
end

-- Probabilities in proportion to the squared norms of the columns in some rows.
local function column_shares(P, rows)
  local p, total = {}, 0
  for u = 1, #P do
    p[u] = 0
    for _, v in ipairs(rows) do p[u] = p[u] + P[v][u] ^ 2 end
    total = total + p[u]
  end
  for u = 1, #P do p[u] = p[u] / total end
  return p
end

local function entry_shares(P, v)
  local p, d = {}, 0
  for u = 1, #P do d = d + (P[v][u] ~= 0 and 1 or 0) end
  for u = 1, #P do p[u] = P[v][u] ~= 0 and 1 / d or 0 end
  return p
end

-- The probabilities of each method for the row v of a batch.
local SHARES = {
  ladies = function(P, rows) return column_shares(P, rows) end,
  fastgcn = function(P)
    local all = {}
    for v = 1, #P do all[v] = v end
    return column_shares(P, all)
  end,
  graphsage = function(P, _, v) return entry_shares(P, v) end,
}

local function enumerated(network, name, rows, s)
  local P, G = dense(network)
  local total = 0
  for _, v in ipairs(rows) do
    total = total + exact_row(P, G, v, SHARES[name](P, rows, v), s)
  end
  return total / #rows
end

local TINY = {
  graphs.matrix(5, {{1, 2}, {2, 1}, {1, 3}, {3, 1}, {1, 4}, {4, 1}, {4, 5}, {5, 4}})
    :normalize "sym",
  graphs.matrix(5, {{1, 2, 2}, {2, 4, 0.5}, {3, 1}, {3, 5, 3}, {4, 4, 2}, {5, 1}}):normalize "row",
}

--- The exact errors are those of all possible draws, and what is measured agrees with them.
function tests.test_exact_errors()
  for g, P in ipairs(TINY) do
    local network = network_on(P, g)
    for name in pairs(SHARES) do
      for _, rows in ipairs{{1}, {2, 5}, {4, 1, 3}} do
        local exact = measure.exact(network, index(rows))[name]
        for s = 1, 3 do
          local wanted = enumerated(network, name, rows, s)
          lu.assertAlmostEquals(exact / s, wanted, 1e-4 * wanted + 1e-6)
        end
        local copies = {}
        for i = 1, 40 do copies[i] = index(rows) end
        local lists = measure.estimator(by_name[name].make, network, 2, 1, copies, 20, 3)
        for _, field in ipairs{"error", "variance"} do
          local mean, spread = summary_of(lists[field])
          lu.assertTrue(math.abs(mean - exact / 2) < 4.5 * spread + 1e-6,
            ("%s %s: %g, not %g"):format(name, field, mean, exact / 2))
        end
      end
    end
  end
end

--- The mean of the exact error over all batches of two nodes obeys the bound of Table 2, and the
-- bound is no larger than it must be: with one column, all of H W alike, that of LADIES is close.
function tests.test_bounds()
  for g, P in ipairs(TINY) do
    local network, batches = network_on(P, g + 5), {}
    for v = 1, 5 do
      for u = v + 1, 5 do batches[#batches + 1] = index{v, u} end
    end
    local facts = measure.facts(network, batches)
    lu.assertEquals(facts.degree, P.nnz / 5)
    lu.assertAlmostEquals(facts.norm, P:entry_values():square():sum():item(), 1e-6)
    for name in pairs(SHARES) do
      local total = 0
      for _, seeds in ipairs(batches) do total = total + measure.exact(network, seeds)[name] end
      local error, bound = total / #batches / 3, measure.bounds[name](facts, 3)
      lu.assertTrue(error > 0 and error <= bound, ("%s: %g above %g"):format(name, error, bound))
    end
  end
end

--- VR-GCN's error is that of the change of H since the history, drawn without replacement.
function tests.test_control_variates()
  local network = network_on(TINY[1], 3)
  local copies = {}
  for i = 1, 60 do copies[i] = index{1} end
  local lists = measure.estimator(by_name.vrgcn.make, network, 1, 2, copies, 20, 4)
  -- Each draw takes one of the four entries of node 1's row, with probability 1/4 and weight 4.
  local P = TINY[1]:to_dense()
  local change = (network.hidden - network.history):matmul(network.second)
  local mean, wanted = ladies.zeros(1, 3), 0
  for u = 1, 4 do mean = mean + change[index{u}] * P:get(1, u) end
  for u = 1, 4 do wanted = wanted + (change[index{u}] * (4 * P:get(1, u)) - mean):norm() ^ 2 / 4 end
  local got, spread = summary_of(lists.error)
  lu.assertTrue(math.abs(got - wanted) < 4.5 * spread, ("%g, not %g"):format(got, wanted))
end

-- ---------------------------------------------------------------- the claims

local BATCHES = measure.batches(600, 40, 10, 1)

--- Estimators that are called unbiased are so with one layer, and those with normalised rows not.
function tests.test_bias()
  for _, one in ipairs(estimators) do
    local layers = one.two_layer_only and 2 or 1
    local lists = measure.estimator(one.make, POWER_LAW, 16, layers, BATCHES, 40, 7)
    local mean, spread = summary_of(lists.bias)
    local off = mean / spread
    if one.unbiased then
      lu.assertTrue(math.abs(off) < 4, ("%s: %g standard errors"):format(one.name, off))
    elseif one.name:find "row" then
      lu.assertTrue(off > 4, ("%s: %g standard errors"):format(one.name, off))
    end
  end
end

function tests.test_variance_falls_with_samples()
  for _, name in ipairs{"ladies", "fastgcn", "graphsage"} do
    local points = {}
    for i, s in ipairs{4, 16, 64} do
      local lists = measure.estimator(by_name[name].make, POWER_LAW, s, 1, BATCHES, 40, 8)
      points[i] = {s, statistics.mean(lists.variance)}
    end
    local power = statistics.power(points)
    lu.assertTrue(power > -1.2 and power < -0.8, ("%s: s^%g"):format(name, power))
  end
end

--- LADIES is certainly below FastGCN on a graph whose degrees follow a power law; both are the same
-- when the batch is the whole graph.
function tests.test_ladies_below_fastgcn()
  for layers = 1, 2 do
    local lists = {}
    for _, name in ipairs{"fastgcn", "ladies"} do
      lists[name] = measure.estimator(by_name[name].make, POWER_LAW, 64, layers, BATCHES, 40, 9)
    end
    local ratio, half = statistics.ratio(lists.fastgcn.error, lists.ladies.error)
    lu.assertTrue(ratio - half > 1.5, ("%g ± %g"):format(ratio, half))
  end
  local sizes = measure.by_size(POWER_LAW, 6, 1)
  for i, one in ipairs(sizes) do
    local ratio, half = statistics.ratio(one.fastgcn, one.ladies)
    if i == #sizes then
      lu.assertEquals(one.size, 600)
      lu.assertAlmostEquals(ratio, 1, 1e-4)
    else
      lu.assertTrue(one.size > 64 or ratio - half > 1, ("%d: %g"):format(one.size, ratio))
    end
  end
end

-- ---------------------------------------------------------------- runs

local function run(name, own)
  local opts = {
    datasets = {"toy"}, data = {toy = toy.new()}, samples = {2, 16}, batches = 3, draws = 3,
    batch_size = 20, hidden = 8, steps = 3, lag = 1, out = temporary.path(name), quiet = true,
  }
  for key, value in pairs(own or {}) do opts[key] = value or nil end
  return paper.variance(opts)
end

local function points_of(result)
  return csv_rows(ladies.file.read(result.folder .. "/variance.csv"))
end

--- The error is 0 without sampling, also where a batch may be larger than the graph, and for VR-GCN
-- whose history is the present H.
function tests.test_zero()
  local function whole(P, _, layers) return ladies.samplers.full(P, {layers = layers}) end
  local function check(result, exact)
    for _, point in ipairs(points_of(result)) do
      local relative = point.error / point.signal
      lu.assertEquals(relative < 1e-9, exact, ("%s: %g"):format(point.method, relative))
    end
  end
  local result = run("full", {methods = {}, samplers = {full = whole}, batch_size = 500})
  check(result, true)
  lu.assertStrContains(tostring(result), "of b = 500 nodes (all of toy, which has 180) drawn")
  check(run("exact", {methods = {"vrgcn"}, samples = {1}, lag = 0}), true)
  check(run("old", {methods = {"vrgcn"}, samples = {1}}), false)
  check(run("first", {methods = {"vrgcn"}, samples = {1}, lag = false, steps = 0}), true)
end

-- Saves the toy data set to a file, since only measurements of files are kept.
local function toy_file()
  local path = temporary.path "toy.npz"
  ladies.data.save(toy.new(), path)
  return path
end

function tests.test_report_and_resumption()
  local methods = {"graphsage", "vrgcn", "fastgcn", "ladies", "ladies-poisson", "ladies-wor-row"}
  local own = {methods = methods, datasets = {toy_file()}}
  local result = run("report", own)
  local points = points_of(result)
  -- One and two layers of two samples; VR-GCN has two layers only, Poisson no two samples.
  lu.assertEquals(#points, 4 * 4 + 2 + 2)
  local text = tostring(result)
  for _, part in ipairs{"toy.npz |", "VR-GCN", "FastGCN / LADIES, exact", "b = V", "s = 16",
    "the greatest ratio is"} do
    lu.assertStrContains(text, part)
  end
  local read = ladies.file.read
  local path = result.folder .. "/results.jsonl"
  local whole, numbers = read(path), read(result.folder .. "/variance.csv")
  local markdown = read(result.folder .. "/variance.md")
  lu.assertStrContains(markdown, "toy.npz, LADIES, 1 layer")
  lu.assertStrContains(markdown, "batches of b = 20 nodes drawn")
  lu.assertStrContains(markdown, "means over 3 batches and 3 to 96 draws of each")
  lu.assertStrContains(markdown, "Measured in 0:0")
  local cut = whole:sub(1, #whole - 1200)                         -- killed in the middle of a line
  ladies.file.write(path, cut)
  run("report", own)
  lu.assertEquals(read(result.folder .. "/variance.csv"), numbers)
  local kept = cut:match "^(.*\n)"
  lu.assertTrue(#kept < #cut)
  lu.assertEquals(read(path):sub(1, #kept), kept)
  lu.assertEquals(select(2, read(path):gsub("\n", "")), select(2, whole:gsub("\n", "")))
  for _, file in ipairs(result.files) do
    lu.assertTrue(#read(result.folder .. "/" .. file) > 100, file)
  end
  own.seed = 2
  lu.assertErrorMsgContains("holds another study", run, "report", own)
end

--- A sampler or data set of the user's is measured again, because it may have changed under its
-- name. One that was loaded is not, and its numbers never come from a data set given by the same
-- name.
function tests.test_own_samplers_and_data_are_measured_again()
  local function numbers(own)
    return ladies.file.read(run("own", own).folder .. "/variance.csv")
  end
  local function lines() return select(2, ladies.file.read(temporary.path "own/results.jsonl")
    :gsub("\n", "")) end
  local file = toy_file()
  local function with(sampler)
    return numbers{datasets = {file}, methods = {"ladies"}, samples = {2},
      samplers = {mine = sampler}}
  end
  local first = with(function(P, _, layers) return ladies.samplers.full(P, {layers = layers}) end)
  local n = lines()
  lu.assertNotEquals(with(function(P, s, layers)
    return ladies.samplers.ladies(P, {samples = s, layers = layers})
  end), first)
  lu.assertEquals(lines(), n + 2)                     -- "mine", of one layer and of two

  local function of(data)
    return numbers{datasets = {file}, methods = {"ladies"}, samples = {2}, data = {[file] = data}}
  end
  local same = of(toy.new())
  local other = of(ladies.generate.power_law{nodes = 90, entries = 400, features = 4, classes = 3})
  lu.assertNotEquals(other, same)
  lu.assertEquals(lines(), n + 2 + 2 * 3)             -- two layers and the facts of each graph
  lu.assertEquals(of(nil), same)                      -- those that were measured in the beginning
  lu.assertEquals(lines(), n + 2 + 2 * 3)
end

--- A file without a split gets the default one; what the network cannot be trained on is refused.
function tests.test_data_without_a_split()
  local path, arrays = temporary.path "unsplit.npz", toy.new()
  arrays.train, arrays.val, arrays.test = nil, nil, nil
  ladies.data.save(arrays, path)
  local result = run("unsplit", {datasets = {path}, data = {}, methods = {"ladies"}, samples = {2}})
  lu.assertEquals(#points_of(result), 2)
  local function fails(message)
    lu.assertErrorMsgContains(message, run, "unsplit", {data = {toy = arrays}})
  end
  fails "variance: toy has no nodes for training, and the network is trained on nodes with classes"
  arrays.labels = nil
  fails "variance: toy has no classes of nodes"
  arrays = ladies.data.from_arrays{edges = {{1, 2}, {2, 1}}, features = ladies.ones(4, 2),
    graph_of = {1, 1, 2, 3}, labels = {1, 2, 1}, train = {1, 2}, test = {3}}
  fails "variance: toy has no classes of nodes"
end

--- A mean of FastGCN from too few draws whose layers are connected is marked as such.
function tests.test_too_few_draws()
  local data = ladies.generate.power_law{nodes = 3000, entries = 6000, features = 4, classes = 3}
  local text = tostring(run("few", {datasets = {"sparse"}, data = {sparse = data},
    samples = {1, 400}, methods = {"fastgcn", "ladies"}, batch_size = 5}))
  lu.assertStrContains(text, "sparse, 2 layers, s = 1 (too few draws connect)")
  lu.assertNotStrContains(text, "s = 400 (too few")
  lu.assertStrContains(text, "| ? ")
end

function tests.test_wrong_options()
  local function fails(message, own) lu.assertErrorMsgContains(message, run, "wrong", own) end
  fails('no method "lades"; did you mean "ladies"?', {methods = {"lades"}})
  fails("the lag, 4, is more than the steps of training, 3", {lag = 4})
  fails("a variance needs at least 2 draws", {draws = 1})
  fails("an interval needs at least 2 batches", {batches = 1})
  fails("no method is measured with these samples; ladies-poisson needs 16 at least",
    {methods = {"ladies-poisson"}, samples = {5}})
  fails("name at least one data set, one method and one number of samples", {methods = {}})
  fails("samplers.ladies: there is a method of this name", {samplers = {ladies = print}})
  fails("samples[2] must be a positive integer, got 0", {samples = {5, 0}})
  fails("samplers.x must be a callable, got 3", {samplers = {x = 3}})
  fails('unknown option "batch_sice"; did you mean "batch_size"?', {batch_sice = 3})
end

-- ---------------------------------------------------------------- verdicts

-- A graph with the errors of "fastgcn" and "ladies" in one layer: for each s three batches' errors,
-- and how many of the 10 draws of each were connected.
local function graph_of(errors)
  local graph = {name = "g", points = {},
    facts = {signal = 1, phi = 1, norm = 1, touched = 10, nodes = 10}}
  for name, by_samples in pairs(errors) do
    for s, one in pairs(by_samples) do
      local met = one.connected or 10
      table.insert(graph.points, {estimator = by_name[name], samples = s, layers = 1, draws = 10,
        record = {error = one, bias = {0, 0, 0}, rows = {1, 1, 1}, connected = {met, met, met}}})
    end
  end
  return graph
end

local VERDICT_OPTS = {samples = {1, 2, 4}, estimators = {by_name.fastgcn, by_name.ladies}}

--- Points of too few draws are in no verdict, and the interval decides. The bounds are 1, 1/2, 1/4.
function tests.test_bounds_hold_where_intervals_say_so()
  local function verdict(errors)
    return select(2, variance_tables.bounds({graph_of{ladies = errors}}, VERDICT_OPTS))
  end
  local good = verdict{{0.5, 0.6, 0.7}, {0.2, 0.21, 0.22}}
  lu.assertEquals({good.n, #good.not_below}, {2, 0})
  lu.assertAlmostEquals(good.greatest, 0.6, 1e-12)
  local bad = verdict{[1] = {0.1, 0.9, 0.9}, [2] = {0.6, 0.61, 0.62},
    [4] = {9, 9, 9, connected = 1}}
  lu.assertEquals(bad.not_below, {"g, LADIES, 1 layer, s = 1 (not separated)",
    "g, LADIES, 1 layer, s = 2 (above)", "g, LADIES, 1 layer, s = 4 (too few draws connect)"})
  lu.assertAlmostEquals(bad.greatest, 1.22, 1e-12)
  local none = verdict{{0.1, 0.1, 0.1, connected = 0}}
  lu.assertEquals({none.n, #none.not_below, none.greatest}, {1, 1})
end

--- A ratio that cannot be computed does not count in favour of LADIES.
function tests.test_ratios_that_there_are_not()
  local errors = {fastgcn = {}, ladies = {}}
  for _, s in ipairs(VERDICT_OPTS.samples) do
    errors.fastgcn[s], errors.ladies[s] = {3, 3.1, 3.2}, {1, 1.1, 1.2}
  end
  errors.ladies[2] = {0, 0, 0}
  local graph = graph_of(errors)
  for _, name in ipairs{"fastgcn", "ladies"} do
    for _, s in ipairs(VERDICT_OPTS.samples) do
      table.insert(graph.points, {estimator = by_name[name], samples = s, layers = 2, draws = 10,
        record = {error = {name == "ladies" and 1 or 2, name == "ladies" and 1 or 2},
          connected = {10, 10}}})
    end
  end
  local _, not_below, n = variance_tables.ratios({graph}, VERDICT_OPTS)
  lu.assertEquals(n, 6)
  lu.assertEquals(not_below, {"g, 1 layer, s = 2 (no ratio, LADIES has no error)"})
end

function tests.test_powers_of_enough_draws()
  local errors = variance_tables.errors(graph_of{ladies = {{1, 1, 1}, {0.5, 0.5, 0.5},
    [4] = {7, 7, 7, connected = 0}}}, VERDICT_OPTS)
  lu.assertStrMatches(errors[1][2]:markdown(), ".*| LADIES +|[^\n]*%? 7[^\n]* %-1%.00 |.*")
end

return tests
