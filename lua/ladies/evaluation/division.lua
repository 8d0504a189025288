--- Decides whether ranks compute exact inference together, or whether each computes all of it alone
-- since sending takes longer; and remembers for each model what was decided. The logits are the
-- same.
--
-- The times of inferences together decide it. After each layer the ranks tell each other how long
-- they have computed and how long they have waited. The sum of all computing is what one rank alone
-- would compute; if one could do all layers sooner than the ranks together do the remaining ones,
-- each begins anew alone. The wait of the rank that waited least is the time of sending: the others
-- also waited for a late rank, which may have been late by accident.

local core = require "ladies_core"
local link = require "ladies.ranks.link"
local shares = require "ladies.ranks.shares"
local tell = require "ladies.base.tell"

local division = {}

local SURELY = 1.2      -- times as long is longer beyond what varies from one time to the next
local LEAST = 0.2       -- seconds that are measured, so that a moment does not decide

local by_model = setmetatable({}, {__mode = "k"})

--- division.of(model) -> table: what is known of a model, the same at all ranks: `alone`, true
-- once each rank was found to be faster alone; `together` and `computed`, the seconds that were
-- measured for that; `not_by_rows`, true where the layers were found to need other rows than their
-- own.
function division.of(model)
  by_model[model] = by_model[model] or {together = 0, computed = 0}
  return by_model[model]
end

-- Returns what follows from what the ranks have told each other: the seconds that they take
-- together, those that one alone would, and whether each has the memory for that.
local function gathered(own)
  local longest, sending, alone, fits = 0, math.huge, 0, true
  for _, one in ipairs(shares.gather("agreement", own)) do
    longest, sending = math.max(longest, one.computed), math.min(sending, one.waited)
    alone, fits = alone + one.computed, fits and one.fits
  end
  return longest + sending, alone, fits
end

local function tell_alone(layers, together, alone)
  tell("ladies: each rank computes exact inference alone from now on: %s took %.3g s together, and "
    .. "one rank would have computed it in %.3g s (--ranks-infer, in Lua ranks_infer, decides it)",
    layers, together, alone)
end

-- Decides after whole inferences, once so much has been measured that it is no accident, that each
-- rank computes alone. Elsewhere it is measured anew: in the first inference the ranks compute for
-- longer than in those that follow, when all memory has been used before.
local function decide(known, together, alone, fits)
  known.together, known.computed = known.together + together, known.computed + alone
  if known.together < LEAST then return end
  if fits and known.computed * SURELY < known.together then
    known.alone = true
    tell_alone("all layers", known.together, known.computed)
  end
  known.together, known.computed = 0, 0
end

--- division.watch(known, n_layers, memory) -> function(i, room, by_rows) -> boolean: begins to
-- measure an inference of so many layers, by a rank that has so much memory. The function is called
-- by all ranks after layer i, of which each has its own rows alone where that is by_rows. It tells
-- whether each shall begin anew alone, and sets `alone` of what is known of the model when that is
-- decided.
function division.watch(known, n_layers, memory)
  local began, before = core.clock(), link.waited()
  return function(i, room, by_rows)
    local waited, in_memory, in_files = link.waited() - before, core.room_use(room)
    local together, alone, fits = gathered{waited = waited,
      computed = core.clock() - began - waited,
      fits = not by_rows or in_files == 0 and in_memory * link.size <= memory}
    if i == n_layers then
      decide(known, together, alone, fits)
      return false
    end
    local left, anew = together * (n_layers - i) / i, alone * n_layers / i
    if not fits or together < LEAST or anew * SURELY >= left then return false end
    known.alone = true
    tell_alone(("%d of %d layers"):format(i, n_layers), together, alone)
    return true
  end
end

return division
