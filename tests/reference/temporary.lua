--- A folder for the files of one test run, removed when the tests end.
local ladies = require "ladies"

local M = {}

local root = os.tmpname()
os.remove(root)
assert(os.execute(("mkdir '%s'"):format(root)))

-- Removes the folder when the Lua state closes.
M.guard = setmetatable({}, {__gc = function() os.execute(("rm -rf '%s'"):format(root)) end})

--- The path of a file or folder in it.
function M.path(name)
  return root .. "/" .. name
end

--- Saves a data set in a file of this name in it, and returns the path.
function M.saved(name, data)
  local path = M.path(name)
  ladies.data.save(data, path)
  return path
end

return M
