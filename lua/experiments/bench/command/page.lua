-- ladies bench page: remakes the tables of doc/benchmarks.md, and of README.md, or of another page,
-- each by the command that stands above it in the page.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local machine = require "ladies.base.machine"
local page = require "experiments.bench.page"
local shell_word = require "ladies.base.shell_word"

local spec = {
  name = "ladies bench page",
  about = [[Remakes the tables and pictures of doc/benchmarks.md, and what README.md shows of them:
    hours, on a machine without work; or those of doc/samplers.md, doc/models.md or
    doc/gallery.md.]],
  {"page", "FILE", "string", help = "another page"},
  {"only", "WORD", "string", help = "the commands that contain this"},
  {"python", "PROGRAM", "string", help = "a Python with the peers"},
  {"list", help = "print the commands and end"},
}

-- Tells whether a command takes --python.
local function takes_python(command) return command:find "peers" or command:find "bench text" end

local PAGES = {"doc/benchmarks.md", "README.md"}

-- Remakes the page in a file, or lists its commands.
local function remake(root, path, opts)
  local text = core.file.read(path)
  if opts.list then return print(table.concat(page.commands(text), "\n")) end
  local program = require "ladies_host".program
  local function run(command)
    if opts.only and not command:find(opts.only, 1, true) then return nil end
    io.stderr:write(command .. "\n")
    local words = command:gsub("ladies ", function() return shell_word(program) .. " " end, 1)
    if opts.python and takes_python(command) then
      words = ("%s --python %s"):format(words, shell_word(opts.python))
    end
    local pipe = io.popen(("cd %s && %s"):format(shell_word(root), words))
    local output = pipe:read "a"
    if not pipe:close() then error(command .. " failed", 0) end
    return output
  end
  local made = page.remade(text, run, machine.measured())
  core.file.write(path, made)
  print("remade " .. path)
end

cli.main(spec, arg, function(opts)
  local root = core.real_path(ladies.home() .. "/doc"):match "^(.*)/"
  for _, name in ipairs(opts.page and {opts.page} or PAGES) do
    remake(root, name:find "^/" and name or root .. "/" .. name, opts)
  end
end)
