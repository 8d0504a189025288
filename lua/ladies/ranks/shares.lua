--- Divides independent work among the ranks, of which each does its share, and gives all of them
-- all results; and what each of them, or the first, has to say.

local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local link = require "ladies.ranks.link"
local packed = require "ladies.ranks.packed"
local tables = require "ladies.base.tables"

local shares = {}

-- Calls f(i) for each i in first .. last, and returns the results as an array.
local function mapped(first, last, f)
  local list = {}
  for i = first, last do list[#list + 1] = f(i) end
  return list
end

--- shares.gather(kind, value) -> table: the values of all ranks, plain data, that of rank r at
-- r + 1. All ranks call it together, for data of this kind (see ladies.ranks.link).
function shares.gather(kind, value)
  return tables.map(link.gather(kind, packed.text(value)), packed.value)
end

--- shares.map(kind, n, f) -> table: the results of f(1), ..., f(n), which are plain data that no
-- rank needs to be the one to compute. Where f fails, it fails at all ranks as one process alone
-- would.
function shares.map(kind, n, f)
  if link.size == 1 then return mapped(1, n, f) end
  local first, last = fold.share(link.rank, link.size, n)
  local ok, own = errors.try(mapped, first, last, f)
  local told = ok and {list = own} or {failure = errors.told(own)}
  local all = {}
  for _, one in ipairs(shares.gather(kind, told)) do
    if one.failure then error(one.failure, 0) end
    table.move(one.list, 1, #one.list, #all + 1, all)
  end
  return all
end

--- shares.first(kind, value) -> any: the value of rank 0, plain data, at all ranks.
function shares.first(kind, value)
  return packed.value(link.broadcast(kind, link.rank == 0 and packed.text(value) or nil, 0))
end

return shares
