--- Divides an optimizer's moments among the ranks to save memory: each rank keeps those of its part
-- of the parameters. In a step it gets the mean gradient of that part alone, updates the part, and
-- sends it to all other ranks. A step sends as many bytes as with a whole optimizer at every rank,
-- and makes the same additions; the gradients' norm, for clipping, is added up from chunks of which
-- each lies within one part (src/core/optim).

local gradients = require "ladies.ranks.gradients"
local link = require "ladies.ranks.link"
local shares = require "ladies.ranks.shares"

local Divided = {__name = "ladies.Divided"}
Divided.__index = Divided

local MOMENTS = {"moment1", "moment2"}

--- Divides an optimizer that is the same at all ranks; each rank's then keeps only the moments of
-- its part.
function Divided.new(optimizer)
  local parts = {}
  for i = 1, link.size do parts[i] = {optimizer:part(i, link.size)} end
  local divided = setmetatable({optimizer = optimizer, parts = parts}, Divided)
  divided:divide()
  return divided
end

--- Drops the moments of all parts but this rank's.
function Divided:divide()
  self.optimizer:keep(link.rank + 1, link.size)
end

-- Copies all parts of a moment to the ranks 0 .. last. `own` is this rank's part, and `whole` the
-- vector that takes all parts at a rank that gets them.
local function collect(own, whole, parts, last)
  local sends, receives = {}, {}
  for rank, part in ipairs(parts) do
    rank = rank - 1
    if rank ~= link.rank and rank <= last and #own > 0 then sends[#sends + 1] = {rank, own} end
    if rank ~= link.rank and link.rank <= last and part[1] <= part[2] then
      receives[#receives + 1] = {rank, whole:slice(part[1], part[2])}
    end
  end
  link.exchange("agreement", sends, receives)
end

--- Makes the optimizer of rank 0 whole again, for a checkpoint, or with `everywhere` those of all
-- ranks.
function Divided:collect(everywhere)
  local last, own = everywhere and link.size - 1 or 0, self.optimizer:state()
  if link.rank <= last then self.optimizer:keep(1, 1) end
  local whole = self.optimizer:state()
  for _, name in ipairs(MOMENTS) do
    if own[name] then collect(own[name], whole[name], self.parts, last) end
  end
end

--- Gives the optimizer the mean gradient of a step, for this rank's part of the parameters only
-- (see gradients.share).
function Divided:share(leaves, has)
  gradients.share_part(self.optimizer, leaves, has, self.parts)
end

-- Returns the square of the norm of the gradient of all parameters.
function Divided:square()
  local square = 0
  for _, sums in ipairs(shares.gather("gradients", self.optimizer:squares())) do
    for _, sum in ipairs(sums) do square = square + sum end
  end
  return square
end

--- Makes a step of the optimizer at all ranks, after which every rank has all new parameters.
function Divided:step(given)
  local clip = given and given.clip or 0
  local norm = self.optimizer:step(clip ~= 0 and {clip = clip, square = self:square()} or nil)
  gradients.gather(self.optimizer:padded_values(), self.parts)
  return norm
end

return Divided
