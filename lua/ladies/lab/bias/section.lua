--- Adds up the errors of cells over draws, and tests with each draw the biases that earlier draws
-- suggest.
--
-- In draw k a cell c has an error T_c, the sum of P~ - P over its entries, and a mass M_c, the sum
-- of P. An unbiased estimate has E T_c = 0 whatever came before. So, with factors a_c that depend
-- on the draws before k alone,
--     t_k = sum over c of a_c T_c
-- has the mean 0, and t_1, t_2, ... are differences of a martingale. The factors are mean /
-- variance of T_c so far, which is large where a cell seemed clearly biased; if that was chance,
-- later draws do not confirm it. So a single test tells whether many cells are biased, each by too
-- little to be seen alone. Cells that were drawn fewer than LEAST times have the factor 0, since
-- the mean of rare, large numbers is below their expectation most of the time.

local core = require "ladies_core"

local Section = {__name = "ladies.lab.bias.Section"}
Section.__index = Section

-- The number of draws with one of its entries that a cell needs.
local LEAST = 5

-- The sums that are kept by cell: T, T^2, M, and the draws that had the cell, the same over the
-- first half of the draws, how many of its entries were drawn, and how many there were.
local SUMS = {"S", "Q", "M", "times", "SA", "QA", "MA", "timesA", "drawn", "there"}

--- Section.new(list): makes empty sums for the attributes of a list, {side = "rows", "columns",
-- "entries" or others, key =, text =, cells = how many, names = of the cells, where these are few}.
-- The cells of all attributes are numbered one after the other.
function Section.new(list)
  local self = setmetatable({list = list, firsts = {}, n = 0, series = {}}, Section)
  local attribute_of = {}
  for i, one in ipairs(list) do
    self.firsts[i], self.series[i] = self.n, {}
    self.n = self.n + one.cells
    if #list > 1 then
      for _ = 1, one.cells do attribute_of[#attribute_of + 1] = i end
    end
  end
  self.attribute_of = #list > 1 and core.index(attribute_of) or nil
  self.norms = core.ones(#list)
  for _, name in ipairs(SUMS) do self[name] = core.zeros(self.n) end
  self.draws = 0
  return self
end

-- Adds the t of a draw to the series of each attribute, from its terms a_c T_c.
local function project(self, terms)
  if not self.attribute_of then
    table.insert(self.series[1], terms:sum():item() / self.norms:get(1, 1))
    return
  end
  local sums = terms:scatter_add(self.attribute_of, #self.list) / self.norms
  for i, t in ipairs(sums:to_table()) do table.insert(self.series[i], t) end
end

--- Adds a draw: x.error, mass, drawn and there have a number for each of the cells. half: whether
-- the draw belongs to the first half.
function Section:add(x, half)
  if self.a then project(self, self.a * x.error) end
  self.S, self.Q, self.M = self.S + x.error, self.Q + x.error:square(), self.M + x.mass
  self.drawn, self.there = self.drawn + x.drawn, self.there + x.there
  self.times = self.times + 1
  if half then
    self.SA, self.MA = self.SA + x.error, self.MA + x.mass
    self.QA, self.timesA = self.QA + x.error:square(), self.timesA + 1
  end
  self.draws = self.draws + 1
end

--- Adds a draw to a section that has one attribute with many cells; the draw has the cells in
-- `ids`.
function Section:add_at(ids, x, half)
  if self.a then project(self, self.a[ids] * x.error) end
  self.S:add_at_(ids, x.error)
  self.Q:add_at_(ids, x.error:square())
  self.M:add_at_(ids, x.mass)
  self.times:add_at_(ids, 1)
  self.drawn:add_at_(ids, x.drawn)
  if half then
    self.SA:add_at_(ids, x.error)
    self.QA:add_at_(ids, x.error:square())
    self.MA:add_at_(ids, x.mass)
    self.timesA:add_at_(ids, 1)
  end
  self.draws = self.draws + 1
end

-- Returns the variance and the mean of the errors of each cell, from sums S, Q, M and times over
-- some draws. One more draw without the cell is counted, since a cell that was always drawn so far
-- may still be left out.
local function variances(sums)
  local n = sums.times:clamp(1, math.huge)
  local mean = sums.S / n
  return (sums.Q / n - mean:square()):clamp(0, math.huge) + (sums.M / n):square() / n + 1e-30, mean
end

-- Returns the sums over the first half of the draws, and those over the second.
local function halves_of(self)
  local first = {S = self.SA, Q = self.QA, M = self.MA, times = self.timesA}
  local second = {}
  for name, sum in pairs(first) do second[name] = self[name] - sum end
  return first, second
end

--- Computes the factors for later draws from all draws so far.
function Section:refresh()
  if self.draws == 0 then return end
  local variance, mean = variances(self)
  self.a = mean / variance * self.drawn:above(LEAST - 1)
  local norms = self.a:square() * variance * self.times / self.draws
  norms = self.attribute_of and norms:scatter_add(self.attribute_of, #self.list)
    or norms:sum():reshape(1)
  self.norms = norms:sqrt() + 1e-30
end

--- Resets the sums of attribute i.
function Section:clear(i)
  local others = 1 - self.attribute_of:equals(i)
  for _, name in ipairs(SUMS) do self[name] = self[name] * others end
  self.a, self.series[i] = self.a and self.a * others, {}
end

-- Returns the cells of attribute i, as Section:cells does, from sums over some draws.
local function cells_of(self, i, sums)
  local first, n = self.firsts[i], self.list[i].cells
  local function numbers(t) return t:slice(first + 1, first + n):to_table() end
  local M, S, V, drawn, there = numbers(sums.M), numbers(sums.S),
    numbers(variances(sums) * sums.times), numbers(self.drawn), numbers(self.there)
  local list = {}
  for c = 1, n do
    list[c] = {name = self.list[i].names[c], mass = M[c], drawn = drawn[c], there = there[c],
      error = M[c] > 0 and S[c] / M[c] or 0, half = M[c] > 0 and 1.96 * math.sqrt(V[c]) / M[c] or 0}
  end
  return list
end

--- Returns the cells of attribute i, which has few of them, as an array of {name =, mass =, error =
-- T over M, half = half the width of its interval, drawn =, there =}.
function Section:cells(i) return cells_of(self, i, self) end

--- Returns the cells of attribute i as the first half of the draws has them, and as the second has
-- them: what is chosen in one of them by its error has an interval in the other that is no narrower
-- than it should be.
function Section:cells_of_halves(i)
  local first, second = halves_of(self)
  return cells_of(self, i, first), cells_of(self, i, second)
end

--- Returns three arrays with an element for each attribute: the mean square of the relative errors
-- of its cells, weighted by their mass and computed from products of the two halves of the draws,
-- so that noise adds nothing on average; two standard deviations of that sum under noise alone; and
-- by how many of its standard deviations the same sum is above 0 if the factor that all cells have
-- in common is left out.
function Section:explained()
  local A, B = halves_of(self)
  local known = self.drawn:above(2 * LEAST - 1) * A.M:above(0) * B.M:above(0)
  local a, b = A.S / (A.M + 1 - A.M:above(0)), B.S / (B.M + 1 - B.M:above(0))
  -- The standard deviation of a * b * M where the cell has no error but noise.
  local noise = variances(self) * (A.times * B.times):sqrt() * self.M * known
    / (A.M * B.M + 1 - known)
  local means, margins, apart = {}, {}, {}
  for i, one in ipairs(self.list) do
    local function own(t) return t:slice(self.firsts[i] + 1, self.firsts[i] + one.cells) end
    local total = own(self.M):sum():item()
    if total > 0 then
      local weight, x, y = own(self.M * known), own(a), own(b)
      local terms = x * y * weight
      local all_x = own(A.S):sum():item() / math.max(own(A.M):sum():item(), 1e-30)
      local all_y = own(B.S):sum():item() / math.max(own(B.M):sum():item(), 1e-30)
      means[i] = terms:sum():item() / total
      margins[i] = one.cells > 64 and 2 * terms:norm() / total or 0
      apart[i] = ((x - all_x) * (y - all_y) * weight):sum():item()
        / math.max(own(noise):norm(), 1e-30)
    else
      means[i], margins[i], apart[i] = 0, 0, 0
    end
  end
  return means, margins, apart
end

return Section
