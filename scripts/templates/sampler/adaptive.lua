-- NAME.lua: a sampler that learns from training.
--
-- It draws layer by layer, as LADIES does, but above the first layer with
--     p(u) ~ ||P[dst, u]||^2 ||h(u)||^2
-- where h(u) is what the layer last had from node u: the less a node has to say, the less often it
-- is drawn.

local ladies = require "ladies"
local choice = ladies.sampling.choice

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

  -- seeds: the nodes that the mini-batch is for. rng: the only source of randomness.
  local function draw(_, seeds, rng)
    local dst, blocks = seeds, {}
    for l = settings.layers, 1, -1 do                             -- from the output down
      local U, near = P:slice(dst)                                -- P[dst, near], near: neighbours
      local p = U:col_sums(2)
      if norms[l] then p = p * norms[l][near] end
      local pick, w = choice(p, settings.samples, {rng = rng})    -- places in near, their weights
      local adj = U:pick_cols(pick):scale_cols(w)                 -- an estimate of P[dst, :]
      local src = near[pick]
      blocks[l] = {adj = adj:row_normalize(), dst = dst, src = src}
      dst = src                                                   -- of the next layer down
    end
    return {blocks = blocks, input = dst, output = seeds, propagate = propagate,
      after_step = after_step}
  end

  -- adaptive: a mini-batch depends on the step before it, so none is drawn ahead.
  return setmetatable({
    name = "NAME",
    adaptive = true,
    state = state,
  }, {__call = draw})
end
