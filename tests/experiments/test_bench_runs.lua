--- Measurements of `ladies bench` as a whole, on graphs so small that they take no time: what they
-- check on the way holds, and they print as many rows as they should.
local lu = require "luaunit"
local shell = require "tools.shell"

local tests = {}

-- Returns what `ladies bench` prints when it is run with these words.
local function run(...)
  return (shell.succeeded(shell.run_ladies({"bench", ...})))
end

local function count(text, pattern) return select(2, text:gsub(pattern, "")) end

--- The fused samplers make the blocks of those in Lua, or it ends with an error.
function tests.test_sampling()
  local out = run("sampling", "--graph", "power-law", "--nodes", "2000", "--rounds", "1")
  lu.assertEquals(count(out, "\npower%-law "), 10)
end

function tests.test_draw()
  local out = run("draw", "--nodes", "2000", "--entries", "30000", "--rounds", "1")
  lu.assertEquals(count(out, "\n +%d+  %l+ +%d+%.%d%d %("), 4)
end

function tests.test_text()
  local folder <close> = shell.folder()
  local out = run("text", "--edges", "1000", "--rounds", "1", "--python", "false",
    "--folder", folder.path)
  lu.assertStrContains(out, "no peers: there is no Python with pandas, polars or SciPy; 1000 lines")
  lu.assertEquals(count(out, "\n%l+[%w.-]+ +%d+%.%d+  +%- +%- +%- +%- +%- +%- +%d+%.%d MiB"), 8)
end

return tests
