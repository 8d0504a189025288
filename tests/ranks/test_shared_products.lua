--- Products that ranks make together: the bits of one alone, by any number of them, and the bytes
-- that the rows take.
local lu = require "luaunit"
local json = require "ladies.base.json"
local rank_runs = require "tools.rank_runs"
local ranks = require "tools.ranks"
local shell = require "tools.shell"

local tests = {}

-- Computes every product, and the number of its elements where it is worth sharing, else 0.
local PRODUCTS = [[
local ladies = require "ladies"
local link = require "ladies.ranks.link"
local rng = ladies.rng(3)
ladies.threads(1)
local function dense(n, k) return ladies.zeros(n, k):normal_(1, rng) end
local function sparse(n_rows, n_cols, entries)         -- the first rows have most
  local rows, cols = {}, {}
  for i = 1, entries do
    rows[i], cols[i] = math.min(rng:below(n_rows), rng:below(n_rows)), rng:below(n_cols)
  end
  return ladies.matrix{n_rows = n_rows, n_cols = n_cols, rows = ladies.index(rows),
    cols = ladies.index(cols)}
end
local a, far = sparse(700, 500, 40000), sparse(300, 131081, 24000)
local weights = {}
for _, k in ipairs{31, 33, 90, 900} do weights[k] = dense(k, 300) end
local function product(n, k)
  local x = dense(n, k)
  return function() return x:matmul(weights[k]) end
end
local x, bias, wide, tall = dense(1999, 90), ladies.full(300, 0.5), dense(500, 70), dense(700, 70)
local huge = dense(131081, 64)
local cases = {
  {product(1999, 90), 1999 * 300}, {product(1537, 33), 1537 * 300}, {product(40, 900), 40 * 300},
  {product(1, 900), 0}, {product(1999, 31), 0},
  {function() return x:linear(weights[90], bias) end, 1999 * 300},
  {function() return a:matmul(wide) end, 700 * 70},
  {function() return a:row_normalize():matmul(wide) end, 700 * 70},
  {function() return a:transpose():matmul(tall) end, 500 * 70},
  {function() return far:matmul(huge) end, 300 * 64},
}
local function sent()
  local bytes = 0
  for _, own in ipairs(ladies.comm.gather((link.traffic.test or {bytes = 0}).bytes)) do
    bytes = bytes + own
  end
  return bytes
end
for i, case in ipairs(cases) do
  local f, elements = table.unpack(case)
  local before = sent()
  assert(link.shared("test", f):hash() == f():hash(), ("product %d"):format(i))
  local bytes = sent() - before
  assert(bytes == 4 * elements * (ladies.comm.size - 1), ("product %d: %d"):format(i, bytes))
end
print "the same"
]]

function tests.test_products()
  for _, n in ipairs{2, 3, 4} do
    lu.assertEquals(shell.silent(ranks.run_script(n, PRODUCTS)), "the same\n")
  end
end

-- ---------------------------------------------------------------- own rows

--- On a larger graph each rank computes its own rows in all layers, where a model lets it; the
-- logits are those of one process alone. A row of the logits goes to the other ranks, one of a
-- layer's product with P to each rank in turn, and no other rows are sent.
local OWN_ROWS = [[
local ladies = require "ladies"
local link = require "ladies.ranks.link"
local data = ladies.generate.power_law{nodes = 5000, entries = 40000, features = 12, classes = 3}
local function check(name, products, sent)
  local given = {inputs = 12, hidden = 16, outputs = 3, layers = 3}
  if name == "jk" then name, given.head = "gcn", "concat" end
  if name == "sgc" then given.hidden = nil end
  local model = ladies.nn[name](given)
  local function bytes() return (link.traffic["comm.together"] or {bytes = 0}).bytes end
  local before = bytes()
  local logits = ladies.comm.together(ladies.inference.exact, model, data,
    {ranks_infer = "together"})
  local all = 0
  for _, one in ipairs(ladies.comm.gather(bytes() - before)) do all = all + one end
  local others = link.size - 1
  assert(logits == ladies.inference.exact(model, data), name)
  if products then assert(all == others * 5000 * 4 * products, name .. " " .. all) end
end
check("gcn", 12 + 16 + 3 + 3)            -- propagated before the first map, after the last
check("gcnii", 16 + 16 + 16 + 3)
for _, name in ipairs{"sage", "gin", "jk", "sgc", "appnp"} do check(name) end
check("gat")                              -- its layers need the entries of P
print "the same"
]]

function tests.test_own_rows()
  for _, n in ipairs{2, 3, 4} do
    lu.assertEquals(shell.silent(ranks.run_script(n, OWN_ROWS)), "the same\n")
  end
end

-- ---------------------------------------------------------------- validation

local OPTIONS = [[threads = 1, max_batches = 16, wide = "%s", on_validation = function() end,
  ranks_infer = "together"]]

local train, read = rank_runs.train, rank_runs.read

--- A run's scores and predictions are those of one alone. What a validation, of all nodes for the
-- callback, and the test send is the products of 180 x 128 of the hidden layers, and the score.
function tests.test_validation()
  for model, products in pairs{gcn = 2, sage = 4} do
    local options, folder = OPTIONS:format(model), model .. " by three"
    lu.assertEquals(train(3, folder, options), train(0, model, options))
    rank_runs.assert_same(folder, model)
    local found = json.decode(read(folder, "summary.json")).ranks.kinds.validation
    local rows = 2 * products * 180 * 128 * 4 * 2
    lu.assertTrue(found.bytes > rows and found.bytes < rows + 600, found.bytes)
    lu.assertEquals(found.messages, (2 * products + 1) * 2)        -- from the one who has the tile
  end
end

return tests
