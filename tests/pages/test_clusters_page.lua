--- doc/clusters.md: its listing runs alone and by several ranks, to the same bits, and so does its
-- experiment, line by line; its jobs for Slurm and Kubernetes begin a run and go on with it; its
-- table is what `ladies costs --ranks` prints, of the network that it says.

local lu = require "luaunit"
local core = require "ladies_core"
local json = require "ladies.base.json"
local files = require "tools.files"
local ladies = require "ladies"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local page_blocks = require "tools.page_blocks"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local here = root .. "/tests"
local page = files.read(root .. "/doc/clusters.md")

-- The listings of a language on the page.
local function blocks_of(language)
  local list = {}
  for _, block in ipairs(page_blocks(page)) do
    if block.language == language then list[#list + 1] = block.text end
  end
  return list
end

function tests.test_loop_by_hand()
  local folder <close> = shell.folder()
  ladies.data.save(toy.new(), folder.path .. "/toy.npz")
  local blocks = blocks_of "lua"
  lu.assertEquals(#blocks, 1)
  files.write(folder.path .. "/listing.lua", (blocks[1]:gsub('"cora"', '"toy.npz"')))
  local alone = shell.succeeded(shell.run_ladies({"listing.lua"}, {folder = folder.path}))
  lu.assertStrMatches(alone, "0%.%d+\t%x+\n")
  for _, n in ipairs{2, 3} do
    local out, message, code = ranks.run(n, {"listing.lua"}, {folder = folder.path})
    lu.assertEquals(code, 0, message)
    lu.assertEquals(out, alone)
  end
end

-- The listing for the shell in which a text stands.
local function shell_block_with(text)
  for _, block in ipairs(blocks_of "sh") do
    if block:find(text, 1, true) then return block end
  end
  lu.fail("the page has no listing with " .. text)
end

--- The experiment as the page has it: a run that two ranks began ends alone with the model of one
-- that was alone from the beginning.
function tests.test_experiment()
  local folder <close> = shell.folder()
  local out, err = shell.succeeded(ranks.run_shell(shell_block_with "sha256sum",
    {folder = folder.path}))
  lu.assertStrMatches(err, ".*going on after batch %d+ of epoch %d+\n.*")
  local alone, two = out:match "(%x+)  runs/alone/model.npz\n(%x+)  runs/two/model.npz\n$"
  lu.assertEquals({#(alone or out), two}, {64, alone})
end

-- ---------------------------------------------------------------- what can be trained so

-- The methods and networks that need edges of a kind, as tests/tools/ranks_table.lua and the page
-- say.
local NOT_TRIED = {gine = true, rgcn = true, temporal = true}

-- The cells of the row of a table that names a method, network or task, without the first one; and
-- the reasons below the table.
local function row_of(text, name)
  local cells, reasons = {}, {}
  local row = text:match("\n|([^\n]*`" .. name .. "`[^\n]*)|\n")
  lu.assertNotNil(row, name)
  for cell in row:gmatch "|%s*([^|]-)%s*%f[|\0]" do cells[#cells + 1] = cell end
  for number, reason in text:gmatch "\n(%d+)%. ([^\n]*)" do reasons[tonumber(number)] = reason end
  return tables.map(cells, function(cell)
    return reasons[math.tointeger(tonumber(cell:match "%d+"))] or cell
  end)
end

--- The table has every method and network but those that the page names, and what it says of one
-- that cannot do all is what the program says today.
function tests.test_what_can_be_trained()
  local text = page:match "<!%-%- tests/tools/ranks_table.lua %-%->(.-)<!%-%- end %-%->"
  for _, by_name in ipairs{methods.by_name, models.by_name} do
    for name, entry in pairs(by_name) do
      local is_none = by_name == methods.by_name and entry.no_graph
      if not NOT_TRIED[name] and not is_none then lu.assertEquals(#row_of(text, name), 9) end
    end
  end
  if not ranks.available() then lu.skip "there is no MPI" end
  local out = shell.succeeded(shell.run_ladies{here .. "/tools/ranks_table.lua", "gat"})
  local found = row_of(out, "gat")
  lu.assertEquals(found[1], "yes")
  lu.assertStrContains(found[3], "that needs the whole graph")
  lu.assertEquals(row_of(text, "gat"), found)
end

-- ---------------------------------------------------------------- jobs

-- Maps words of the jobs on the page to those of a run so small that its steps take milliseconds.
local SMALL = {["/shared/reddit"] = "toy.npz", ["16"] = "4", ["4"] = "0"}
local MORE = "--layers 2 --hidden 16 --samples 20 --batch-size 10 --eval-every 8 --patience 0 "
  .. "--threads 1 --max-batches "

local function small(word) return SMALL[word] or (word:gsub("^/shared/", "")) end

-- A folder with the toy data.
local function folder_of_job()
  local folder = shell.folder()
  ladies.data.save(toy.new(true), folder.path .. "/toy.npz")
  return folder
end

local LOG = "runs/reddit-1/log.jsonl"

-- srun, which starts two ranks of what follows its own options. The first time one of them gets the
-- signal of a job whose time is over.
local SRUN = [=[#!/bin/sh
while [ "$1" != ladies ]; do shift; done
if [ -e once ]; then exec mpirun --quiet -n 2 "$@" %s 400; fi
touch once
exec bash '%s/tools/signal_rank.sh' TERM %s mpirun --quiet -n 2 "$@" %s 1000000
]=]

--- The script for Slurm: the job comes back when its time is over, and the run goes on.
function tests.test_slurm()
  if not ranks.available() then lu.skip "there is no MPI" end
  local folder <close> = folder_of_job()
  files.write(folder.path .. "/job.sh", (shell_block_with "#SBATCH":gsub("%S+", small)))
  files.write(folder.path .. "/srun", SRUN:format(MORE, here, LOG, MORE))
  files.write(folder.path .. "/scontrol", "#!/bin/sh\necho \"$@\" >>told\n")
  lu.assertEquals(select(3, shell.run({"chmod", "+x", "srun", "scontrol"},
    {folder = folder.path})), 0)
  local job = [[export PATH="$PWD:$PATH" SLURM_JOB_ID=17; bash job.sh]]
  local _, err, status = ranks.run_shell(job, {folder = folder.path})
  lu.assertEquals(status, 130, err)
  lu.assertEquals(files.read(folder.path .. "/told"), "requeue 17\n")
  local done = #files.lines(folder.path .. "/" .. LOG)
  lu.assertTrue(done > 0)
  _, err = shell.succeeded(ranks.run_shell(job, {folder = folder.path}))
  lu.assertStrContains(err, "going on after batch ")
  lu.assertEquals(files.read(folder.path .. "/told"), "requeue 17\n")
end

-- The manifest on the page as a table, read by Python.
local function manifest()
  local python = os.getenv "LADIES_PYTHON" or root .. "/build/python/bin/python"
  if not core.process.exists(python) then lu.skip "there is no Python that reads YAML" end
  local blocks = blocks_of "yaml"
  lu.assertEquals(#blocks, 1)
  local out = shell.succeeded(shell.run({python, "-c",
    "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"}, {stdin = blocks[1]}))
  return json.decode(out)
end

--- The manifest for Kubernetes: its launcher begins the run, and goes on with it when it is started
-- again; there are as many workers as ranks.
function tests.test_kubernetes()
  local job = manifest()
  lu.assertEquals({job.apiVersion, job.kind}, {"kubeflow.org/v2beta1", "MPIJob"})
  local launcher, worker = job.spec.mpiReplicaSpecs.Launcher, job.spec.mpiReplicaSpecs.Worker
  local container = launcher.template.spec.containers[1]
  lu.assertEquals(container.command, {"mpirun"})
  lu.assertEquals({container.args[1], container.args[2]}, {"-n",
    tostring(worker.replicas * job.spec.slotsPerWorker)})
  lu.assertEquals(worker.template.spec.containers[1].volumeMounts[1].name,
    worker.template.spec.volumes[1].name)
  local folder <close> = folder_of_job()
  local words = {"mpirun", "--quiet"}
  for i, word in ipairs(container.args) do
    local of_mpirun = not table.concat(container.args, " ", 1, i):find "ladies"
    words[#words + 1] = of_mpirun and word or small(word)
  end
  local command = table.concat(words, " ") .. " " .. MORE
  for _, length in ipairs{"40", "80"} do
    local out, err = shell.succeeded(ranks.run_shell(command .. length, {folder = folder.path}))
    lu.assertStrContains(out, "\ntest micro-F1 0.")
    lu.assertEquals(err:find "going on after batch " ~= nil, length == "80")
  end
  lu.assertTrue(#files.lines(folder.path .. "/" .. LOG) > 80)
end

function tests.test_table()
  local out = shell.succeeded(shell.run_ladies{"costs", "--ranks"})
  lu.assertTrue(page:find(out, 1, true) ~= nil, "ladies costs --ranks prints another table")
  -- Two ranks send two slabs a step.
  for features, classes, mib in ("602 41 2.76 128 172 2.10"):gmatch "(%d+) (%d+) ([%d.]+)" do
    local model = ladies.nn.gcn{inputs = tonumber(features), outputs = tonumber(classes)}
    local _, _, slab = ladies.optim.sgd(model:parameters()):sums()
    lu.assertEquals(("%.2f"):format(2 * 4 * slab.n_rows / 2 ^ 20), mib)
    lu.assertStrContains(out, (" |     2 |               4 |      %s | "):format(mib))
  end
end

--- The commands are those of the program.
function tests.test_commands()
  for _, block in ipairs(blocks_of "sh") do
    for command, words in block:gmatch "ladies (%l+) ([^\n]*)" do
      local help = shell.run_ladies{command, "--help"}
      for option in words:gmatch "(%-%-[%l-]+)" do
        lu.assertStrContains(help, "\n  " .. option)
      end
    end
  end
end

return tests
