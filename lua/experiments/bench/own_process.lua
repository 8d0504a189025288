--- Runs this program once more, in a process of its own, whose memory and clock nothing before has
-- touched.

local core = require "ladies_core"

--- own_process(words, env) -> text: runs this program with these words, and variables of the
-- environment besides, and returns what it printed; an error with that where it failed.
return function(words, env)
  local log = os.tmpname()
  local _ <close> = setmetatable({}, {__close = function() os.remove(log) end})
  local process <close> = core.process.start({package.loaded.ladies_host.program,
    table.unpack(words)}, {log = log, env = env})
  local status, printed = process:wait(), core.file.read(log)
  if status ~= 0 then error(("%s: %s"):format(table.concat(words, " "), printed), 0) end
  return printed
end
