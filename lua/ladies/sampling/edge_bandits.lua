--- Learns probabilities for the entries of a matrix P by bandits: each row is a player of EXP3
-- (Auer, Cesa-Bianchi, Freund and Schapire, SIAM Journal on Computing 2002), whose arms are the
-- row's entries, for each layer of a network anew. A player has a weight w > 0 for each arm, 1 at
-- first, and draws with
--     q(v,u)  =  (1 - eta) w(v,u) / sum of w(v,:) + eta / d(v)        d(v): entries of row v
-- An arm that paid r gets the weight w exp(r). The logarithms of w are stored, which do not
-- overflow.

local core = require "ladies_core"

local edge_bandits = {}

local EdgeBandits = {__name = "EdgeBandits"}
EdgeBandits.__index = EdgeBandits

--- edge_bandits.new(P, layers, eta): makes the players for so many layers. Their field `state` has
-- the weights for checkpoints, one float for each layer and entry of P.
function edge_bandits.new(P, layers, eta)
  local logs, state = {}, {}
  for l = 1, layers do
    logs[l] = core.zeros((P.root or P).nnz)
    state[l] = {name = ("weights.%d"):format(l), tensor = logs[l]}
  end
  return setmetatable({logs = logs, state = state, eta = eta}, EdgeBandits)
end

--- Returns the probabilities q of layer l for the entries of U, which are whole rows of P.
function EdgeBandits:probabilities(l, U)
  local share = U:edge_softmax(self.logs[l][U.edge])
  return share * (1 - self.eta) + self.eta / U:degrees()[U:row_of()]
end

--- Pays the vector r to the arms of layer l that are the entries of P at the positions `edge`.
function EdgeBandits:pay(l, edge, r)
  self.logs[l]:add_at_(edge, r)
end

return edge_bandits
