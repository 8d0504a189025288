--- Where numbers were measured: the processor, its cores, the program.

local core = require "ladies_core"

local machine = {}

--- The number of cores that this process may use, whatever number of threads it has chosen.
machine.cores = core.threads()

--- What the system calls the processor.
function machine.processor()
  local ok, text = pcall(core.file.read, "/proc/cpuinfo")
  local name = ok and text:match "model name%s*:%s*([^\n]+)"
  return name and name:gsub("%s+", " ") or "an unknown processor"
end

--- One line for the notes of a measurement: processor, cores and the version of the program.
function machine.text()
  return ("%s, %d core%s; ladies %s, %s"):format(machine.processor(), machine.cores,
    machine.cores == 1 and "" or "s", core.version, _VERSION)
end

return machine
