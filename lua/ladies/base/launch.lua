--- Tells how many processes mpirun or srun has started, of which this one is a rank. A program that
-- a rank itself starts inherits the rank's environment but does not count as a rank.

local launch = {}

-- Returns the number of processes from the environment variables that launchers set, nil where
-- there are none: Open MPI's mpirun; MPICH's, and srun --mpi=pmi2; and Slurm itself, for srun
-- --mpi=pmix.
local function told()
  return os.getenv "OMPI_COMM_WORLD_SIZE" or os.getenv "PMI_SIZE"
    or os.getenv "PMIX_RANK" and os.getenv "SLURM_STEP_NUM_TASKS"
end

--- Returns the number of processes that were started together, 1 where no launcher started this
-- one.
function launch.size()
  if not package.loaded.ladies_host or os.getenv "LADIES_WITHIN_RANK" then return 1 end
  return math.tointeger(tonumber(told() or "1")) or 1
end

local is_launched = told() ~= nil and not os.getenv "LADIES_WITHIN_RANK"   -- which ranks set later

--- Tells whether mpirun or srun started this process, perhaps as the only one.
function launch.is_launched()
  return is_launched
end

return launch
