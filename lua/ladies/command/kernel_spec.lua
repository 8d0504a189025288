--- Installs the kernel for Jupyter (`ladies kernel --install`): the folder kernels/ladies with the
-- kernel itself, and with kernel.json, which names the program and the Python that run it.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local home = require "ladies.base.home"
local host = require "ladies_host"
local json = require "ladies.base.json"

local kernel_spec = {}

local KERNEL = "ladies_kernel.py"

-- Returns the path of the Python and of the user's Jupyter folder; fails if this Python cannot run
-- the kernel.
local function places_of(python, kernel)
  if not core.process.exists(python) then
    errors.fail(("there is no program %s; --python names one"):format(python))
  end
  local log = os.tmpname()
  local process <close> = core.process.start({python, kernel, "--places"}, {log = log})
  local status = process:wait()
  local said = core.file.read(log)
  os.remove(log)
  local path, folder = said:match "([^\n]+)\n([^\n]+)\n$"
  if status == 0 and path then return path, folder end
  errors.fail(("%s cannot run the kernel: %s (%s -m pip install ipykernel)"):format(python,
    said:match "([^\n]*)\n*$", python))
end

--- Writes the kernel into the folder kernels/ladies below `into`, by default the user's Jupyter
-- folder, and returns the path of that folder. python: the program that runs the kernel.
function kernel_spec.install(python, into)
  local kernel = ("%s/scripts/kernel/%s"):format(home(), KERNEL)
  local path, data_folder = places_of(python, kernel)
  local folder = (into or data_folder) .. "/kernels/ladies"
  core.folder.make(folder)
  core.file.write(folder .. "/" .. KERNEL, core.file.read(kernel))
  core.file.write(folder .. "/kernel.json", json.encode({
    argv = {path, "{resource_dir}/" .. KERNEL, "-f", "{connection_file}"},
    display_name = "ladies", language = "lua", interrupt_mode = "signal",
    env = {LADIES_PROGRAM = host.program},
  }, "  ") .. "\n")
  return folder
end

return kernel_spec
