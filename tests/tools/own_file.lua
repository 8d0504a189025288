--- own_file(name, text) -> string: writes a file NAME.lua with code of one's own into a folder of
-- its own, as the same name has one file in a process; returns its path.
local ladies = require "ladies"
local temporary = require "reference.temporary"

local count = 0

return function(name, text)
  count = count + 1
  local folder = temporary.path("own_code" .. count)
  ladies.folder.make(folder)
  local path = ("%s/%s.lua"):format(folder, name)
  ladies.file.write(path, text)
  return path
end
