--- Decoders for link prediction: they compute a score for each pair of nodes from the rows that an
-- encoder gives these. With the rows s of the node where an edge begins and t of the one where it
-- ends, and the row r of the edge's relation
--     dot        sum of s t (Kipf and Welling, "Variational Graph Auto-Encoders", 2016)
--     distmult   sum of s r t (Yang et al., ICLR 2015)
--     complex    Re(sum of s r conj(t)), the first half of a row being the real parts and the
--                second the imaginary ones (Trouillon et al., ICML 2016): tells the two ends apart
--     mlp        a multilayer perceptron of s t, element by element
-- The first three are inner products of two rows: the query, made of the row of the given end and
-- that of the relation, and the row of the other end. So the scores of many candidates for the
-- other end are one product of matrices.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local initialize = require "ladies.nn.initialize"
local Mlp = require "ladies.nn.mlp"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local LinkDecoder = module.class("LinkDecoder",
  "kind:string inputs:integer relations:Tensor mlp:table n_relations:integer")

local SPEC = {
  kind = {"dot|distmult|complex|mlp", "dot"}, inputs = "positive integer",
  relations = "positive integer or nil", hidden = "positive integer or nil",
  layers = {"positive integer", 2}, dropout = {"number in [0, 1)", 0}, rng = "Rng or nil",
}

-- How many elements of pairs' rows an MLP is given at a time.
local CHUNK = 1 << 22

--- nn.link_decoder{kind = "dot" | "distmult" | "complex" | "mlp", inputs =, relations =, hidden =,
-- layers = 2, dropout = 0, rng = Rng} -> Module: decoder:forward(from, to [, relations]) gives the
-- scores of pairs of rows with `inputs` columns.
-- relations      how many there are: distmult and complex have a row for each, 1 by default; dot
--                and mlp know of one alone
-- hidden, layers, dropout   of the MLP: the width of its hidden layers (inputs) and how many linear
--                maps it has
-- rng            for first weights; dot has none
function LinkDecoder.new(given)
  local where = "ladies.nn.link_decoder"
  local opts = options.check(where, given, SPEC)
  local kind, inputs, n = opts.kind, opts.inputs, opts.relations or 1
  local decoder = {kind = kind, inputs = inputs, n_relations = n}
  if kind ~= "dot" then options.value(where, "rng", opts.rng, "Rng") end
  if kind == "complex" and inputs % 2 ~= 0 then
    errors.fail(("%s: complex needs an even number of columns, got %d"):format(where, inputs))
  end
  if kind == "distmult" or kind == "complex" then
    decoder.relations = core.zeros(n, inputs)
    initialize.glorot_uniform(decoder.relations, opts.rng)
    decoder.relations:requires_grad_()
  elseif n > 1 then
    errors.fail(("%s: %s does not tell %d relations apart; distmult and complex do"):format(where,
      kind, n))
  end
  if kind == "mlp" then
    decoder.mlp = Mlp.part({inputs = inputs, hidden = opts.hidden or inputs, outputs = 1,
      layers = opts.layers, dropout = opts.dropout, input_dropout = 0, activation = "relu",
      bias = true, init = "glorot_uniform", norm = false}, opts.rng)
  end
  return setmetatable(decoder, LinkDecoder)
end

-- Returns the rows of the relations of n pairs, by an Index of the relations, or the only row where
-- there is one relation for all.
local function relation_rows(decoder, relations, n)
  if not relations then
    if decoder.n_relations > 1 then
      errors.fail(("nn.link_decoder: which of the %d relations the pairs are of must be given")
        :format(decoder.n_relations))
    end
    return decoder.relations
  end
  options.value("nn.link_decoder", "the relations", relations, "Index")
  if #relations ~= n then
    errors.fail(("nn.link_decoder: %d relations for %d pairs"):format(#relations, n))
  end
  return decoder.relations[relations]
end

-- Returns a matrix of one row as a vector, which multiplies every row of a matrix element by
-- element; other matrices as they are.
local function as_factor(x) return x.n_rows == 1 and x:reshape(x.n_cols) or x end

-- Returns the queries for rows of one end; `other` says which end is looked for.
local function query(decoder, rows, relations, other)
  if decoder.kind == "dot" or decoder.kind == "mlp" then return rows end
  local r = relation_rows(decoder, relations, rows.n_rows)
  if decoder.kind == "distmult" then return rows * as_factor(r) end
  local half = decoder.inputs // 2
  local a, b = rows:slice_cols(1, half), rows:slice_cols(half + 1, 2 * half)
  local c, d = as_factor(r:slice_cols(1, half)), as_factor(r:slice_cols(half + 1, 2 * half))
  if other == "to" then return (a * c - b * d):concat(b * c + a * d) end
  return (a * c + b * d):concat(b * c - a * d)
end

-- Returns the score of each query with the row of the other end at the same place.
local function scores_of(decoder, queries, rows, rng)
  local products = queries * rows
  if decoder.mlp then return decoder.mlp:apply(products, rng):reshape(products.n_rows) end
  return products:row_sums()
end

local function check_rows(decoder, what, rows)
  options.value("nn.link_decoder", what, rows, "Tensor")
  if rows.n_cols ~= decoder.inputs then
    errors.fail(("nn.link_decoder: %s have %d columns, expected %d"):format(what, rows.n_cols,
      decoder.inputs))
  end
end

--- decoder:forward(from: Tensor, to: Tensor [, relations: Index [, rng]]) -> Tensor: the scores of
-- the pairs of row i of `from` and row i of `to`, of relation relations[i]; a vector. With `rng` an
-- MLP drops elements.
function LinkDecoder:forward(from, to, relations, rng)
  check_rows(self, "the rows of `from`", from)
  check_rows(self, "the rows of `to`", to)
  if from.n_rows ~= to.n_rows then
    errors.fail(("nn.link_decoder: %d rows of `from` and %d of `to` do not make pairs"):format(
      from.n_rows, to.n_rows))
  end
  return scores_of(self, query(self, from, relations, "to"), to, rng)
end

--- decoder:candidates(given: Tensor, other: Tensor, looked_for: string [, relations: Index [, own:
-- integer]]) -> Tensor: the scores of candidates for the other end of edges of which rows `given`
-- have one end; looked_for says which end is looked for, "to" or "from". `other` has the rows of
-- candidates that all edges have in common, for a result of #given x #other; or, with `own`, so
-- many for each edge, those of edge i from row (i - 1) own + 1 on, for #given x own. An MLP scores
-- some pairs at a time, and only where nothing is recorded.
function LinkDecoder:candidates(given, other, looked_for, relations, own)
  check_rows(self, "the rows of the given ends", given)
  check_rows(self, "the candidates' rows", other)
  local queries, n = query(self, given, relations, looked_for), given.n_rows
  if own then
    local repeated = queries[(core.range(1, n * own) - 1) // own + 1]
    return scores_of(self, repeated, other):reshape(n, own)
  end
  if not self.mlp then return queries:matmul(other:transpose()) end
  local scores = core.zeros(n, other.n_rows)
  local rows = math.max(1, CHUNK // (other.n_rows * self.inputs))
  for first = 1, n, rows do
    local last = math.min(first + rows - 1, n)
    local pairs_of = core.range(1, (last - first + 1) * other.n_rows) - 1
    local s = scores_of(self, queries[pairs_of // other.n_rows + first],
      other[pairs_of % other.n_rows + 1])
    scores:slice(first, last):copy_(s:reshape(last - first + 1, other.n_rows))
  end
  return scores
end

function LinkDecoder:__tostring()
  return ("LinkDecoder %s of %d columns%s"):format(self.kind, self.inputs,
    self.n_relations > 1 and (", %d relations"):format(self.n_relations) or "")
end

return LinkDecoder
