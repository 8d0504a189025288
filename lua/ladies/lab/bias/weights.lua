--- Compares a sampler's weights with how often entries are drawn, to find out why an estimate is
-- biased.
--
-- For some sets of seeds S, and many draws of each, every entry e of P(S,:) has a frequency f_e,
-- the share of draws whose block of the last layer has it, and in these a weight w_e = P~_e / P_e.
-- The block is an unbiased estimate, whatever is propagated, when f_e times the mean of w_e is 1
-- for every entry (Horvitz and Thompson, JASA 1952). Two entries of a row that are drawn together
-- have weights in the proportion of their inverse frequencies then, and dividing the row by its sum
-- leaves that proportion as it is. So, between the entries of a row of a draw,
--     log w_e  =  constant - b log f_e        b = 1
-- where b is 0 for entries that are not weighted at all, -1 for weights that are upside down. f_e
-- is known from draws alone, and an error in it would flatten the line; so the draws have two
-- halves, and b is -cov(log f of one, log w) / cov(log f of one, log f of the other), the
-- instrumental variable estimate. The means of f_e w_e are of entries that one half chose, in the
-- other.

local core = require "ladies_core"
local sampling = require "ladies.sampling"
local statistics = require "ladies.statistics"

local weights = {}

-- The number of sets of seeds; and the number of draws in either half that an entry needs to be
-- used for b.
local GROUPS, LEAST = 8, 8

-- Returns the matrix of which a block is a slice if that is P or has the content of P; nil for
-- other blocks. same: the last such matrix, which need not be compared again.
local function slice_of(block, P, same)
  local root = block.adj.root
  if root == nil or block.control then return nil end
  return (rawequal(root, same) or root:hash() == P:hash()) and root or nil
end

-- Makes draws for a set of seeds S: an array of {place = of the entries among those of P(S,:), row
-- =, weight =}, with the values of P(S,:) as its field `values`; nil where the blocks are no slices
-- of these rows, as with a sampler that draws its own seeds.
local function draws_of(run, group, draws, is_normalized)
  local U = run.known.P:slice(run.context:seeds(group))
  local values = (is_normalized and U:row_normalize() or U):entry_values()
  local list, root = {values = values}, nil
  for i = 1, draws do
    local batch = run.context:draw(run.sampler, group, i)
    local block = batch.blocks[#batch.blocks]
    root = slice_of(block, run.known.P, root)
    if not root then return nil end
    local place = sampling.find(U.edge, block.adj.edge)
    if #place < block.adj.nnz then return nil end
    list[i] = {place = place, row = block.adj:row_of(), n_rows = block.adj.n_rows,
      weight = block.adj:entry_values() / values[place]}
  end
  return list
end

-- Counts how often each entry came in the draws first .. last.
local function counts_of(draws, first, last)
  local counts = core.zeros(#draws.values)
  for i = first, last do counts:add_at_(draws[i].place, 1) end
  return counts
end

-- Returns x minus its mean over the masked entries of its row; 0 for entries that are not in the
-- mask.
local function centred(x, mask, row, n_rows)
  local sums, n = (x * mask):scatter_add(row, n_rows), mask:scatter_add(row, n_rows)
  return (x - (sums / n:clamp(1, math.huge))[row]) * mask
end

-- Returns the exponent b (see above); nil where frequencies hardly vary within rows.
local function exponent(draws, a, b)
  local known = a:above(LEAST - 1) * b:above(LEAST - 1)
  local log_a, log_b = a:clamp(1, math.huge):log(), b:clamp(1, math.huge):log()
  local ab, aw, n = 0, 0, 0
  for _, draw in ipairs(draws) do
    local mask = known[draw.place] * draw.weight:above(0)
    local x = centred(log_a[draw.place], mask, draw.row, draw.n_rows)
    local y = centred(log_b[draw.place], mask, draw.row, draw.n_rows)
    local weight = centred(draw.weight:clamp(1e-30, math.huge):log(), mask, draw.row, draw.n_rows)
    ab, aw = ab + (x * y):sum():item(), aw + (x * weight):sum():item()
    n = n + mask:sum():item()
  end
  return ab > 0.01 * n and -aw / ab or nil
end

-- Returns the mean of f_e w_e in the second half over the entries in the mask, weighted by P_e^2 as
-- they are in the error; nil without entries.
local function product(draws, mask, half)
  local sums, count = core.zeros(#mask), #draws - half
  for i = half + 1, #draws do sums:add_at_(draws[i].place, draws[i].weight) end
  local weight = mask * draws.values:square()
  local total = weight:sum():item()
  return total > 0 and (sums * weight):sum():item() / count / total or nil
end

local function add(columns, key, value)
  if value then
    columns[key] = columns[key] or {}
    table.insert(columns[key], value)
  end
end

--- weights.examine(run, first, draws, is_normalized): compares the weights of the last layer with
-- the frequencies: {exponent = b, often =, rarely = f w of the entries that at least half of the
-- draws have, and of those that less than a fifth have}, each an interval of ladies.statistics over
-- sets of seeds, or nil where there are no such entries, or none whose frequencies differ within
-- their rows. The result is nil where the blocks are no slices of the seeds' rows of P, or only a
-- part of an estimate. first: the first group; draws: of each; is_normalized: whether the sampler
-- divides rows by their sums, so that P_e is that of P with such rows.
function weights.examine(run, first, draws, is_normalized)
  local columns, half = {}, draws // 2
  for group = first, first + GROUPS - 1 do
    local list = draws_of(run, group, draws, is_normalized)
    if not list then return nil end
    local a, b = counts_of(list, 1, half), counts_of(list, half + 1, draws)
    local often = a:above(half / 2)
    add(columns, "exponent", exponent(list, a, b))
    add(columns, "often", product(list, often, half))
    add(columns, "rarely", product(list, a:above(0) * (1 - a:above(half / 5)), half))
  end
  local found = {}
  for key, list in pairs(columns) do
    if #list > 1 then found[key] = statistics.interval(list) end
  end
  return found
end

return weights
