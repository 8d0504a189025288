--- Measures how far the bandits of BLISS (one player for each node and layer) move from uniform
-- probabilities in a training. As long as they stay near them, BLISS draws as PLADIES does.

local core = require "ladies_core"
local experiment = require "ladies.experiment"
local statistics = require "ladies.statistics"
local train = require "ladies.training.train"

-- Trains with the settings of `config` and returns the sampler, of which alone something is kept.
local function trained_sampler(config, data)
  local model = experiment.model(config, data)
  local sampler = experiment.sampler(config, data, model)
  train{data = data, model = model, sampler = sampler, lr = config.lr, seed = config.seed,
    batch_size = config.batch_size, epochs = config.epochs, max_batches = config.max_batches,
    eval_every = config.max_batches, quiet = true}
  return sampler
end

-- Adds to `list` the total variation between the probabilities of each player of layer l who was
-- paid, and the uniform ones. U: all rows of P.
local function add_distances(list, players, l, U)
  local row = U:row_of()
  local off = players:probabilities(l, U) - (1 / U:degrees())[row]
  local distance = (off:abs() / 2):scatter_add(row, U.n_rows):to_table()
  local paid = players.logs[l]:abs():scatter_add(row, U.n_rows):to_table()
  for v = 1, U.n_rows do
    if paid[v] > 0 then list[#list + 1] = distance[v] end
  end
end

--- bliss_players(settings) -> number: trains BLISS with these settings of ladies.experiment. The
-- total variation, from 0 to 1, between the probabilities by which a player draws in the end and
-- the uniform ones, with which all begin: its mean over the players of all layers that were paid.
return function(settings)
  local config = experiment.configure(settings)
  local data = experiment.load(config)
  local sampler, list = trained_sampler(config, data), {}
  local all = sampler.P:slice(core.range(1, sampler.P.n_rows))
  for l = 1, config.layers do add_distances(list, sampler.players, l, all) end
  return statistics.mean(list)
end
