--- Counts the seeds of mini-batches that are not connected to any features, to warn of samplers
-- that lose many. A row none of whose neighbours was drawn is empty; where many rows are, a seed
-- may have no path of sampled edges down to the features, and contributes nothing to training.

local core = require "ladies_core"
local link = require "ladies.ranks.link"
local methods = require "ladies.experiment.methods"
local settings = require "ladies.experiment.settings"
local tell = require "ladies.base.tell"

local BATCHES = 4      -- that are drawn
local MANY = 0.25      -- of the seeds: they are told

local unheard = {}

--- unheard.share(sampler, seeds): returns the mean share of seeds without a sampled path to the
-- features, from a few mini-batches that are drawn for this; nil for samplers whose mini-batches
-- are not built layer by layer from given seeds, or that learn from the step before.
function unheard.share(sampler, seeds)
  if type(sampler) == "table" and sampler.adaptive then return nil end
  local rng, sum = core.rng(1), 0
  for i = 1, BATCHES do
    local batch = sampler(seeds, rng:fork(i))
    if batch.after_step or batch.readout or #batch.output ~= #seeds then return nil end
    local heard = core.full(#batch.input, 1, 1)
    for _, block in ipairs(batch.blocks) do heard = block.adj:matmul(heard):above(0) end
    sum = sum + 1 - heard:mean():item()
  end
  return sum / BATCHES
end

-- Tells whether self_nodes is "none" only because the default for this data set is, and not because
-- the user or the preset set it.
local function is_decided_by_data(config, own)
  local method = methods.by_name[config.method]
  return config.self_nodes == "none" and own.self_nodes == nil and config.preset == "default"
    and settings.takes(method, "self_nodes") and (method.defaults or {}).self_nodes == nil
end

--- Prints a notice if many seeds have no path to the features because `self_nodes` was left to its
-- default. config: the resolved settings; own: those that were given; run: the options of
-- ladies.train for them.
function unheard.tell(config, own, run)
  if not is_decided_by_data(config, own) or run.resume or link.rank > 0 or run.task.draw then
    return
  end
  local train = run.task.units.train
  local share = unheard.share(run.sampler, train:slice(1, math.min(#train, run.batch_size)))
  if not share or share < MANY then return end
  tell("ladies.train: %.0f %% of the seeds of a mini-batch hear no features, as no neighbour on "
    .. "their way was drawn (self-nodes is none, as one batch holds all training nodes): "
    .. "--self-nodes previous (in Lua self_nodes) keeps a way and may give much more; so may "
    .. "--auto; ladies lab ladies shows what is lost", 100 * share)
end

return unheard
