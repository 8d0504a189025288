--- cache_folder(): the path of the user's cache: LADIES_CACHE, or ladies/ in XDG_CACHE_HOME, or in
-- ~/.cache; nil where there is no place for one.
return function()
  local own = os.getenv "LADIES_CACHE"
  if own and own ~= "" then return own end
  local base = os.getenv "XDG_CACHE_HOME"
  if base and base:find "^/" then return base .. "/ladies" end
  local home = os.getenv "HOME"
  return home and home .. "/.cache/ladies"
end
