-- ladies export: a finished run's model as a file for other programs, .safetensors or .npz
--
--   ladies export RUN [--format safetensors|npz] [--out FILE]
--   ladies export RUN --names pyg
--
-- RUN is a run's folder, as for `ladies evaluate`. The file, RUN.safetensors in the folder one is
-- in unless --out says otherwise, has the model's parameters under our names; ladies.load_model
-- reads it. With --names pyg they have the names and the orientation of PyTorch Geometric, whose
-- model takes them by load_state_dict: the lines of Python are printed.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local inference_options = require "ladies.command.inference_options"
local pyg = require "ladies.nn.pyg"
local run_folder = require "ladies.training.record.run_folder"

local ENDINGS = {safetensors = ".safetensors", npz = ".npz"}

-- The file to write; its end says the format.
local function out_of(opts)
  local format = opts.format or opts.out and opts.out:match "%.(%a+)$" or "safetensors"
  local ending = ENDINGS[format]
  local out = opts.out or run_folder.plain(opts.run) .. (ending or "")
  if not ending or out:sub(-#ending) ~= ending then
    error(("--out must end in %s, got %s"):format(ending or ".safetensors or .npz", out), 0)
  end
  return out, format
end

-- Prints how Python takes the file.
local function print_python(model, out, format)
  local class, note = pyg.class(model), pyg.note(model)
  if note then print("# " .. note) end
  if not class then
    print "# PyTorch Geometric has the layers, but no class for the whole model: doc/python.md"
    return
  end
  local name = class:match "^%w+"
  local of_layers = name == "SGConv" and "torch_geometric.nn" or "torch_geometric.nn.models"
  print(("from %s import %s"):format(of_layers, name))
  if format == "npz" then
    print "import numpy, torch"
    print(("state = {k: torch.from_numpy(v) for k, v in numpy.load(%q).items()}"):format(out))
  else
    print "from safetensors.torch import load_file"
    print(("state = load_file(%q)"):format(out))
  end
  print(("model = %s"):format(class))
  print "model.load_state_dict(state)"
end

-- What Python does with the features x in place of a step of ladies.data.preparation; %q stands for
-- the model's file.
local IN_PYTHON = {
  row_normalized = [[
sums = numpy.abs(x).sum(1, keepdims=True)
x = x / numpy.where(sums == 0, 1, sums)]],
  standardized = [=[
scale = numpy.load(%q)
x = (x - scale["features.mean"]) / scale["features.deviation"]]=],
}

-- Prints how Python makes what the model takes, where features were changed for it.
local function print_preparation(run)
  local lines = {}
  for _, step in ipairs(run.data.preparation.steps) do
    lines[#lines + 1] = IN_PYTHON[step.call]
  end
  if not lines[1] then return end
  print "# the model takes features that are prepared so:"
  print "import numpy"
  print((table.concat(lines, "\n"):format(run_folder.plain(run.path) .. "/model.npz")))
end

cli.main({
  name = "ladies export",
  usage = "ladies export RUN [options]", words = {"run"},
  about = "Writes the model of a finished run for other programs.",
  {"format", "FORMAT", "safetensors|npz",
    help = "of the file (default: as --out ends, or safetensors)"},
  {"names", "NAMES", "ladies|pyg", default = "ladies",
    help = "the names and shapes of the parameters: ours, or PyTorch Geometric's"},
  {"out", "FILE", "string", help = "the file (default: RUN.safetensors or RUN.npz here)"},
  inference_options.named "dataset", inference_options.named "model",
  inference_options.named "task",
}, arg, function(opts)
  if not opts.run then error("which run? ladies export RUN", 0) end
  local out, format = out_of(opts)
  local run = inference_options.run(opts)
  local model = run.model
  inference_options.check_out(out, run)
  ladies.save_model(model, out, {names = opts.names})
  print(("%s: %d parameters, %d numbers"):format(out, #ladies.nn.named_parameters(model),
    ladies.nn.size(model)))
  if opts.names == "pyg" then print_python(model, out, format) end
  print_preparation(run)
end)
