-- ladies man: writes the man page of the program and its commands
--
--   ladies man | man -l -
--
-- It is made of what `ladies --help`, `ladies help` and `ladies NAME --help` say. An installation
-- has it as ladies(1).

local cli = require "ladies.command.cli"

cli.main({
  name = "ladies man", usage = "ladies man",
  about = "Writes the man page of the program and its commands.",
}, arg, function() io.write(require "ladies.command.man_page"()) end)
