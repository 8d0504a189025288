-- ladies help: lists the commands, or with a command's name shows its manual
--
--   ladies help [NAME]

local commands = require "ladies.command.commands"

local name = ...
if not name then
  print("usage: ladies NAME [args]; ladies help NAME says more; ladies --help has the options\n")
  print(commands.summary())
  return
end
local manual = commands.manual(name)
if not manual then
  io.stderr:write("ladies: ", commands.unknown(name), "\n")
  os.exit(1, true)
end
print(manual)
