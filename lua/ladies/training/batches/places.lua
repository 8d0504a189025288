--- Gives each mini-batch of a step its own part of the training nodes, from which it takes its
-- seeds, in runs with seeds_from = "parts"; its place is its number within the step. The parts are
-- a function of the data set, the number of places and the seed, and of nothing that depends on the
-- number of ranks.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local numbered_batches = require "ladies.training.batches.numbered"
local parts = require "ladies.data.parts"
local tables = require "ladies.base.tables"

local places = {}

-- Fails for a run whose mini-batches cannot take their seeds from parts.
local function check(opts)
  local unit, why = opts.task and opts.task.unit or "node", nil
  if (opts.accumulate or 1) == 1 then
    why = "each mini-batch of a step has one, and a step has one mini-batch: add --accumulate S "
      .. "(accumulate in a script)"
  elseif unit ~= "node" then
    why = ("they are parts of the nodes, and the task %s is of %ss"):format(opts.task.name, unit)
  elseif numbered_batches.own_batches(opts.sampler) then
    why = numbered_batches.name_of(opts.sampler) .. " draws its own seeds"
  end
  if why then errors.fail("ladies.train: seeds_from = parts: " .. why) end
end

--- places.of(opts) -> Index[] | nil: the seeds of each place, for these options of ladies.train;
-- nil where all places draw from all training nodes.
function places.of(opts)
  if opts.seeds_from ~= "parts" then return nil end
  check(opts)
  local train = opts.task and opts.task.units.train or opts.data.train
  return errors.within("ladies.train: seeds_from = parts", nil, parts.seeds, opts.data,
    opts.accumulate, {seed = opts.seed, nodes = train})
end

--- Returns a hash of the parts, which METIS may make otherwise on another machine.
function places.hash(list)
  return core.hash(table.concat(tables.map(list, function(part) return part:hash() end)))
end

return places
