-- ladies kernel: makes ladies a kernel of Jupyter, for notebooks
--
--   ladies kernel --install [--python PROGRAM] [--into FOLDER]
--
-- Needs Python 3 with ipykernel (python3 -m pip install ipykernel), the same that runs Jupyter or
-- another one. Writes the folder `ladies` with kernel.json and the kernel where Jupyter looks for
-- the kernels of a user; `jupyter kernelspec uninstall ladies` removes it. doc/prompt.md has a
-- section on notebooks, doc/notebook.ipynb is one.

local cli = require "ladies.command.cli"
local kernel_spec = require "ladies.command.kernel_spec"

cli.main({
  name = "ladies kernel",
  about = "Makes ladies a kernel of Jupyter, for notebooks.",
  {"install", help = "write what Jupyter reads to start it"},
  {"python", "PROGRAM", "string", default = "python3",
    help = "the Python that runs the kernel; it must have ipykernel"},
  {"into", "FOLDER", "string",
    help = "Jupyter's folder of data (default: the one of the user that Python's Jupyter names)"},
}, arg, function(opts)
  if not opts.install then error("--install writes the kernel; --help says more", 0) end
  print(("%s: the kernel of this program"):format(kernel_spec.install(opts.python, opts.into)))
end)
