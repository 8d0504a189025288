--- A folder for the files of one test run, removed when the tests end.
local ladies = require "ladies"

local M = {}

-- Its name ends with digits alone: tests find that texts which have paths in them do not contain
-- "F1", which the letters of a random name may.
local root
repeat
  local name = os.tmpname()
  os.remove(name)
  root = name:gsub("%w+$", function(random)
    return (random:gsub("%a", function(letter) return letter:byte() % 10 end))
  end)
until os.execute(("mkdir '%s'"):format(root))

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
