--- sampling.choice by the book: every outcome of a small problem with its probability and weights.
-- Everything here is enumerated from the definitions; nothing is shared with the program.
--
-- An outcome is {pick = positions in order, w = their weights, probability =}.

local M = {}

local function sum(list)
  local total = 0
  for _, x in ipairs(list) do total = total + x end
  return total
end

local function normalized(p)
  local total, q = sum(p), {}
  for i, x in ipairs(p) do q[i] = x / total end
  return q
end

local function support(p)
  local positions = {}
  for i, x in ipairs(p) do
    if x > 0 then positions[#positions + 1] = i end
  end
  return positions
end

local function copy(list)
  return table.move(list, 1, #list, 1, {})
end

--- All ordered draws of k positions, with their probabilities. Without replacement every draw is
-- from what is left, in proportion to p.
local function sequences(p, k, replace)
  local found = {}
  local function extend(drawn, probability, left)
    if #drawn == k then
      found[#found + 1] = {drawn = copy(drawn), probability = probability}
      return
    end
    local total = sum(left)
    for u, x in ipairs(left) do
      if x > 0 then
        local rest = copy(left)
        if not replace then rest[u] = 0 end
        drawn[#drawn + 1] = u
        extend(drawn, probability * x / total, rest)
        drawn[#drawn] = nil
      end
    end
  end
  extend({}, 1, p)
  return found
end

--- Chen et al. 2023, the recursion as they give it; p sums to one. n is the size of its support or
-- more.
local function debiased(p, drawn, n)
  local w, before = {}, 0
  for i, u in ipairs(drawn) do
    local a = n / (i * (n - i + 1))
    for j = 1, i - 1 do w[j] = (1 - a) * w[j] + a end
    w[i] = a * (1 - before) / p[u]
    before = before + p[u]
  end
  return w
end

local function all_of(p)
  local pick, w = support(p), {}
  for i = 1, #pick do w[i] = 1 end
  return {{pick = pick, w = w, probability = 1}}
end

local function without_replacement(p, k, debias, n)
  if k >= #support(p) then return all_of(p) end
  local outcomes = {}
  for i, s in ipairs(sequences(p, k, false)) do
    local w = debias and debiased(p, s.drawn, n or #support(p)) or {}
    for j, u in ipairs(s.drawn) do w[j] = w[j] or 1 / (k * p[u]) end
    outcomes[i] = {pick = s.drawn, w = w, probability = s.probability}
  end
  return outcomes
end

local function with_replacement(p, k)
  local outcomes = {}
  for i, s in ipairs(sequences(p, k, true)) do
    local pick, times = {}, {}
    for _, u in ipairs(s.drawn) do
      if not times[u] then pick[#pick + 1] = u end
      times[u] = (times[u] or 0) + 1
    end
    local w = {}
    for j, u in ipairs(pick) do w[j] = times[u] / (k * p[u]) end
    outcomes[i] = {pick = pick, w = w, probability = s.probability}
  end
  return outcomes
end

--- min(1, c p) with sum k, c by bisection.
function M.inclusion(p, k)
  local low, high = 0, 1e12
  local function at(c)
    local pi = {}
    for i, x in ipairs(p) do pi[i] = math.min(1, c * x) end
    return pi
  end
  for _ = 1, 200 do
    local c = (low + high) / 2
    if sum(at(c)) < k then low = c else high = c end
  end
  return at(high)
end

local function poisson(p, k)
  if k >= #support(p) then return all_of(p) end
  local pi, outcomes = M.inclusion(p, k), {}
  for set = 0, (1 << #p) - 1 do
    local pick, w, probability = {}, {}, 1
    for u = 1, #p do
      local inside = set >> (u - 1) & 1 == 1
      probability = probability * (inside and pi[u] or 1 - pi[u])
      if inside then pick[#pick + 1], w[#w + 1] = u, 1 / pi[u] end
    end
    if probability > 0 then
      outcomes[#outcomes + 1] = {pick = pick, w = w, probability = probability}
    end
  end
  return outcomes
end

-- Makes a method from sets(pi, k) -> {{pick =, probability =}, ...}, which enumerates the draws of
-- exactly k positions with the inclusion probabilities of Poisson draws.
local function fixed_size(sets)
  return function(p, k)
    if k >= #support(p) then return all_of(p) end
    local pi, outcomes = M.inclusion(p, k), {}
    for _, s in ipairs(sets(pi, k)) do
      table.sort(s.pick)
      s.w = {}
      for i, u in ipairs(s.pick) do s.w[i] = 1 / pi[u] end
      if s.probability > 1e-12 then outcomes[#outcomes + 1] = s end
    end
    return outcomes
  end
end

-- Systematic draws follow from one number in (0, 1), which the sums of pi divide into pieces: each
-- piece draws one set.
local function systematic(pi, k)
  local points, sums, sets = {0, 1}, {[0] = 0}, {}
  for i, x in ipairs(pi) do
    sums[i] = sums[i - 1] + x
    points[#points + 1] = sums[i] % 1
  end
  table.sort(points)
  for j = 2, #points do
    local u, pick = (points[j - 1] + points[j]) / 2, {}
    for m = 0, k - 1 do
      for i = 1, #pi do
        if sums[i - 1] < u + m and u + m <= sums[i] then pick[#pick + 1] = i end
      end
    end
    sets[#sets + 1] = {pick = pick, probability = points[j] - points[j - 1]}
  end
  return sets
end

-- Pivotal draws, with both outcomes of every meeting of two positions and their probabilities.
local function pivotal(pi)
  local sets = {}
  local function go_on(i, pick, left, x, probability)
    if probability < 1e-12 then return end
    if i > #pi then
      pick = copy(pick)
      if left and x > 0.5 then pick[#pick + 1] = left end
      sets[#sets + 1] = {pick = pick, probability = probability}
    elseif pi[i] == 0 then
      go_on(i + 1, pick, left, x, probability)
    elseif not left then
      go_on(i + 1, pick, i, pi[i], probability)
    elseif x + pi[i] < 1 - 1e-9 then
      local both = x + pi[i]
      go_on(i + 1, pick, left, both, probability * x / both)
      go_on(i + 1, pick, i, both, probability * pi[i] / both)
    else
      local both, with_left, with_i = math.min(2, x + pi[i]), copy(pick), copy(pick)
      with_left[#with_left + 1], with_i[#with_i + 1] = left, i
      local share = both > 2 - 1e-9 and 0.5 or (1 - pi[i]) / (2 - both)
      go_on(i + 1, with_left, i, both - 1, probability * share)
      go_on(i + 1, with_i, left, both - 1, probability * (1 - share))
    end
  end
  go_on(1, {}, nil, 0, 1)
  return sets
end

-- Sampford's draws (1967): the probability of a set of k is in proportion to (k - the sum of pi)
-- times the product of pi / (1 - pi); positions with a pi of 1 are in each set.
local function sampford(pi, k)
  local sets, total = {}, 0
  for set = 0, (1 << #pi) - 1 do
    local pick, product, both, whole = {}, 1, 0, true
    for u, x in ipairs(pi) do
      local inside = set >> (u - 1) & 1 == 1
      whole = whole and (inside or x < 1 - 1e-9)
      if inside then
        pick[#pick + 1], both = u, both + x
        if x < 1 - 1e-9 then product = product * x / (1 - x) end
      end
    end
    if whole and #pick == k then
      sets[#sets + 1] = {pick = pick, probability = product * (k - both)}
      total = total + sets[#sets].probability
    end
  end
  for _, s in ipairs(sets) do s.probability = s.probability / total end
  return sets
end

local METHODS = {wor = without_replacement, wr = with_replacement, poisson = poisson,
  systematic = fixed_size(systematic), pivotal = fixed_size(pivotal),
  sampford = fixed_size(sampford)}

-- Draws k positions from the whole p, then adds those of `always` that are missing; the weight is
-- 1/p, and 1 where p is 0.
local function united(p, k, always)
  local outcomes = without_replacement(p, k)
  for _, o in ipairs(outcomes) do
    local inside = {}
    for _, u in ipairs(o.pick) do inside[u] = true end
    for _, u in ipairs(always) do
      if not inside[u] then o.pick[#o.pick + 1] = u end
    end
    for i, u in ipairs(o.pick) do o.w[i] = p[u] > 0 and 1 / p[u] or 1 end
  end
  return outcomes
end

--- Every outcome of choice(p, k, opts); p is a Lua table, opts.always too. With opts.bound debiased
-- weights take it for the size of the support.
function M.outcomes(p, k, opts)
  local always = opts.always or {}
  if opts.union == "post" then return united(normalized(p), k, always) end
  local others = copy(p)
  for _, u in ipairs(always) do others[u] = 0 end
  local outcomes = {{pick = {}, w = {}, probability = 1}}
  if k > 0 and #support(others) > 0 then
    outcomes = METHODS[opts.draw or "wor"](normalized(others), k, opts.debias, opts.bound)
  end
  for _, o in ipairs(outcomes) do
    for i = #always, 1, -1 do
      table.insert(o.pick, 1, always[i])
      table.insert(o.w, 1, 1)
    end
  end
  return outcomes
end

--- The exact mean of sum(w * f[pick]).
function M.mean(outcomes, f)
  local total = 0
  for _, o in ipairs(outcomes) do
    for i, u in ipairs(o.pick) do total = total + o.probability * o.w[i] * f[u] end
  end
  return total
end

--- The exact probability of each of n positions to be in an outcome.
function M.inclusions(outcomes, n)
  local inside = {}
  for u = 1, n do inside[u] = 0 end
  for _, o in ipairs(outcomes) do
    for _, u in ipairs(o.pick) do inside[u] = inside[u] + o.probability end
  end
  return inside
end

--- The exact probability of each pair of n positions to be in an outcome together.
function M.pairs(outcomes, n)
  local both = {}
  for u = 1, n do
    both[u] = {}
    for v = 1, n do both[u][v] = 0 end
  end
  for _, o in ipairs(outcomes) do
    for _, u in ipairs(o.pick) do
      for _, v in ipairs(o.pick) do both[u][v] = both[u][v] + o.probability end
    end
  end
  return both
end

return M
