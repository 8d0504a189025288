--- Declares the options that all commands with a study have, and prints the reports with which they
-- end.

local by_ranks = require "ladies.study.by_ranks"
local core = require "ladies_core"
local link = require "ladies.ranks.link"
local machine = require "ladies.base.machine"

local study_options = {}

--- Returns the list of options for ladies.command.cli. folder: where results are kept by default;
-- how.alone: whether by default only one run is carried out at a time, with all threads; how.ranks:
-- whether several ranks divide the runs (see study_options.carry_out).
function study_options.list(folder, how)
  local alone, ranks = how and how.alone, how and how.ranks
  return {
    {"jobs", "N", "positive integer", default = alone and 1 or machine.cores,
      help = ("runs side by side%s; F1s do not depend on it, times do"):format(
        ranks and ", at each rank (mpirun)" or "")},
    {"threads", "N", "integer in [1, 256]", default = not alone and 1 or nil, help = "of each run"},
    {"out", "DIR", "string", help = ("where results are kept (default %s)"):format(folder)},
    {"quiet", help = "no progress"},
  }
end

--- Prints a report, its notes and where its files are; fails if runs have failed.
function study_options.show(report)
  print(report)
  for _, note in ipairs(report.notes) do print("\n" .. core.printable(note, true)) end
  print(("\nin %s: %s"):format(core.printable(report.folder), table.concat(report.files, ", ")))
  if report.failed > 0 then error(("runs that failed: %d"):format(report.failed), 0) end
end

--- Carries out a study by f(opts) and shows its report; other ranks, where there are several, train
-- some of its runs.
function study_options.carry_out(f, opts)
  local report = by_ranks.lead(f, opts)
  if link.rank == 0 then study_options.show(report) end
end

return study_options
