--- The tables of doc/benchmarks.md: what commands print stands below them; all else stays.

local lu = require "luaunit"
local core = require "ladies_core"
local json = require "ladies.base.json"
local page = require "experiments.bench.page"
local report = require "experiments.bench.peers.report"

local tests = {}

local TEXT = [[
# A page

<!-- ladies bench -->
old
<!-- end -->
Between.
<!-- LADIES_ISA=avx2 ladies bench step --batches 3 -->
<!-- end -->
<!-- ladies depth --runs 2 -->
<!-- end -->
]]

local PRINTED = {
  ["ladies bench"] = "| a |\n| - |\n",
  ["LADIES_ISA=avx2 ladies bench step --batches 3"] = "100 % of\n  it\n\n",
  ["ladies depth --runs 2"] = "| b |\n| - |\n\n4 runs on a machine.\n\n"
    .. "in runs/depth-1: results.jsonl, depth.md\n",
}

function tests.test_remade()
  local seen = {}
  local made = page.remade(TEXT, function(command)
    seen[#seen + 1] = command
    return PRINTED[command]
  end, "a machine")
  lu.assertEquals(seen, {"ladies bench", "LADIES_ISA=avx2 ladies bench step --batches 3",
    "ladies depth --runs 2"})
  lu.assertEquals(made, [[
# A page

<!-- ladies bench -->
| a |
| - |

Measured on a machine.
<!-- end -->
Between.
<!-- LADIES_ISA=avx2 ladies bench step --batches 3 -->
```
100 % of
  it
```

Measured on a machine.
<!-- end -->
<!-- ladies depth --runs 2 -->
| b |
| - |

4 runs on a machine.
<!-- end -->
]])
  lu.assertEquals(page.remade(made, function() return nil end, "another"), made)
end

--- The page's own commands are there.
function tests.test_commands()
  local root = os.getenv "LADIES_SOURCE"
  local commands = page.commands(core.file.read(root .. "/doc/benchmarks.md"))
  lu.assertTrue(#commands >= 8)
  for _, command in ipairs(commands) do
    local name = command:match "ladies bench (%w+)" or "machine"
    local path = ("%s/lua/experiments/bench/command/%s.lua"):format(root, name)
    lu.assertEquals(core.exists(path), "file", name)
  end
end

--- The numbers of README.md are those of the results that doc/benchmarks.md shows.
function tests.test_readme()
  local root = os.getenv "LADIES_SOURCE"
  local text = core.file.read(root .. "/README.md")
  lu.assertEquals(page.commands(text), {"ladies bench peers --brief doc/benchmarks"})
  local record = json.decode(core.file.read(root .. "/doc/benchmarks/peers.json"))
  lu.assertEquals(page.remade(text, function() return report.brief(record) end, "-"), text)
  local shown = core.file.read(root .. "/doc/benchmarks/peers.md")
  lu.assertStrContains(core.file.read(root .. "/doc/benchmarks.md"), (shown:gsub("%s+$", "")))
  for _, one in ipairs(record.results) do
    if one.ratio then
      lu.assertStrContains(shown, (" %.2f (%.2f to %.2f) |"):format(one.ratio.median,
        one.ratio.low, one.ratio.high))
    end
  end
end

--- A section that says itself where it was measured is left so.
function tests.test_where()
  local made = page.remade(TEXT, function() return "| a |\n\nMeasured on another.\n" end, "-")
  lu.assertStrContains(made, "| a |\n\nMeasured on another.\n<!-- end -->")
  lu.assertNotStrContains(made, "Measured on -")
end

return tests
