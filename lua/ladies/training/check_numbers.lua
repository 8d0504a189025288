--- check_numbers(name, numbers): an error unless the table that code of the user's own returned,
-- what ladies.train calls `name`, holds numbers by name.

local errors = require "ladies.base.errors"

return function(name, numbers)
  for key, number in pairs(numbers) do
    if type(key) ~= "string" or type(number) ~= "number" then
      errors.fail(("ladies.train: %s must return numbers by name, got a %s for %s"):format(name,
        type(number), tostring(key)))
    end
  end
end
