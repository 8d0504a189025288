--- The files that a fixture in .npz holds as arrays of bytes by their paths.

local core = require "ladies_core"
local ladies = require "ladies"

local bundle = {}

--- Writes the files whose paths begin with `prefix` ("" for all) into a folder.
function bundle.write(path, folder, prefix)
  local files <close> = ladies.npz.open(path)
  for _, name in ipairs(files:names()) do
    if name:sub(1, #prefix) == prefix then
      bundle.write_file(folder .. "/" .. name, files:text(name))
    end
  end
end

--- Writes a file, and first the folders that it is in.
function bundle.write_file(path, content)
  for parent in path:gmatch "()/" do
    if parent > 1 then core.mkdir(path:sub(1, parent - 1)) end
  end
  ladies.file.write(path, content)
end

return bundle
