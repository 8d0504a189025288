--- Parses the shares of edges for training, validation and test in a text such as "85/5/10", in per
-- cent; "time:85/5/10" divides edges by their times, and "time" alone is time:80/10/10.

local errors = require "ladies.base.errors"

--- edge_split(where, text) -> number, number, boolean: returns the shares for validation and test,
-- from 0 to 1, and whether edges are divided by their times.
return function(where, text)
  local shares = text == "time" and "80/10/10" or text:match "^time:(.*)$"
  local train, val, test = (shares or text):match "^([%d.]+)/([%d.]+)/([%d.]+)$"
  train, val, test = tonumber(train), tonumber(val), tonumber(test)
  if not (train and val and test) or math.abs(train + val + test - 100) > 1e-9 then
    errors.fail(('%s: edge_split must be three shares of 100 per cent, such as "85/5/10", or '
      .. '"time:85/5/10" by the times of edges, got "%s"'):format(where, text))
  end
  return val / 100, test / 100, shares ~= nil
end
