--- doc/python.md: its commands and listings in Lua run on what its listings in Python wrote, which
-- comes from fixtures/make_python_page.py; and what Python printed is what we find.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local bundle = require "tools.bundle"
local page_blocks = require "tools.page_blocks"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local page, fixture = root .. "/doc/python.md", here .. "/fixtures/python_page.npz"

function tests.test_the_page()
  local listings = {}
  for _, block in ipairs(page_blocks(ladies.file.read(page))) do
    if block.language == "python" then listings[#listings + 1] = block.text end
  end
  local made <close> = ladies.npz.open(fixture)
  local python, printed = table.concat(listings), made:text "printed"
  lu.assertEquals(made:text "listings", python,
    "the page's Python has changed: run tests/fixtures/make_python_page.py")

  local folder <close> = shell.folder()
  for _, name in ipairs(made:names()) do
    local path = name:match "^files/(.*)"
    if path then bundle.write_file(folder.path .. "/" .. path, made:text(name)) end
  end
  local output_of = page_commands(page, folder.path)
  -- The command's advice is what the page does.
  local exported = output_of "ladies export"
  for _, line in ipairs{"from torch_geometric.nn.models import GCN", "model.load_state_dict(state)",
    exported:match "model = [^\n]+"} do
    lu.assertStrContains(exported, line)
    lu.assertStrContains(python, line)
  end
  -- PyG's score with these weights is ours.
  local f1 = printed:match "test micro%-F1 [%d.]+"
  lu.assertEquals(output_of "ladies ./back.lua", f1 .. "\n")
  lu.assertStrContains(output_of "ladies ./arrays.lua", "hand")
  local loaded = output_of "ladies ./load.lua"
  lu.assertStrMatches(loaded,
    ".*nodes +5, .*entries +8\n.*nodes +34, .*nodes +34, .*entries +156\n.*")
end

return tests
