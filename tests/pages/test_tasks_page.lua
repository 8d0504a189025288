--- doc/tasks.md: every file that the page shows is written as it is there, and every command and
-- program runs.

local lu = require "luaunit"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"
local task = require "ladies.task"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

function tests.test_every_listing()
  local folder <close> = shell.folder()
  local output = page_commands(root .. "/doc/tasks.md", folder.path, function(line)
    return (line:gsub("costs.lua 20000$", "costs.lua 1000"))
  end)
  lu.assertStrContains(output "ladies train ./classes.npz --samples", "test macro-F1 0.")
  lu.assertStrContains(output "ladies evaluate runs/numbers", "test MAE 0.")
  lu.assertStrContains(output "ladies compare --methods ladies:64,full", "test MAE")
  lu.assertStrContains(output "ladies sweep --vary dropout=0,0.5", "MAE, of which less is better")
  lu.assertStrContains(output "ladies evaluate runs/balanced", "test balanced accuracy 0.")
  lu.assertStrContains(output "ladies evaluate runs/same", "test ROC-AUC 0.")
  lu.assertStrContains(output "ladies evaluate runs/graphs", "test MAE 0.")
  lu.assertStrContains(output "ladies train ./classes_of_graphs", "test accuracy ")
  lu.assertStrContains(output "ladies evaluate runs/links", "test AUC ")
  lu.assertStrContains(output "ladies evaluate runs/amounts", "test MAE ")
  for name, metric in pairs{numbers = "MAE", graphs = "accuracy", links = "AUC", edges = "R2",
    balanced = "balanced accuracy"} do
    lu.assertStrContains(output("ladies ./train_" .. name), metric)
  end
  local costs = output "ladies ./costs.lua"
  for name in pairs(task) do
    local is_task = name ~= "new" and name ~= "of" and name ~= "default_name"
    if is_task then lu.assertStrContains(costs, "| `" .. name .. "` |") end
  end
  lu.assertStrContains(output "ladies ./classes.lua", "test macro-F1")
  lu.assertStrContains(output "ladies ./by_hand.lua", "MAE")
end

return tests
