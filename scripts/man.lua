-- ladies man: writes the man page of the program and its commands
--
--   ladies man | man -l -
--
-- It is made of what `ladies --help`, `ladies help` and `ladies NAME --help` say. An installation
-- has it as ladies(1).

io.write(require "ladies.command.man_page"())
