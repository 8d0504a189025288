--- Calls the callbacks on_batch and on_validation of ladies.train and interprets their results:
-- "stop", a table of numbers for the log, both, or nothing.

local code = require "ladies.base.code"
local errors = require "ladies.base.errors"

local callbacks = {}

local function fail(name, text, ...)
  errors.fail(("ladies.train: %s %s"):format(name, text:format(...)))
end

--- Fails unless a table that the user's function (the option `name` of ladies.train) returned holds
-- numbers by name.
function callbacks.check_numbers(name, numbers)
  for key, number in pairs(numbers) do
    if type(key) ~= "string" or type(number) ~= "number" then
      fail(name, "must return numbers by name, got a %s for %s", type(number), tostring(key))
    end
  end
end

-- Fails for the numbers that a callback returned when one of them has a name of `taken`.
local function check_names(name, numbers, taken)
  for key in pairs(numbers) do
    if taken[key] then
      fail(name, "returns a number by the name %s, which the log's lines have already", key)
    end
  end
end

--- Calls a callback by its `name` with the table `at`; returns its numbers or nil, and whether it
-- said "stop". `taken` has the names that its line in the log has already.
function callbacks.call(name, callback, at, taken)
  local numbers, stop
  for _, result in pairs{callback(at)} do
    if result == "stop" then
      stop = true
    elseif type(result) == "table" and not numbers then
      callbacks.check_numbers(name, result)
      check_names(name, result, taken)
      numbers = result
    else
      fail(name, 'must return "stop", a table of numbers, both, or nothing, got %s',
        type(result) == "string" and ("%q"):format(result) or "a " .. type(result))
    end
  end
  return numbers, stop or false
end

--- Returns the entry in a checkpoint for a run that the callback `name` of opts has stopped; nil
-- without a name.
function callbacks.stop_of(name, opts)
  return name and {by = name, code = code.hash(opts[name])}
end

--- Returns the name of the callback that stopped a run, from the entry of stop_of, if opts has a
-- callback of that name with the same code; a run with another one, or none, goes on.
function callbacks.still_stopped(stop, opts)
  local callback = stop and opts[stop.by]
  return callback and code.hash(callback) == stop.code and stop.by or nil
end

return callbacks
