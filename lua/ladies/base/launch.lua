--- launch.size(): how many processes mpirun or srun has started, of which this is one; 1 where
-- nobody did, and launch.is_launched() then is false. What a rank starts itself inherits its
-- environment and is none.

local launch = {}

-- What launchers tell the processes: Open MPI's mpirun; MPICH's, and srun --mpi=pmi2; and Slurm
-- itself, of the processes of srun --mpi=pmix.
local function told()
  return os.getenv "OMPI_COMM_WORLD_SIZE" or os.getenv "PMI_SIZE"
    or os.getenv "PMIX_RANK" and os.getenv "SLURM_STEP_NUM_TASKS"
end

--- The number of processes.
function launch.size()
  if not package.loaded.ladies_host or os.getenv "LADIES_WITHIN_RANK" then return 1 end
  return math.tointeger(tonumber(told() or "1")) or 1
end

local is_launched = told() ~= nil and not os.getenv "LADIES_WITHIN_RANK"   -- which ranks set later

--- Whether this process, perhaps alone, was started by mpirun or srun.
function launch.is_launched()
  return is_launched
end

return launch
