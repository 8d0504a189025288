-- ladies reference: writes the reference of every public function from their docstrings
--
--   ladies reference doc              doc/reference.md, the list of contents, and doc/reference/
--   ladies reference --annotations    prints types for editors that know LuaLS's annotations
--
-- The texts are those that ladies.help shows: of C functions from ladies_core.docs, of Lua
-- functions from the comment above them.

local cli = require "ladies.command.cli"
local core = require "ladies_core"

cli.main({
  name = "ladies reference",
  usage = "ladies reference FOLDER | --annotations", words = {"folder"},
  about = "Writes the reference of every public function, as pages or as annotations.",
  {"annotations", help = "print the annotations of the library instead"},
}, arg, function(opts)
  if opts.annotations and opts.folder then
    error("FOLDER or --annotations, one of them", 0)
  elseif opts.annotations then
    io.write((require "ladies.command.reference.annotations"()))
  elseif opts.folder then
    core.folder.make(opts.folder .. "/reference")
    for path, text in pairs(require "ladies.command.reference.pages"()) do
      core.file.write(opts.folder .. "/" .. path, text)
    end
  else
    error("where to? ladies reference FOLDER", 0)
  end
end)
