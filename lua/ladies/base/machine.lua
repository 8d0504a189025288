--- Where numbers were measured: the processor, its cores, the program.

local core = require "ladies_core"
local commit = require "ladies.base.commit"

local machine = {}

--- The number of cores that this process may use, whatever number of threads it has chosen.
machine.cores = core.threads()

--- The bytes of memory that the machine has.
function machine.memory()
  local file <close> = io.open "/proc/meminfo"
  local kilobytes = file and file:read "a":match "MemTotal:%s*(%d+) kB"
  return kilobytes and math.tointeger(kilobytes) * 1024 or math.maxinteger
end

--- What the system calls the processor.
function machine.processor()
  local file <close> = io.open "/proc/cpuinfo"
  local name = file and file:read "a":match "model name%s*:%s*([^\n]+)"
  return name or "an unknown processor"
end

--- What the bits of results depend on besides data, settings and seed: the program's version, the
-- vector units in use, OpenBLAS with its version and the kernels that it has chosen here, and what
-- multiplies in training of the precision "bfloat16".
function machine.numerics(precision)
  local units = precision == "bfloat16" and core.bfloat16_units()
  return ("ladies %s, %s, %s%s"):format(core.version, core.vector_units(), core.blas(),
    units and ", bfloat16 by " .. units or "")
end

-- The program, with its commit where that is known.
local function program()
  local known = commit()
  return ("ladies %s%s"):format(core.version, known and (" (%s)"):format(known) or "")
end

-- The processor and its cores, as a text.
local function place()
  return ("%s, %d core%s"):format(machine.processor(), machine.cores,
    machine.cores == 1 and "" or "s")
end

--- One line for the notes of a measurement: processor, cores, the version of the program and its
-- commit.
function machine.text()
  return ("%s; %s, %s"):format(place(), program(), _VERSION)
end

--- One line for a table of speeds: processor, cores, commit, and all of machine.numerics().
function machine.measured()
  return ("%s; %s, %s, %s"):format(place(), program(), core.vector_units(), core.blas())
end

return machine
