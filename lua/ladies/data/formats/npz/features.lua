--- Decides whether features stay in their file instead of being read into memory: rows of a dense
-- array of float16, bfloat16 or float32 in an open npz or safetensors file can be gathered from
-- there.
--
--   features_in = "file"     always; "memory": never, they become a Tensor
--   not given                where a Tensor of them would take more than a quarter of the memory

local checks = require "ladies.data.checks"
local machine = require "ladies.base.machine"
local notes = require "ladies.data.notes"

local SHARE = 1 / 4
local KINDS = {float16 = true, bfloat16 = true, float32 = true}

--- features_in_file(context, list, file, key, asked): returns the array `key` as a Tensor or as
-- Rows, which stay in the file; a note in `list` tells of the latter unless it was asked for.
return function(context, list, file, key, asked)
  local shape, dtype = file:shape(key), file:dtype(key)
  local fits = #shape == 2 and KINDS[dtype] or false
  if asked == "file" and not fits then
    checks.fail(context, "%s is %s of %d dimensions; float16, bfloat16 or float32 of two can stay "
      .. "in the file", key, dtype, #shape)
  end
  local bytes = fits and 4 * shape[1] * shape[2] or 0
  if not fits or asked == "memory" or not asked and bytes <= SHARE * machine.memory() then
    return file:tensor(key)
  end
  if not asked then
    notes.add(context, list, "%s would take %.1f GB and stays in the file; --features-in memory "
      .. "(in Lua features_in) reads it", key, bytes / 1e9)
  end
  return file:rows(key)
end
