--- Turns paths of files and folders into absolute ones, and finds the user's cache.

local core = require "ladies_core"

local paths = {}

--- Returns a path as an absolute one, so that it means the same whatever the current folder is. The
-- file need not exist.
function paths.from_root(path)
  if path:find "^/" then return path end
  return ("%s/%s"):format(core.real_path ".", (path:gsub("^%./+", "")))
end

--- Returns the path of the user's cache: LADIES_CACHE, or ladies/ in XDG_CACHE_HOME, or in
-- ~/.cache; nil where there is no place for one.
function paths.cache_folder()
  local own = os.getenv "LADIES_CACHE"
  if own and own ~= "" then return own end
  local base = os.getenv "XDG_CACHE_HOME"
  if base and base:find "^/" then return base .. "/ladies" end
  local home = os.getenv "HOME"
  return home and home .. "/.cache/ladies"
end

return paths
