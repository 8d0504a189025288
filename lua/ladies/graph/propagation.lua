--- Which propagation matrix P a model goes with. A sampler draws its mini-batches from some P, and
-- exact inference multiplies by one; on another P the same model gives other numbers. So the two
-- are compared where they meet: in ladies.train, and in ladies.inference after training.
--
-- A P is a Matrix, or what graph:normalize makes it from: {normalize = "sym" | "row" | "none",
-- lambda = 0, self_loops = true}. A mini-batch tells its own by its blocks, slices that know their
-- root; where they are no slices of P, the sampler says it, in its field P or the batch's.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local propagation = {}

-- model -> the P's of the mini-batch that it was last trained on
local trained_on = setmetatable({}, {__mode = "k"})

local SPEC = {
  normalize = "sym|row|none", lambda = {"number", 0}, self_loops = {"boolean", true},
}

-- Whether P is a matrix, all of which may be here or not, and no name.
local function is_matrix(P)
  local class = options.class_of(P)
  return class == "Matrix" or class == "MatrixInParts"
end

-- P as a Matrix, of `graph` when it is given by name.
local function matrix(P, graph)
  if is_matrix(P) then return P end
  P = options.check("P", P, SPEC)
  return graph:normalize(P.normalize, {lambda = P.lambda, self_loops = P.self_loops})
end

--- A P in words: how it is named for nn.gcn, where it has a name. It may also be the options of
-- nn.gcn, where a Matrix is its hash.
function propagation.describe(P, graph)
  if is_matrix(P) then
    local name = graph:name_of(P)
    return name and propagation.describe(name) or ("a %s of hash %s"):format(P, P:hash())
  end
  if P.P then return "a P of hash " .. P.P end
  return ('normalize = "%s"%s%s'):format(P.normalize,
    P.lambda and P.lambda ~= 0 and (", lambda = %g"):format(P.lambda) or "",
    P.self_loops == false and ", self_loops = false" or "")
end

--- What the sampler says of its P is put into its mini-batch, unless that says it itself.
function propagation.state(batch, sampler)
  if batch.P == nil and type(sampler) == "table" then batch.P = sampler.P end
  if batch.P ~= nil then options.value("mini-batch", "P", batch.P, "Matrix or table") end
end

-- The P's that a mini-batch was drawn from, an array: the one that it states, or the roots of its
-- blocks; empty when nothing is known.
local function told_by(batch)
  if batch.P then return {batch.P} end
  local found = {}
  for _, block in ipairs(batch.blocks) do
    found[#found + 1] = block.adj and block.adj.root
  end
  return found
end

--- Remembers what a model is trained on: nn.gcn in its forward, ladies.train for any model.
function propagation.trained(model, batch)
  trained_on[model] = told_by(batch)
end

--- The P over all nodes of a graph that a mini-batch tells of, as a Matrix.
function propagation.of_batch(where, batch, graph)
  for _, P in ipairs(told_by(batch)) do
    P = matrix(P, graph)
    if P.n_rows == graph.n_nodes then return P end
  end
  errors.fail(where .. ": the blocks are no slices of a P over all nodes; the sampler, a callable "
    .. "table, or its mini-batches say in their field P which it is")
end

local function fail_unsaid(where)
  errors.fail(where .. ': the model does not say which P it is for; it needs a field normalize, '
    .. '"sym", "row" or "none", or P, a Matrix')
end

-- The P that a model says it is for now, a Matrix or its name; nil where it says none.
local function current(where, model)
  local P = options.value(where, "the model's P", model.P, "Matrix or nil")
  if P and model.normalize then
    errors.fail(where .. ": the model's P takes the place of its normalize and lambda; set P or "
      .. "normalize to nil")
  end
  return P or model.normalize and options.check(where .. ": the model's P",
    {normalize = model.normalize, lambda = model.lambda}, SPEC)
end

-- The same; an error where the model was for a Matrix that is not at hand.
local function stated(where, model)
  local hash, P = model.config and model.config.P, current(where, model)
  if P or not hash then return P end
  errors.fail(("%s: the model is for a P of its own, of hash %s, which is not in its file; "
    .. "give it: ladies.load_model(path, P)"):format(where, hash))
end

--- The options of nn.gcn by which a model is made again for the P that it states now: those in its
-- config, with P by its hash.
function propagation.options_of(where, model)
  local opts, P = tables.merged(model.config), current(where, model)
  if is_matrix(P) then
    opts.P, opts.normalize, opts.lambda = P:hash(), nil, 0
  elseif P then
    opts.P, opts.normalize, opts.lambda = nil, P.normalize, P.lambda
  elseif not opts.P and model.n_layers ~= 0 then
    fail_unsaid(where)
  end
  return opts
end

--- Makes a model state P, a Matrix; ours by its name where graph:normalize gave it, for files.
function propagation.set(model, P, graph)
  local name = model.config and graph:name_of(P)
  if name and name.self_loops then
    model.P, model.normalize, model.lambda = nil, name.normalize, name.lambda
  else
    model.P, model.normalize = P, nil
  end
end

--- The P of a model for a graph, as a Matrix, and the same as it is stated: model.P, or that of
-- model.normalize and model.lambda; where the model says nothing, what it was trained on.
function propagation.of_model(where, model, graph)
  local P = stated(where, model) or (trained_on[model] or {})[1]
  if not P then fail_unsaid(where) end
  return matrix(P, graph), P
end

-- The first of the P's `drawn` that is over the nodes of P but another matrix; or else one that is
-- the same, where there is any.
local function differing(drawn, P, graph)
  local same
  for _, of in ipairs(drawn) do
    local other = matrix(of, graph)
    if other.n_rows == P.n_rows then
      if not P:is_close(other) then return of end
      same = other
    end
  end
  return nil, same
end

-- The P that the model goes with: nn.gcn{...}, or a field of a model of one's own.
local function remedy(P, graph)
  local text = propagation.describe(P, graph)
  if text:find "self_loops" or not text:find "^normalize" then text = "P = P" end
  return ("make the model with %s, or give inference another one: {P = P}"):format(text)
end

--- Fails when a model was last trained on mini-batches of another P than `P`, which it states as
-- `name`. Those of other graphs, with another number of nodes, cannot be compared.
function propagation.check_trained(where, model, P, name, graph)
  local other = differing(trained_on[model] or {}, P, graph)
  if other then
    errors.fail(("%s: the model was trained with %s, and would be used with %s; %s"):format(where,
      propagation.describe(other, graph), propagation.describe(name, graph), remedy(other, graph)))
  end
end

--- A function guard(batch), for the mini-batches of a sampler: fails for one that was drawn from
-- another P than the model's; warn(text) is called once when that cannot be known. `sampler_name`
-- is for messages.
function propagation.guard(where, model, graph, sampler_name, warn)
  local P, name, warned
  return function(batch)
    if not P then P, name = propagation.of_model(where, model, graph) end
    local drawn = told_by(batch)
    local other, same = differing(drawn, P, graph)
    if other then
      errors.fail(("%s: %s draws from %s, and exact inference would use %s; %s"):format(where,
        sampler_name, propagation.describe(other, graph), propagation.describe(name, graph),
        remedy(other, graph)))
    elseif same then
      P = same                      -- equal perhaps, but another one; is_close sees it at once now
    elseif not warned then
      warned = true
      warn(("the blocks of %s are no slices of a P over all nodes, so that it is the P of exact "
        .. "inference, %s, cannot be checked; its field P, or that of its mini-batches, may say it")
        :format(sampler_name, propagation.describe(name, graph)))
    end
  end
end

return propagation
