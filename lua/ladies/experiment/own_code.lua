--- Code of the user's own in a file, for the commands: FILE.lua returns a function. It is loaded
-- because the user names it, never because data does.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local own_code = {}

--- What the Lua file at `path` returns, which must be a function.
function own_code.load(path)
  errors.own_file(path)
  local chunk, reason = load(core.file.read(path), "@" .. path, "t")
  if not chunk then error(reason, 0) end
  return options.value(path, "what the file returns", chunk(), "function")
end

return own_code
