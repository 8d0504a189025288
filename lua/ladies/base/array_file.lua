--- Opens files that hold arrays by name: .npz archives and .safetensors files, told apart by the
-- end of the file's name. An open file of either kind has the methods names, has, shape, dtype,
-- tensor, index, numbers, text and close.

local core = require "ladies_core"

local array_file = {}

--- Tells whether the path is that of a .safetensors file.
function array_file.is_safetensors(path) return path:find "%.safetensors$" ~= nil end

--- Returns the name of the file at `path` without its folders and without its ending (.npz or the
-- like).
function array_file.base_name(path)
  return (path:match "[^/]*$":gsub("%.npz$", ""):gsub("%.safetensors$", ""))
end

--- Opens the file at `path` and returns it; `opts` are the options of npz.open.
function array_file.open(path, opts)
  return (array_file.is_safetensors(path) and core.safetensors or core.npz).open(path, opts)
end

return array_file
