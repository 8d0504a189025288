-- NAME.lua: a sampler that learns from training.
--
-- It draws layer by layer, as LADIES does, but above the first layer with
--     p(u) ~ ||P[dst, u]||^2 ||h(u)||^2
-- where h(u) is what the layer last had from node u: the less a node has to say, the less often it
-- is drawn.

local ladies = require "ladies"

-- The model's layers one by one, in place of its own loop over them, to see what goes in.
local function propagate(model, h, batch, rng)
  batch.seen = {}
  for l, block in ipairs(batch.blocks) do
    batch.seen[l] = type(h) == "table" and h.last or h    -- some models pass on more than H
    h = model:layer(l, h, block, rng)
  end
  return h
end

-- P: the propagation matrix of the graph. settings: of the run; `samples` and `layers` are used.
return function(P, settings)
  -- ||h(u)||^2 by layer, 1 at first. Checkpoints hold what is in `state`, so that a run can go on.
  local norms, state = {}, {}
  for l = 2, settings.layers do
    norms[l] = ladies.ones(P.n_rows)
    state[#state + 1] = {name = ("norms.%d"):format(l), tensor = norms[l]}
  end

  -- After the optimizer's step, for every mini-batch.
  local function after_step(batch)
    for l = 2, #batch.blocks do
      local h = batch.seen[l]:detach()
      norms[l]:copy_rows_(batch.blocks[l].src, h:square():row_sums() + 1e-6)
    end
  end

  local layers = ladies.sampling.layerwise(P, {
    samples = settings.samples, layers = settings.layers,
    probability = function(U, near, at)                           -- U = P[dst, near]
      local p, own = U:col_sums(2), norms[at.layer]
      return own and p * own[near] or p
    end,
  })

  -- seeds: the nodes that the mini-batch is for. rng: the only source of randomness.
  local function draw(_, seeds, rng)
    local batch = layers(seeds, rng)
    batch.propagate, batch.after_step = propagate, after_step
    return batch
  end

  -- adaptive: a mini-batch depends on the step before it, so none is drawn ahead.
  return setmetatable({
    name = "NAME",
    adaptive = true,
    state = state,
  }, {__call = draw})
end
