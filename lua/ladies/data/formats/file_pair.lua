--- Finds data sets that consist of two files, NAME with one ending and NAME with another.

local core = require "ladies_core"

local file_pair = {}

--- file_pair.base(path, first, second): returns the common beginning of the names of both files.
-- The path may be that of either file, that beginning, or a folder with exactly one such pair; nil
-- where there is no pair. first, second: the endings.
function file_pair.base(path, first, second)
  local function is_pair(base)
    return core.exists(base .. first) == "file" and core.exists(base .. second) == "file"
  end
  for _, ending in ipairs{first, second, ""} do
    local base = path:sub(1, #path - #ending)
    if path == base .. ending and is_pair(base) then return base end
  end
  local found
  for _, file in ipairs(core.exists(path) == "folder" and core.files(path) or {}) do
    local base = path .. "/" .. file:sub(1, #file - #first)
    if file:sub(-#first) == first and is_pair(base) then
      if found then return nil end
      found = base
    end
  end
  return found
end

return file_pair
