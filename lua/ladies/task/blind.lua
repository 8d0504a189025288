--- Makes what the best guess would predict that reads neither features nor graph, by the targets of
-- the training units: what a model's numbers are to be set beside (`blind` of ladies.task.new).

local core = require "ladies_core"

local blind = {}

-- Returns the number that occurs most often in an Index, of several the smallest.
local function most_frequent(classes)
  local best, count = 1, classes:counts(classes:max())
  for class, n in ipairs(count) do
    if n > count[best] then best = class end
  end
  return best
end

--- blind.class(classes: Index, train: Index, unit: string) -> function: predicts the class that
-- most training units have. classes: that of each unit.
function blind.class(classes, train, unit)
  return function(units)
    local class = most_frequent(classes[train])
    return core.range(1, #units) * 0 + class,
      ("the class of most training %ss, for all"):format(unit)
  end
end

--- blind.mean(find: function, unit: string) -> function: predicts the mean of the training units'
-- targets, which find() gives when it is asked for: a number for a vector of targets, else an array
-- of one for each column.
function blind.mean(find, unit)
  return function(units)
    local n, means = #units, find()
    local predicted = type(means) == "number" and core.full(n, means)
      or core.zeros(n, #means) + core.tensor(means)
    return predicted, ("the mean of the training %ss, for all"):format(unit)
  end
end

--- blind.ranks(candidates: integer) -> function: every rank among so many candidates once, since
-- the rank of an edge whose score says nothing is each of them with the same probability.
function blind.ranks(candidates)
  return function()
    return core.range(1, candidates + 1):to_tensor(),
      ("any rank among %d candidates, by chance"):format(candidates)
  end
end

return blind
