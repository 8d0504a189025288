--- Declares the options of commands that apply the model of a saved run (see ladies.command.cli).

local core = require "ladies_core"
local Room = require "ladies.evaluation.room"
local SavedRun = require "ladies.experiment.saved_run"
local link = require "ladies.ranks.link"
local run_folder = require "ladies.training.record.run_folder"
local tell = require "ladies.base.tell"

local inference_options = {}

--- The list of options, as ladies.command.cli takes it.
inference_options.list = {
  {"dataset", "NAME|PATH", "string",
    help = "another data set than the run's; or the run's own, where a script had made it"},
  {"model", "FILE.lua", "string", help = "the model's code, function(settings, data) -> model, "
    .. "where it is not one of ours"},
  {"method", "FILE.lua", "string",
    help = "for sampled inference, the method's code, where it is not one of ours"},
  {"task", "FILE.lua", "string", help = "the task's code, where it is not one of ours"},
  {"inference", "HOW", "exact|sampled", default = "exact",
    help = "over the whole graph, or by the run's sampler"},
  {"samples", "N", "positive integer",
    help = "nodes of a layer, or neighbours of a node, for sampled inference (default: the run's)"},
  {"draws", "N", "positive integer", default = 1, help = "samples whose logits are averaged"},
  {"seed", "N", "integer", default = 1, help = "of the samples"},
  {"memory", "SIZE", "string", help = "how much of what is computed may be in memory, as 4G "
    .. "(default: half of the machine's); the rest lies in temporary files"},
  {"ranks-infer", "HOW", "together|alone", help = "of several ranks (mpirun): they share exact "
    .. "inference, or each computes all of it (default: what is faster, as measured)"},
  {"verbose", help = "how exact inference went about it"},
  {"smooth", help = "Correct and Smooth: predictions are corrected and smoothed over the graph by "
    .. "the labels of the training nodes"},
}

--- Returns the option with this name.
function inference_options.named(name)
  for _, option in ipairs(inference_options.list) do
    if option[1] == name then return option end
  end
end

--- Returns the finished run in opts.run, with the data set, model, method and task that the options
-- name.
function inference_options.run(opts)
  return SavedRun.new(opts.run, {dataset = opts.dataset, model = opts.model, method = opts.method,
    task = opts.task})
end

--- Calls f(memory), with what it computes in so many bytes of memory, those that the option allows,
-- and the rest in temporary files.
function inference_options.within(opts, f)
  local room = Room.new("ladies.inference", opts.memory)
  return room:within(f, room.memory)
end

--- What the run's model gives for some units, as SavedRun:scores with these settings; the work is
-- divided among the ranks where there are several.
function inference_options.scores(run, units, settings)
  return link.shared("inference", run.scores, run, units, settings)
end

--- Fails if the output file `out` is a file of the run or of its data set; only the run's file
-- called `replaced` may be overwritten.
function inference_options.check_out(out, run, replaced)
  local source = run.data.path
  local name = run_folder.owns(run.path, out)
  if name and name ~= replaced then
    error(("--out %s is %s of the run; choose another file"):format(out, name), 0)
  end
  local files = {source}
  for _, file in ipairs(source and core.files(source) or {}) do
    files[#files + 1] = source .. "/" .. file
  end
  for _, file in ipairs(files) do
    if core.same_file(file, out) then
      error(("--out %s is of the data set %s; choose another file"):format(out, run.data.name), 0)
    end
  end
end

local function tell_way(text) tell("ladies: %s", text) end

--- Returns the options for SavedRun:logits; the arguments are those of the function that is given
-- to cli.main. An option of sampled inference is an error where inference is exact, and the other
-- way round.
function inference_options.settings(opts, given)
  for _, key in ipairs{"samples", "draws", "seed"} do
    if given[key] and opts.inference == "exact" then
      error(("--%s is of sampled inference; add --inference sampled"):format(key), 0)
    end
  end
  for _, key in ipairs{"memory", "verbose", "ranks_infer"} do
    if given[key] and opts.inference == "sampled" then
      error(("--%s is of exact inference; leave --inference sampled out"):format(
        key:gsub("_", "-")), 0)
    end
  end
  local sampled = opts.inference == "sampled"
  return {how = opts.inference, memory = opts.memory, ranks_infer = opts.ranks_infer,
    tell = (opts.verbose or link.size > 1) and tell_way or nil, samples = opts.samples,
    draws = sampled and opts.draws or nil, seed = sampled and opts.seed or nil,
    smooth = opts.smooth}
end

return inference_options
