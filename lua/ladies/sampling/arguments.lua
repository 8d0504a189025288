--- Checks the arguments of samplers, in the same way for all of them.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local arguments = {}

--- Fails, with a message that begins with `where`, unless P is a square Matrix. With `by_rows`, for
-- samplers that only read some rows at a time, P may also be divided among ranks.
function arguments.check_square(where, P, by_rows)
  local class = options.class_of(P)
  if class == "Graph" or class == "Dataset" then
    errors.fail(('%s: P must be a Matrix, got a %s; %s:normalize "sym" makes one'):format(where,
      class, class == "Graph" and "graph" or "data.graph"))
  end
  if not (by_rows and class == "MatrixInParts") then options.value(where, "P", P, "Matrix") end
  if P.n_rows ~= P.n_cols then
    errors.fail(("%s: P must be square, got %s"):format(where, P))
  end
end

--- Fails unless `features`, which a learning sampler reads, has a row for each node of P.
function arguments.check_features(where, P, features)
  if features.n_rows ~= P.n_rows then
    errors.fail(("%s: %d rows of features for a graph of %d nodes"):format(where, features.n_rows,
      P.n_rows))
  end
end

--- Fails unless the Index of training nodes, of a sampler that draws its own seeds, has some, each
-- once.
function arguments.check_train(where, train)
  if #train == 0 then errors.fail(where .. ": train must not be empty") end
  train:check_unique(where .. ": training node")
end

--- Checks and returns the seeds of a mini-batch, which must be an Index that is not empty: without
-- seeds there is no layer to sample, and a mean loss would be 0/0.
function arguments.seeds(seeds)
  options.value("sampler", "the seeds", seeds, "Index")
  if #seeds == 0 then errors.fail "sampler: there are no seeds" end
  return seeds
end

--- Checks and returns the seeds of a mini-batch of a sampler that reads no rows of theirs, which
-- would refuse the same: nodes of a graph of n, each once.
function arguments.distinct_seeds(seeds, n)
  arguments.seeds(seeds):check_unique "sampler: node"
  local wrong = (seeds:below(1) + seeds:above(n)):positions()
  if #wrong > 0 then
    errors.fail(("sampler: node %d at position %d is out of range 1..%d"):format(seeds[wrong[1]],
      wrong[1], n))
  end
  return seeds
end

--- Returns the nodes that are always in the input of a layer with destinations dst, by a sampler's
-- option `self_nodes`: dst for "previous", the seeds for "batch", otherwise nil.
function arguments.kept(self_nodes, seeds, dst)
  return self_nodes == "batch" and seeds or self_nodes == "previous" and dst or nil
end

--- Returns how many samples each layer has, as an array, from the options of a sampler: `samples`
-- is an array, or one number for all of its `layers`, which need not be given with an array.
function arguments.samples(where, opts)
  local samples, layers = opts.samples, opts.layers
  if type(samples) ~= "table" then
    if not layers then
      errors.fail(("%s: samples is one number, %d, and layers does not say for how many layers")
        :format(where, samples))
    end
    return tables.repeated(samples, layers)
  end
  if #samples == 0 then errors.fail(where .. ": samples must not be empty") end
  if layers and #samples ~= layers then
    errors.fail(("%s: samples has %d numbers for %d layers"):format(where, #samples, layers))
  end
  return samples
end

return arguments
