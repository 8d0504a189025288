--- Computes the probabilities with which the rules of sampling.choice draw two positions together,
-- from which the variance of an estimate can be computed and estimated.

local core = require "ladies_core"
local check_p = require("ladies.sampling.poisson").check
local options = require "ladies.base.options"

local inclusion = {}

-- Returns min(1, c p) with the c for which they sum to k, as Lua numbers; where no more than k are
-- positive, 1 for these. When the largest t are 1, c is (k - t) / (the sum of the others).
local function first_order(p, k)
  local order, pi, rest = {}, {}, 0
  for i, x in ipairs(p) do
    order[i], pi[i] = i, 0
    rest = rest + x
  end
  table.sort(order, function(i, j) return p[i] > p[j] end)
  for t, i in ipairs(order) do
    local left = k - t + 1
    if p[i] == 0 then break end
    if left <= 0 or left * p[i] < rest then
      for j = t, #order do pi[order[j]] = left > 0 and left * p[order[j]] / rest or 0 end
      break
    end
    pi[i], rest = 1, rest - p[i]
  end
  return pi
end

-- Each function of pi below returns a function of i < j, the probability that both are drawn; 0 <
-- pi[i] < 1.

local function poisson(pi)
  return function(i, j) return pi[i] * pi[j] end
end

-- Position i is drawn where u falls on the arc from `from[i]` on, of length pi[i], of a circle of
-- circumference 1: both are where two arcs meet.
local function systematic(pi)
  local from, sum = {}, 0
  for i, x in ipairs(pi) do
    from[i] = sum
    sum = (sum + x) % 1
  end
  return function(i, j)
    local shift, both = (from[j] - from[i]) % 1, 0
    for turn = -1, 0 do
      local start = shift + turn
      both = both + math.max(0, math.min(pi[i], start + pi[j]) - math.max(0, start))
    end
    return both
  end
end

-- What is left of the positions before j has the probability left[j]. Given that, j goes its way
-- whatever came before, so if i is in already, j follows with pi[j]. If i is the one that is left,
-- both are in with probability left[j] + pi[j] - 1, if that is positive: one of them at once, and
-- the other later with what it was left.
local function pivotal(pi)
  local left = {}
  for i, x in ipairs(pi) do
    local sum = (left[i] or 0) + x
    left[i], left[i + 1] = left[i] or 0, sum < 1 and sum or sum - 1
  end
  local of, is_in, is_left, reached
  return function(i, j)
    if of ~= i or reached > j then
      local sum = left[i] + pi[i]
      of, reached = i, i + 1
      if sum < 1 then
        is_in, is_left = 0, pi[i] / sum
      else
        is_in, is_left = (1 - left[i]) / (2 - sum), (1 - pi[i]) / (2 - sum)
      end
    end
    while reached < j do
      local t = reached
      local sum = left[t] + pi[t]
      if sum < 1 then
        is_left = is_left * left[t] / sum
      else
        is_in = is_in + is_left * (1 - pi[t]) / (2 - sum)
        is_left = is_left * (1 - left[t]) / (2 - sum)
      end
      reached = t + 1
    end
    return is_in * pi[j] + is_left * math.max(0, left[j] + pi[j] - 1)
  end
end

-- A polynomial is the sum of (a[t] + b[t] e) z^t up to z^k, where e^2 = 0. In the product over all
-- positions of 1 - pi + pi (1 + (1 - pi) e) z, b[k] is what all sets of k together weigh by
-- Sampford's rule, times the product of 1 - pi over all positions.
local function times(f, x, k)
  local a, b = {}, {}
  for t = 0, k do
    local before, of = f.a[t - 1] or 0, f.b[t - 1] or 0
    a[t] = (1 - x) * f.a[t] + x * before
    b[t] = (1 - x) * f.b[t] + x * (of + (1 - x) * before)
  end
  return {a = a, b = b}
end

-- Returns the coefficients a and b of z^t in the product of f and g.
local function coefficients(f, g, t)
  local a, b = 0, 0
  for s = 0, t do
    a = a + f.a[s] * g.a[t - s]
    b = b + f.a[s] * g.b[t - s] + f.b[s] * g.a[t - s]
  end
  return a, b
end

local function sampford(pi, k)
  local n, one = #pi, {a = {}, b = {}}
  for t = 0, k do one.a[t], one.b[t] = t == 0 and 1 or 0, 0 end
  local behind = {[n + 1] = one}                     -- products over the positions from i on
  for i = n, 1, -1 do behind[i] = times(behind[i + 1], pi[i], k) end
  local total = behind[1].b[k]
  -- Products over the positions before i, and over those before j without i.
  local of, before, before_i = nil, one, one
  return function(i, j)
    if of ~= i then
      before_i = one
      for t = 1, i - 1 do before_i = times(before_i, pi[t], k) end
      of, before = i, {[i + 1] = before_i}
      for t = i + 1, n - 1 do before[t + 1] = times(before[t], pi[t], k) end
    end
    if k < 2 then return 0 end
    local a, b = coefficients(before[j], behind[j + 1], k - 2)
    return pi[i] * pi[j] * (b + (2 - pi[i] - pi[j]) * a) / total
  end
end

local RULES = {poisson = poisson, systematic = systematic, pivotal = pivotal, sampford = sampford}

--- sampling.joint_probabilities(p: Tensor, k: integer, {draw = string}) -> Tensor: the exact
-- probability with which choice(p, k, {draw =}) draws positions i and j together, n x n, for draw
-- "poisson", "systematic", "pivotal" or "sampford"; on the diagonal those of each position, which
-- are sampling.poisson_probabilities. With them the variance of an estimated sum of f is the sum
-- over i and j of (pi_ij - pi_i pi_j) f_i f_j / (pi_i pi_j), which Horvitz and Thompson (1952)
-- estimate from a draw as the sum over its pairs of these terms divided by pi_ij. Costs n^2, for
-- sampford n^2 k; for wor and wr they are not known.
function inclusion.joint_probabilities(p, k, given)
  local where = "sampling.joint_probabilities"
  check_p(where, p)
  options.value(where, "k", k, "positive integer")
  local opts = options.check(where, given, {draw = "poisson|systematic|pivotal|sampford"})
  local n, pi = #p, first_order(p:to_table(), k)
  local open, chances, certain = {}, {}, 0           -- the positions that may be drawn or not
  for i, x in ipairs(pi) do
    if x > 0 and x < 1 then open[#open + 1], chances[#chances + 1] = i, x end
    if x == 1 then certain = certain + 1 end
  end
  local both = RULES[opts.draw](chances, k - certain)
  local rows = {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, n do rows[i][j] = i == j and pi[i] or pi[i] * pi[j] end
  end
  for a = 1, #open do
    for b = a + 1, #open do
      local i, j, x = open[a], open[b], both(a, b)
      rows[i][j], rows[j][i] = x, x
    end
  end
  return core.tensor(rows)
end

return inclusion
