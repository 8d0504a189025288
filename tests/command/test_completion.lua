--- Completion in shells, asked as the shells ask it, and the man page.
local lu = require "luaunit"
local core = require "ladies_core"
local described = require "ladies.command.described"
local files = require "tools.files"
local shell = require "tools.shell"

local tests = {}
local scratch = shell.folder()

local function ladies(...)
  return shell.silent(shell.run_ladies{...})
end

for _, name in ipairs{"bash", "zsh", "fish"} do
  files.write(("%s/ladies.%s"):format(scratch.path, name), ladies("completion", name))
end

local function have(program) return core.process.exists(program) end

-- Returns the lines that a shell prints for a script, in an empty folder.
local function ask(program, script)
  local out, err = shell.succeeded(shell.run({program, "-c", script}, {folder = scratch.path}))
  lu.assertEquals(err, "")
  local lines = {}
  for line in out:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

-- Returns what bash offers to complete the last of the words of a command line with.
local function bash(...)
  local words = table.pack(...)
  for i, word in ipairs(words) do words[i] = shell.quote(word) end
  return ask("bash", ([[source ./ladies.bash; COMP_WORDS=(ladies %s); COMP_CWORD=%d; _ladies
    printf '%%s\n' "${COMPREPLY[@]}"]]):format(table.concat(words, " "), #words))
end

function tests.test_bash()
  lu.assertEquals(bash "eva", {"evaluate"})
  lu.assertEquals(bash("train", "--meth"), {"--method"})
  lu.assertEquals(bash("train", "--method", "graphsa"), {"graphsage", "graphsaint"})
  lu.assertEquals(bash("train", "--method", "=", "fast"), {"fastgcn"})
  lu.assertEquals(bash("train", "--draw", "="), {"wor", "wr", "poisson",
    "systematic", "pivotal", "sampford"})
  lu.assertEquals(bash("train", "--self-nodes", "p"), {"previous"})
  lu.assertEquals(bash("info", "ogbn-ar"), {"ogbn-arxiv"})
  lu.assertEquals(bash("info", "--split-s"), {"--split-seed"})
  lu.assertEquals(bash("report", "--meth"), {})
  files.write(scratch.path .. "/file", "")
  core.mkdir(scratch.path .. "/folder")
  lu.assertEquals(bash("train", "--out", "f"), {"folder"})
  lu.assertEquals(bash("train", "--seed", ""), {})           -- readline then has the files
end

local function fish(line)
  local found = {}
  for i, text in ipairs(ask("fish", "source ./ladies.fish; complete -C " .. shell.quote(line))) do
    found[i] = text:match "^[^\t]*"
  end
  return found
end

function tests.test_fish()
  if not have "fish" then lu.success() end
  lu.assertTableContains(fish "ladies ev", "evaluate")
  lu.assertEquals(fish "ladies train --meth", {"--method"})
  lu.assertEquals(fish "ladies train --method graphsa", {"graphsage", "graphsaint"})
  lu.assertEquals(fish "ladies train --draw=w", {"--draw=wor", "--draw=wr"})
  lu.assertTableContains(fish "ladies info ogbn-ar", "ogbn-arxiv")
  lu.assertEquals(fish "ladies report --meth", {})
end

-- Returns what zsh would offer. It completes in a terminal alone, so stand-ins of its functions are
-- asked.
local function zsh(...)
  return ask("zsh", ([[compdef() {}; _files() {}; source ./ladies.zsh
    _describe() { print -l $commands }
    _arguments() { print -l -- $CURRENT $words[1] "$@" }
    words=(ladies %s); CURRENT=%d; _ladies]]):format(
    table.concat({...}, " "), select("#", ...) + 1))
end

function tests.test_zsh()
  if not have "zsh" then lu.success() end
  lu.assertTableContains(zsh "ev",
    "evaluate:scores a finished run's model on any part of the split")
  local train = zsh("train", "--method")
  lu.assertEquals(train[1], "2")
  lu.assertEquals(train[2], "ladies-train")
  local text = table.concat(train, "\n")
  lu.assertStrContains(text, "(wor wr poisson)")
  lu.assertStrContains(text, "\n--quiet[no progress]\n")
  lu.assertStrMatches(text, ".*\n%-%-out=%[[^\n]*%]:DIR:_files %-/\n.*")
end

function tests.test_every_command_is_described()
  local by_name = {}
  for _, one in ipairs(described()) do
    by_name[one.name] = one
    lu.assertTrue(#one.summary > 0, one.name)
    for _, option in ipairs(one.options or {}) do
      lu.assertIsString(option.help, one.name .. " --" .. option.name)
      lu.assertNotStrContains(option.help, core.real_path "/proc/self/cwd")
    end
  end
  lu.assertEquals(by_name.help.options, nil)                 -- it has none, and was not run
  lu.assertTableContains(by_name.info.words, "wordnet")
  lu.assertTrue(#by_name.train.options > 60)
end

--- All of `ladies NAME --help` is on the page, and nothing in it is taken for a request.
function tests.test_man_page()
  local page = ladies "man"
  for _, one in ipairs(described()) do
    lu.assertStrContains(page, ".SS ladies " .. one.name:gsub("%-", "\\-") .. "\n")
    for _, option in ipairs(one.options or {}) do
      lu.assertStrContains(page, "\n.B \\-\\-" .. option.name:gsub("%-", "\\-"))
    end
  end
  for line in page:gmatch "[^\n]+" do
    local request = line:match "^[.'](%S*)"
    if request then
      lu.assertTableContains({"TH", "SH", "SS", "TP", "B", "BR", "PP", "nf", "fi"}, request)
    end
  end
  shell.refuses('unexpected "extra"', "", select(2, shell.run_ladies{"man", "extra"}), 1)
  if not have "groff" then return end
  local out = shell.silent(shell.run({"groff", "-man", "-Tascii", "-ww", "-rLL=100n"},
    {stdin = page}))
  lu.assertStrContains(out, "ladies train [NAME|PATH] --method FILE.lua --model FILE.lua")
end

return tests, function() local _ <close> = scratch end
