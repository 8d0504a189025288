--- Checks that a model is trained and applied with the same propagation matrix P. A sampler draws
-- its mini-batches from some P, and exact inference multiplies by one; with another P the same
-- model gives other numbers. So the two are compared, in ladies.train, and in ladies.inference
-- after training.
--
-- A P is a Matrix, or what graph:normalize makes it from: {normalize = "sym" | "row" | "none",
-- lambda = 0, self_loops = true}. The P of a mini-batch is known from its blocks, slices that know
-- of which matrix they are (their root); where they are no slices of P, the sampler names it in its
-- own field P or in the batch's. With times = true the blocks have the edges from before the times
-- of their seeds alone, and are P when all edges are.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local propagation = {}

--- The reason, for messages, why a model that was trained on the edges from before the times of its
-- seeds cannot be applied to a whole graph.
propagation.LOOKS_AHEAD = "the model is trained on edges from before the times of its seeds, and "
  .. "exact inference over the whole graph would look ahead; ladies.inference.in_time, and "
  .. "ladies.inference.sampled by a ladies.samplers.temporal that takes all edges, do not"

-- Maps a model to the P's of the mini-batch that it was last trained on.
local trained_on = setmetatable({}, {__mode = "k"})

local SPEC = {
  normalize = "sym|row|none", lambda = {"number", 0}, self_loops = {"boolean", true},
  times = {"boolean", false},
}

-- Tells whether P is a matrix, held by this process alone or in parts by several, rather than the
-- options of graph:normalize that make one.
local function is_matrix(P)
  local class = options.class_of(P)
  return class == "Matrix" or class == "MatrixInParts"
end

-- Returns P as a Matrix; one that is given by its options is made from `graph`.
local function matrix(P, graph)
  if is_matrix(P) then return P end
  P = options.check("P", P, SPEC)
  return graph:normalize(P.normalize, {lambda = P.lambda, self_loops = P.self_loops})
end

--- Describes a P in words: by the options of graph:normalize that made it, or else by its hash. P
-- may also be these options, or {P = hash}, as files of models have it.
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

--- Sets batch.P to the sampler's field P, unless the mini-batch has a P itself.
function propagation.state(batch, sampler)
  if batch.P == nil and type(sampler) == "table" then batch.P = sampler.P end
  if batch.P ~= nil then options.value("mini-batch", "P", batch.P, "Matrix or table") end
end

-- Returns an array of the P's from which a mini-batch was drawn: its field P, or the matrices of
-- which its blocks are slices; empty when nothing is known.
local function told_by(batch)
  if batch.P then return {batch.P} end
  local found = {}
  for _, block in ipairs(batch.blocks) do
    found[#found + 1] = block.adj and block.adj.root
  end
  return found
end

--- Remembers the P's of the mini-batch on which a model is being trained. nn.gcn calls it in its
-- forward, and ladies.train for any model.
function propagation.trained(model, batch)
  trained_on[model] = told_by(batch)
end

--- Returns the P over all nodes of the graph from which a mini-batch was drawn, as a Matrix.
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

-- Returns the P that a model's fields name now, model.P (a Matrix) or model.normalize and
-- model.lambda (as a table); nil where it has neither.
local function current(where, model)
  local P = options.value(where, "the model's P", model.P, "Matrix or nil")
  if P and model.normalize then
    errors.fail(where .. ": the model's P takes the place of its normalize and lambda; set P or "
      .. "normalize to nil")
  end
  return P or model.normalize and options.check(where .. ": the model's P",
    {normalize = model.normalize, lambda = model.lambda}, SPEC)
end

-- Returns the P that a model's fields name, as `current` does; fails if that of a model loaded from
-- a file was a Matrix, which the file does not hold, and has not been given.
local function stated(where, model)
  local hash, P = model.config and model.config.P, current(where, model)
  if P or not hash then return P end
  errors.fail(("%s: the model is for a P of its own, of hash %s, which is not in its file; "
    .. "give it: ladies.load_model(path, P)"):format(where, hash))
end

--- Returns the options of nn.gcn with which a model is made again from its file: model.config, with
-- the P that its fields name now; a Matrix is named by its hash.
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

--- Sets the fields of a model that name its P, a Matrix. A model of nn.gcn gets the options of
-- graph:normalize where these made P, because a file can hold them.
function propagation.set(model, P, graph)
  local name = model.config and graph:name_of(P)
  if name and name.self_loops then
    model.P, model.normalize, model.lambda = nil, name.normalize, name.lambda
  else
    model.P, model.normalize = P, nil
  end
end

--- Returns the P of a model for a graph twice: as a Matrix, and as the model names it. It is
-- model.P, or that of model.normalize and model.lambda; where the model names none, the one on
-- which it was trained.
function propagation.of_model(where, model, graph)
  local P = stated(where, model) or (trained_on[model] or {})[1]
  if not P then fail_unsaid(where) end
  return matrix(P, graph), P
end

-- Returns the first of the P's `drawn` that has as many nodes as P but is another matrix; or else
-- one that is the same as P, where there is any.
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

-- Returns the advice that ends an error about two different P's: how to make the model for the P of
-- its training, or to give inference another one.
local function remedy(P, graph)
  local text = propagation.describe(P, graph)
  if text:find "self_loops" or not text:find "^normalize" then text = "P = P" end
  return ("make the model with %s, or give inference another one: {P = P}"):format(text)
end

--- Fails when a model was last trained on mini-batches of another P than `P`, which is called
-- `name` in the message, or on edges from before the times of its seeds. P's with different numbers
-- of nodes, from different graphs, are not compared.
function propagation.check_trained(where, model, P, name, graph)
  for _, of in ipairs(trained_on[model] or {}) do
    if not is_matrix(of) and of.times then errors.fail(where .. ": " .. propagation.LOOKS_AHEAD) end
  end
  local other = differing(trained_on[model] or {}, P, graph)
  if other then
    errors.fail(("%s: the model was trained with %s, and would be used with %s; %s"):format(where,
      propagation.describe(other, graph), propagation.describe(name, graph), remedy(other, graph)))
  end
end

--- Returns a function guard(batch) for the mini-batches of a sampler, which fails for one that was
-- drawn from another P than the model's, and calls warn(text) once when that cannot be known.
-- `sampler_name` is for messages.
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
      P = same                      -- perhaps an equal copy; the next comparison is then immediate
    elseif not warned then
      warned = true
      warn(("the blocks of %s are no slices of a P over all nodes, so that it is the P of exact "
        .. "inference, %s, cannot be checked; its field P, or that of its mini-batches, may say it")
        :format(sampler_name, propagation.describe(name, graph)))
    end
  end
end

return propagation
