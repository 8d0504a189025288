--- pages(): the paths of README.md and of the pages below doc/ but for the reference.
local core = require "ladies_core"

local root = os.getenv "LADIES_SOURCE"

return function()
  local list = {"README.md"}
  for _, folder in ipairs{"doc", "doc/guide"} do
    for _, name in ipairs(core.files(root .. "/" .. folder)) do
      if name:find "%.md$" then list[#list + 1] = folder .. "/" .. name end
    end
  end
  return list
end
