--- Makes a virtual environment with the peers, by Python and pip, where there is none. Packages
-- that cannot be installed are named in a line each, and left out.

local core = require "ladies_core"
local cache = require "ladies.data.store.cache"
local tables = require "ladies.base.tables"

local install = {}

-- The packages that belong together, as words for pip. Versions that work with each other; this
-- PyTorch needs the older NumPy, which any group would otherwise replace.
local NUMPY = "numpy<2"
local GROUPS = {
  {NUMPY, "torch==2.2.1", "scipy"},
  {NUMPY, "dgl==2.1.0", "torchdata==0.7.1", "pandas", "pyyaml", "pydantic"},
  {NUMPY, "torch_geometric"},
  {NUMPY, "polars"},
}

-- The packages that GraphSAINT in PyG needs, which are compiled on the spot for a quarter of an
-- hour. wheel, which compiles them, must be there before.
local COMPILER = {"wheel"}
local SOURCES = {NUMPY, "torch_scatter", "torch_sparse"}
local WITHOUT_DEBUGGING = {CFLAGS = "-g0"}      -- which compiles faster, to the same code

-- Runs a program to its end, and tells whether it succeeded.
local function run(words, log, env)
  local process <close> = core.process.start(words, {log = log, env = env})
  return process:wait() == 0
end

-- Returns the Python of the environment in a folder.
local function python_in(folder) return folder .. "/bin/python" end

--- install.found(): the path of that Python where an environment has been made, or nil.
function install.found()
  local python = cache.folder() and python_in(cache.folder() .. "/peers")
  return python and core.exists(python) and python or nil
end

--- install.python(tell, sources): the path of a Python with the peers, in the folder `peers` of
-- the cache, or nil. tell(line) is told what is done, and what is not there in the end. sources:
-- whether to compile what has to be compiled.
function install.python(tell, sources)
  local folder = cache.make_folder() .. "/peers"
  local python, log = python_in(folder), folder .. ".log"
  if not core.exists(python) then
    tell("making a virtual environment in " .. folder)
    if not run({"python3", "-m", "venv", folder}, log) then
      tell("python3 -m venv failed: see " .. log)
      return nil
    end
  end
  local groups = table.move(GROUPS, 1, #GROUPS, 1, {})
  if sources then
    groups[#groups + 1] = COMPILER
    groups[#groups + 1] = SOURCES
  end
  for i, words in ipairs(groups) do
    local name = table.concat(words, " ")
    local done = ("%s/installed-%d"):format(folder, i)
    if not core.exists(done) or core.file.read(done) ~= name .. "\n" then
      tell("installing " .. name)
      local command = {python, "-m", "pip", "install"}
      if words == SOURCES then command[#command + 1] = "--no-build-isolation" end
      if run(tables.append(command, words), log, words == SOURCES and WITHOUT_DEBUGGING or nil) then
        core.file.write(done, name .. "\n")
      else
        tell(("%s could not be installed: see %s"):format(name, log))
        if i == 1 then return nil end
      end
    end
  end
  return python
end

return install
