--- What the commands that keep a study have in common: options of the command line, and how they
-- end.

local core = require "ladies_core"
local machine = require "ladies.base.machine"
local plot = require "ladies.report.plot"

local study_options = {}

--- The options, as ladies.command.cli takes them; folder: where results are kept by default.
function study_options.list(folder)
  return {
    {"jobs", "N", "positive integer", default = machine.cores,
      help = "runs side by side; F1s do not depend on it, times do"},
    {"threads", "N", "integer in [1, 256]", default = 1, help = "of each run"},
    {"out", "DIR", "string", help = ("where results are kept (default %s)"):format(folder)},
    {"quiet", help = "no progress"},
  }
end

--- Prints the result of a study: itself, its notes, where its files are, and its plots on a
-- terminal. It is an error when runs have failed.
function study_options.show(result)
  print(result)
  for _, note in ipairs(result.notes) do print("\n" .. note) end
  print(("\nin %s: %s"):format(result.folder, table.concat(result.files, ", ")))
  for _, drawing in ipairs(core.isatty(1) and result.plots or {}) do
    print(plot.text(drawing) or "")
  end
  if result.failed > 0 then error(("runs that failed: %d"):format(result.failed), 0) end
end

return study_options
