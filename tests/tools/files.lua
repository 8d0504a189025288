--- Files as tests read and write them: by Lua's own io, whatever is tested.

local files = {}

--- The bytes of a file.
function files.read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- Writes a file; returns its path.
function files.write(path, bytes)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(bytes))
  return path
end

--- The lines of a file, without their ends.
function files.lines(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

return files
