--- Measures how well scores tell what is true from what is not: areas under curves, where every
-- score has a target of 1 or 0; and ranks, where each positive has candidates of its own that
-- should score less.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"

local metrics = {}

-- How many scores of candidates are compared at a time.
local CHUNK = 1 << 22

local function check_no_nan(where, what, t)
  if t.n_rows * t.n_cols > 0 then
    local largest = t:max()
    if largest ~= largest then errors.fail(("%s: %s have nan"):format(where, what)) end
  end
end

-- Returns a Tensor, detached, as a matrix; a vector becomes its only column.
local function as_matrix(where, what, t)
  options.value(where, what, t, "Tensor")
  t = t:detach()
  return t.ndim == 1 and t:reshape(#t, 1) or t
end

-- --- areas under curves -------------------------------------------------------------------------

-- Sorts a column from the largest score to the smallest and leaves out targets that are nan.
-- Returns the scores and the targets as Lua tables, and how many targets are 1 and 0.
local function by_score(where, scores, targets, column)
  local s = scores:slice_cols(column, column):reshape(scores.n_rows)
  local t = targets:slice_cols(column, column):reshape(targets.n_rows)
  local known = t:equals(t):positions()
  if #known < #t then s, t = s[known], t[known] end
  local order = (-s):argsort()
  local truth, ones = t[order]:to_table(), 0
  for _, x in ipairs(truth) do
    if x ~= 0 and x ~= 1 then
      errors.fail(("%s: a target must be 0 or 1, or nan where none is known, got %g"):format(
        where, x))
    end
    if x == 1 then ones = ones + 1 end
  end
  return s[order]:to_table(), truth, ones, #truth - ones
end

-- Returns the mean of of_column(scores, targets, ones, zeros) over the columns; it returns nil for
-- a column that does not count. If none counts, the error says what all are `lacking`.
local function over_columns(where, scores, targets, idx, of_column, lacking)
  scores = as_matrix(where, "the scores", scores)
  targets = as_matrix(where, "the targets", targets)
  options.value(where, "idx", idx, "Index or nil")
  if scores.n_rows ~= targets.n_rows or scores.n_cols ~= targets.n_cols then
    errors.fail(("%s: scores of %d x %d for targets of %d x %d"):format(where, scores.n_rows,
      scores.n_cols, targets.n_rows, targets.n_cols))
  end
  if idx then scores, targets = scores[idx], targets[idx] end
  check_no_nan(where, "the scores", scores)
  local sum, n = 0, 0
  for column = 1, scores.n_cols do
    local value = of_column(by_score(where, scores, targets, column))
    if value then sum, n = sum + value, n + 1 end
  end
  if n == 0 then
    errors.fail(("%s: %s targets with %s"):format(where, scores.n_cols == 1 and "there are no"
      or "no column has", lacking))
  end
  return sum / n
end

-- Calls f(ones, zeros) for each group of equal scores, from the largest on.
local function each_tie(scores, targets, f)
  local first, n = 1, #scores
  while first <= n do
    local last, ones = first, targets[first]
    while last < n and scores[last + 1] == scores[first] do
      last = last + 1
      ones = ones + targets[last]
    end
    f(ones, last - first + 1 - ones)
    first = last + 1
  end
end

--- metrics.roc_auc(scores: Tensor, targets: Tensor [, idx]) -> number: the area under the ROC
-- curve, the share of the pairs of a target of 1 and one of 0 in which the former scores more, ties
-- counting one half (scikit-learn's roc_auc_score). Scores and targets are vectors, or matrices of
-- equal shape: then it is the mean over the columns that have targets of both kinds, as OGB's
-- evaluators have it. Targets of nan are not known and do not count.
function metrics.roc_auc(scores, targets, idx)
  return over_columns("ladies.metrics.roc_auc", scores, targets, idx, function(s, t, ones, zeros)
    if ones == 0 or zeros == 0 then return nil end
    local above, wins = 0, 0
    each_tie(s, t, function(p, q)
      wins = wins + q * (above + p / 2)
      above = above + p
    end)
    return wins / (ones * zeros)
  end, "both 1 and 0")
end

--- metrics.average_precision(scores: Tensor, targets: Tensor [, idx]) -> number: the sum over the
-- distinct scores, from the largest on, of the precision of all that score at least as much times
-- what the recall grows by (scikit-learn's average_precision_score; no interpolation). Shapes and
-- nan as for metrics.roc_auc; a column counts where it has a target of 1.
function metrics.average_precision(scores, targets, idx)
  local where = "ladies.metrics.average_precision"
  return over_columns(where, scores, targets, idx, function(s, t, ones)
    if ones == 0 then return nil end
    local found, seen, sum = 0, 0, 0
    each_tie(s, t, function(p, q)
      found, seen = found + p, seen + p + q
      sum = sum + p * found / seen
    end)
    return sum / ones
  end, "1")
end

-- --- ranks --------------------------------------------------------------------------------------

local TIES = {ties = {"mean|optimistic|pessimistic", "mean"}}

-- Counts the elements of a sorted Lua table that are below x, with `equal` those that are not above
-- it.
local function count_below(sorted, x, equal)
  local first, last = 1, #sorted + 1
  while first < last do
    local middle = (first + last) // 2
    if sorted[middle] < x or (equal and sorted[middle] == x) then
      first = middle + 1
    else
      last = middle
    end
  end
  return first - 1
end

-- Counts for each positive the candidates that score more than it, and those that score as much:
-- two vectors.
local function beside_all(positive, negative)
  local sorted = negative[negative:above(-math.huge):positions()]
  sorted = sorted[sorted:argsort()]:to_table()
  local more, equal = positive:to_table(), {}
  for i, x in ipairs(more) do
    local below, up_to = count_below(sorted, x), count_below(sorted, x, true)
    more[i], equal[i] = #sorted - up_to, up_to - below
  end
  return core.tensor(more), core.tensor(equal)
end

local function beside_own(positive, negative)
  local n, rows = #positive, math.max(1, CHUNK // math.max(1, negative.n_cols))
  local more, equal = core.zeros(n), core.zeros(n)
  for first = 1, n, rows do
    local last = math.min(first + rows - 1, n)
    local own, others = positive:slice(first, last), negative:slice(first, last)
    own = own:reshape(#own, 1)
    more:slice(first, last):copy_(others:above(own):row_sums())
    equal:slice(first, last):copy_(others:equals(own):row_sums())
  end
  return more, equal
end

local function ranks(where, positive, negative, given)
  local opts = options.check(where, given, TIES)
  options.value(where, "the positives' scores", positive, "Tensor")
  options.value(where, "the candidates' scores", negative, "Tensor")
  positive, negative = positive:detach(), negative:detach()
  positive = positive:reshape(positive.n_rows * positive.n_cols)
  if #positive == 0 then errors.fail(where .. ": there are no positives") end
  local finite, value = positive:is_finite()
  if not finite then
    errors.fail(("%s: the positives' scores have %s"):format(where, not_finite(value)))
  end
  check_no_nan(where, "the candidates' scores", negative)
  if negative.ndim == 2 and negative.n_rows ~= #positive then
    errors.fail(("%s: candidates of %d rows for %d positives"):format(where, negative.n_rows,
      #positive))
  end
  local more, equal = (negative.ndim == 1 and beside_all or beside_own)(positive, negative)
  local share = opts.ties == "mean" and 1 / 2 or opts.ties == "pessimistic" and 1 or 0
  return more + equal * share + 1
end

--- metrics.ranks(positive: Tensor, negative: Tensor [, {ties = "mean" | "optimistic" |
-- "pessimistic"}]) -> Tensor: the rank of each positive among its candidates by their scores, from
-- 1. `negative` has a row of candidates for each positive, or is a vector that all have in common;
-- one of -inf is left out, which is how known edges are filtered. Among equal scores the rank is
-- the mean of the best and the worst place (by default), the best ("optimistic") or the worst
-- ("pessimistic").
function metrics.ranks(positive, negative, given)
  local where = "ladies.metrics.ranks"
  core.check_constant(where, positive)
  core.check_constant(where, negative)
  return ranks(where, positive, negative, given)
end

--- metrics.mrr(positive: Tensor, negative: Tensor [, {ties = "mean"}]) -> number: the mean of 1 /
-- rank over the positives, with metrics.ranks. OGB's evaluators of ogbl-citation2 and ogbl-wikikg2
-- and the usual one of WN18RR and FB15k-237 count so; it is the filtered one where the scores of
-- true edges among the candidates are -inf, and the raw one where they are left as they are.
function metrics.mrr(positive, negative, given)
  local sum, all = 0, ranks("ladies.metrics.mrr", positive, negative, given):to_table()
  for _, rank in ipairs(all) do sum = sum + 1 / rank end
  return sum / #all
end

--- metrics.hits(positive: Tensor, negative: Tensor, k: integer [, {ties = "mean"}]) -> number:
-- Hits@k, the share of the positives whose rank is at most k, with metrics.ranks. OGB's evaluators
-- of ogbl-ppa, ogbl-collab and ogbl-ddi, where a positive must score more than the k-th of all
-- candidates, count with ties = "pessimistic".
function metrics.hits(positive, negative, k, given)
  local where = "ladies.metrics.hits"
  options.value(where, "k", k, "positive integer")
  local all = ranks(where, positive, negative, given)
  return #all:below(k + 0.25):positions() / #all
end

return metrics
