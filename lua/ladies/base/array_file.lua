--- Files of arrays by name: .npz archives and .safetensors files, which the end of a name tells
-- apart. What is open of either has the methods names, has, shape, dtype, tensor, index, numbers,
-- text and close.

local core = require "ladies_core"

local array_file = {}

--- Whether the path is that of a .safetensors file.
function array_file.is_safetensors(path) return path:find "%.safetensors$" ~= nil end

--- The name of the file at `path`, without its folders and the end that says what it is.
function array_file.base_name(path)
  return (path:match "[^/]*$":gsub("%.npz$", ""):gsub("%.safetensors$", ""))
end

--- The open file at `path`, with the options of npz.open.
function array_file.open(path, opts)
  return (array_file.is_safetensors(path) and core.safetensors or core.npz).open(path, opts)
end

return array_file
