--- Writes named tensors, such as a model's parameters, to files of arrays and reads them: an array
-- of {name =, tensor =} is stored as arrays PREFIX.NAME.

local errors = require "ladies.base.errors"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local named_tensors = {}

local function shape_text(shape)
  return table.concat(shape, " x ")
end

-- Returns the shape that a named tensor has in a file: its field `shape` if it has one, otherwise
-- that of the tensor.
local function shape_of(one)
  local tensor = one.tensor
  return one.shape or tensor.ndim == 1 and {tensor.n_rows} or {tensor.n_rows, tensor.n_cols}
end

--- Puts named tensors (an array of {name =, tensor =}) into the table `arrays` under a prefix.
function named_tensors.put(arrays, prefix, named)
  for i, one in ipairs(named) do
    local place = ("%s[%d]"):format(prefix:match "^%w*", i)
    options.value(place, "name", one.name, "string")
    arrays[prefix .. one.name] = options.value(place, "tensor", one.tensor, "Tensor")
  end
end

-- Fails unless the file's arrays PREFIX.NAME have the names and the shapes of `named`; messages
-- call whose they are, the `owner`, "model" or "sampler". The arrays of `others` may be there as
-- well.
local function check_arrays(file, where, prefix, named, owner, others)
  local wanted = {}
  for _, one in ipairs(others or {}) do wanted[prefix .. one.name] = true end
  for _, parameter in ipairs(named) do
    wanted[prefix .. parameter.name] = true
    if not file:has(prefix .. parameter.name) then
      errors.fail(("%s has no %s%s: it is of another %s"):format(where, prefix, parameter.name,
        owner))
    end
  end
  for _, name in ipairs(file:names()) do
    if name:sub(1, #prefix) == prefix and not wanted[name] then
      errors.fail(("%s has %s, which the %s lacks: it is of another %s"):format(where, name, owner,
        owner))
    end
  end
  for _, parameter in ipairs(named) do
    local name = prefix .. parameter.name
    local has, needs = shape_text(file:shape(name)), shape_text(shape_of(parameter))
    if has ~= needs then
      errors.fail(("%s: %s is %s, the %s's is %s"):format(where, name, has, owner, needs))
    end
  end
end

--- Copies the arrays PREFIX.NAME of an open file into tensors of the same names. One that is
-- missing, left over or of another shape is an error that begins with `where` and says that the
-- file is of another `owner` (default "model"). Arrays by the names of `others` are left alone.
function named_tensors.get(file, where, prefix, named, owner, others)
  check_arrays(file, where, prefix, named, owner or "model", others)
  for _, parameter in ipairs(named) do
    module.fill(parameter.tensor, file:tensor(prefix .. parameter.name))
  end
end

return named_tensors
