--- Where numbers were measured: the processor, its cores, the program.

local core = require "ladies_core"
local commit = require "ladies.base.commit"
local launch = require "ladies.base.launch"

local machine = {}

--- The number of cores that this process may use, whatever number of threads it has chosen.
machine.cores = core.machine().processors

--- The bytes of memory that this process may use of the machine's: what its control groups leave of
-- them, divided by the ranks on this host.
function machine.memory()
  return core.machine().memory
end

--- A line for a process that may run on fewer cores than it could use, since whoever has started it
-- has bound it to some; nil where that is not so.
function machine.bound()
  local has, threads = core.machine(), core.threads()
  local is_launched = launch.is_launched()
  local reason = threads > has.allowed and ("%d threads were asked for"):format(threads)
    or is_launched and has.share > has.allowed and ("its share is %d"):format(has.share)
  if not reason or has.allowed >= has.all then return nil end
  return ("%s may run on %d of the %d cores of this host, and %s; %s"):format(
    is_launched and "each rank" or "this process", has.allowed, has.all, reason, is_launched
    and "mpirun --bind-to none (srun --cpu-bind=none) leaves all of them to it"
    or "whoever has started it has bound it to these (taskset)")
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
