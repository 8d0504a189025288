-- NAME.lua: an optimizer.
--
-- As it stands it is gradient descent with Nesterov's momentum (Sutskever et al., ICML 2013):
-- v <- momentum v + g, p <- p - lr (g + momentum v).

local ladies = require "ladies"

-- parameters: an array of Tensors. settings: of the run. The result is one of ladies.optim, here of
-- ladies.optim.own, whose help says what `update` is given.
local function make(parameters, settings)
  local function update(p, g, state, at)
    g = g + p * at.weight_decay
    state.velocity = state.velocity * settings.momentum + g       -- checkpoints have it
    return p - (g + state.velocity * settings.momentum) * at.lr
  end

  return ladies.optim.own(parameters, {name = "NAME", update = update, state = {"velocity"},
    lr = settings.lr, weight_decay = settings.weight_decay})
end

return {
  settings = {"weight_decay",
    {"momentum", "number in [0, 1)", default = 0.9, help = "of its last step in the next"}},
  make = make,
}
