--- How many seeds of mini-batches hear no features. A sampled row none of whose neighbours was
-- drawn is empty; where many are, a seed may be left without any way down to the features, and
-- learns nothing from its batch.

local core = require "ladies_core"
local link = require "ladies.ranks.link"
local methods = require "ladies.experiment.methods"
local settings = require "ladies.experiment.settings"
local tell = require "ladies.base.tell"

local BATCHES = 4      -- that are drawn
local MANY = 0.25      -- of the seeds: they are told

local unheard = {}

--- unheard.share(sampler, seeds): the mean share of the seeds that no sampled path joins to the
-- features, in a few mini-batches of their own; nil for samplers whose mini-batches are not made of
-- layers of the seeds alone, or that learn from the step before.
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

-- Whether the data set has decided that layers have no self nodes, and nothing that was said.
local function is_decided_by_data(config, own)
  local method = methods.by_name[config.method]
  return config.self_nodes == "none" and own.self_nodes == nil and config.preset == "default"
    and settings.takes(method, "self_nodes") and (method.defaults or {}).self_nodes == nil
end

--- Tells in a line where many seeds hear nothing since `self_nodes` was left to follow from the
-- data. config: the resolved settings; own: those that were given; run: the options of ladies.train
-- for them.
function unheard.tell(config, own, run)
  if not is_decided_by_data(config, own) or run.resume or link.rank > 0 then return end
  local train = run.data.train
  local share = unheard.share(run.sampler, train:slice(1, math.min(#train, run.batch_size)))
  if not share or share < MANY then return end
  tell("ladies.train: %.0f %% of the seeds of a mini-batch hear no features, as no neighbour on "
    .. "their way was drawn (self-nodes is none, as one batch holds all training nodes): "
    .. "--self-nodes previous (in Lua self_nodes) keeps a way and may give much more; so may "
    .. "--auto; ladies lab ladies shows what is lost", 100 * share)
end

return unheard
