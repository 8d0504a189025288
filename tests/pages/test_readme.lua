--- README.md and doc/commands.md: the listings in Lua run, on a small graph instead of WordNet, and
-- every command line that they show is one that the program takes.

local lu = require "luaunit"
local files = require "tools.files"
local ladies = require "ladies"
local page_blocks = require "tools.page_blocks"
local readme_example = require "tools.readme_example"
local shell = require "tools.shell"
local toy_study = require "tools.toy_study"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

-- The listings of a page in a language.
local function listings(page, language)
  local list = {}
  for _, block in ipairs(page_blocks(files.read(root .. "/" .. page))) do
    if block.language == language then list[#list + 1] = block.text end
  end
  return list
end

local function run(text) return shell.silent(shell.run_ladies{"-e", text}) end

--- The whole experiment learns the small graph.
function tests.test_experiment()
  local text = readme_example()
  lu.assertStrContains(text, "print(ladies.metrics.f1(model, data, data.test))")
  text = text:gsub("epochs = %d+", "epochs = 40"):gsub("lr = 1e%-3", "lr = 0.01")
  local f1 = tonumber(run(text))
  lu.assertTrue(f1 > 0.5 and f1 <= 1, f1)
  lu.assertEquals(#listings("README.md", "lua"), 2)
end

--- The sampler keeps the contract, draws what the one that ships draws, and trains.
function tests.test_sampler()
  local own = listings("README.md", "lua")[2]
  local experiment, n = readme_example()
    :gsub("ladies%.samplers%.ladies%(P, %b{}%)", "mine(P, {samples = 20, layers = 5})")
  lu.assertEquals(n, 1)
  local out = run(("local mine = (function() %s end)()\n%s"):format(own, experiment))
  lu.assertNotNil(tonumber(out))
  local mine = assert(load(own, "=README"))()
  local P = ladies.data.load(toy_study.dataset).graph:normalize "sym"
  local seeds = ladies.range(1, 20)
  local batch = ladies.sampling.check(mine(P, {samples = 16, layers = 3})(seeds, ladies.rng(4)))
  lu.assertEquals({#batch.blocks, batch.output, #batch.input}, {3, seeds, 16})
end

--- The laboratory says of the sampler what the page says, also on a small graph.
function tests.test_laboratory()
  local folder <close> = shell.folder()
  files.write(folder.path .. "/mine.lua", listings("README.md", "lua")[2])
  local readme = files.read(root .. "/README.md")
  local command, shown = readme:match "\n%$ ladies (lab mine%.lua [^\n]*)\n(.-)\n```"
  ladies.data.save(ladies.generate.power_law{nodes = 600, entries = 4000, features = 16,
    classes = 3, signal = 0.5}, folder.path .. "/graph.npz")
  command = command:gsub("pubmed", "./graph.npz --seconds 60 --against none"):gsub("512", "64")
  local out, err, status = shell.run_ladies(shell.words(command), {folder = folder.path})
  lu.assertTrue(status <= 1, err)                          -- 1: it has a fault
  local remedy = shown:match "remedy: .*":gsub("%s+", " ")
  lu.assertStrContains((out:gsub("%s+", " ")), remedy)
end

--- README is read in a minute or two: what is longer has a page of its own.
function tests.test_it_is_short()
  local _, words = files.read(root .. "/README.md"):gsub("%S+", "")
  lu.assertTrue(words <= 900, words)
end

-- The words behind `ladies` of the command lines in the page's table of commands and its shells.
local function command_lines(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    local cell = line:match "^| (`.-) |"
    for words in (cell or ""):gmatch "`ladies (%l[^`]*)`" do list[#list + 1] = words end
    list[#list + 1] = line:match "^ladies (%l.-)%s*#"
  end
  return list
end

--- The program has every command of the pages with these very options.
function tests.test_command_lines()
  local count = 0
  local text = files.read(root .. "/README.md") .. files.read(root .. "/doc/commands.md")
  for _, words in ipairs(command_lines(text)) do
    if not words:find "FILE" then
      shell.silent(shell.run{"sh", "-c", ("exec %s %s%s"):format(
        shell.quote(shell.ladies), words, words:find "help" and "" or " --help")})
      count = count + 1
    end
  end
  lu.assertTrue(count > 20, count)
  local _, err, status = shell.run_ladies{"table3", "--quik", "--help"}
  lu.assertEquals({err, status},
    {"ladies table3: unknown option --quik; did you mean --quick?\n", 2})
end

return tests
