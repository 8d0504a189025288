--- Describes where numbers were measured: the processor, its cores, the version of the program.

local core = require "ladies_core"
local commit = require "ladies.base.commit"
local counted = require("ladies.base.units").counted
local launch = require "ladies.base.launch"

local machine = {}

--- The number of cores that this process may use, whatever number of threads it has chosen.
machine.cores = core.machine().processors

--- Returns how many bytes of the machine's memory this process may use: what its control groups
-- allow, divided by the number of ranks on this host.
function machine.memory()
  return core.machine().memory
end

--- Returns a warning of one line if this process has been bound to fewer cores than it has threads
-- for, by mpirun or taskset for example; otherwise nil.
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

--- Returns the name that the system gives the processor.
function machine.processor()
  local file <close> = io.open "/proc/cpuinfo"
  local name = file and file:read "a":match "model name%s*:%s*([^\n]+)"
  return name or "an unknown processor"
end

--- Names what the bits of results depend on besides data, settings and seed: the program's version,
-- the vector units in use, OpenBLAS with its version and the kernels that it has chosen here, and
-- what multiplies in training of the precision "bfloat16".
function machine.numerics(precision)
  local units = precision == "bfloat16" and core.bfloat16_units()
  return ("ladies %s, %s, %s%s"):format(core.version, core.vector_units(), core.blas(),
    units and ", bfloat16 by " .. units or "")
end

-- Returns the name and version of the program, with its commit where that is known.
local function program()
  local known = commit()
  return ("ladies %s%s"):format(core.version, known and (" (%s)"):format(known) or "")
end

-- Returns a text with the name of the processor and the number of its cores.
local function place()
  return ("%s, %s"):format(machine.processor(), counted(machine.cores, "core"))
end

--- Returns one line for the notes of a measurement: processor, cores, versions of the program and
-- of Lua, commit.
function machine.text()
  return ("%s; %s, %s"):format(place(), program(), _VERSION)
end

--- Returns one line for a table of speeds: processor, cores, version and commit of the program,
-- vector units and OpenBLAS.
function machine.measured()
  return ("%s; %s, %s, %s"):format(place(), program(), core.vector_units(), core.blas())
end

return machine
