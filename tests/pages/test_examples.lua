--- doc/examples: each is short, and runs to its end on a small graph.

local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local examples = root .. "/doc/examples"

local MOST_LINES = 60

-- Example -> what it is run with, and a pattern of what it prints.
local RUNS = {
  classify = {{"./graph.npz", "60"}, "test micro%-F1.*\n +%d+ of %d taken for %d"},
  distil = {{"./graph.npz", "60"}, "MLP taught  test micro%-F1 0%.[89]"},
  errors = {{"./graph.npz"}, "\n +64  LADIES +%d.*\n +1024  FastGCN"},
  links = {{"./graph.npz", "60"}, "200 hidden edges: MRR 0%.1%d+, Hits@10 0%.3"},
  multilabel = {{"30"}, "test micro%-F1 0%.9%d+, macro%-F1 0%.9"},
}

function tests.test_each_runs()
  local folder <close> = shell.folder()
  shell.succeeded(shell.run_ladies({"make-graph", "--nodes", "600", "--entries", "4000",
    "--classes", "3", "--features", "16", "--signal", "0.5", "--out", "graph.npz"},
    {folder = folder.path}))
  local page = files.read(root .. "/doc/guide/how-to.md")
  local count = 0
  for _, file in ipairs(core.files(examples)) do
    local name = file:match "^(.*)%.lua$"
    local run = assert(RUNS[name], file)
    lu.assertTrue(#files.lines(examples .. "/" .. file) < MOST_LINES, file)
    lu.assertStrContains(page, ("(../examples/%s)"):format(file))
    local out, errors, code = shell.run_ladies({examples .. "/" .. file, table.unpack(run[1])},
      {folder = folder.path})
    lu.assertEquals(code, 0, file .. "\n" .. errors)
    lu.assertStrContains(out, run[2], true, file)
    count = count + 1
  end
  lu.assertEquals(count, 5)
end

return tests
