--- Paths of files.

local core = require "ladies_core"

local paths = {}

--- A path as it is from the root, so that it means the same in every folder. What lies there, or
-- whether something does, does not matter.
function paths.from_root(path)
  if path:find "^/" then return path end
  return ("%s/%s"):format(core.real_path ".", (path:gsub("^%./+", "")))
end

return paths
