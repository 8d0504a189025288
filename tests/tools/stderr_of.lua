local files = require "tools.files"
local temporary = require "reference.temporary"

--- stderr_of(f): returns what f() writes to io.stderr.
return function(f)
  local path, before = temporary.path "stderr", io.stderr
  local file <close> = assert(io.open(path, "w"))
  rawset(io, "stderr", file)
  local ok, reason = pcall(f)
  rawset(io, "stderr", before)
  if not ok then error(reason, 0) end
  file:flush()
  return files.read(path)
end
