--- An optimizer whose moments are in parts: each rank has those of its part of the parameters. It
-- alone gets the gradients of that part, changes it in a step, and gives it to all. That sends as
-- much as a step of optimizers that are whole everywhere, and makes the same additions; the norm by
-- which gradients are clipped is of sums of chunks, which parts do not cut (src/core/optim).

local gradients = require "ladies.ranks.gradients"
local link = require "ladies.ranks.link"
local packed = require "ladies.ranks.packed"

local Divided = {__name = "ladies.Divided"}
Divided.__index = Divided

local MOMENTS = {"moment1", "moment2"}

--- The parts of an optimizer that is the same at all ranks, and then no longer whole.
function Divided.new(optimizer)
  local parts = {}
  for i = 1, link.size do parts[i] = {optimizer:part(i, link.size)} end
  local divided = setmetatable({optimizer = optimizer, parts = parts}, Divided)
  divided:divide()
  return divided
end

--- Lets this rank keep its part alone.
function Divided:divide()
  self.optimizer:keep(link.rank + 1, link.size)
end

-- Brings a moment, of which this rank has the vector `own`, to the ranks 0 .. last; `whole` is room
-- for it at these.
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

--- Makes the optimizer of rank 0 whole, or with `everywhere` those of all.
function Divided:collect(everywhere)
  local last, own = everywhere and link.size - 1 or 0, self.optimizer:state()
  if link.rank <= last then self.optimizer:keep(1, 1) end
  local whole = self.optimizer:state()
  for _, name in ipairs(MOMENTS) do
    if own[name] then collect(own[name], whole[name], self.parts, last) end
  end
end

--- Gives the optimizer the mean of the gradients of a step, as gradients.share does, in its part.
function Divided:share(leaves, has)
  gradients.share_part(self.optimizer, leaves, has, self.parts)
end

-- The square of the norm of all gradients.
function Divided:square()
  local square = 0
  for _, text in ipairs(link.gather("gradients", packed.text(self.optimizer:squares()))) do
    for _, sum in ipairs(packed.value(text)) do square = square + sum end
  end
  return square
end

--- A step of all ranks, as optimizer:step makes it; every rank then has all parameters.
function Divided:step(given)
  local clip = given and given.clip
  local norm = self.optimizer:step(clip and {clip = clip, square = self:square()})
  gradients.gather(self.optimizer:values(), self.parts)
  return norm
end

return Divided
