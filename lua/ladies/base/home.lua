--- ladies.home() -> string: the folder of the program's own data: datasets/ and scripts/ are in it.
return function()
  local source = debug.getinfo(1, "S").source
  local prefix = source:match "^@(.*)/share/lua/5%.4/ladies/base/home%.lua$"
  if prefix then return prefix .. "/share/ladies" end
  return source:match "^@(.*)/lua/ladies/base/home%.lua$" or "."
end
