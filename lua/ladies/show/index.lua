--- An Index: its range, and its first and last ids.

local errors = require "ladies.base.errors"
local numbers = require "ladies.show.numbers"

return function(x, width)
  local ok, text = errors.try(function()
    if #x == 0 then return "Index 0" end
    local ids = numbers.ends(#x, function(first, last)
      local list = x:slice(first, last):to_table()
      for i, id in ipairs(list) do list[i] = tostring(id) end
      return list
    end, width)
    return ("Index %d, %d to %d\n%s"):format(#x, x:min(), x:max(), ids)
  end)
  return ok and text or tostring(x)
end
