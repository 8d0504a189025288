--- Graphs that studies make by a name, each with its own difficulty, for Study:place.
local generate = require "ladies.data.generate"

return {
  -- Edges that hardly depend on the classes: one in ten stays within its class on purpose.
  ["low-homophily"] = function()
    return generate.power_law{nodes = 5000, entries = 50000, classes = 5, inside = 0.1,
      signal = 0.3}
  end,

  -- 200 neighbours a node, each of which says little about its class.
  ["high-degree"] = function()
    return generate.power_law{nodes = 5000, entries = 1000000, classes = 5, inside = 0.3,
      signal = 0.15}
  end,
}
