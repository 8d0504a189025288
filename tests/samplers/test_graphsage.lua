--- GraphSAGE: every entry of its blocks is what the definition gives.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"

local sampling, samplers, index = ladies.sampling, ladies.samplers, ladies.index

local tests = {}

--- A star's hub with two of its 19 leaves, by hand.
function tests.test_by_hand()
  local P = graphs.star():normalize "row"                  -- the hub's row: twenty times 1/20
  local function hub_row(opts)
    opts.samples = {2}
    local batch = samplers.graphsage(P, opts)(index{1}, ladies.rng(1))
    lu.assertEquals(batch.input[1] == 1, opts.self_nodes ~= "none")
    return batch.blocks[1].adj:to_dense():to_table()[1]
  end
  local function assert_row(row, want)
    lu.assertEquals(#row, #want)
    for j, value in ipairs(want) do lu.assertAlmostEquals(row[j], value, 1e-6) end
  end
  assert_row(hub_row{}, {1 / 3, 1 / 3, 1 / 3})
  assert_row(hub_row{form = "unbiased"}, {1 / 20, 19 / 40, 19 / 40})
  -- The row has twenty entries, one of them its own loop, which this draw has not taken.
  assert_row(hub_row{form = "unbiased", self_nodes = "none"}, {0.5, 0.5})
  assert_row(hub_row{self_nodes = "none"}, {0.5, 0.5})
end

-- The entries of a block, by the definitions; `times` is how often a neighbour was drawn.
local function check_block(P, block, k, opts)
  local dense, adj = P:slice(block.dst, block.src):to_dense(), block.adj:to_dense()
  local degrees = P:degrees(block.dst)
  lu.assertTrue(block.src:slice(1, #block.dst) == block.dst)
  for i = 1, #block.dst do
    local own = dense:get(i, i) > 0
    local d = degrees[i] - (own and 1 or 0)
    local times, total, weighted = {}, 0, 0
    for j = 1, #block.src do
      local value = adj:get(i, j)
      if value ~= 0 and i ~= j then
        -- How often j was drawn; for a mean relative to the row's factor, which the loop's entry
        -- gives.
        local one = opts.form == "unbiased" and dense:get(i, j) * math.max(1, d / k)
          or own and adj:get(i, i) * dense:get(i, j) / dense:get(i, i)
        if opts.replace and opts.form == "unbiased" then one = dense:get(i, j) * d / k end
        times[j] = one and value / one or 1
        lu.assertAlmostEquals(times[j], math.floor(times[j] + 0.5), 1e-3)
        if not opts.replace then lu.assertAlmostEquals(times[j], 1, 1e-4) end
        total = total + times[j]
      end
      weighted = weighted + value
    end
    if d > 0 and (own or opts.form == "unbiased") then
      lu.assertAlmostEquals(total, opts.replace and k or math.min(k, d), 1e-3)
    end
    if own and opts.form == "unbiased" then
      lu.assertAlmostEquals(adj:get(i, i), dense:get(i, i), 1e-6)
    end
    if opts.form == "mean" and degrees[i] > 0 then lu.assertAlmostEquals(weighted, 1, 1e-5) end
  end
end

function tests.test_every_entry()
  local seeds = index{7, 1, 4}
  for g, A in ipairs{graphs.random(30, 3, 1), graphs.directed(), graphs.star(), graphs.self_loops(),
    graphs.weighted()} do
    for _, P in ipairs{A:normalize "row", A:normalize("row", {self_loops = false})} do
      for _, form in ipairs{"mean", "unbiased"} do
        for _, replace in ipairs{false, true} do
          local opts = {samples = {4, 1, 2}, form = form, replace = replace}
          local batch = samplers.graphsage(P, opts)(seeds, ladies.rng(g))
          for l, block in ipairs(batch.blocks) do check_block(P, block, opts.samples[l], opts) end
        end
      end
    end
  end
end

--- put_first brings the nodes of dst to the front of src, as networks want it that put a node's own
-- features beside those of its neighbours.
function tests.test_put_first()
  local src, dst = index{9, 4, 7, 2, 5}, index{5, 1, 9}
  local pick = sampling.put_first(src, dst)
  lu.assertEquals(pick:to_table(), {5, 1, 2, 3, 4})
  lu.assertEquals(src[pick]:to_table(), {5, 9, 4, 7, 2})
end

function tests.test_errors()
  local P = graphs.star():normalize "row"
  local function rejects(message, ...)
    lu.assertErrorMsgContains("ladies.samplers.graphsage: " .. message, samplers.graphsage, ...)
  end
  rejects('form must be one of mean, unbiased, got "means"; did you mean "mean"?', P,
    {samples = {5}, form = "means"})
  lu.assertErrorMsgContains("layer 1: sample_rows: the option rng is missing",
    samplers.graphsage(P, {samples = {5}}), index{1})
end

return tests
