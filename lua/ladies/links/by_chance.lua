--- Divides examples at random into training, validation and test; in_time.parts does so by time.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

--- by_chance(where, n: integer, seed: integer, val: number, test: number) -> {train =, val =, test
-- =}: puts the shares `val` and `test` of n examples, rounded down, into validation and test, and
-- all others into training. Each part is an Index of positions, ascending, nil without any. Errors
-- begin with `where`.
return function(where, n, seed, val, test)
  local n_val, n_test = math.floor(n * val), math.floor(n * test)
  if n - n_val - n_test < 1 then
    errors.fail(("%s: %d of %d edges for validation and %d for test leave none for training")
      :format(where, n_val, n, n_test))
  end
  local order = core.sampling.permutation(n, core.rng(seed))
  local function part(first, last)
    return last >= first and order:slice(first, last):sort() or nil
  end
  return {test = part(1, n_test), val = part(n_test + 1, n_test + n_val),
    train = part(n_test + n_val + 1, n)}
end
