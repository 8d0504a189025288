-- ladies view: a finished run as one page of HTML, to be opened in a browser
--
--   ladies view RUN [--split val] [--out FILE.html]
--
-- RUN is the folder of a run, as of `ladies evaluate`. The page has what the run came to, its
-- curves, which classes the model takes for which, the nodes that it is most wrong about, by name,
-- and the configuration. It is one file, view.html in the run's folder (of another data set,
-- view-NAME.html), that needs nothing else and no server, light or dark as the reader's system is.
-- A file of that name that is no such page is left as it is.

local core = require "ladies_core"
local cli = require "ladies.command.cli"
local inference_options = require "ladies.command.inference_options"
local Page = require "ladies.report.page"
local run_folder = require "ladies.training.record.run_folder"

cli.main({
  name = "ladies view",
  usage = "ladies view RUN [options]", words = {"run"},
  about = "Writes a finished run as one page of HTML.",
  {"split", "PART", "train|val|test|labelled",
    help = "the nodes, edges or graphs that it is about (default test, or else val)"},
  {"out", "FILE.html", "string",
    help = "the file (default RUN/view.html; with --dataset RUN/view-NAME.html)"},
  inference_options.named "dataset", inference_options.named "model",
  inference_options.named "task",
}, arg, function(opts)
  if not opts.run then error("which run? ladies view RUN", 0) end
  local run = inference_options.run(opts)
  local name = opts.dataset and ("view-%s.html"):format(run.data.name:gsub("[^%w_.-]", "_"))
    or "view.html"
  local path = opts.out or opts.run:gsub("/+$", "") .. "/" .. name
  inference_options.check_out(path, run, "view.html")
  if run_folder.owns(run.path, path) and not Page.is_one(core.file.read(path)) then
    error(("%s is no page of ladies view and is left as it is; choose another file (--out)")
      :format(path), 0)
  end
  core.file.write(path, run:page(opts.split))
  print(path)
end)
