--- run_listing(text, data [, batches]): runs a listing of a page, which loads Cora and trains, on
-- other data, for a few batches (3) and without progress; returns what it printed.

local ladies = require "ladies"

return function(text, data, batches)
  local printed = {}
  local quiet = setmetatable({
    data = setmetatable({load = function() return data end}, {__index = ladies.data}),
    train = function(opts)
      opts.quiet, opts.max_batches = true, batches or 3
      return ladies.train(opts)
    end,
  }, {__index = ladies})
  local env = setmetatable({
    require = function(name) return name == "ladies" and quiet or require(name) end,
    print = function(...)
      for _, value in ipairs{...} do printed[#printed + 1] = tostring(value) end
    end,
  }, {__index = _G})
  assert(load(text, "=listing", "t", env))()
  return table.concat(printed, "\n")
end
