--- Opens doc/notebook.ipynb in JupyterLab in a browser, as a user works with it: tables and
-- pictures, documentation, completion, interrupts, and the tutorial.

local lu = require "luaunit"
local browser = require "tools.browser"
local json = require "ladies.base.json"
local shell = require "tools.shell"

local tests = {}

local root = os.getenv "LADIES_SOURCE"

-- The cells of the notebook that show a table, and the pictures that cells have.
local TABLES, PICTURES = {1, 3, 5, 6, 7, 8}, {[5] = 1, [8] = 2}

local found
local function seen()
  browser.needs "ipykernel, jupyterlab, playwright"
  if not found then
    local folder <close> = shell.folder()
    shell.silent(shell.run_ladies{"kernel", "--install", "--python",
      browser.python, "--into", folder.path})
    found = browser.see("browse_notebook.py", {root .. "/doc/notebook.ipynb"},
      {"JUPYTER_PATH=" .. folder.path, "OPENBLAS_NUM_THREADS=1"})
  end
  return found
end

function tests.test_cells()
  local tables = {}
  for i, cell in ipairs(seen().cells) do
    local said = json.encode(cell)
    lu.assertEquals(cell.prompt, ("[%d]:"):format(i))
    lu.assertTrue(#cell.outputs > 0, said)
    lu.assertEquals({cell.errors, cell.links}, {0, {}}, said)
    if #cell.rows > 0 then tables[#tables + 1] = i end
    lu.assertEquals(#cell.pictures, PICTURES[i] or 0, said)
    for _, size in ipairs(cell.pictures) do lu.assertEquals(size, {640, 424}, said) end
    lu.assertTrue(cell.beyond <= 0, said)
  end
  lu.assertEquals(tables, TABLES)
  lu.assertEquals(seen().trouble, {})
end

function tests.test_documentation_and_completion()
  lu.assertStrContains(seen().inspected, "half a cosine")
  lu.assertEquals(seen().completed, "ladies.schedule.cosine")
end

--- The tutorial puts the code of its step into the next cell.
function tests.test_tutorial()
  lu.assertEquals(seen().following, 'data:show("dog.n", 5)')
end

--- An interrupt stops the cell that runs, and the variables of the notebook stay.
function tests.test_interrupt()
  lu.assertEquals(seen().interrupted, {"go\n", "interrupted"})
  lu.assertEquals(seen().after, "11766")
end

return tests
