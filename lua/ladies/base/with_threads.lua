--- Sets the number of threads for a while.

local core = require "ladies_core"

--- with_threads(n) -> table: sets the threads of the parallel loops to n; they are again as many as
-- they were when the <close> variable that holds the result goes out of scope.
return function(n)
  local before = core.threads()
  core.threads(n)
  return setmetatable({}, {__close = function() core.threads(before) end})
end
