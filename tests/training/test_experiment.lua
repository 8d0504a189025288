--- Presets, and `ladies train` as a command: what it prints, its files, its errors, Ctrl-C.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local experiment = ladies.experiment
local tests = {}

-- ---------------------------------------------------------------- settings

function tests.test_wrong_settings()
  lu.assertErrorMsgContains("preset must be one of", experiment.configure, {preset = "best"})
end

--- The setting `probability` reaches the samplers.
function tests.test_probability()
  local data, seeds = toy.new(), ladies.range(1, 40)
  local P = data.graph:normalize "sym"
  local samplers = ladies.samplers
  for method, uniform in pairs{
    ladies = samplers.ladies(P, {samples = {20}, probability = "uniform"}),
    fastgcn = samplers.fastgcn(P, {samples = {20}, probability = "uniform"}),
  } do
    local function input(probability)
      local config = experiment.configure{method = method, samples = 20, layers = 1,
        probability = probability}
      return experiment.sampler(config, data)(seeds, ladies.rng(3)).input
    end
    lu.assertTrue(input "uniform" == uniform(seeds, ladies.rng(3)).input, method)
    lu.assertFalse(input "norms" == input "uniform", method)
  end
end

--- A configuration survives its file.
function tests.test_configuration_as_json()
  for name in pairs(ladies.presets) do
    local config = experiment.configure{preset = name, max_batches = 7}
    lu.assertEquals(experiment.configure(json.decode(json.encode(config, "  "))), config)
  end
end

-- ---------------------------------------------------------------- the command

-- Runs `ladies train` with the arguments.
local function train(...) return shell.run_ladies{"train", ...} end

-- Interrupts `ladies train` with the arguments as soon as the log in the folder has its first
-- lines, when the first validation is done; returns its exit status and what it wrote to stdout.
local function interrupt(folder, ...)
  local out, _, status = shell.run{here .. "/tools/interrupt.sh", folder .. "/log.jsonl",
    shell.ladies, "train", ...}
  return status, out
end

local function toy_file()
  local path = temporary.path "toy.npz"
  if not core.exists(path) then ladies.data.save(toy.new(true), path) end
  return path
end

local SMALL = {"--hidden=16", "--batch-size=20", "--lr=0.02", "--layers=3"}

local function sizes(...)
  local words = {"--dataset", toy_file(), ...}
  return table.unpack(table.move(SMALL, 1, #SMALL, #words + 1, words))
end

-- Returns the options of a small run, for a method that draws samples.
local function small(...) return "--samples=20", sizes(...) end

local function summary_of(folder)
  return json.decode(ladies.file.read(folder .. "/summary.json"))
end

--- A run of every preset, and of the full batch, goes from the command line to the last line
-- printed.
function tests.test_command()
  for _, case in ipairs{
    {"--preset=default"}, {"--preset=paper"}, {"--preset=code"}, {"--method=full"},
    {"--method=full", "--preset=code"},
  } do
    local folder = temporary.path("run" .. table.concat(case):gsub("%W", ""))
    local full = case[1] == "--method=full"
    local out = shell.succeeded(train((full and sizes or small)("--out", folder,
      "--max-batches=60", table.unpack(case))))
    local summary = summary_of(folder)
    lu.assertStrMatches(out, ".*\ntest micro%-F1 0%.%d%d%d%d\n")
    lu.assertEquals(out:match "test micro%-F1 (0%.%d+)\n$", ("%.4f"):format(summary.test_f1))
    lu.assertTrue(summary.test_f1 > 0.6, case[1] .. " " .. summary.test_f1)
    lu.assertEquals(out:find "samples%s+20," ~= nil, not full)
    for _, name in ipairs{"config.json", "log.jsonl", "checkpoint.npz", "model.npz",
        "predictions.npz"} do
      lu.assertEquals(core.exists(folder .. "/" .. name), "file", name)
    end
    -- The saved model, loaded by name, has the F1 that was printed.
    local data = ladies.data.load(toy_file())
    lu.assertEquals(ladies.metrics.f1(ladies.load_model(folder), data, data.test), summary.test_f1)
  end
end

--- A mistake gives one line on stderr, nothing on stdout, and leaves no folder behind.
function tests.test_mistakes()
  local folder = temporary.path "mistake"
  for _, case in ipairs{
    {2, "unknown option --patiense; did you mean --patience?", "--patiense=3"},
    {2, "--layers must be a positive integer, got 0", "--layers=0"},
    {1, "; its sampler's settings are: parts, clusters, partition, lambda",
      "--method=clustergcn", "--samples=3"},
    {1, 'no data set "cara"', "--dataset=cara"},
    {1, "cannot be opened", "--dataset=/nowhere/x.npz"},
    {1, "there is no run in /nowhere", "--resume=/nowhere"},
  } do
    local out, err, status = train("--out", folder, table.unpack(case, 3))
    lu.assertEquals({status, out}, {case[1], ""})
    lu.assertStrContains(err, case[2])
    lu.assertStrMatches(err, "ladies train: [^\n]*\n")
    lu.assertFalse(core.exists(folder))
  end
end

--- Ctrl-C saves a checkpoint and says how to go on; the resumed run is the uninterrupted one, with
-- whatever workers. A job that comes back into its queue has one command: it begins the run, goes
-- on with it where it has begun, by whatever way, and does no harm to one that is over.
function tests.test_interrupted_and_requeued()
  local one, two = temporary.path "uninterrupted", temporary.path "interrupted"
  local three = temporary.path "requeued"
  local options = {"--max-batches=3000", "--patience=0", "--eval-every=100"}
  train(small("--out", one, table.unpack(options)))
  local status, out = interrupt(two, small("--out", two, "--workers=2", table.unpack(options)))
  lu.assertEquals(status, 130)
  lu.assertStrContains(out, "go on with: ladies train --resume " .. two)
  lu.assertFalse(core.exists(two .. "/model.npz"))
  shell.succeeded(train("--resume", two, "--threads=2", "--workers=1"))
  local again = {"--out", three, "--resume", table.unpack(options)}
  lu.assertEquals(interrupt(three, small(table.unpack(again))), 130)
  local err
  out, err = shell.succeeded(train(small(table.unpack(again))))
  lu.assertStrContains(err, "going on after batch ")
  for _, folder in ipairs{two, three} do
    lu.assertTrue(ladies.file.read(one .. "/model.npz")
      == ladies.file.read(folder .. "/model.npz"), folder)
  end
  local last_line = out:match "([^\n]*)\n$"
  out = shell.succeeded(train(small(table.unpack(again))))
  lu.assertEquals(out:match "([^\n]*)\n$", last_line)
  -- The settings are those with which it began, whether the line or a file has them.
  local refusal = "--dropout cannot change when a run is resumed"
  shell.refuses(refusal, train(small("--dropout=0.5", table.unpack(again))))
  local config = one .. "/config.json"
  shell.succeeded(train("--config", config, "--out", three, "--resume"))
  ladies.file.write(config, (ladies.file.read(config):gsub('"dropout": [%d.]+', '"dropout": 0.5')))
  shell.refuses(refusal, train("--config", config, "--resume", "--out", three))
end

--- --resume without a folder, or with one that no command can resume, says what it needs.
function tests.test_requeued_where()
  local others, scripts = temporary.path "of others", temporary.path "of a script"
  for folder, file in pairs{[others] = "config.json", [scripts] = "checkpoint.npz"} do
    ladies.folder.make(folder)
    ladies.file.write(folder .. "/" .. file, "{}")
  end
  for _, case in ipairs{
    {"--resume without a folder needs --out DIR, the folder of the run", "--resume", "--quiet"},
    {"holds files and no ladies.json", small("--out", others, "--resume")},
    {"is a script's, which goes on with it (resume = true)", small("--out", scripts, "--resume")},
    {"--auto-seconds goes with --auto", small("--out", others, "--auto-seconds=3")},
  } do
    shell.refuses(case[1], train(table.unpack(case, 2)))
  end
end

--- Bounds may change when a run is resumed, nothing else that matters.
function tests.test_resume_with_other_options()
  local folder = temporary.path "longer"
  train(small("--out", folder, "--max-batches=10"))
  shell.succeeded(train("--resume", folder, "--max-batches=20"))
  lu.assertEquals(summary_of(folder).batches, 20)
  shell.refuses("--lr cannot change when a run is resumed", train("--resume", folder, "--lr=0.5"))
  shell.succeeded(train("--resume", folder, "--precision=float32", "--accumulate=1"))
  shell.refuses("--accumulate cannot change when a run is resumed",
    train("--resume", folder, "--accumulate=2"))
end

return tests
