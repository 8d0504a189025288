--- Divides the parameters of an optimizer into groups with options of their own, by patterns of
-- their names in the setting `groups`:
--
--   layers.*.weight:weight_decay=0.01,lr=0.001; head.*:weight_decay=5e-4
--
-- In a pattern * stands for any characters, dots among them. A parameter is in the group of the
-- first pattern that its whole name fits; those that fit none have the options of the optimizer.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local groups = {}

-- The options that a group may have; of the decays the optimizer has one.
local NUMBERS = {lr = true, weight_decay = true, decoupled_decay = true, clip = true}

-- Parses a text such as "lr=0.01,clip=1" to a table of numbers by name.
local function numbers_of(where, text)
  local found = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local name, value = part:match "^%s*([%w_]+)%s*=%s*(.-)%s*$"
    local number = name and tonumber(value)
    if not number then
      errors.fail(("%s: %q is no option of a group with its number, such as weight_decay=5e-4")
        :format(where, part))
    elseif not NUMBERS[name] then
      errors.fail(("%s: a group has no %s%s"):format(where, name,
        options.hint(name, tables.sorted_keys(NUMBERS), "it may have")))
    end
    found[name] = number
  end
  return found
end

--- Reads the groups that a text tells of: an array of {pattern =, matches = (the pattern as one of
-- Lua's), options =}. Errors begin with `where`.
function groups.read(where, text)
  local list = {}
  for part in text:gmatch "[^;]+" do
    local pattern, numbers = part:match "^%s*([^:]-)%s*:(.*)$"
    if not pattern or pattern == "" then
      errors.fail(("%s: %q is no group; one is PATTERN:NAME=NUMBER, such as "
        .. "layers.1.*:weight_decay=5e-4"):format(where, part))
    end
    local matches = pattern:gsub("%W", "%%%0"):gsub("%%%*", ".*")
    list[#list + 1] = {pattern = pattern, matches = "^" .. matches .. "$",
      options = numbers_of(where, numbers)}
  end
  return list
end

--- Sets the groups that a text describes in an optimizer, whose parameters by name are `named`, an
-- array of {name =, tensor =}. A pattern that no name fits, or none that is left, is an error.
function groups.make(where, optimizer, named, text)
  local taken = {}
  for _, group in ipairs(groups.read(where, text)) do
    local tensors = {}
    for _, one in ipairs(named) do
      if not taken[one.name] and one.tensor.requires_grad and one.name:find(group.matches) then
        taken[one.name] = true
        tensors[#tensors + 1] = one.tensor
      end
    end
    if #tensors == 0 then
      errors.fail(("%s: no parameter that is trained and in no group before fits %s; they are: %s")
        :format(where, group.pattern, table.concat(tables.map(named, function(one)
          return one.name
        end), ", ")))
    end
    optimizer:group(tensors, group.options)
  end
end

return groups
