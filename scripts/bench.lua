-- ladies bench: measurements of speed and memory, each in a file of scripts/bench/
--
--   ladies bench draw [--rounds N]
--   ladies bench step [--batches N]
--   ladies bench sampling [--peers]
--   ladies bench scale [--nodes N] [--entries N] [--features N]
--   ladies bench text [--edges N] [--python PROGRAM]

local core = require "ladies_core"
local ladies = require "ladies"

local name = table.remove(arg, 1)
local path = name and name:match "^[%w_]+$"
  and ("%s/scripts/bench/%s.lua"):format(ladies.home(), name)
if not path or core.exists(path) ~= "file" then
  io.stderr:write("usage: ladies bench draw|sampling|scale|step|text [options]\n")
  os.exit(2)
end
dofile(path)
