--- Lists the names of the measurements that `ladies bench NAME` takes: the files in bench/command/,
-- except machine.lua, which runs where no name is given.

local core = require "ladies_core"

--- The names, sorted, as a text: "draw, gallery, ...".
return function()
  local names = {}
  local here = package.searchpath("experiments.bench.names", package.path):match "^(.*)/"
  for _, file in ipairs(core.files(here .. "/command")) do
    local name = file:match "^([%w_]+)%.lua$"
    if name and name ~= "machine" then names[#names + 1] = name end
  end
  table.sort(names)
  return table.concat(names, ", ")
end
