--- The measurements of `ladies bench NAME`: the files of scripts/bench/, but the one that is run
-- without a name.

local core = require "ladies_core"
local home = require "ladies.base.home"

--- The names, sorted, as a text: "draw|gallery|...".
return function()
  local names = {}
  for _, file in ipairs(core.files(home() .. "/scripts/bench")) do
    local name = file:match "^([%w_]+)%.lua$"
    if name and name ~= "machine" then names[#names + 1] = name end
  end
  table.sort(names)
  return table.concat(names, "|")
end
