--- What a layer makes of its neighbours, or of its map, plus its own rows of an earlier
-- representation: residual connections, initial residuals, teleports.

local module = require "ladies.nn.module"
local own_places = require "ladies.nn.own_places"

--- z * factor plus the rows of h that are block.dst, as own_rows has them; factor is a number or a
-- tensor of one element. z, which nobody else may use any more, is given back as by free_after.
local function residual(z, factor, h, block)
  local places = own_places("nn.residual", block)
  if z.in_step then return z:mul_add(factor, h, places, true) end
  return module.free_after(z, z:mul_add(factor, h, places))
end

return residual
