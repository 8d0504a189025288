--- Draws positions of a vector independently (Poisson sampling): each position is selected or not,
-- whatever the others are. (sampling.choice, in C, draws a given number of positions.)

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local sampling = core.sampling
local poisson = {}

-- Returns the mu for which the min(1, p[i] / mu) sum to k; where no more than k of the p are
-- positive, the least of these.
local function threshold(p, k)
  local positive = p:above(0)
  if positive:sum():item() <= k then return (p + (1 - positive) * p:max()):min() end
  local certain = core.zeros(#p)
  local before, mu
  repeat
    before = certain
    mu = (p * (1 - before)):sum():item() / (k - before:sum():item())
    certain = (before + p:above(mu)):above(0)             -- never fewer: mu only falls
  until certain == before
  return mu
end

--- Fails, with a message that begins with `where`, unless p can be drawn from: a constant vector of
-- finite numbers, none below 0 and some above it.
function poisson.check(where, p)
  options.value(where, "p", p, "Tensor")
  core.check_constant(where, p)
  if p.ndim ~= 1 or #p == 0 or not (p:min() >= 0 and p:max() > 0) or not p:is_finite() then
    errors.fail(("%s: p must be a vector of finite numbers of 0 or more, some of them positive, "
      .. "got %s"):format(where, p))
  end
end

--- sampling.poisson_probabilities(p: Tensor, k: integer) -> Tensor: returns the probability with
-- which choice(p, k, {draw = "poisson"}) selects each position of a vector p: min(1, p[i] / mu),
-- which sum to k; where no more than k are positive, 1 for these.
function poisson.probabilities(p, k)
  local where = "sampling.poisson_probabilities"
  poisson.check(where, p)
  options.value(where, "k", k, "positive integer")
  return (p / threshold(p, k)):clamp(0, 1)
end

--- sampling.poisson(p: Tensor, k: integer, {rng =}) -> pick, w: draws as choice(p, k, {draw =
-- "poisson"}) does, but selects at least one position: a draw that selects none is repeated, and
-- the weights are multiplied by the probability that a draw selects some, so that they stay
-- unbiased. k is 1 or more.
function poisson.draw(p, k, given)
  options.value("sampling.poisson", "k", k, "positive integer")
  local opts = options.check("sampling.poisson", given, {rng = "Rng"})
  local how = {draw = "poisson", rng = opts.rng}
  local pick, w = sampling.choice(p, k, how)
  local none = (1 - poisson.probabilities(p, k)):log():sum():exp():item()
  while #pick == 0 do pick, w = sampling.choice(p, k, how) end
  return pick, w * (1 - none)
end

return poisson
