--- Tests that every command that takes the path of a data set takes options for reading it.
local lu = require "luaunit"
local cli = require "ladies.command.cli"
local core = require "ladies_core"
local host = require "ladies_host"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local COMMANDS = {"ablate", "compare", "costs", "depth", "figures", "import", "info", "lab",
  "sweep", "table3", "train", "variance"}

function tests.test_every_command_has_the_options()
  for _, name in ipairs(COMMANDS) do
    local found = {}
    for _, option in ipairs(cli.spec_of(host.script(name))) do found[option[1]] = true end
    for _, option in ipairs{"ids", "classes", "split", "directed", "features-in"} do
      lu.assertTrue(found[option], ("ladies %s has no --%s"):format(name, option))
    end
  end
end

-- A folder of tables in which nodes and classes have names: a ring of twelve nodes.
local function named_folder()
  local folder = temporary.path "named"
  core.folder.make(folder)
  local edges, labels, features, split = {"source,target"}, {"node,class"}, {"node,a,b"},
    {"node,part"}
  for i = 0, 11 do
    local name = ("node%c"):format(97 + i)
    edges[#edges + 1] = ("%s,node%c"):format(name, 97 + (i + 1) % 12)
    labels[#labels + 1] = ("%s,%s"):format(name, i % 2 == 0 and "even" or "odd")
    features[#features + 1] = ("%s,%d,%d"):format(name, i % 2, i % 3)
    split[#split + 1] = ("%s,%s"):format(name, i < 4 and "train" or i < 8 and "val" or "test")
  end
  for file, lines in pairs{edges = edges, labels = labels, features = features, split = split} do
    core.file.write(("%s/%s.csv"):format(folder, file), table.concat(lines, "\n") .. "\n")
  end
  return folder
end

local FOLDER = named_folder()
local NAMES = {"--ids", "strings", "--classes", "strings", "--quiet"}

-- Runs a command on the folder, with the options that its tables need where `named`.
local function run(named, ...)
  local words = table.pack(...)
  if named then table.move(NAMES, 1, #NAMES, #words + 1, words) end
  return shell.run_ladies(words)
end

--- The options reach the reader: with them the tables are read, without them their names are
-- refused.
function tests.test_they_reach_the_reader()
  local words = {"variance", "--datasets", FOLDER, "--methods", "ladies", "--samples", "2",
    "--batches", "2", "--draws", "2", "--hidden", "4", "--steps", "0",
    "--batch-size", "3", "--out"}
  local n = #words
  words[n + 1] = temporary.path "refused"
  lu.assertStrContains(shell.refused(run(false, table.unpack(words))), "--ids strings")
  words[n + 1] = temporary.path "variance"
  shell.succeeded(run(true, table.unpack(words)))
  shell.succeeded(run(true, "table3", "--datasets", FOLDER, "--methods", "full", "--runs", "1",
    "--out", temporary.path "table3"))
end

--- `ladies costs` reads a data set with --ranks alone, whose features may be dense, as these, or
-- sparse.
function tests.test_costs_of_a_data_set()
  for _, dataset in ipairs{FOLDER, "wordnet"} do
    local words = {"costs", "--ranks", "--dataset", dataset, "--accumulate", "2", "--feature-cache",
      "1K"}
    local text = shell.succeeded(run(dataset == FOLDER, table.unpack(words)))
    lu.assertStrContains(text, "MB of caches")
    lu.assertStrMatches(text, ".*\n| 2 +| +%d+ | .*")
  end
end

function tests.test_costs_without_a_data_set()
  shell.refuses("how it is read", run(true, "costs", "--out", temporary.path "costs"))
end

--- Options that --ranks does not use are refused, and so are those that it uses only with
-- --dataset.
function tests.test_costs_of_ranks()
  for option, text in pairs{["--scale=3"] = "--scale is of what is measured",
    ["--methods=full"] = "--methods is of what is measured",
    ["--seed=4"] = "--seed is of what is measured",
    ["--accumulate=8"] = "go with --dataset", ["--directed=keep"] = "go with --dataset"} do
    shell.refuses(text, shell.run_ladies{"costs", "--ranks", option})
  end
end

return tests
