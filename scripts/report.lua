-- ladies report: makes doc/reproduction.md from what the other commands have measured
--
--   ladies report [--runs runs] [--out doc/reproduction.md]

local paper = require "ladies_paper"
local cli = require "ladies.command.cli"

cli.main({
  name = "ladies report",
  about = "Writes one document of what the commands of the reproduction have measured.",
  {"runs", "DIR", "string", default = "runs", help = "the folder with the folders of the studies"},
  {"out", "FILE", "string", default = "doc/reproduction.md",
    help = "the document; its pictures go into a folder of its name beside it"},
}, arg, function(opts)
  local sections, missing = paper.report{runs = opts.runs, out = opts.out}
  print(("%d sections in %s"):format(sections, opts.out))
  for _, command in ipairs(missing) do
    print(("nothing of `ladies %s` in %s"):format(command, opts.runs))
  end
end)
