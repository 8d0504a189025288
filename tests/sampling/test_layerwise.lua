--- sampling.layerwise, every point of it: all outcomes of a small layer are enumerated from the
-- definitions, each draw must be one of them, and the exact mean over the outcomes is P(S,:) where
-- the sampler claims to be unbiased, and is not where it does not.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local reference = require "reference.choice"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"

local sampling, samplers = ladies.sampling, ladies.samplers

local tests = {}

-- The rows 1 and 2 touch the nodes 1 to 5; node 6 is touched by others alone.
local N, SEEDS, SAMPLES = 6, {1, 2}, 2
local P = graphs.matrix(N, {{1, 1, 0.5}, {1, 2, 0.25}, {1, 3, 0.4}, {2, 2, 0.3}, {2, 4, 0.7},
  {2, 5, 0.35}, {3, 1, 0.6}, {3, 6, 0.4}, {4, 3, 0.8}, {5, 6, 0.2}, {6, 4, 0.9}})
local DENSE = P:to_dense():to_table()

local PROBABILITIES, COLUMNS = {"squared_norms", "norms", "sums", "uniform"},
  {"layer", "graph", "touched"}
local DRAWS, WEIGHTS = {"wor", "wr", "poisson"}, {"design", "debiased", "graph", "none"}

-- Calls f with every combination of the named choices, but for `normalize`.
local function each_point(f)
  for _, probability in ipairs(PROBABILITIES) do
    for _, columns in ipairs(COLUMNS) do
      for _, draw in ipairs(DRAWS) do
        for _, weight in ipairs(WEIGHTS) do
          for _, self_nodes in ipairs{"none", "previous", "batch"} do
            for _, union in ipairs{"pre", "post"} do
              f{probability = probability, columns = columns, draw = draw, weight = weight,
                self_nodes = self_nodes, union = union, samples = {SAMPLES}, normalize = "none"}
            end
          end
        end
      end
    end
  end
end

-- Tells whether options go together, as the docstring says.
local function is_point(opts)
  if opts.weight == "debiased" and opts.draw ~= "wor" then return false end
  if opts.union == "post" then return opts.draw == "wor" and opts.weight == "design" end
  return opts.weight ~= "graph"
    or opts.columns == "touched" and opts.draw == "wor" and opts.self_nodes == "none"
end

-- Tells whether the docstring calls these options unbiased.
local function is_unbiased(opts)
  if opts.union == "post" then return false end
  return opts.weight == "debiased"
    or opts.weight == "design" and (opts.draw ~= "wor" or opts.probability == "uniform")
end

local function text_of(opts)
  return table.concat({opts.probability, opts.columns, opts.draw, opts.weight, opts.self_nodes,
    opts.union}, " ")
end

-- ---------------------------------------------------------------- by the book

-- p of all nodes, 0 for those that may not be drawn.
local function proportions(opts)
  local p, is_layer = {}, opts.columns == "layer"
  for u = 1, N do
    local sum, touched = 0, DENSE[1][u] ~= 0 or DENSE[2][u] ~= 0
    for v = 1, is_layer and 2 or N do
      sum = sum + math.abs(DENSE[v][u]) ^ (opts.probability == "sums" and 1 or 2)
    end
    if opts.probability == "norms" then sum = math.sqrt(sum) end
    if opts.probability == "uniform" then sum = sum > 0 and 1 or 0 end
    p[u] = (touched or opts.columns == "graph") and sum or 0
  end
  return p
end

local function sum_of(list)
  local total = 0
  for _, x in ipairs(list) do total = total + x end
  return total
end

-- The total of p over all nodes, for weights of the graph.
local function total_of_graph(opts)
  local all = proportions(tables.merged(opts, {columns = "graph"}))
  return sum_of(all), all
end

-- The outcomes of a layer: {pick =, w =, probability =}.
local function outcomes_of(opts)
  local always = opts.self_nodes ~= "none" and SEEDS or nil
  local list = reference.outcomes(proportions(opts), SAMPLES,
    {draw = opts.draw, debias = opts.weight == "debiased", always = always, union = opts.union})
  local found, some = {}, 0
  for _, one in ipairs(list) do      -- independent draws of nothing are made again
    if #one.pick > 0 then
      found[#found + 1], some = one, some + one.probability
    end
  end
  for _, one in ipairs(found) do
    one.probability = one.probability / some
    for i, u in ipairs(one.pick) do
      if opts.draw == "poisson" and not always then one.w[i] = one.w[i] * some end
      if opts.weight == "none" then one.w[i] = 1 end
      if opts.weight == "graph" then
        local total, p = total_of_graph(opts)
        one.w[i] = total / (SAMPLES * p[u])
      end
    end
  end
  return found
end

-- The block of an outcome, as rows of all nodes.
local function block_of(one)
  local rows = {}
  for v in ipairs(SEEDS) do
    rows[v] = {}
    for u = 1, N do rows[v][u] = 0 end
    for i, u in ipairs(one.pick) do rows[v][u] = DENSE[v][u] * one.w[i] end
  end
  return rows
end

-- Returns a text that identifies an outcome: its nodes, whatever their order, and the block; but of
-- debiased weights the order alone, because they depend on it and on a bound, which may be any
-- number no less than that of the nodes.
local function key_of(ids, rows, opts)
  if opts.weight == "debiased" then return table.concat(ids, ",") end
  local nodes, words = {table.unpack(ids)}, {}
  table.sort(nodes)
  for v in ipairs(SEEDS) do
    for u = 1, N do words[#words + 1] = ("%.4f"):format(rows[v][u] + 0) end
  end
  return (table.concat(nodes, ",") .. " " .. table.concat(words, " ")):gsub("%-0%.0000", "0.0000")
end

-- A block of the program, as rows of all nodes.
local function rows_of(block)
  local rows, adj, src = {}, block.adj:to_dense():to_table(), block.src:to_table()
  for v in ipairs(SEEDS) do
    rows[v] = {}
    for u = 1, N do rows[v][u] = 0 end
    for j, u in ipairs(src) do rows[v][u] = adj[v][j] end
  end
  return rows, src
end

-- The outcomes by their keys, those that look the same put together.
local function by_key(outcomes, opts)
  local cells, list = {}, {}
  for _, one in ipairs(outcomes) do
    local rows = block_of(one)
    local key = key_of(one.pick, rows, opts)
    if not cells[key] then
      cells[key] = {count = 0, probability = 0, rows = rows}
      list[#list + 1] = cells[key]
    end
    cells[key].probability = cells[key].probability + one.probability
  end
  return cells, list
end

-- The farthest that the mean of the blocks is from P's rows.
local function bias_of(list)
  local worst = 0
  for v in ipairs(SEEDS) do
    for u = 1, N do
      local mean = 0
      for _, cell in ipairs(list) do mean = mean + cell.probability * cell.rows[v][u] end
      lu.assertNotNaN(mean)
      worst = math.max(worst, math.abs(mean - DENSE[v][u]))
    end
  end
  return worst
end

-- Draws of each point, and the most of one whose every outcome must be seen.
local DRAWS_OF_EACH, MOST = 300, 20000

function tests.test_every_point_against_its_outcomes()
  local seeds, points = ladies.index(SEEDS), 0
  each_point(function(opts)
    if not is_point(opts) or opts.self_nodes == "batch" then return end
    points = points + 1
    local cells, list = by_key(outcomes_of(opts), opts)
    local sampler, rng, name = sampling.layerwise(P, opts), ladies.rng(points), text_of(opts)
    local unseen, done = #list, 0
    while done < DRAWS_OF_EACH or opts.weight == "debiased" and unseen > 0 and done < MOST do
      local rows, src = rows_of(sampler(seeds, rng).blocks[1])
      local cell = cells[key_of(src, rows, opts)]
      lu.assertNotNil(cell, name .. ": no such outcome: " .. key_of(src, rows, opts))
      unseen, done = unseen - (cell.count == 0 and 1 or 0), done + 1
      cell.count, cell.rows = cell.count + 1, rows      -- from here on the program's own
    end
    local counts, expected = {}, {}
    for i, cell in ipairs(list) do
      counts[i], expected[i] = cell.count, done * cell.probability
    end
    statistics.assert_frequencies(counts, expected, name)
    local bias = bias_of(list)
    if is_unbiased(opts) then
      lu.assertTrue(bias < 2e-6, ("%s: bias %g"):format(name, bias))
    else
      lu.assertTrue(bias > 1e-3, ("%s: bias %g"):format(name, bias))
    end
  end)
  lu.assertEquals(points, 7 * 12 * 2 + 4 + 12 * 2)     -- union pre, weight graph, union post
end

function tests.test_what_does_not_go_together()
  each_point(function(opts)
    local ok, message = pcall(sampling.layerwise, P, opts)
    lu.assertEquals(ok, is_point(opts), text_of(opts) .. ": " .. tostring(message))
    if not ok then lu.assertStrContains(message, "sampling.layerwise: ") end
  end)
end

--- The named normalisations divide the rows that are not normalised as they should, at every point.
function tests.test_normalizations()
  local seeds, sums = ladies.index(SEEDS), {}
  for v in ipairs(SEEDS) do sums[v] = sum_of(DENSE[v]) end
  each_point(function(opts)
    if not is_point(opts) then return end
    local plain = rows_of(sampling.layerwise(P, opts)(seeds, ladies.rng(5)).blocks[1])
    for _, normalize in ipairs{"rows", "sums"} do
      opts.normalize = normalize
      local batch = sampling.layerwise(P, opts)(seeds, ladies.rng(5))
      sampling.check(batch)
      local rows = rows_of(batch.blocks[1])
      for v in ipairs(SEEDS) do
        local scale = normalize == "sums" and sums[v] or 1
        for u = 1, N do
          local total = sum_of(plain[v])
          local want = total == 0 and 0 or plain[v][u] / total * scale
          lu.assertAlmostEquals(rows[v][u], want, 1e-5 * math.max(1, math.abs(want)))
        end
      end
    end
  end)
end

-- ---------------------------------------------------------------- functions

--- A function of one's own for what has a name gives the same blocks.
function tests.test_functions_for_named_choices()
  local seeds = ladies.index(SEEDS)
  local named = {samples = {2, 3}, probability = "norms", draw = "wr", self_nodes = "previous"}
  local own = {samples = {2, 3}, self_nodes = "previous",
    probability = function(U, near, at)
      lu.assertEquals(#near, U.n_cols)
      lu.assertEquals(at.always, #at.dst)
      lu.assertTrue(near:slice(1, at.always) == at.dst)
      return U:col_sums(2):sqrt()
    end,
    draw = function(p, k, how)
      lu.assertEquals(#p, #how.ids)
      return sampling.choice(p, k, {draw = "wr", always = how.always, rng = how.rng})
    end,
    weight = function(drawn)
      lu.assertTrue(drawn.near[drawn.pick] == drawn.src)
      return drawn.weight * 1
    end,
    normalize = function(adj, dst)
      lu.assertEquals(adj.n_rows, #dst)
      return adj:row_normalize()
    end,
  }
  local one, other = sampling.layerwise(P, named), sampling.layerwise(P, own)
  for seed = 1, 20 do
    local a, b = one(seeds, ladies.rng(seed)), other(seeds, ladies.rng(seed))
    lu.assertEquals(sampling.hash(a), sampling.hash(b))
  end
end

function tests.test_keep_adds_fields_to_blocks()
  local sampler = sampling.layerwise(P, {samples = {2, 2},
    probability = function(U, near) return U:col_sums(2), near end,
    keep = function(drawn)
      return {seen = drawn.about, rows = drawn.rows, places = drawn.pick}
    end})
  for _, block in ipairs(sampler(ladies.index(SEEDS), ladies.rng(1)).blocks) do
    lu.assertTrue(block.seen[block.places] == block.src)
    lu.assertEquals(block.rows.n_rows, #block.dst)
  end
end

--- The named samplers are the points that the docstring says.
function tests.test_named_points()
  local graph = graphs.random(60, 3, 5):normalize "sym"
  local seeds = ladies.index{5, 9, 33, 2, 41}
  local points = {
    {"ladies", {}, {}},
    {"ladies", {draw = "poisson"}, {draw = "poisson"}},
    {"ladies", {draw = "wr", row_normalize = false}, {draw = "wr", normalize = "none"}},
    {"ladies", {flat = true}, {probability = "norms"}},
    {"ladies", {probability = "uniform"}, {probability = "uniform"}},
    {"ladies", {debias = true}, {weight = "debiased"}},
    {"ladies", {self_nodes = "previous"}, {self_nodes = "previous"}},
    {"ladies", {union = "post", self_nodes = "batch"}, {union = "post", self_nodes = "batch"}},
    {"fastgcn", {}, {columns = "graph", draw = "wr", normalize = "none"}},
    {"fastgcn", {row_normalize = true, probability = "uniform", draw = "poisson"},
      {columns = "graph", normalize = "rows", probability = "uniform", draw = "poisson"}},
    {"fastgcn", {candidates = "touched", self_nodes = "previous"},
      {columns = "touched", self_nodes = "previous", draw = "wr", normalize = "none"}},
    {"fastgcn", {draw = "wor", debias = true},
      {columns = "graph", weight = "debiased", normalize = "none"}},
    {"fastgcn", {draw = "wor", union = "post", self_nodes = "batch"},
      {columns = "graph", union = "post", self_nodes = "batch", normalize = "none"}},
    {"fastgcn", {flat = true, candidates = "touched", weights = "global", draw = "wor"},
      {probability = "norms", columns = "touched", weight = "graph", normalize = "none"}},
  }
  for _, point in ipairs(points) do
    local name, given, own = table.unpack(point)
    given.samples, own.samples = {8, 6}, {8, 6}
    local one, other = samplers[name](graph, given), sampling.layerwise(graph, own)
    lu.assertEquals(one.name, "ladies.samplers." .. name)
    lu.assertEquals(sampling.hash(one(seeds, ladies.rng(3))),
      sampling.hash(other(seeds, ladies.rng(3))))
  end
end

function tests.test_errors()
  local seeds, rng = ladies.index(SEEDS), ladies.rng(1)
  local function rejects(message, given)
    given.samples = {2}
    lu.assertErrorMsgContains("sampling.layerwise: " .. message, sampling.layerwise, P, given)
  end
  rejects('probability must be one of squared_norms, norms, sums, uniform or a callable, got '
    .. '"norm"; did you mean "norms"?', {probability = "norm"})
  rejects('a function for probability is for columns = "layer"',
    {probability = function() end, columns = "graph"})
  rejects('a function for draw is for columns = "layer" or "touched"',
    {draw = function() end, columns = "graph"})
  rejects('weight = "debiased" is not for a draw of one\'s own',
    {draw = function() end, weight = "debiased"})
  rejects('weight = "graph" is for columns = "touched"', {weight = "graph"})
  rejects('union = "post" has weights of its own', {union = "post", weight = "debiased"})
  local negative = graphs.matrix(2, {{1, 1, 1}, {1, 2, -1}})
  lu.assertErrorMsgContains('probability = "sums" is for entries of 0 or more, P has -1',
    sampling.layerwise, negative, {samples = {1}, probability = "sums"})
  rejects("choice: union post is for draw wor alone", {union = "post", draw = "wr"})
  local function fails(message, given)
    given.samples = {2}
    lu.assertErrorMsgContains("layer 1: sampling.layerwise: " .. message,
      sampling.layerwise(P, given), seeds, rng)
  end
  fails("probability must return a vector of 5 numbers, one for each node of near, got Tensor 3",
    {probability = function() return ladies.ones(3) end})
  fails("what probability returns must be a Tensor, got nil", {probability = function() end})
  fails("what draw returns first must be an Index, got a table",
    {draw = function() return {1, 2} end})
  fails("what weight returns must be a Tensor, got nil", {weight = function() end})
  fails("what draw returns second must be a Tensor, got nil",
    {draw = function() return ladies.index{1, 2} end})
end

function tests.test_mini_batch_checks_what_block_returns()
  local seeds = ladies.index(SEEDS)
  local function fails(message, block)
    lu.assertErrorMsgContains("sampling.mini_batch: layer 2: what block returns: " .. message,
      sampling.mini_batch, seeds, 2, block)
  end
  fails("adj must be a Matrix, got nil", function() end)
  fails("src must be an Index, got nil", function(_, dst) return (P:slice(dst)) end)
  fails("more must be a table, got 3", function(_, dst)
    local adj, src = P:slice(dst)
    return adj, src, 3
  end)
  lu.assertErrorMsgContains("sampling.mini_batch: layers must be a positive integer, got 0",
    sampling.mini_batch, seeds, 0, print)
  lu.assertErrorMsgContains("layer 2: mine", sampling.mini_batch, seeds, 2,
    function() error "mine" end)
  local batch = sampling.mini_batch(seeds, 2, function(l, dst)
    local adj, src = P:slice(dst)
    return adj, src, {number = l}
  end)
  sampling.check(batch)
  lu.assertEquals(batch.blocks[1].number, 1)
  lu.assertEquals(batch.output:to_table(), SEEDS)
end

return tests
