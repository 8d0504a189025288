-- NAME: a task of one's own: how many edges each node has, learned from its features.
--
-- The file returns function(settings, data) -> the fields of a task. What each may be is said by
-- ladies.help(ladies.task.new).

local ladies = require "ladies"

return function(_, data)
  local degrees = data.graph:degrees()
  local targets = (degrees + 1):log():reshape(#degrees, 1)

  return {
    name = "NAME", data = data,
    units = {train = data.train, val = data.val, test = data.test},   -- nodes, by their numbers
    outputs = 1,                                        -- columns that the model gives for a node
    targets = function(nodes) return targets[nodes] end,

    -- weights are nil, or one for each row where a sampler gives some: then it is a weighted sum.
    loss = function(out, truth, weights)
      local square = (out - truth):square():row_sums()
      return weights and (square * weights):sum() or square:mean()
    end,

    metrics = {                                         -- training goes by the first one
      {name = "MAE", mode = "min", of = ladies.metrics.mae},
      {name = "R2", of = ladies.metrics.r2},
    },
  }
end
