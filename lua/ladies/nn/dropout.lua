--- Dropout (Srivastava et al., JMLR 2014): in training each element is zeroed with probability p
-- and the others are divided by 1 - p.

local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local Dropout = module.class("Dropout", "p:number")

--- nn.dropout{p =} -> Dropout: 0 <= p < 1.
function Dropout.new(given)
  return setmetatable(options.check("ladies.nn.dropout", given, {p = "number in [0, 1)"}), Dropout)
end

--- dropout:forward(x: Tensor | Matrix [, rng]) -> Tensor | Matrix: returns x, a Tensor or a Matrix,
-- with elements or entries dropped at random by `rng`. Without an rng there is nothing to draw
-- with, and x comes back as it is: that is evaluation.
function Dropout:forward(x, rng)
  if not rng or self.p == 0 then return x end
  options.value("ladies.nn.dropout", "x", x, "Tensor or Matrix")
  return x:dropout(self.p, rng)
end

function Dropout:__tostring()
  return ("Dropout %g"):format(self.p)
end

return Dropout
