--- Decoders of links, and the model of free rows that they score: beside those of PyTorch Geometric
-- with equal weights (fixtures/make_link_decoders.py), finite differences, and candidates beside
-- single pairs.
local lu = require "luaunit"
local ladies = require "ladies"
local fixture = require "reference.fixture"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local archive, index = fixture.open "link_decoders", ladies.index
local tests = {}

local function decoder(kind, opts)
  opts = opts or {}
  opts.kind, opts.inputs, opts.rng = kind, 6, ladies.rng(1)
  return ladies.nn.link_decoder(opts)
end

local function off(a, b) return (a - b):abs():max() end

function tests.test_scores_are_those_of_pyg()
  local h, r = archive:tensor "h", archive:tensor "r"
  local triples = archive:numbers "triples"
  local function ids(row)
    local list = {}
    for i, id in ipairs(triples[row]) do list[i] = id + 1 end
    return index(list)
  end
  local heads, relations, tails = ids(1), ids(2), ids(3)
  for _, kind in ipairs{"distmult", "complex"} do
    local ours = decoder(kind, {relations = 4})
    ours.relations:copy_(r)
    local scores = ours:forward(h[heads], h[tails], relations)
    lu.assertTrue(off(scores, archive:tensor(kind)) < 1e-5, kind)
  end
end

--- The score of a pair does not depend on which end is looked for, or among how many.
function tests.test_candidates_are_scored_as_pairs()
  local h = archive:tensor "h"
  local given, relations = index{4, 1, 9, 4}, index{1, 3, 2, 2}
  for _, kind in ipairs{"dot", "distmult", "complex", "mlp"} do
    local many = (kind == "distmult" or kind == "complex") and {relations = 3} or nil
    local of, some = decoder(kind, many), many and relations
    local to = of:candidates(h[given], h, "to", some)
    local from = of:candidates(h[given], h, "from", some)
    local own = of:candidates(h[given], h[index{1, 2, 3, 4, 5, 6, 7, 8}], "to", some, 2)
    for i = 1, #given do
      local relation = some and index{relations[i]}
      for v = 1, h.n_rows do
        local a, b = h:slice(given[i], given[i]), h:slice(v, v)
        lu.assertAlmostEquals(to:get(i, v), of:forward(a, b, relation):item(), 1e-5, kind)
        lu.assertAlmostEquals(from:get(i, v), of:forward(b, a, relation):item(), 1e-5, kind)
      end
      for j = 1, 2 do
        lu.assertAlmostEquals(own:get(i, j), to:get(i, 2 * (i - 1) + j), 1e-5, kind)
      end
    end
  end
end

function tests.test_gradients()
  local a = ladies.zeros(5, 6):normal_(1, ladies.rng(2))
  local b = ladies.zeros(5, 6):normal_(1, ladies.rng(3))
  for _, kind in ipairs{"dot", "distmult", "complex", "mlp"} do
    for _, n in ipairs{1, 3} do
      if n == 1 or kind == "distmult" or kind == "complex" then
        local of = decoder(kind, {relations = n})
        local relations = n > 1 and index{3, 1, 1, 2, 3} or nil
        local function scores(x, y) return of:forward(x, y, relations) end
        lu.assertTrue(ladies.gradcheck(scores, {a, b}), kind)
        if kind ~= "dot" then
          lu.assertTrue(ladies.gradcheck(function() return scores(a, b) end, of:parameters()), kind)
        end
      end
    end
  end
end

--- Swapping the ends changes the score of complex alone.
function tests.test_which_tell_ends_apart()
  local h = archive:tensor "h"
  local a, b = h[index{1, 2, 3}], h[index{4, 5, 6}]
  for _, kind in ipairs{"dot", "distmult", "complex", "mlp"} do
    local of = decoder(kind)
    local difference = off(of:forward(a, b), of:forward(b, a))
    lu.assertEquals(difference > 1e-3, kind == "complex", kind)
  end
end

function tests.test_errors()
  local h = archive:tensor "h"
  local function fails(text, ...) lu.assertErrorMsgContains(text, ...) end
  fails("complex needs an even number of columns, got 5", ladies.nn.link_decoder,
    {kind = "complex", inputs = 5, rng = ladies.rng(1)})
  fails("dot does not tell 3 relations apart", decoder, "dot", {relations = 3})
  fails("which of the 3 relations", function()
    decoder("distmult", {relations = 3}):forward(h, h)
  end)
  fails("2 relations for 9 pairs", function()
    decoder("distmult", {relations = 3}):forward(h, h, index{1, 2})
  end)
  fails("have 2 columns, expected 6", function() decoder "dot":forward(h:slice_cols(1, 2), h) end)
  fails("9 rows of `from` and 2 of `to`", function() decoder "dot":forward(h, h:slice(1, 2)) end)
  fails("rng must be an Rng", ladies.nn.link_decoder, {kind = "mlp", inputs = 5})
  lu.assertEquals(#decoder "dot":parameters(), 0)
  lu.assertEquals(tostring(decoder("complex", {relations = 3})),
    "LinkDecoder complex of 6 columns, 3 relations")
end

--- A row for each node, whatever the features are; those of the mini-batch have a gradient.
function tests.test_embedding()
  local data, path = toy.new(), temporary.path "embedding.npz"
  local model = ladies.nn.embedding{nodes = #data, outputs = 4, seed = 3}
  lu.assertAlmostEquals(model.rows:square():row_sums():mean():item(), 1, 0.2)
  local nodes = ladies.index{7, 2}
  local batch = {input = nodes, output = nodes, blocks = {}}
  lu.assertTrue(model:forward(data.features, batch) == model.rows[nodes])
  lu.assertTrue(ladies.inference.exact(model, data) == model.rows)
  do
    local step <close> = ladies.step()                                   -- luacheck: ignore step
    model:forward(data.features, batch):sum():backward()
    lu.assertEquals(model.rows.grad:row_sums():above(0):positions(), ladies.index{2, 7})
  end
  ladies.save_model(model, path)
  lu.assertTrue(ladies.load_model(path).rows == model.rows)
  lu.assertEquals(tostring(model), ("Embedding of %d nodes, 4 columns"):format(#data))
  lu.assertErrorMsgContains("the model has rows of 5 nodes, and the features are of",
    ladies.inference.exact, ladies.nn.embedding{nodes = 5, outputs = 4}, data)
end

return tests
